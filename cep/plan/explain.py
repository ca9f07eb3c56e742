"""What a plan means, as text for people."""

from __future__ import annotations

from collections.abc import Iterable

from cep.plan.arrangements import arrangements, count_arrangements
from cep.plan.clocks import clocks
from cep.plan.explain_queries import (
    aggregation_lines,
    partition_line,
    query_clauses,
    query_lines,
    window_text,
)
from cep.plan.expressions import Constant, Expression
from cep.plan.nodes import (
    Chained,
    Complex,
    Engine,
    Event,
    NamedWindow,
    Plan,
    Ref,
    Signal,
    Stream,
    Table,
    Trigger,
)
from cep.plan.own import own_lines
from cep.plan.query import Query
from cep.plan.remembered import remembered
from cep.plan.rewrite.sharing import sharing
from cep.plan.separable import separability
from cep.plan.surprises import surprises
from cep.plan.text import (
    duration_text,
    expression_text,
    pattern_text,
    refs_text,
)
from cep.plan.types import Schema, Type

__all__ = ["explain", "query_clauses"]

ARRANGEMENTS_MAX = 20
NOTHING = Constant(None, Type.DOUBLE)
SAID = {
    "lots": "{} lots",
    "risk_percent": "risk {} percent",
    "order": "at {}",
    "price": "{}",
    "stop_points": "stop {} points",
    "stop": "stop at {}",
    "stop_distance": "stop by {}",
    "target_points": "target {} points",
    "target": "target at {}",
    "target_distance": "target by {}",
    "valid_ms": "for {}",
}
"""How a signal says what it says, in order."""

Row = tuple[str, ...]


def explain(plan: Plan, arrangements_max: int = ARRANGEMENTS_MAX) -> str:
    """Streams, queries, memory, engines, numbers, arrangement matrices, signals, separability."""
    sections = [
        (f"plan {plan.name}", separability(plan).describe()),
        ("parameters", [one.text for one in plan.parameters]),
        ("streams", _streams(plan)),
        ("tables", [_table_line(table) for table in plan.tables]),
        ("windows", [_named_window(window) for window in plan.windows]),
        ("triggers", [_trigger(trigger) for trigger in plan.triggers]),
        ("aggregations", [line for one in plan.aggregations for line in aggregation_lines(one)]),
        ("partitions", [partition_line(partition) for partition in plan.partitions]),
        ("queries", [line for query in _own_queries(plan) for line in query_lines(query)]),
        ("functions of your own", own_lines(plan)),
        ("clocks", _clocks(plan)),
        ("memory", remembered(plan).describe([one.name for one in plan.signals])),
        ("shared", _shared(plan)),
        ("engines", [_engine(engine) for engine in plan.engines]),
        ("numbers", _numbers(plan)),
        ("conditions", _table([_condition(event) for event in plan.events])),
        ("complex events", _complexes(plan, arrangements_max)),
        ("signals", _signals(plan)),
        ("notes", [f"{one.name}: {one.what}; {one.remedy}" for one in surprises(plan)]),
    ]
    return "\n\n".join(
        "\n".join([title, *(f"  {line}" for line in lines)]) for title, lines in sections if lines
    )


def _own_queries(plan: Plan) -> list[Query]:
    """Those that are written as such."""
    signals = {signal.name for signal in plan.signals}
    return [query for query in plan.queries if query.name not in signals]


def _clocks(plan: Plan) -> list[str]:
    """Keys of the sources, and which clock what works by time goes by."""
    keys = [f"key of {one.name}: {one.key}" for one in plan.sources if one.key is not None]
    shown = {("query", query.name) for query in _own_queries(plan)}
    shown |= {("event", event.name) for event in plan.events}
    of = {part: found for part, found in clocks(plan).items() if part in shown}
    lines: dict[str, list[str]] = {}
    for found in sorted(of.values(), key=lambda one: not one.is_by_key):
        title = "per key" if found.is_by_key else "one for all"
        names = [name for (_, name), other in of.items() if other == found]
        lines[f"{title}, by {', '.join(sorted(found.sources))}"] = names
    return [*keys, *(f"{title}: {', '.join(names)}" for title, names in lines.items())]


def _streams(plan: Plan) -> list[str]:
    lines = _table(
        (
            stream.name,
            stream.origin,
            _columns(stream.schema),
        )
        for stream in plan.streams
    )
    return lines + [note for stream in plan.streams for note in _stream_notes(stream)]


def _stream_notes(stream: Stream) -> list[str]:
    """What happens to rows that come late or make a reader fail."""
    notes: list[str] = []
    if stream.reorder is not None:
        late = stream.reorder.late_stream
        rest = f"go to {late}" if late else "are dropped"
        delay = duration_text(stream.reorder.max_delay_ms)
        notes.append(f"{stream.name}: put in order within {delay}; later rows {rest}")
    if stream.on_error == "stream":
        notes.append(f"{stream.name}: rows that make a reader fail go to !{stream.name}")
    return notes


def _columns(schema: Schema) -> str:
    return ", ".join(f"{attribute.name} {attribute.type}" for attribute in schema.attributes)


def _table_line(table: Table) -> str:
    names = table.schema.names
    key = ", ".join(names[position] for position in table.primary_key)
    index = ", ".join(names[position] for position in table.indexes)
    notes = [f"key {key}"] if key else []
    notes += [f"index {index}"] if index else []
    return "  ".join([table.name, _columns(table.schema), "; ".join(notes)]).rstrip()


def _named_window(window: NamedWindow) -> str:
    text = f"{window.name}  {window_text(window.window)}  {_columns(window.schema)}"
    return text if window.output == "all" else f"{text}  {window.output} rows"


def _trigger(trigger: Trigger) -> str:
    if trigger.every_ms is not None:
        return f"{trigger.name}: every {duration_text(trigger.every_ms)}"
    return f"{trigger.name}: at '{trigger.cron}'" if trigger.cron else f"{trigger.name}: at start"


def _shared(plan: Plan) -> list[str]:
    """What queries have in common, and what is therefore done once."""
    found = sharing(plan)
    lines = [
        f"window {window_text(one.window)} of {one.stream}: {', '.join(one.queries)}"
        for one in found.windows
    ]
    windows = {one.queries for one in found.windows}
    lines += [
        f"conditions on {one.stream}: {', '.join(one.queries)}"
        for one in found.filters
        if one.queries not in windows
    ]
    lines += [
        f"first {_states(len(one.states))} of a {one.kind}: {', '.join(one.queries)}"
        for one in found.prefixes
    ]
    lines += [
        f"index over {one.stream}.{one.column.name} {one.op} ..: {len(one.tests)} queries"
        for one in found.thresholds
    ]
    return lines


def _states(count: int) -> str:
    return "state" if count == 1 else f"{count} states"


def _engine(engine: Engine) -> str:
    upstream = f", fed by {', '.join(engine.upstream)}" if engine.upstream else ""
    return (
        f"{engine.name}: queue {duration_text(engine.span_ms)}, at most {engine.events_max:,}"
        f" of each event and key, opposites {engine.opposites}, late {engine.late}{upstream}"
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


def _signals(plan: Plan) -> list[str]:
    queries = {query.name: query for query in plan.queries}
    return [_signal(signal, queries[signal.name]) for signal in plan.signals]


def _signal(signal: Signal, query: Query) -> str:
    """A signal as it is written; that a level is a price or a distance is always said."""
    says, where = (
        dict(query.projection),
        "".join(f"[{expression_text(condition)}]" for condition in query.stream_input.filters),
    )
    parts = [f"{signal.name}: {signal.source}{where} -> {signal.side}"]
    parts.append(signal.symbol or f"its {expression_text(says['symbol'])}")
    for name, form in SAID.items():
        text = _said(name, says.get(name, NOTHING))
        parts += [form.format(text)] * bool(text)
    return " ".join(parts)


def _said(name: str, value: Expression) -> str:
    """A value of a signal; empty where it is not said."""
    if not isinstance(value, Constant):
        return expression_text(value)
    match value.value:
        case None:
            return ""
        case int() if name == "valid_ms":
            return duration_text(value.value)
        case float():
            return f"{value.value:g}"
    return str(value.value)


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
