"""Queries, aggregations and partitions as text for people, a clause a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cep.plan.expressions import Constant, Expression
from cep.plan.nodes import Aggregation, Partition, ValueKey
from cep.plan.query import (
    AbsentState,
    Correlation,
    CountState,
    EveryState,
    GroupState,
    Input,
    Join,
    LogicalState,
    Match,
    Matching,
    MatchState,
    NextState,
    Query,
    StreamInput,
    StreamState,
)
from cep.plan.regex import regex_text
from cep.plan.steps import (
    Delete,
    Filter,
    GroupBy,
    Handler,
    Insert,
    Last,
    Order,
    Output,
    Project,
    Rate,
    Return,
    Slice,
    Sort,
    Step,
    Update,
    Window,
)
from cep.plan.text import Speech, duration_text, expression_text
from cep.plan.windows import kind_of


def query_lines(query: Query) -> list[str]:
    """A query: what it reads and fills, then its clauses."""
    sources = " & ".join(dict.fromkeys(one.stream for one in query.inputs))
    place = f" in {query.partition}" if query.partition else ""
    head = f"{query.name}{place}: {sources} -> {query.target or 'callbacks'}"
    return [head, *(f"  {clause}" for clause in query_clauses(query))]


def query_clauses(query: Query) -> list[str]:
    """The clauses of a query, in the order in which they work."""
    speech = speech_of(query)
    lines = _input(query.input, speech)
    for step in query.steps:
        lines += _step(step, query, speech)
    return lines + _output(query.output, query)


def _step(step: Step, query: Query, speech: Speech) -> Iterator[str]:
    match step:
        case GroupBy():
            if step.aggregates:
                yield "aggregate " + ", ".join(map(speech.aggregate, step.aggregates))
            if step.columns:
                yield "group by " + speech.listed(step.columns)
        case Project():
            yield "select " + ", ".join(_selected(step.columns, speech))
        case Filter():
            yield f"having {speech.text(step.condition)}"
        case Last():
            yield "of each chunk the last row" + (" of each group" if step.by_group else "")
        case Sort():
            keys = (_sort_key(key, query, speech) for key in step.keys)
            yield "order by " + ", ".join(keys)
        case Slice():
            if step.limit is not None:
                yield f"limit {step.limit}"
            if step.offset:
                yield f"offset {step.offset}"
        case Rate():
            yield _rate(step)


def _sort_key(key: Order, query: Query, speech: Speech) -> str:
    if key.value is None:
        name, _ = query.projection[key.position]
    else:
        name = speech.text(key.value)
    return name + (" desc" if key.descending else "")


def speech_of(query: Query) -> Speech:
    """How expressions of a query are written."""
    match query.input:
        case StreamInput():
            return Speech(query.aggregates)
        case Join():
            names = tuple(one.stream for one in query.inputs)
            if names[0] == names[1]:
                names = (f"left {names[0]}", f"right {names[1]}")
            return Speech(query.aggregates, names)
        case Correlation():
            return Speech(query.aggregates, tuple(one.stream for one in query.inputs))
        case Matching() as matching:
            return Speech(query.aggregates, (matching.input.stream, "variable"))
        case Match():
            names = tuple(state.reference for state in query.input.states)
            return Speech(query.aggregates, names, counted=query.input.counted)


def _selected(projection: tuple[tuple[str, Expression], ...], speech: Speech) -> Iterator[str]:
    for name, expression in projection:
        text = speech.text(expression)
        yield name if text == name else f"{text} as {name}"


def _input(source: Input, speech: Speech) -> list[str]:
    match source:
        case StreamInput():
            return _stream_lines(source, speech)
        case Join():
            return _join_lines(source, speech)
        case Correlation():
            return _correlation_lines(source, speech)
        case Matching():
            return _matching_lines(source, speech)
        case Match():
            return _match_lines(source, speech)


def _stream_lines(source: StreamInput, speech: Speech) -> list[str]:
    lines = [_handler(handler, speech) for handler in source.before]
    if source.window is not None:
        lines.append(f"window {window_text(source.window)}")
    return lines + [_handler(handler, speech) for handler in source.after]


def _handler(handler: Handler, speech: Speech) -> str:
    if isinstance(handler, Filter):
        return f"filter {speech.text(handler.condition)}"
    text = f"function {handler.name}({speech.listed(handler.arguments)})"
    if handler.keys:
        text += f" per {speech.listed(handler.keys)}"
    added = ", ".join(handler.added.names)
    return f"{text}: adds {added}" if added else text


def _join_lines(join: Join, speech: Speech) -> list[str]:
    lines: list[str] = []
    for side, source in (("left", join.left), ("right", join.right)):
        lines.append(f"{side} {source.stream} ({source.holder})")
        lines += [f"  {line}" for line in _stream_lines(source, Speech())]
    causes = {
        "both": "rows of both sides",
        "left": "rows of the left",
        "right": "rows of the right",
    }
    outer = "" if join.kind == "inner" else " outer"
    lines.append(f"{join.kind}{outer} join, {causes[join.trigger]} cause output")
    if join.on is not None:
        lines.append(f"on {speech.text(join.on)}")
    if join.within and join.per is not None:
        lines.append(f"within {speech.listed(join.within)} per {speech.text(join.per)}")
    return lines


def _correlation_lines(correlation: Correlation, speech: Speech) -> list[str]:
    lines: list[str] = []
    for number, source in enumerate(correlation.inputs, start=1):
        lines.append(f"input {number} {source.stream}")
        lines += [f"  {line}" for line in _stream_lines(source, Speech())]
    lines.append("correlation, rows of all inputs cause output")
    return lines if correlation.on is None else [*lines, f"on {speech.text(correlation.on)}"]


def _matching_lines(matching: Matching, speech: Speech) -> list[str]:
    names = tuple(symbol.name for symbol in matching.symbols)
    within = duration_text(matching.within_ms)
    lines = _stream_lines(matching.input, Speech())
    lines.append(f"matching {regex_text(matching.regex, names)} within {within}")
    for symbol in matching.symbols:
        sets = "; ".join(
            f"{matching.variables.names[position]} = {speech.text(value)}"
            for position, value in symbol.sets
        )
        done = f" do {sets}" if sets else ""
        lines.append(f"  {symbol.name} as {speech.text(symbol.condition)}{done}")
    skips = ", rows without a symbol are left out" if matching.skips else ""
    return [*lines, f"at most {matching.partials_max:,} partial matches at one place{skips}"]


def _match_lines(match: Match, speech: Speech) -> list[str]:
    within = f" within {duration_text(match.within_ms)}" if match.within_ms is not None else ""
    arrow = " -> " if match.kind == "pattern" else ", "
    lines = [f"{match.kind} {state_text(match.root, arrow)}{within}"]
    for state in match.states:
        own = replace(speech, own=state.slot)
        lines += [f"  {state.reference}: {line}" for line in _stream_lines(state.input, own)]
    expired = f", those that run out of time go to {match.expired.stream}" if match.expired else ""
    return [*lines, f"at most {match.partials_max:,} partial matches{expired}"]


def state_text(state: MatchState, arrow: str) -> str:
    """The states of a match, without their filters."""
    match state:
        case StreamState():
            return _named(state)
        case CountState():
            return f"{_named(state.state)}<{state.least}:{state.most or ''}>"
        case AbsentState():
            time = f" for {duration_text(state.for_ms)}" if state.for_ms is not None else ""
            return f"not {state.state.input.stream}{time}"
        case LogicalState():
            sides = (state_text(state.left, arrow), state_text(state.right, arrow))
            return f"({f' {state.op} '.join(sides)})"
        case NextState():
            return state_text(state.left, arrow) + arrow + state_text(state.right, arrow)
        case EveryState():
            inner = state_text(state.state, arrow)
            return f"every ({inner})" if isinstance(state.state, NextState) else f"every {inner}"
        case GroupState():
            within = duration_text(state.within_ms) if state.within_ms is not None else ""
            inner = f"({state_text(state.state, arrow)})"
            return f"{inner} within {within}" if within else inner


def _named(state: StreamState) -> str:
    stream = state.input.stream
    return stream if state.reference == stream else f"{state.reference}={stream}"


def _rate(rate: Rate) -> str:
    every = f"{rate.events} rows" if rate.events is not None else duration_text(rate.every_ms or 0)
    return f"output {rate.kind} every {every}"


def _output(output: Output, query: Query) -> list[str]:
    speech = Speech(slots=(), table=query.target or "")
    kinds = "" if output.events == "current" else f" {output.events} rows"
    match output:
        case Insert():
            return [f"insert{kinds} into {output.target}"] if kinds else []
        case Return():
            return [f"return{kinds}"]
        case Delete():
            return [f"delete {output.target}{kinds} on {speech.text(output.on)}"]
        case Update():
            verb = "update or insert into" if output.or_insert else "update"
            values = f"set {len(output.assignments)} attributes"
            return [f"{verb} {output.target}{kinds} {values} on {speech.text(output.on)}"]


def window_text(window: Window) -> str:
    """`time(5 min)`; what is null is left out."""
    times = kind_of(window).times
    texts = [
        _argument(argument, is_time=position in times)
        for position, argument in enumerate(window.arguments)
        if not (isinstance(argument, Constant) and argument.value is None)
    ]
    return f"{window.name}({', '.join(texts)})"


def _argument(argument: Expression, *, is_time: bool) -> str:
    if is_time and isinstance(argument, Constant) and isinstance(argument.value, int):
        return duration_text(argument.value)
    return expression_text(argument)


def aggregation_lines(aggregation: Aggregation) -> list[str]:
    """An aggregation: what it reads, its units, what it keeps."""
    speech = Speech(aggregation.aggregates)
    lines = [f"{aggregation.name}: {aggregation.input.stream}"]
    lines += [f"  {line}" for line in _stream_lines(aggregation.input, speech)]
    if aggregation.group_by:
        lines.append(f"  group by {speech.listed(aggregation.group_by)}")
    lines.append("  select " + ", ".join(_selected(aggregation.projection, speech)))
    by = f" by {speech.text(aggregation.by)}" if aggregation.by is not None else ""
    lines.append(f"  per {', '.join(aggregation.durations)}{by}")
    if aggregation.purge_every_ms is not None:
        kept = ", ".join(f"{unit} {duration_text(ms)}" for unit, ms in aggregation.retention_ms)
        lines.append(f"  purged every {duration_text(aggregation.purge_every_ms)}; keeps {kept}")
    return lines


def partition_line(partition: Partition) -> str:
    """The keys of a partition, and how long they stay."""
    keys = ", ".join(_keys(partition))
    if partition.idle_ms is None:
        return f"{partition.name}: {keys}"
    return f"{partition.name}: {keys}; a key idle for {duration_text(partition.idle_ms)} is dropped"


def _keys(partition: Partition) -> Iterable[str]:
    for key in partition.keys:
        if isinstance(key, ValueKey):
            yield f"{expression_text(key.expression)} of {key.stream}"
        else:
            ranges = (f"{expression_text(one)} as '{name}'" for one, name in key.ranges)
            yield f"{' or '.join(ranges)} of {key.stream}"
