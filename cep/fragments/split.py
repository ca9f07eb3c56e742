"""A plan in two: queries for a database, and the rest for our engine behind it.

What a database cannot run by its nature, binding events above all, is fed with what it has made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from cep.database.dialects import Dialect
from cep.database.explain import program_text
from cep.database.program import build, prepared
from cep.database.windows import is_written
from cep.engine.chunks import Chunks, makes_one
from cep.engine.divided import Divided, divided
from cep.plan.clocks import clocks
from cep.plan.nodes import Operator, Plan
from cep.plan.outlets import streams_read
from cep.plan.query import Query
from cep.plan.steps import Window
from cep.plan.windows import kind_of


def split(plan: Plan, dialect: Dialect, *, lived: bool = False) -> Divided:
    """Gives the database every query that it can run, if rows keep their order by that.

    `lived`: records come as they were lived, so that each key has a clock of its own.
    """
    why = dict(build(prepared(plan, takes_late=True), (), dialect).refused)
    why |= _by_clocks(plan, lived=lived)
    while True:
        found = divided(plan, why, "the database")
        own, rest = found.front.operators, found.rest.operators
        more = {**_between(plan.operators, own, rest), **_together(plan, own, rest)}
        if not more:
            return found
        why = {**found.why, **more}


def _by_clocks(plan: Plan, *, lived: bool) -> dict[str, str]:
    """Queries with windows by time that go by a clock which no database has.

    Its one clock follows every record as it comes, whatever waits for its order.
    """
    timed = [
        query.name
        for query in plan.queries
        if any(one.window is not None and _may_split(one.window) for one in query.inputs)
    ]
    if any(stream.reorder is not None for stream in plan.streams):
        return dict.fromkeys(timed, "rows that wait for their order move its clock later")
    if not lived:
        return {}
    of_plan, found = clocks(plan), {}
    everything = frozenset(stream.name for stream in plan.sources)
    for name in timed:
        clock = of_plan["query", name]
        if clock.is_by_key:
            found[name] = "its windows have a clock per key, and a database has one of all"
        elif clock.sources != everything:
            follows = ", ".join(sorted(clock.sources))
            found[name] = f"its clock follows {follows} alone, and a database's every record"
    return found


def _may_split(window: Window) -> bool:
    """Whether a window that databases run may have a clock per group."""
    return is_written(window) and kind_of(window).clock == "groups"


def _between(
    operators: Sequence[Operator], own: Sequence[Operator], rest: Sequence[Operator]
) -> dict[str, str]:
    """Queries that stand between readers of a stream to which its rows go together."""
    places = {one.name: place for place, one in enumerate(operators)}
    readers: defaultdict[str, list[int]] = defaultdict(list)
    for one in rest:
        for stream in streams_read(one):
            readers[stream].append(places[one.name])
    leading = set(readers)
    for one in reversed(own):
        if isinstance(one, Query) and one.target in leading:
            leading |= set(streams_read(one))
    return {
        one.name: f"it stands between others that read {stream}, whose events come in turn"
        for one in own
        for stream in streams_read(one)
        if isinstance(one, Query)
        and one.target in leading
        and stream in readers
        and min(readers[stream]) < places[one.name] < max(readers[stream])
    }


def _together(plan: Plan, own: Sequence[Operator], rest: Sequence[Operator]) -> dict[str, str]:
    """Queries whose chunks come to our engine row by row, where that could be told."""
    behind = Chunks(replace(plan, operators=tuple(rest)))
    chunked: set[str | None] = set()
    found: dict[str, str] = {}
    for one in own:
        if isinstance(one, Query) and not (
            makes_one(one) and chunked.isdisjoint(streams_read(one))
        ):
            chunked.add(one.target)
            if why := behind.why_together(one):
                found[one.name] = why
    return found


def how_it_runs(plan: Plan, dialect: Dialect, sql: bool = False) -> str:
    """What the database runs and how, and what our engine does behind it and why."""
    found = split(plan, dialect)
    wanted = prepared(found.front, takes_late=True)
    program = build(wanted, found.front.made, dialect)
    lines = [f"on {dialect.name}:", *(f"  {line}" for line in program_text(program, sql))]
    lines += ["on our engine:" if found.why else "on our engine: nothing"]
    lines += [f"  {name}: {why}" for name, why in found.why.items()]
    lived = split(plan, dialect, lived=True).why
    more = [f"  {name}: {why}" for name, why in lived.items() if name not in found.why]
    return "\n".join([*lines, *(["in the daemon also on our engine:"] if more else ()), *more])
