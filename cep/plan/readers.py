"""Who reads a stream: directly, with the line it stands on, and by way of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cep.lang import parse
from cep.lang.errors import Source
from cep.plan.change import read_by, written_by
from cep.plan.kinds import kinds_of
from cep.plan.nodes import Plan
from cep.plan.positions import MAGIC, expanded
from cep.plan.problems import Problems
from cep.plan.queries import queries_of, query_names

SETTINGS = ("engine", "partition", "table")
"""What an operator depends on without getting rows of it."""


class Readers(NamedTuple):
    """`direct`: those that read a stream, with their lines; `after`: what follows from them."""

    direct: dict[str, int]
    after: tuple[str, ...]


def readers(plan: Plan, stream: str) -> Readers:
    """Who reads a stream of a plan that was made of a text."""
    direct = [name for name, read, _ in _flow(plan) if stream in read]
    reached = {stream, *direct}
    before = 0
    while before < len(reached):
        before = len(reached)
        for name, read, written in _flow(plan):
            if not reached.isdisjoint(read):
                reached |= {name, *written}
    known = [*plan.derived, *(one.name for one in plan.aggregations)]
    after = sorted(name for name in known if name in reached and name not in direct)
    lines = lines_of(plan)
    return Readers({name: lines.get(name.partition(".")[0], 1) for name in direct}, tuple(after))


def is_read(plan: Plan, stream: str) -> bool:
    """Whether anything in a plan gets rows of a stream."""
    return any(stream in read for _, read, _ in _flow(plan))


def _flow(plan: Plan) -> Iterable[tuple[str, set[str], set[str]]]:
    """Each operator and aggregation: its name, what it gets rows of, what it puts rows into."""
    for operator in plan.operators:
        parts = [part for part in read_by(plan, operator) if part[0] not in SETTINGS]
        read = {name.partition("@")[0] for _, name in parts}
        yield operator.name, read, {name for _, name in written_by(plan, operator)}
    for aggregation in plan.aggregations:
        yield aggregation.name, {aggregation.input.stream}, set()


def lines_of(plan: Plan) -> dict[str, int]:
    """The line of each definition and query, by name."""
    problems = Problems(Source(plan.text))
    script = expanded(problems, parse(plan.text), MAGIC)
    names = query_names(problems, script)
    found = {name: kind.start for name, kind in kinds_of(script).items()}
    found |= {names.of(query): query.span.start for query in queries_of(script)}
    return {name: problems.source.line_column(start)[0] for name, start in found.items()}
