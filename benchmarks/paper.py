"""The test queries of "Event processing on your own database" (2013), listing 1, and their input.

Every stream gets one event a millisecond. The article does not say how values are spread; here they
are whole numbers, uniform in 0..999 (dense) or 0..99,999 (sparse).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from cep.database.batches import Arrivals
from cep.jepc import (
    Aggregator,
    Correlator,
    Filter,
    PatternMatcher,
    PatternSymbol,
    Stream,
    TimeWindow,
    count,
)
from cep.jepc.catalog import Catalog
from cep.jepc.queries import Query

KINDS = ("filter", "aggregation", "correlation", "pattern")
MIXED = "mixed"
DENSE, SPARSE = 1_000, 100_000
START_MSC = 1_600_000_000_000
PUBLISHED = {"filter": 219, "aggregation": 49, "correlation": 18, MIXED: 100}
"""Events a second that the article reports for 80 queries (H2, hard disk, Intel i7)."""

STREAMS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "filter": {"stream": {"a": "int", "b": "int"}},
    "aggregation": {"stream": {"a": "int"}},
    "correlation": {"stream1": {"a": "int"}, "stream2": {"b": "int"}},
    "pattern": {"stream": {"a": "int"}},
    MIXED: {"stream1": {"a": "int", "b": "int"}, "stream2": {"b": "int"}},
}
"""Schemas by kind; in the mixed load all but the correlations read `stream1`."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Query number `number` of `of` queries of one kind; it reads `stream` (and `stream2`)."""

    kind: str
    number: int
    of: int
    stream: str

    @property
    def name(self) -> str:
        return f"{self.kind}{self.number}"

    @property
    def window_ms(self) -> int:
        return 500 + self.of // 2 - self.number

    @property
    def query(self) -> Query:
        """The query as an object of the interface."""
        return _QUERIES[self.kind](self)


def _filter(rule: Rule) -> Query:
    return Filter(Stream(rule.stream), f"a - b == {rule.number}")


def _aggregation(rule: Rule) -> Query:
    over = Stream(rule.stream).window(TimeWindow(rule.window_ms))
    return Aggregator(over, {"n": count()})


def _correlation(rule: Rule) -> Query:
    window = TimeWindow(rule.window_ms)
    left = Stream(rule.stream).window(window).named("l")
    right = Stream("stream2").window(window).named("r")
    return Correlator([left, right], f"l.a - r.b == {rule.number + 1}")


def _pattern(rule: Rule) -> Query:
    return PatternMatcher(
        Stream(rule.stream),
        "x y u",
        rule.window_ms,
        symbols={
            "x": PatternSymbol("true", {"z1": "a"}),
            "y": PatternSymbol(f"a - z1 == {rule.number}", {"z2": "a"}),
            "u": PatternSymbol(f"a - z2 == {rule.number}", {"z3": "a"}),
        },
        variables={"z1": "int", "z2": "int", "z3": "int"},
        output=["z1", "z2", "z3"],
    )


_QUERIES = {"filter": _filter, "aggregation": _aggregation, "correlation": _correlation,
            "pattern": _pattern}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Load:
    """So many queries of a kind, and values below `values`. Mixed: a quarter of each kind."""

    kind: str
    queries: int
    values: int = DENSE

    @property
    def schemas(self) -> Mapping[str, Mapping[str, str]]:
        return STREAMS[self.kind]

    @property
    def rules(self) -> list[Rule]:
        """The queries, numbered from 1 in each kind."""
        kinds = KINDS if self.kind == MIXED else (self.kind,)
        of, stream = self.queries // len(kinds), next(iter(self.schemas))
        return [Rule(kind, number + 1, of, stream) for kind in kinds for number in range(of)]

    def catalog(self) -> Catalog:
        """The streams and queries, registered."""
        made = Catalog()
        for name, schema in self.schemas.items():
            made.register(name, schema)
        for rule in self.rules:
            made.create(rule.name, rule.query)
        return made

    def events(self, start: int, count_: int) -> list[Arrivals]:
        """Events number `start` to `start + count_` of all streams, which take turns.

        The same events again for the same start and count.
        """
        random = np.random.default_rng((start, count_, self.values))
        places = np.arange(count_)
        turns = (start + places) % len(self.schemas)
        times = START_MSC + (start + places) // len(self.schemas)
        made = []
        for turn, (stream, schema) in enumerate(self.schemas.items()):
            own = places[turns == turn]
            columns = tuple(random.integers(0, self.values, len(own)) for _ in schema)
            made.append(Arrivals(stream, own, times[own], columns))
        return [one for one in made if len(one.places)]

    def batches(self, start: int, count_: int, size: int) -> Iterator[list[Arrivals]]:
        """The events in batches, the places of each from 0."""
        whole = self.events(start, count_)
        for first in range(0, count_, size):
            cut = [one.between(first, first + size) for one in whole]
            yield [
                Arrivals(one.stream, one.places - first, one.times, one.columns)
                for one in cut
                if len(one.places)
            ]
