"""Hypothesis strategies: chains of queries over one typed source, and rows full of nulls."""

from __future__ import annotations

from hypothesis import strategies as st

from cep.plan.expressions import (
    Aggregate,
    Aggregated,
    Arithmetic,
    Call,
    Column,
    Comparison,
    Constant,
    EventTime,
    Expression,
    IsNull,
    Logical,
    Not,
    Output,
)
from cep.plan.nodes import Origin, Plan, Stream
from cep.plan.query import Query
from cep.plan.types import Attribute, Schema, Type, widest
from tests.reference.expressions import Value
from tests.reference.generate_rows import SourceRow, timed_rows
from tests.reference.plans import length, query, time, with_schemas

SOURCE = Stream(
    "S",
    Schema.of(
        symbol=Type.STRING,
        i=Type.INT,
        j=Type.LONG,
        f=Type.FLOAT,
        d=Type.DOUBLE,
        b=Type.BOOL,
    ),
    Origin.SOURCE,
    key="symbol",
)
CONSTANTS: dict[Type, tuple[str | int | float | bool, ...]] = {
    Type.STRING: ("A", "B"),
    Type.INT: (0, 1, 2, -3, 2**31 - 1),
    Type.LONG: (0, 1, -1, 2**62),
    Type.FLOAT: (0.0, 0.5, -1.25, 3.0),
    Type.DOUBLE: (0.0, 0.1, -2.5, 1e16),
    Type.BOOL: (True, False),
}
FUNCTIONS = ("avg", "sum", "count", "min", "max", "stdDev")
ORDERED = ("==", "!=", "<", "<=", ">", ">=")


@st.composite
def query_plans(draw: st.DrawFn) -> Plan:
    """One to three queries, each on the source or on the target of an earlier one."""
    streams, queries = [SOURCE], []
    for index in range(draw(st.integers(1, 3))):
        made = draw(_queries(f"q{index}", draw(st.sampled_from(streams))))
        queries.append(made)
        attributes = tuple(Attribute(name, one.type) for name, one in made.projection)
        streams.append(Stream(str(made.target), Schema(attributes), Origin.QUERY))
    return with_schemas(Plan("generated", tuple(streams), tuple(queries)))


@st.composite
def _queries(draw: st.DrawFn, name: str, source: Stream) -> Query:
    columns = _columns(source)
    filters = st.lists(conditions(columns), max_size=1).map(tuple)
    aggregates = draw(st.lists(_aggregates(columns), max_size=3).map(tuple))
    projection = draw(_projections(columns, aggregates))
    outputs: list[Expression] = [
        Output(index, output, one.type) for index, (output, one) in enumerate(projection)
    ]
    windows = [None, length(1), length(3), *map(time, (1, 3, 10, 40))]
    return query(
        name,
        source.name,
        f"T{name}",
        projection,
        filters=draw(st.just(()) | filters),
        window=draw(st.sampled_from(windows)),
        window_filters=draw(st.just(()) | filters),
        aggregates=aggregates,
        group_by=draw(_groupings(columns)) if aggregates else (),
        having=draw(st.none() | st.none() | conditions(outputs)),
    )


def _columns(stream: Stream) -> list[Expression]:
    return [Column(i, a.name, a.type) for i, a in enumerate(stream.schema.attributes)]


def _groupings(columns: list[Expression]) -> st.SearchStrategy[tuple[Column, ...]]:
    """The symbol mostly; other discrete columns too."""
    discrete = [
        column
        for column in columns
        if isinstance(column, Column) and column.type in (Type.STRING, Type.INT, Type.BOOL)
    ]
    symbols = [(column,) for column in discrete if column.type is Type.STRING]
    some = st.lists(st.sampled_from(discrete), max_size=2, unique=True) if discrete else st.just([])
    return st.sampled_from([(), *symbols, *symbols, *symbols, *symbols]) | some.map(tuple)


@st.composite
def _aggregates(draw: st.DrawFn, columns: list[Expression]) -> Aggregate:
    function = draw(st.sampled_from(FUNCTIONS))
    argument = draw(numbers(columns))
    if function in ("avg", "stdDev") and argument.type is Type.LONG:
        function = "sum"  # beyond 2^53 a mean is that of the nearest doubles when compiled
    if function == "count":
        return Aggregate("count", draw(st.sampled_from([(), (argument,)])), Type.LONG)
    if function in ("min", "max"):
        return Aggregate(function, (argument,), argument.type)
    is_long = function == "sum" and argument.type.is_integer
    return Aggregate(function, (argument,), Type.LONG if is_long else Type.DOUBLE)


@st.composite
def _projections(
    draw: st.DrawFn, columns: list[Expression], aggregates: tuple[Aggregate, ...]
) -> tuple[tuple[str, Expression], ...]:
    """Every column as it is or nearly none, every aggregate, and something computed."""
    results: list[Expression] = [Aggregated(i, one.type) for i, one in enumerate(aggregates)]
    kept = columns if draw(st.booleans()) else [draw(st.sampled_from(columns))]
    computed = draw(st.lists(numbers([*columns, *results]), max_size=2))
    return tuple((f"c{i}", one) for i, one in enumerate((*kept, *results, *computed)))


@st.composite
def numbers(draw: st.DrawFn, operands: list[Expression], depth: int = 2) -> Expression:
    """A numeric expression over the operands."""
    kind = draw(st.sampled_from(["operand", "arithmetic", "constant", "call", "time"]))
    if depth and kind == "arithmetic":
        left, right = draw(numbers(operands, depth - 1)), draw(numbers(operands, depth - 1))
        op = draw(st.sampled_from("+-*/%"))
        return Arithmetic(op, left, right, widest(left.type, right.type))
    if depth and kind == "call":
        return draw(_calls(operands, depth - 1))
    numeric = [one for one in operands if one.type.is_numeric]
    if kind == "time":
        return EventTime()
    return draw(st.sampled_from(numeric)) if numeric and kind == "operand" else draw(_constants())


@st.composite
def _calls(draw: st.DrawFn, operands: list[Expression], depth: int) -> Expression:
    """Functions take arguments of one type."""
    left, right = draw(numbers(operands, depth)), draw(numbers(operands, depth))
    if left.type is not right.type:
        right = Constant(None, left.type)
    function = draw(st.sampled_from(["coalesce", "ifThenElse", "maximum", "minimum"]))
    arguments: tuple[Expression, ...] = (left, right)
    if function == "ifThenElse":
        arguments = (draw(conditions(operands, depth)), *arguments)
    return Call(function, arguments, left.type)


@st.composite
def conditions(draw: st.DrawFn, operands: list[Expression], depth: int = 2) -> Expression:
    """A boolean expression over the operands."""
    kind = draw(st.sampled_from(["number", "number", "discrete", "null", "not", "and", "or"]))
    if depth and kind in ("and", "or"):
        left, right = draw(conditions(operands, depth - 1)), draw(conditions(operands, depth - 1))
        return Logical(kind, left, right)
    if depth and kind == "not":
        return Not(draw(conditions(operands, depth - 1)))
    discrete = [one for one in operands if one.type in (Type.STRING, Type.BOOL)]
    if discrete and kind == "discrete":
        one = draw(st.sampled_from(discrete))
        other = Constant(draw(st.sampled_from(CONSTANTS[one.type])), one.type)
        return Comparison(draw(st.sampled_from(["==", "!="])), one, other)
    if kind == "null":
        return IsNull(draw(st.sampled_from(operands)))
    left, right = draw(numbers(operands, 1)), draw(numbers(operands, 1))
    return Comparison(draw(st.sampled_from(ORDERED)), left, right)


@st.composite
def _constants(draw: st.DrawFn) -> Constant:
    type_ = draw(st.sampled_from([Type.INT, Type.LONG, Type.FLOAT, Type.DOUBLE]))
    return Constant(draw(st.sampled_from(CONSTANTS[type_])), type_)


MODERATE = {
    "j": st.sampled_from([0, 1, 2, 3, 2**40, -(2**40), None]),
    "d": st.sampled_from([0.0, 1.0, 0.1, 0.2, 1.30251, -1.30252, 99999.75, None, float("nan")]),
}
"""Numbers whose sums need at most 106 bits, which is what exact aggregates promise."""


def query_rows(rows_max: int = 20, moderate: bool = False) -> st.SearchStrategy[list[SourceRow]]:
    """Rows of the source: small numbers, the edges of their types, and nulls.

    `moderate` keeps numbers of very different magnitudes out of one sum.
    """
    values: dict[str, st.SearchStrategy[Value]] = {
        "symbol": st.sampled_from(["A", "A", "A", "B", "B", None]),
        "i": st.sampled_from([0, 1, 2, 3, 2**31 - 1, -(2**31), None]),
        "j": st.sampled_from([0, 1, 2, 3, 2**63 - 1, -(2**63), None]),
        "f": st.sampled_from([0.0, 0.5, 1.5, 0.1, 16777216.0, None, float("nan")]),
        "d": st.sampled_from([0.0, 1.0, 0.1, 0.2, 1e16, -1e16, 1e-300, None, float("nan")]),
        "b": st.sampled_from([True, False, None]),
    }
    if moderate:
        values |= MODERATE
    return timed_rows("S", st.fixed_dictionaries(values), rows_max)
