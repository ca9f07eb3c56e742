"""Where each operator runs: compiled per key, compiled on one clock, interpreted, or behind that.

A query that cannot be compiled is interpreted; the rest of the rules stays compiled. Rows pass the
stages in order, so what lies between two interpreted queries is interpreted, too. What only
follows interpreted queries is compiled again, in a stage of its own.

Order. Rows go depth first, in the order of the file, whatever the stages: each stage hands a row to
a later one where the later one's operator stands among the row's readers (`Turn`). Chunks go on row
by row in what is compiled; where that could be told, the query that makes them is interpreted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, replace

from cep.engine.chunks import Chunks, makes_one
from cep.plan.nodes import Complex, Event, Operator, Origin, Plan, Signal
from cep.plan.outlets import streams_filled
from cep.plan.query import Query, StreamInput
from cep.plan.separable import Separability

TIMED, KEYED, CROSSING, INTERPRETED, BEHIND = range(5)
"""TIMED is no stage of its own: what the interpreter's timers make before a record comes first."""

WhyNot = Callable[[Query], str | None]
"""Why a query cannot be compiled; None when it can."""


class PlacementError(ValueError):
    """Rules that no order of stages can run: one program does, or the interpreter."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Stages by name of operator and of engine, and why interpreted queries are.

    `by` is the plan's separability without what is not compiled per key.
    """

    by: Separability
    operators: Mapping[str, int]
    engines: Mapping[str, int]
    reasons: Mapping[str, str]

    @property
    def interpreted(self) -> frozenset[str]:
        """The interpreted queries."""
        return frozenset(self.reasons)


def place(
    plan: Plan, by: Separability, why_not: WhyNot, chunks: Chunks, *, apart: bool = False
) -> Placement:
    """Give every operator its stage. PlacementError when interpreted and compiled parts circle.

    With `apart` what crosses keys has a stage of its own behind what does not.
    """
    network = _Network(plan)
    reasons = {q.name: why for q in plan.queries if (why := why_not(q)) is not None}
    while found := _further(plan, network, reasons, chunks):
        reasons |= found
    moved: set[str] = set()
    stages = _Stages(plan, by, network, reasons, apart)
    while (engine := _torn(plan, network, stages, reasons, chunks)) is not None:
        moved.add(engine)
        stages = _Stages(plan, by, network, reasons, apart, moved)
    operators = {operator.name: stages.operator(operator) for operator in plan.operators}
    engines = {engine.name: stages.engine(engine.name) for engine in plan.engines}
    return Placement(
        _restricted(plan, by, network, operators, engines),
        operators,
        engines,
        reasons,
    )


class _Network:
    """What writes each stream, what each operator reads, and what that leads to."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.by_name = {operator.name: operator for operator in plan.operators}
        self.writers: dict[str, list[Operator]] = {}
        for operator in plan.operators:
            for stream in written(operator):
                self.writers.setdefault(stream, []).append(operator)
        self.outside = frozenset(_made_by_interpreter(plan))
        self.upstream = {op.name: tuple(self._upstream(op)) for op in plan.operators}

    def _upstream(self, operator: Operator) -> Iterable[str]:
        """Names of the operators whose rows or events this one takes."""
        match operator:
            case Complex():
                engines = {operator.engine}
                yield from (event.name for event in self.plan.events if event.engine in engines)
                chained = (c for c in self.plan.chained if c.engine == operator.engine)
                yield from (one.complex for one in chained)
            case Signal():
                yield operator.complex
            case _:
                for stream in read(operator):
                    for writer in self.writers.get(stream, ()):
                        yield from self._sources(writer)

    def _sources(self, writer: Operator) -> Iterable[str]:
        """An event's rows arise in its engine, where all its events meet."""
        if not isinstance(writer, Event):
            return (writer.name,)
        return (event.name for event in self.plan.events if event.engine == writer.engine)

    def behind(self, names: Iterable[str]) -> set[str]:
        """All operators that depend on one of these, or on a stream the interpreter makes."""
        found: set[str] = set(names)
        found |= {op.name for op in self.plan.operators if self.outside.intersection(read(op))}
        while True:
            more = {
                name
                for name, upstream in self.upstream.items()
                if name not in found and found.intersection(upstream)
            }
            if not more:
                return found
            found |= more

    def before(self, names: Iterable[str]) -> set[str]:
        """All operators that one of these depends on, themselves included."""
        pending, found = list(names), set[str]()
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += self.upstream[name]
        return found


def written(operator: Operator) -> tuple[str, ...]:
    """The streams an operator puts rows on."""
    return streams_filled(operator) if isinstance(operator, Query) else (operator.name,)


def read(operator: Operator) -> tuple[str, ...]:
    """The streams an operator reads rows from."""
    match operator:
        case Query():
            return tuple(one.stream for one in operator.inputs)
        case Event():
            return (operator.source,)
        case _:
            return ()


def _made_by_interpreter(plan: Plan) -> Iterable[str]:
    """Streams that only the interpreter has: triggers, faults, windows, sources put in order."""
    yield from (s.name for s in plan.streams if s.origin in (Origin.TRIGGER, Origin.FAULT))
    if any(stream.reorder is not None for stream in plan.streams):
        # rows that wait make others late, and move clocks, when they go on: the interpreter knows
        yield from (stream.name for stream in plan.sources)
        late = (s.reorder.late_stream for s in plan.streams if s.reorder is not None)
        yield from (name for name in late if name is not None)
    yield from (window.name for window in plan.windows)


def _further(
    plan: Plan, network: _Network, reasons: Mapping[str, str], chunks: Chunks
) -> dict[str, str]:
    """Queries that must be interpreted because these are."""
    found: dict[str, str] = {}
    chunked = _chunked(plan, network, reasons)
    if not reasons and not chunked:
        return found
    after, before = network.behind(reasons), network.before(reasons)
    for name in sorted((after & before) - set(reasons)):
        operator = network.by_name[name]
        if not isinstance(operator, Query):
            raise _circle(plan, network, reasons, name)
        found[name] = "it stands between queries that are not compiled"
    found |= _half_compiled(plan, after, reasons)
    for query in plan.queries:
        if query.name not in reasons and (why := _breaks(query, chunked, chunks)):
            found.setdefault(query.name, why)
    return found


def _breaks(query: Query, chunked: set[str], chunks: Chunks) -> str | None:
    """Why a query cannot take rows one by one that come several at once; None when it can."""
    if not chunked.intersection(read(query)):
        return None
    if query.aggregates:
        return "rows reach it several at a time, and it selects once for all"
    if not isinstance(query.input, StreamInput):
        return "rows reach it several at a time, and what it makes of them goes on together"
    return chunks.why_together(query)


def _half_compiled(plan: Plan, after: Set[str], reasons: Mapping[str, str]) -> dict[str, str]:
    """Queries of a partition of which others are interpreted, or behind that.

    The halves would not know each other's keys, which rows without one of their own reach.
    """
    halves = {q.partition for q in plan.queries if q.partition and q.name in {*after, *reasons}}
    return {
        query.name: "its partition is not compiled as a whole"
        for query in plan.queries
        if query.partition in halves and query.name not in reasons
    }


def _circle(plan: Plan, network: _Network, reasons: Mapping[str, str], name: str) -> PlacementError:
    """The error of an event that the interpreter would have to wait for."""
    first = next((q for q in sorted(network.before([name])) if q in reasons), None)
    last = next(q for q in sorted(reasons) if name in network.before([q]))
    source = "a stream only the interpreter has"
    if waiting := next((s.name for s in plan.sources if s.reorder is not None), None):
        source = f"records that pass the interpreter, as rows of {waiting} wait for their order,"
    if first is not None:
        source = f"a query that is not compiled ({first}: {reasons[first]})"
    return PlacementError(
        f"{plan.name}: {name} depends on {source} and leads to another that is not compiled "
        f"({last}: {reasons[last]}); rows pass the interpreter once"
    )


def _chunked(plan: Plan, network: _Network, reasons: Mapping[str, str]) -> set[str]:
    """Streams on which the interpreter may put several rows at once, as one chunk."""
    found = {stream for stream in network.outside if stream.startswith("!")}
    found |= {window.name for window in plan.windows}
    while True:
        more = {
            stream
            for query in plan.queries
            if query.name in reasons
            for stream in written(query)
            if stream not in found and (not makes_one(query) or found.intersection(read(query)))
        }
        if not more:
            return found
        found |= more


def torn(plan: Plan, engines: Mapping[str, int], chunks: Chunks) -> Iterable[tuple[str, str, str]]:
    """Engines of different stages whose finds meet, and where: in one stage both hand over in turn.

    Only the first of them, which is in an earlier stage and leads to the other, can be moved.
    """
    for one in plan.engines:
        for other in plan.engines:
            if engines[one.name] < engines[other.name]:
                met = chunks.meeting(one.name, other.name)
                if met is not None:
                    yield one.name, other.name, met


def _torn(
    plan: Plan, network: _Network, stages: _Stages, reasons: Mapping[str, str], chunks: Chunks
) -> str | None:
    """An engine that has to be behind the interpreter, as one that it leads to is."""
    engines = {engine.name: stages.engine(engine.name) for engine in plan.engines}
    for one, other, met in torn(plan, engines, chunks):
        if engines[other] < BEHIND:
            continue
        events = {event.name for event in plan.events if event.engine == one}
        last = next((name for name in sorted(reasons) if events & network.before([name])), None)
        if last is not None:
            raise PlacementError(
                f"{plan.name}: engine {one} leads to {other} and both to {met}, but {last} stands "
                f"between them, which is not compiled ({reasons[last]})"
            )
        return one
    return None


class _Stages:
    """Stages of operators and engines, found once what is interpreted is known."""

    def __init__(
        self,
        plan: Plan,
        by: Separability,
        network: _Network,
        reasons: Mapping[str, str],
        apart: bool,
        moved: Iterable[str] = (),
    ) -> None:
        """`moved` are engines behind the interpreter that could be in front of it."""
        self.by = by
        self.apart = apart
        self.reasons = reasons
        self.after = network.behind(reasons) if reasons or network.outside else set()
        for engine in moved:
            events = {event.name for event in plan.events if event.engine == engine}
            self.after |= network.behind(events) - events
        late = [op for op in plan.operators if op.name in self.after]
        self.engines = set(moved) | {op.engine for op in late if isinstance(op, Event | Complex)}
        self.engines |= {c.engine for c in plan.chained if c.complex in self.after}

    def operator(self, operator: Operator) -> int:
        if operator.name in self.reasons:
            return INTERPRETED
        if operator.name in self.after:
            return BEHIND
        if isinstance(operator, Complex) and operator.engine in self.engines:
            return BEHIND
        return KEYED if not self.apart or self.by.is_keyed(operator) else CROSSING

    def engine(self, name: str) -> int:
        if name in self.engines:
            return BEHIND
        return KEYED if not self.apart or self.by.is_engine_keyed(name) else CROSSING


def _restricted(
    plan: Plan,
    by: Separability,
    network: _Network,
    operators: Mapping[str, int],
    engines: Mapping[str, int],
) -> Separability:
    """What is still keyed when everything from the interpreter on has one clock."""
    late = {name for name, stage in operators.items() if stage > CROSSING}
    crossing = set(network.outside)
    for operator in plan.operators:
        engine = operator.engine if isinstance(operator, Event) else None
        if operator.name in late or (engine is not None and engines[engine] > CROSSING):
            crossing.update(written(operator))
    return replace(
        by,
        engines=frozenset(name for name in by.engines if engines[name] <= CROSSING),
        operators=by.operators - late,
        key_columns={s: c for s, c in by.key_columns.items() if s not in crossing},
    )
