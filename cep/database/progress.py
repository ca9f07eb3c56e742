"""How far a run has come: kept beside its tables, so that a restart goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha1
from typing import Any

from cep.database.errors import DatabaseError
from cep.plan.nodes import Plan
from cep.plan.query import Query

VERSION = 1
"""Of all that a run keeps in a database; another one cannot be gone on with."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells whether streams and queries are as they were: a digest of all they are made of."""

    streams: Mapping[str, str] = field(default_factory=dict)
    queries: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Progress:
    """The last batch: how many events there were with it, and before it (`done`); its times in ms.

    `base` and `last`: how many rows each stream had before and after it; `purged`: how many of
    them are gone. `born`: how many an input had when its query was made, by `query slot`. `tables`
    and `indexes`: what was made, by name. `owner`: what kind of run it is,
    and `source` where its events come from.
    """

    seq: int = 0
    done: int = 0
    first_msc: int = 0
    now_msc: int = 0
    base: Mapping[str, int] = field(default_factory=dict)
    last: Mapping[str, int] = field(default_factory=dict)
    purged: Mapping[str, int] = field(default_factory=dict)
    born: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    indexes: Sequence[str] = ()
    identity: Identity = field(default_factory=Identity)
    owner: str = ""
    source: str = ""
    version: int = VERSION

    def of_owner(self, owner: str, prefix: str) -> Progress:
        """The same; DatabaseError when it is of another kind of run."""
        if self.tables and self.owner != owner:
            raise DatabaseError(
                f"the tables `{prefix}..` there are those of a {self.owner}, "
                f"and this is a {owner}; use another prefix"
            )
        return replace(self, owner=owner)

    def of_batch(self, seq: int, first_msc: int, now_msc: int) -> Progress:
        """The next batch: up to event `seq`, from one time to another, no rows yet."""
        numbers = seq, self.seq, first_msc, now_msc, self.last, self.last, self.purged
        return Progress(*numbers, *self._of_plan())

    def with_rows(self, last: Mapping[str, int], purged: Mapping[str, int]) -> Progress:
        """The batch with so many rows after it."""
        numbers = self.seq, self.done, self.first_msc, self.now_msc, self.base, last, purged
        return Progress(*numbers, *self._of_plan())

    def _of_plan(self) -> tuple[Any, ...]:
        """What no batch changes, in order: `dataclasses.replace` takes longer than a batch."""
        plan = self.born, self.tables, self.indexes, self.identity
        return *plan, self.owner, self.source, self.version

    def texts(self) -> tuple[str, str]:
        """As JSON: what changes with the plan, and what with each batch."""
        known = asdict(self)
        numbers = {name: known.pop(name) for name in _OF_BATCH}
        return _json(known), _json(numbers)

    def marks_text(self) -> str:
        """As JSON: what changes with each batch."""
        return _json({name: getattr(self, name) for name in _OF_BATCH})

    @classmethod
    def of(cls, plan: str, numbers: str) -> Progress:
        """From JSON; DatabaseError when another version wrote it."""
        known = {**json.loads(plan), **json.loads(numbers)}
        if known.get("version") != VERSION:
            raise DatabaseError(
                f"the tables there are of version {known.get('version')}, this program makes "
                f"version {VERSION}; use the program that made them, or another prefix"
            )
        return cls(**{**known, "identity": Identity(**known["identity"])})


_OF_BATCH = ("seq", "done", "first_msc", "now_msc", "base", "last", "purged")


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def identity(plan: Plan, kind: str = "") -> Identity:
    """The identity of a plan's streams and queries, each with that of all it is fed by.

    `kind` stands for what else would change their tables.
    """
    queries = {query.target: query for query in plan.queries}
    streams: dict[str, str] = {}
    found: dict[str, str] = {}

    def of_stream(name: str) -> str:
        if name not in streams:
            made = of_query(queries[name]) if name in queries else ""
            streams[name] = _digest(kind, repr(plan.stream(name).schema), made)
        return streams[name]

    def of_query(query: Query) -> str:
        if query.name not in found:
            inputs = [of_stream(one.stream) for one in query.inputs]
            found[query.name] = _digest(repr(query), *inputs)
        return found[query.name]

    for query in plan.queries:
        of_query(query)
    return Identity({**streams, **{one.name: of_stream(one.name) for one in plan.streams}}, found)


def born(plan: Plan, now: Identity, before: Progress) -> dict[str, int]:
    """How many rows each input had when its query began, by `query slot`; no entry is none."""
    made: dict[str, int] = {}
    for query in plan.queries:
        was = before.identity.queries.get(query.name) == now.queries[query.name]
        for slot, source in enumerate(query.inputs):
            stream, key = source.stream, f"{query.name} {slot}"
            if before.identity.streams.get(stream) == now.streams[stream]:
                rows = before.born.get(key, 0) if was else before.last.get(stream, 0)
                made |= {key: rows} if rows else {}
    return made


def _digest(*parts: str) -> str:
    return sha1("\0".join(parts).encode(), usedforsecurity=False).hexdigest()[:16]
