"""Where each operator runs: compiled per key, compiled on one clock, interpreted, or behind that.

A query that cannot be compiled is interpreted; the rest of the rules stays compiled. Rows pass the
stages in order, so what lies between two interpreted queries is interpreted, too. What only
follows interpreted queries is compiled again, in a stage of its own.

Order. Within one stage rows go depth first. An interpreted query that reads a source, and one that
reads a stream compiled from the same source, would see rows in another order than the text says
if compiled and interpreted readers of the source alternated: then the former are interpreted, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from cep.plan.nodes import Complex, Event, Operator, Origin, Plan, Signal
from cep.plan.query import Holder, Insert, Query, StreamInput
from cep.plan.separable import Separability

TIMED, KEYED, CROSSING, INTERPRETED, BEHIND = range(5)
"""TIMED is no stage of its own: what the interpreter's timers make before a record comes first."""

WhyNot = Callable[[Query], str | None]
"""Why a query cannot be compiled; None when it can."""


class PlacementError(ValueError):
    """Rules that no order of stages can run; `hint` says what to change."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Placement:
    """Stages by name of operator and of engine, and why interpreted queries are.

    `by` is the plan's separability without what is not compiled per key. With `derived_first` an
    interpreted stage sees what was compiled from a record before the record itself.
    """

    by: Separability
    operators: Mapping[str, int]
    engines: Mapping[str, int]
    reasons: Mapping[str, str]
    derived_first: bool

    @property
    def interpreted(self) -> frozenset[str]:
        """The interpreted queries."""
        return frozenset(self.reasons)


def place(plan: Plan, by: Separability, why_not: WhyNot) -> Placement:
    """Give every operator its stage. PlacementError when interpreted and compiled parts circle."""
    network = _Network(plan)
    reasons = {q.name: why for q in plan.queries if (why := why_not(q)) is not None}
    while found := _further(plan, network, reasons):
        reasons |= found
    stages = _Stages(plan, by, network, reasons)
    operators = {operator.name: stages.operator(operator) for operator in plan.operators}
    engines = {engine.name: stages.engine(engine.name) for engine in plan.engines}
    return Placement(
        _restricted(plan, by, network, operators, engines),
        operators,
        engines,
        reasons,
        any(_roots(plan, network, reasons, s.name).before for s in plan.sources),
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
    if not isinstance(operator, Query):
        return (operator.name,)
    output = operator.output
    is_stream = isinstance(output, Insert) and output.holder is Holder.STREAM
    return (output.target,) if isinstance(output, Insert) and is_stream else ()


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
    """Streams that only the interpreter has: triggers, faults, what was put in order, windows."""
    yield from (s.name for s in plan.streams if s.origin in (Origin.TRIGGER, Origin.FAULT))
    for stream in plan.streams:
        if stream.reorder is not None:
            yield stream.name
            if stream.reorder.late_stream is not None:
                yield stream.reorder.late_stream
    yield from (window.name for window in plan.windows)


def _further(plan: Plan, network: _Network, reasons: Mapping[str, str]) -> dict[str, str]:
    """Queries that must be interpreted because these are."""
    found: dict[str, str] = {}
    if not reasons:
        return found
    after, before = network.behind(reasons), network.before(reasons)
    for name in sorted((after & before) - set(reasons)):
        operator = network.by_name[name]
        if not isinstance(operator, Query):
            raise _circle(plan, network, reasons, name)
        found[name] = "it stands between queries that are not compiled"
    for query in plan.queries:
        if query.partition is not None and query.name in after and query.name not in reasons:
            found[query.name] = "its partition reads what is not compiled"
    chunked = _chunked(plan, network, reasons)
    for query in plan.queries:
        if query.aggregates and query.name not in reasons and chunked.intersection(read(query)):
            found[query.name] = "rows reach it several at a time, and it selects once for all"
    for stream in plan.sources:
        for name in _roots(plan, network, reasons, stream.name).mixed:
            found[name] = f"queries that are not compiled read {stream.name} around it"
    return found


def _circle(plan: Plan, network: _Network, reasons: Mapping[str, str], name: str) -> PlacementError:
    """The error of an event that the interpreter would have to wait for."""
    first = next((q for q in sorted(network.before([name])) if q in reasons), None)
    last = next(q for q in sorted(reasons) if name in network.before([q]))
    source = "a stream only the interpreter has"
    if first is not None:
        source = f"a query that is not compiled ({first}: {reasons[first]})"
    return PlacementError(
        f"{plan.name}: {name} depends on {source} and leads to another that is not compiled "
        f"({last}: {reasons[last]}); rows pass the interpreter once",
        f"write {last} as a query that compiles, or make {name} of compiled queries only; "
        "`replay --backend reference` runs the rules as they are",
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
            if stream not in found and (not _is_single(query) or found.intersection(read(query)))
        }
        if not more:
            return found
        found |= more


def _is_single(query: Query) -> bool:
    """Whether a row that comes alone makes at most one row."""
    if not isinstance(query.input, StreamInput) or query.rate is not None:
        return False
    window = query.input.window
    passes = window is None or window.name in ("time", "length", "externalTime")
    return passes and isinstance(query.output, Insert) and query.output.events == "current"


@dataclass(frozen=True, slots=True)
class _Roots:
    """Compiled readers of a source that lead to interpreted queries, by place among those."""

    before: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()


def _roots(plan: Plan, network: _Network, reasons: Mapping[str, str], source: str) -> _Roots:
    places = {operator.name: place for place, operator in enumerate(plan.operators)}
    direct = [places[q.name] for q in plan.queries if q.name in reasons and source in read(q)]
    if not direct:
        return _Roots()
    needed = network.before(reasons)
    readers = [
        q.name
        for q in plan.queries
        if source in read(q) and q.name in needed and q.name not in reasons
    ]
    before = tuple(name for name in readers if places[name] < min(direct))
    if before and len(before) == len(readers):
        return _Roots(before=before)
    return _Roots(mixed=tuple(name for name in readers if places[name] < max(direct)))


class _Stages:
    """Stages of operators and engines, found once what is interpreted is known."""

    def __init__(
        self, plan: Plan, by: Separability, network: _Network, reasons: Mapping[str, str]
    ) -> None:
        self.by = by
        self.reasons = reasons
        self.after = network.behind(reasons) if reasons or network.outside else set()
        late = [op for op in plan.operators if op.name in self.after]
        self.engines = {op.engine for op in late if isinstance(op, Event | Complex)}
        self.engines |= {c.engine for c in plan.chained if c.complex in self.after}

    def operator(self, operator: Operator) -> int:
        if operator.name in self.reasons:
            return INTERPRETED
        if operator.name in self.after:
            return BEHIND
        if isinstance(operator, Complex) and operator.engine in self.engines:
            return BEHIND
        return KEYED if self.by.is_keyed(operator) else CROSSING

    def engine(self, name: str) -> int:
        if name in self.engines:
            return BEHIND
        return KEYED if self.by.is_engine_keyed(name) else CROSSING


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
