"""What a plan means, as text for people."""

from __future__ import annotations

from collections.abc import Iterable

from cep.plan.arrangements import arrangements, count_arrangements
from cep.plan.nodes import Chained, Complex, Engine, Event, LengthWindow, Plan, Query, Ref, Signal
from cep.plan.separable import separability
from cep.plan.text import (
    aggregate_text,
    duration_text,
    expression_text,
    pattern_text,
    refs_text,
)

ARRANGEMENTS_MAX = 20

Row = tuple[str, ...]


def explain(plan: Plan, arrangements_max: int = ARRANGEMENTS_MAX) -> str:
    """Streams, queries, engines, numbers, arrangement matrices, signals and separability."""
    sections = [
        (f"plan {plan.name}", separability(plan).describe()),
        ("streams", _streams(plan)),
        ("queries", [line for query in plan.queries for line in _query(query)]),
        ("engines", [_engine(engine) for engine in plan.engines]),
        ("numbers", _numbers(plan)),
        ("conditions", _table([_condition(event) for event in plan.events])),
        ("complex events", _complexes(plan, arrangements_max)),
        ("signals", [_signal(signal) for signal in plan.signals]),
    ]
    return "\n\n".join(
        "\n".join([title, *(f"  {line}" for line in lines)]) for title, lines in sections if lines
    )


def _streams(plan: Plan) -> list[str]:
    return _table(
        (
            stream.name,
            stream.origin,
            ", ".join(f"{a.name} {a.type}" for a in stream.schema.attributes),
        )
        for stream in plan.streams
    )


def _query(query: Query) -> list[str]:
    """A query, one clause a line."""
    lines = [f"{query.name}: {query.source} -> {query.target}"]
    lines += [f"  filter {expression_text(condition)}" for condition in query.filters]
    if query.window is not None:
        window = query.window
        size = (
            f"length({window.rows})"
            if isinstance(window, LengthWindow)
            else f"time({duration_text(window.span_ms)})"
        )
        lines.append(f"  window {size}")
    lines += [f"  filter {expression_text(condition)}" for condition in query.window_filters]
    if query.aggregates:
        lines.append("  aggregate " + ", ".join(map(aggregate_text, query.aggregates)))
    if query.group_by:
        lines.append("  group by " + ", ".join(column.name for column in query.group_by))
    lines.append("  select " + ", ".join(_selected(query)))
    if query.having is not None:
        lines.append(f"  having {expression_text(query.having)}")
    return lines


def _selected(query: Query) -> Iterable[str]:
    for name, expression in query.projection:
        text = expression_text(expression, query.aggregates)
        yield name if text == name else f"{text} as {name}"


def _engine(engine: Engine) -> str:
    upstream = f", fed by {', '.join(engine.upstream)}" if engine.upstream else ""
    return (
        f"{engine.name}: queue {duration_text(engine.span_ms)}, at most {engine.events_max:,}"
        f" events, opposites {engine.opposites}, late {engine.late}{upstream}"
    )


def _numbers(plan: Plan) -> list[str]:
    """Every number; on key slot k (0, 1, ..) it is `number + k * stride`."""
    rows: list[Row] = [
        (str(op.number), op.name, op.engine, _kind(op))
        for op in plan.operators
        if isinstance(op, Event | Complex)
    ]
    rows += [(str(c.number), c.complex, c.engine, _kind(c)) for c in plan.chained]
    lines = _table(sorted(rows, key=lambda row: int(row[0])))
    if plan.keys:
        lines.append("keys " + ", ".join(f"{key}: slot {i}" for i, key in enumerate(plan.keys)))
    if lines:
        lines.append(f"each further key adds {plan.number_stride}")
    return lines


def _kind(operator: Event | Complex | Chained) -> str:
    match operator:
        case Event():
            key = f" for each {operator.key.name}" if operator.key else ""
            return f"event{key}, repeat {operator.repeat}"
        case Complex():
            return "complex event" + (f" for each {operator.key}" if operator.key else "")
        case Chained():
            return f"complex event from upstream, repeat {operator.repeat}"


def _condition(event: Event) -> Row:
    raised = "every" if event.every else "when it turns true:"
    opposite = f", opposite {', '.join(event.opposites)}" if event.opposites else ""
    return (event.name, f"{raised} {event.source}[{expression_text(event.condition)}]{opposite}")


def _complexes(plan: Plan, arrangements_max: int) -> list[str]:
    return [
        line for complex_ in plan.complexes for line in _matrix(plan, complex_, arrangements_max)
    ]


def _matrix(plan: Plan, complex_: Complex, arrangements_max: int) -> list[str]:
    """The arrangement matrix: a row an arrangement, the latest event first."""
    pattern = complex_.pattern
    forbid = f", forbid {refs_text(complex_.forbid)}" if complex_.forbid else ""
    head = f"{complex_.name}: {pattern_text(pattern)} within {duration_text(complex_.within_ms)}"
    rows = arrangements(pattern, arrangements_max)
    total = count_arrangements(pattern)
    lines = [
        head + forbid,
        f"  {total} arrangement{'' if total.value == 1 else 's'}, latest event first",
    ]
    numbers = _numbers_in(plan, complex_.engine)
    matrix = [tuple(_keyed(plan, numbers[r.event], r) for r in reversed(row)) for row in rows]
    lines += [f"    {line}" for line in _table(matrix)]
    if total.value > len(rows):
        lines.append(f"    ... {len(rows)} of them shown")
    return lines


def _numbers_in(plan: Plan, engine: str) -> dict[str, int]:
    """The number of each event as one engine sees it."""
    numbers = {event.name: event.number for event in plan.events}
    return numbers | {c.complex: c.number for c in plan.chained if c.engine == engine}


def _keyed(plan: Plan, number: int, ref: Ref) -> str:
    slot = plan.keys.index(ref.key) if ref.key is not None else 0
    return str(number + slot * plan.number_stride)


def _signal(signal: Signal) -> str:
    parts = [f"{signal.name}: {signal.complex} -> {signal.side} {signal.symbol or 'its key'}"]
    if signal.lots is not None:
        parts.append(f"{signal.lots:g} lots")
    if signal.stop_points is not None:
        parts.append(f"stop {signal.stop_points} points")
    if signal.target_points is not None:
        parts.append(f"target {signal.target_points} points")
    if signal.valid_ms is not None:
        parts.append(f"for {duration_text(signal.valid_ms)}")
    return " ".join(parts)


def _table(rows: Iterable[Row]) -> list[str]:
    """Rows with their columns aligned."""
    cells = list(rows)
    widths: dict[int, int] = {}
    for row in cells:
        for column, cell in enumerate(row):
            widths[column] = max(widths.get(column, 0), len(cell))
    return [
        "  ".join(cell.ljust(widths[column]) for column, cell in enumerate(row)).rstrip()
        for row in cells
    ]
