"""Which rules a trace is about, and which rows belong to them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from cep.interpreter.context import Context, Shared
from cep.interpreter.partitions import KeysOf, keys_of
from cep.interpreter.rows import Row
from cep.plan.keys import passed_on
from cep.plan.nodes import Complex, Event, Operator, Plan
from cep.plan.query import Query, StreamInput
from cep.plan.separable import separability

NO_KEY = "-"
"""Stands for rules that have no key."""


class TraceError(ValueError):
    """A trace that cannot be made; `hint` says what to ask for instead."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Scope:
    """The rules of one key (None: those without), narrowed to `names` where given.

    A query belongs to the keys of its rows; where it mixes rows of several keys also to no key.
    TraceError for a rule that is not there, or never works for this key.
    """

    def __init__(self, plan: Plan, key: str, names: Iterable[str] = ()) -> None:
        self.plan = plan
        self.by = separability(plan)
        self.key = None if key == NO_KEY else key
        keys = {found.name: found.key for found in plan.complexes}
        self._on_complex = {s.name: keys[s.source] for s in plan.signals if s.source in keys}
        context = Context(Shared(plan.compat == "siddhi"))
        self._by_partition: dict[tuple[str, str], KeysOf] = {
            (one.name, keys.stream): keys_of(keys, context)
            for one in plan.partitions
            for keys in one.keys
        }
        mine = {op.name for op in plan.operators if self._is_mine(op)}
        self._check(set(names), mine)
        self.names = frozenset(mine & set(names) if names else mine)
        self.seen_keys: set[str] = set()
        self._record_key: str | None = None

    def _check(self, names: set[str], mine: set[str]) -> None:
        known = [op.name for op in self.plan.operators]
        for name in sorted(names - set(known)):
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"the rules are {', '.join(known)}"
            raise TraceError(f"--rule {name}: no such rule", hint)
        for name in sorted(names - mine):
            if self.key is None:
                raise TraceError(f"--rule {name}: it works per key", "trace one: --trace KEY")
            raise TraceError(f"--rule {name}: it has no key", f"use --trace {NO_KEY}")
        if not mine:
            if self.key is None:
                raise TraceError("--trace -: every rule works per key", "trace one: --trace KEY")
            raise TraceError(f"--trace {self.key}: no rule has a key", f"use --trace {NO_KEY}")

    @property
    def events(self) -> list[Event]:
        return [op for op in self.plan.events if op.name in self.names]

    @property
    def complexes(self) -> list[Complex]:
        return [op for op in self.plan.complexes if op.name in self.names]

    @property
    def signals(self) -> frozenset[str]:
        """What is told of them is what they say: not why, which what they are made of tells."""
        return self.names & {signal.name for signal in self.plan.signals}

    @property
    def queries(self) -> list[Query]:
        mine = self.names - self.signals
        return [op for op in self.plan.queries if op.name in mine]

    def _is_mine(self, operator: Operator) -> bool:
        match operator:
            case Event() | Complex():
                return (operator.key is None) == (self.key is None)
            case Query() if operator.name in self._on_complex:
                return (self._on_complex[operator.name] is None) == (self.key is None)
            case Query():
                return self._is_query_mine(operator)

    def _is_query_mine(self, query: Query) -> bool:
        if self.key is None:
            return query.partition is None and not self.by.is_keyed(query)
        if query.partition is not None:
            return True
        return isinstance(query.input, StreamInput) and self._is_keyed(query.source)

    def _is_keyed(self, stream: str) -> bool:
        """Whether each row of a stream belongs to the key of the record that caused it."""
        return self.by.is_stream_keyed(stream)

    def begin(self, stream: str, record: Row) -> None:
        """A record of a source stream comes: its key is that of all rows it causes per key."""
        columns = self.by.key_columns.get(stream, frozenset())
        self._record_key = next((record.values[column] for column in columns), None)
        self.sees([self._record_key])

    def begin_time(self) -> None:
        """Time passes without a record: what it causes is of no record's key."""
        self._record_key = None

    def holds(self, query: Query, stream: str, row: Row) -> bool:
        """Whether a row of one of its streams concerns the query for this key."""
        if self.key is None:
            return True
        if (query.partition or "", stream) in self._by_partition:
            return self.sees(self._by_partition[query.partition or "", stream](row))
        return self._is_keyed(stream) and self.sees([self._record_key])

    def puts_out(self, query: Query, row: Row) -> bool:
        """Whether a row a query puts out concerns this key, as far as it shows."""
        if self.key is None:
            return True
        columns = sorted(passed_on(query, self.by.key_columns))
        return self.sees([row.values[place] for place in columns[:1]] or [self._record_key])

    def sees(self, keys: Iterable[str | None]) -> bool:
        """Whether the key is among these, which are noted."""
        found = [key for key in keys if key is not None]
        self.seen_keys.update(found)
        return (self.key in found) if self.key is not None else True
