"""Many filters over one stream: an index over their constants finds those that hold on a row.

An equality leads to the members that ask for this value, a threshold to the first of them in the
order of their limits: only members that pass (and the first that does not) are looked at. What
passes is put out in definition order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from cep.engine.codegen.expressions import Scope
from cep.engine.codegen.match_scope import Place, SlotScope
from cep.engine.codegen.tables import Tables
from cep.engine.codegen.writer import Writer, guarded
from cep.engine.jit import plain
from cep.engine.kernels.groups import bucket_of, float_bits
from cep.engine.layout import Layout, is_float
from cep.plan.expressions import Column, Comparison, Expression, walk
from cep.plan.families import PARAMETER, Family, Value, is_parameter
from cep.plan.query import Query
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.types import Type

MIRRORED = {"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
VALUE = -8
"""The slot of what is compared with the limits of members."""

Emission = Callable[[Writer, Family, str, tuple[str, ...], Scope], None]
"""Writes what becomes of a selected row: of which member, by its number, and its values."""


@dataclass(frozen=True, slots=True)
class Test:
    """`parameter op value`: what tells members apart."""

    parameter: Column
    op: str
    value: Expression

    @property
    def is_float(self) -> bool:
        """Whether the two are compared as floats."""
        return is_float(self.parameter.type) or is_float(self.value.type)

    @property
    def condition(self) -> Comparison:
        return Comparison(self.op, self.parameter, self.value)

    def hashed(self, key: Value, code_of: Callable[[str], int]) -> int:
        """The whole number that stands for a constant in a hash index."""
        if isinstance(key, str):
            return code_of(key)
        return int(plain(float_bits)(float(key))) if self.is_float else int(key)

    def write_lookup(self, w: Writer, scope: Scope, index: str) -> tuple[str, str]:
        """Look the value up; the locals of the first place in the order and the one behind."""
        value = scope.value(self.value)
        if self.is_float:
            value = f"float_bits({scope.as_type(self.value, Type.DOUBLE)})"
        bucket = w.let("bucket", f"bucket_with({index}, {value})")
        return f"{index}[{bucket}, 1]", w.let("past", f"{index}[{bucket}, 2]")


def buckets(keys: Sequence[int]) -> list[tuple[int, int, int]]:
    """The hash index over keys, equal ones side by side: (key, first place, place behind)."""
    size = 4
    while size < 4 * len(keys):
        size *= 2
    found = [(0, 0, 0)] * size
    hashed = plain(bucket_of)
    for first, key in enumerate(keys):
        if first and keys[first - 1] == key:
            continue
        past = first + keys.count(key)
        bucket = hashed(0, key, size)
        while found[bucket][1] < found[bucket][2]:
            bucket = (bucket + 1) & (size - 1)
        found[bucket] = (key, first, past)
    return found


class Predicates:
    """The filters of a family, split into what is equal for all, an index, and the rest."""

    def __init__(self, family: Family, places: Sequence[int], tables: Tables, suffix: str) -> None:
        """`places`: of the members among all filters of the run."""
        self.family = family
        conditions = [c for whole in family.query.stream_input.filters for c in conjuncts(whole)]
        varied = [c for c in conditions if any(map(is_parameter, walk(c)))]
        self.common = [c for c in conditions if c not in varied]
        tests = [(c, test) for c in varied if (test := test_of(c)) is not None]
        self.equality = next((one for one in tests if one[1].op == "=="), None)
        self.limit = next((one for one in tests if one[1].op != "=="), None)
        indexed = [one[0] for one in (self.equality, self.limit) if one is not None]
        self.rest = [c for c in varied if c not in indexed]
        self.order = sorted(range(len(family)), key=self._rank)
        ordered = [places[member] for member in self.order]
        self.keeps_order = self._in_order(ordered)
        self.places = tables.array(f"P{suffix}", ordered)
        self.members = tables.array(f"M{suffix}", self.order)
        self.cells = tables.parameters(family, "{}", suffix)
        self._add_index(tables, suffix)

    def _rank(self, member: int) -> tuple[Value, Value]:
        """Members of one value stand together, those first that hold on more rows."""
        limit: Value = 0
        if self.limit is not None:
            limit = self._constant(member, self.limit[1])
            assert not isinstance(limit, str)
            limit = limit if self.limit[1].op in ("<", "<=") else -limit
        return (self._key(member), limit)

    def _constant(self, member: int, test: Test) -> Value:
        return self.family.constants[member][test.parameter.position]

    def _key(self, member: int) -> Value:
        return "" if self.equality is None else self._constant(member, self.equality[1])

    def _in_order(self, places: list[int]) -> bool:
        """Whether members of one value stand in definition order."""
        keys = [self._key(member) for member in self.order]
        return all(a < b or keys[i] != keys[i + 1] for i, (a, b) in enumerate(pairwise(places)))

    def _add_index(self, tables: Tables, suffix: str) -> None:
        if self.limit is not None:
            test = self.limit[1]
            limits = [self._constant(member, test) for member in self.order]
            self.limits = tables.array(f"L{suffix}", limits, is_float(test.parameter.type))
        if self.equality is not None:
            self.index = tables.array(f"X{suffix}", self._buckets(tables.code_of))

    def _buckets(self, code_of: Callable[[str], int]) -> list[tuple[int, int, int]]:
        """The hash index: (value, first, past) of the members in their order."""
        assert self.equality is not None
        test = self.equality[1]
        return buckets([test.hashed(self._key(member), code_of) for member in self.order])

    def scope(self, scope: Scope, member: str, outputs: tuple[str, ...] = ()) -> SlotScope:
        """What expressions of a member see."""
        cells = {place: source.format(member) for place, source in self.cells.items()}
        return slot_scope(scope, cells, outputs=outputs)

    def write(self, w: Writer, scope: Scope, hits: int, count: str) -> None:
        """Note the places of members that hold on the row in `gi` from column `hits` on."""
        shared = slot_scope(scope, {})
        with guarded(w, [shared.condition(c) for c in self.common]):
            first, past = "0", str(len(self.order))
            if self.equality is not None:
                first, past = self.equality[1].write_lookup(w, shared, self.index)
            at = w.let("at", first)
            with w.block(f"while {at} < {past}{self._write_limit(w, shared, at)}:"):
                inner = self.scope(scope, f"{self.members}[{at}]")
                with guarded(w, [inner.condition(c) for c in self.rest]):
                    w(f"gi[0, {hits} + {count}] = {self.places}[{at}]", f"{count} += 1")
                w(f"{at} += 1")

    def _write_limit(self, w: Writer, scope: SlotScope, at: str) -> str:
        if self.limit is None:
            return ""
        test = self.limit[1]
        value = w.let("value", scope.value(test.value))
        held = Column(0, "", test.value.type, VALUE)
        condition = replace(test, value=held).condition
        cells: dict[Place, str] = {
            (VALUE, 0): value,
            (PARAMETER, test.parameter.position): f"{self.limits}[{at}]",
        }
        return " and " + slot_scope(scope, cells).condition(condition)


class FilterRun:
    """Neighbouring filters over one stream, of a few shapes."""

    def __init__(
        self,
        members: Sequence[Query],
        families: Sequence[Family],
        tables: Tables,
        layout: Layout,
    ) -> None:
        places = {query.name: place for place, query in enumerate(members)}
        self.tables = tables
        self.families = families
        self.hits = layout.int_columns("global", len(members))
        self.predicates = [
            Predicates(family, [places[q.name] for q in family.members], tables, f"F{number}")
            for number, family in enumerate(families)
        ]
        self._add_members(len(members), places)

    def __len__(self) -> int:
        return sum(len(family) for family in self.families)

    def _add_members(self, count: int, places: dict[str, int]) -> None:
        """By place in the run: of which family a filter is, and its number there."""
        family_of, number_of = [0] * count, [0] * count
        for index, family in enumerate(self.families):
            for number, query in enumerate(family.members):
                family_of[places[query.name]] = index
                number_of[places[query.name]] = number
        self.family_of = self.tables.array("F", family_of)
        self.number_of = self.tables.array("N", number_of)

    def write(self, w: Writer, scope: Scope, emit: Emission) -> None:
        """Find the filters that hold and select their rows."""
        count = w.let("count", "0")
        for predicates in self.predicates:
            predicates.write(w, scope, self.hits, count)
        if len(self.predicates) > 1 or not self.predicates[0].keeps_order:
            w(f"sort_hits(gi, {self.hits}, {count})")
        hit = w.name("hit")
        with w.block(f"for {hit} in range({count}):"):
            place = w.let("place", f"gi[0, {self.hits} + {hit}]")
            if len(self.predicates) == 1:
                self._write_selection(w, self.predicates[0], place, scope, emit)
                return
            kind = w.let("kind", f"{self.family_of}[{place}]")
            member = w.let("member", f"{self.number_of}[{place}]")
            for number, predicates in enumerate(self.predicates):
                with w.block(f"if {kind} == {number}:"):
                    self._write_selection(w, predicates, member, scope, emit)

    def _write_selection(
        self, w: Writer, predicates: Predicates, member: str, scope: Scope, emit: Emission
    ) -> None:
        query = predicates.family.query
        inner = predicates.scope(scope, member)
        outputs = tuple(w.let(name, inner.value(value)) for name, value in query.projection)
        having = ""
        if query.having is not None:
            having = predicates.scope(scope, member, outputs).condition(query.having)
        with guarded(w, [having]):
            emit(w, predicates.family, member, outputs, scope)


def slot_scope(
    scope: Scope,
    cells: dict[Place, str],
    aggregates: tuple[str, ...] = (),
    outputs: tuple[str, ...] = (),
) -> SlotScope:
    """The scope with more cells; the columns of the row are those of slot 0."""
    own: dict[Place, str] = {(0, index): name for index, name in enumerate(scope.columns)}
    if isinstance(scope, SlotScope):
        own.update(scope.cells)
    return SlotScope(
        scope.columns, scope.time, scope.constants, aggregates, outputs, {**own, **cells}
    )


def test_of(condition: Expression) -> Test | None:
    """A comparison of a constant in which members differ with what is equal for all."""
    if not isinstance(condition, Comparison) or condition.op not in MIRRORED:
        return None
    left, right = condition.left, condition.right
    for parameter, op, value in (
        (left, condition.op, right),
        (right, MIRRORED[condition.op], left),
    ):
        is_free = not any(map(is_parameter, walk(value)))
        if isinstance(parameter, Column) and is_parameter(parameter) and is_free:
            return Test(parameter, op, value)
    return None
