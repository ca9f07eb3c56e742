"""Plans built by hand, in the article's spelling: events are numbers, patterns combine them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeGuard

from cep.plan.bound import with_values
from cep.plan.expressions import Column, Comparison, Constant, Expression
from cep.plan.nodes import (
    COMPLEX_SCHEMA,
    EVENT_SCHEMA,
    Both,
    Chained,
    Complex,
    Either,
    Engine,
    Event,
    Leaf,
    Operator,
    Origin,
    Pattern,
    Plan,
    Ref,
    Repeat,
    Sequence,
    Signal,
    Stream,
)
from cep.plan.query import Query, StreamInput
from cep.plan.steps import Filter, Insert, Window, schema_of, selecting
from cep.plan.types import Attribute, Schema, Type
from tests.reference.engine import Reference
from tests.reference.expressions import Value

SOURCE = Stream("S", Schema.of(n=Type.INT, symbol=Type.STRING), Origin.SOURCE, key="symbol")
N = Column(0, "n", Type.INT)
SYMBOL = Column(1, "symbol", Type.STRING)
STRIDE = 100

Part = Pattern | Ref | int
"""A pattern, an event of it, or an event by its number alone."""
Projection = tuple[tuple[str, Expression], ...]


def simple(number: int, **changes: Any) -> Event:
    """Event `e<number>`, raised from every row with this `n`."""
    condition = Comparison("==", N, Constant(number, Type.INT))
    name = f"e{number}"
    plain = Event(name, number, "Main", "S", condition, True, Repeat.REJECT, None)
    return replace(plain, **changes)


def per_symbol(number: int, **changes: Any) -> Event:
    return simple(number, key=SYMBOL, **changes)


def compound(number: int, pattern: Part, **changes: Any) -> Complex:
    """Complex event `c<number>` of engine Main, within 3 minutes."""
    found = Complex(f"c{number}", number, "Main", _pattern(pattern), within_ms=180_000)
    return replace(found, **changes)


def ref(part: Ref | int, key: str | None = None) -> Ref:
    return part if isinstance(part, Ref) else Ref(f"e{part}", key)


def followed_by(left: Part, right: Part, absent: Iterable[Ref | int] = ()) -> Sequence:
    return Sequence(_pattern(left), _pattern(right), tuple(ref(one) for one in absent))


def both(left: Part, right: Part) -> Both:
    return Both(_pattern(left), _pattern(right))


def either(left: Part, right: Part) -> Either:
    return Either(_pattern(left), _pattern(right))


def _pattern(part: Part) -> Pattern:
    return Leaf(ref(part)) if isinstance(part, Ref | int) else part


def plan(
    *operators: Operator,
    engines: Iterable[Engine] = (Engine("Main", span_ms=300_000),),
    chained: Iterable[Chained] = (),
    streams: Iterable[Stream] = (SOURCE,),
) -> Plan:
    """A whole plan; streams of events, complex events and signals are added."""
    operators, chained = with_values(operators, chained)
    made = [one for operator in operators if (one := stream_of(operator)) is not None]
    whole = Plan(
        "by hand",
        (*streams, *made),
        operators,
        tuple(engines),
        chained=chained,
        signals=tuple(map(_what_for, filter(is_signal, operators))),
        number_stride=STRIDE,
        keys=constant_keys(operators),
    )
    return with_schemas(whole)


def with_schemas(plan: Plan) -> Plan:
    """The plan with the schemas of the streams that its queries read (`query`)."""
    schemas = {stream.name: stream.schema for stream in plan.streams}

    def filled(operator: Operator) -> Operator:
        if not isinstance(operator, Query) or not isinstance(operator.input, StreamInput):
            return operator
        source = operator.input
        return replace(operator, input=replace(source, schema=schemas[source.stream]))

    return replace(plan, operators=tuple(map(filled, plan.operators)))


def stream_of(operator: Operator) -> Stream | None:
    """The stream on which an operator other than a query puts its rows."""
    if isinstance(operator, Event):
        return Stream(operator.name, EVENT_SCHEMA, Origin.EVENT)
    if isinstance(operator, Complex):
        kept = (Attribute(f"kept{n}", one.column.type) for n, one in enumerate(operator.bound))
        schema = Schema((*COMPLEX_SCHEMA.attributes, *kept))
        return Stream(operator.name, schema, Origin.COMPLEX)
    if is_signal(operator):
        return Stream(operator.name, schema_of(operator.projection), Origin.SIGNAL)
    return None


def is_signal(operator: Operator) -> TypeGuard[Query]:
    """Whether a query is that of a signal, which has the name of its stream."""
    names = dict(operator.projection) if isinstance(operator, Query) else {}
    return {"complex", "side", "symbol"} <= names.keys() and operator.name == operator.target


def _what_for(signal: Query) -> Signal:
    """What the query of a signal is for."""
    says: dict[str, Any] = dict(signal.projection)
    symbol = says["symbol"].value if isinstance(says["symbol"], Constant) else None
    return Signal(signal.name, signal.source, says["side"].value, symbol)


def signal(
    name: str,
    on: str,
    side: str,
    symbol: str | None = None,
    lots: float | None = None,
    stop_points: int | None = None,
    valid_ms: int | None = None,
) -> Query:
    """The query of a signal on a complex event."""
    key = Column(0, "key", Type.STRING)
    projection = (
        ("complex", Constant(on, Type.STRING)),
        ("key", key),
        ("side", Constant(side, Type.STRING)),
        ("symbol", key if symbol is None else Constant(symbol, Type.STRING)),
        ("lots", Constant(lots, Type.DOUBLE)),
        ("stop_points", Constant(stop_points, Type.LONG)),
        ("target_points", Constant(None, Type.LONG)),
        ("valid_ms", Constant(valid_ms, Type.LONG)),
    )
    return query(name, on, name, projection)


def pass_on(name: str, source: str, target: str) -> Query:
    """A query that copies `S`."""
    return query(name, source, target, (("n", N), ("symbol", SYMBOL)))


def query(
    name: str,
    source: str,
    target: str,
    projection: Projection,
    *,
    filters: Iterable[Expression] = (),
    window: Window | None = None,
    window_filters: Iterable[Expression] = (),
    **clauses: Any,
) -> Query:
    """`from source[filters]window[window_filters] select projection insert into target`.

    `clauses` are those of `selecting`. The input's schema is left empty: see `with_schemas`.
    """
    before, after = (tuple(map(Filter, conditions)) for conditions in (filters, window_filters))
    rows = StreamInput(source, Schema(()), before, window, after)
    return Query(name, rows, selecting(projection, **clauses), Insert(target, "current"))


def length(rows: int) -> Window:
    return Window("length", (Constant(rows, Type.INT),))


def time(span_ms: int) -> Window:
    return Window("time", (Constant(span_ms, Type.LONG),))


def constant_keys(operators: Iterable[Operator]) -> tuple[str, ...]:
    """Keys named in patterns, in order of appearance."""
    refs = [
        one
        for operator in operators
        if isinstance(operator, Complex)
        for one in (*_refs(operator.pattern), *operator.forbid)
    ]
    return tuple(dict.fromkeys(one.key for one in refs if one.key is not None))


def _refs(pattern: Pattern) -> tuple[Ref, ...]:
    if isinstance(pattern, Leaf):
        return (pattern.ref,)
    absent = pattern.absent if isinstance(pattern, Sequence) else ()
    return (*_refs(pattern.left), *absent, *_refs(pattern.right))


def feed(
    engine: Reference, *rows: tuple[int, int | None] | tuple[int, int | None, str | None]
) -> list[dict[str, Value]]:
    """The output of rows (time, n) or (time, n, symbol) of `S`."""
    output = []
    for time_msc, n, *symbol in rows:
        row: dict[str, Value] = {"n": n, "symbol": symbol[0] if symbol else None}
        output += engine.push("S", time_msc, row)
    return output
