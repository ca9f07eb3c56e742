"""Traces in tests: blocks of generated rows, and what they say fired."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cep.engine.native import Compiled
from cep.plan.nodes import Plan
from cep.trace.run import Tracer
from cep.trace.scope import NO_KEY, Scope, TraceError

Row = dict[str, Any]
SourceRow = tuple[str, int, dict[str, Any]]
FIRED = re.compile(r"^  (\S+): #\d+ .* came: FIRED with (.*)$")
ENTERED = re.compile(r"^      entered \S+ as #(\d+)$")
RULE = re.compile(r"^  (\S+): (.*)$")


def real(plan: Plan, rows: Iterable[SourceRow]) -> list[list[Row]]:
    """What the rules give without a trace, by record."""
    run = Compiled(plan, jit=False).start(mode="sorted")
    return [run.push_row(*row).dicts() for row in rows]


def blocks(
    plan: Plan, key: str, rows: Iterable[SourceRow], names: Sequence[str] = ()
) -> list[list[str]]:
    """The trace, a list of lines for each record; empty where nothing is to be said."""
    tracer = Tracer(plan, Scope(plan, key, names))
    found = []
    for order, (stream, time_msc, row) in enumerate(rows):
        values = [row.get(name) for name in plan.stream(stream).schema.names]
        found.append(tracer.feed(stream, time_msc, values, order))
    return found


def traceable(plan: Plan, keys: Iterable[str] = (NO_KEY, "A", "B")) -> Iterator[str]:
    """The keys for which there is a rule to trace."""
    for key in keys:
        try:
            Scope(plan, key)
        except TraceError:
            continue
        yield key


def fired(lines: Iterable[str]) -> list[tuple[str, list[int]]]:
    """Complex events that a block says were found: name and places in the queue."""
    matches = filter(None, map(FIRED.match, lines))
    return [(m[1], [int(n) for n in re.findall(r"#(\d+)", m[2])]) for m in matches]


def entered(lines: Iterable[str]) -> list[tuple[str, int]]:
    """Simple events that a block says entered the queue: name and place."""
    found, rule = [], ""
    for line in lines:
        if match := RULE.match(line):
            rule = match[1]
        elif match := ENTERED.match(line):
            found.append((rule, int(match[1])))
    return found


def said(lines: Iterable[str], start: str) -> list[tuple[str, str]]:
    """What rules say that begins with `start`: name and the rest."""
    matches = filter(None, map(RULE.match, lines))
    return [(m[1], m[2].removeprefix(start)) for m in matches if m[2].startswith(start)]
