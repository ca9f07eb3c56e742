"""A plan in two: queries for a database, and the rest for our engine behind it.

What a database cannot run by its nature, binding events above all, is fed with what it has made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from cep.database.dialects import Dialect
from cep.database.explain import program_text
from cep.database.program import build, prepared
from cep.database.windows import is_written
from cep.engine.chunks import Chunks, makes_one
from cep.engine.placement import written
from cep.plan.clocks import clocks, followed_sources
from cep.plan.keys import NOWHERE, fed_from_outside, key_attributes
from cep.plan.nodes import Elsewhere, Event, Operator, Origin, Plan, Stream
from cep.plan.query import Query
from cep.plan.steps import Window
from cep.plan.windows import kind_of


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """A plan in two: what the database runs, and what our engine does; `why` by operator."""

    database: Plan
    native: Plan
    why: Mapping[str, str]

    @property
    def passed(self) -> frozenset[str]:
        """The streams that the database makes and our engine reads."""
        made = {query.target for query in self.database.queries if query.target is not None}
        return frozenset(made.intersection(*[_read_all(self.native.operators)]))


def split(plan: Plan, dialect: Dialect, *, lived: bool = False) -> SplitPlan:
    """Gives the database every query that it can run, if rows keep their order by that.

    `lived`: records come as they were lived, so that each key has a clock of its own.
    """
    refused = dict(build(prepared(plan, takes_late=True), (), dialect).refused)
    refused |= _by_clocks(plan, lived=lived)
    while True:
        own = [one for one in plan.operators if one.name not in refused]
        rest = [one for one in plan.operators if one.name in refused]
        more = {
            **_fed_by(own, rest),
            **_between(plan.operators, own, rest),
            **_together(plan, own, rest),
        }
        if not more:
            break
        refused |= more
    made = {one.target for one in own if isinstance(one, Query) and one.target is not None}
    front = tuple(s for s in plan.streams if s.origin is Origin.SOURCE or s.name in made)
    return SplitPlan(
        replace(plan, streams=front, operators=tuple(own)),
        replace(plan, streams=_fed(plan, made), operators=tuple(rest)),
        refused,
    )


def _fed(plan: Plan, made: Collection[str]) -> tuple[Stream, ...]:
    """The streams of our engine's half; what the database makes keeps the clocks of its records."""
    held, followed = key_attributes(plan), followed_sources(plan)
    return tuple(
        replace(one, elsewhere=Elsewhere(followed[one.name], held.get(one.name, NOWHERE)))
        if one.name in made
        else one
        for one in fed_from_outside(plan, made)
    )


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


def _read_all(operators: Sequence[Operator]) -> set[str]:
    return {stream for one in operators for stream in read_by(one)}


def read_by(operator: Operator) -> list[str]:
    """The streams that an operator reads."""
    if isinstance(operator, Event):
        return [operator.source]
    return [one.stream for one in operator.inputs] if isinstance(operator, Query) else []


def _fed_by(own: Sequence[Operator], rest: Sequence[Operator]) -> dict[str, str]:
    """Queries that read what our engine makes."""
    made = {name for one in rest for name in written(one)}
    return {
        one.name: f"it reads {stream}, which the database does not make"
        for one in own
        for stream in read_by(one)
        if stream in made
    }


def _between(
    operators: Sequence[Operator], own: Sequence[Operator], rest: Sequence[Operator]
) -> dict[str, str]:
    """Queries that stand between readers of a stream to which its rows go together."""
    places = {one.name: place for place, one in enumerate(operators)}
    readers: defaultdict[str, list[int]] = defaultdict(list)
    for one in rest:
        for stream in read_by(one):
            readers[stream].append(places[one.name])
    leading = set(readers)
    for one in reversed(own):
        if isinstance(one, Query) and one.target in leading:
            leading |= set(read_by(one))
    return {
        one.name: f"it stands between others that read {stream}, whose events come in turn"
        for one in own
        for stream in read_by(one)
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
        if isinstance(one, Query) and not (makes_one(one) and chunked.isdisjoint(read_by(one))):
            chunked.add(one.target)
            if why := behind.why_together(one):
                found[one.name] = why
    return found


def feeding(found: SplitPlan, operators: Sequence[Operator]) -> dict[str, int]:
    """In which order one record's rows are fed to our engine: when its first reader is told."""
    readers: defaultdict[str, list[Operator]] = defaultdict(list)
    for one in operators:
        for stream in dict.fromkeys(read_by(one)):
            readers[stream].append(one)
    fed: dict[str, int] = {}

    def follow(stream: str) -> None:
        for one in readers[stream]:
            if one.name in found.why:
                fed.setdefault(stream, len(fed))
            elif isinstance(one, Query) and one.target is not None:
                follow(one.target)

    for source in found.database.sources:
        follow(source.name)
    return fed


def how_it_runs(plan: Plan, dialect: Dialect, sql: bool = False) -> str:
    """What the database runs and how, and what our engine does behind it and why."""
    found = split(plan, dialect)
    wanted = prepared(found.database, takes_late=True)
    program = build(wanted, found.database.made, dialect)
    lines = [f"on {dialect.name}:", *(f"  {line}" for line in program_text(program, sql))]
    lines += ["on our engine:" if found.why else "on our engine: nothing"]
    lines += [f"  {name}: {why}" for name, why in found.why.items()]
    lived = split(plan, dialect, lived=True).why
    more = [f"  {name}: {why}" for name, why in lived.items() if name not in found.why]
    return "\n".join([*lines, *(["in the daemon also on our engine:"] if more else ()), *more])
