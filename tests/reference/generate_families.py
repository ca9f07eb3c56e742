"""Hypothesis strategies: many queries that differ in constants, window sizes and targets only."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from cep.plan.expressions import (
    Aggregate,
    Aggregated,
    Arithmetic,
    Column,
    Comparison,
    Constant,
    Expression,
    Logical,
    Output,
)
from cep.plan.nodes import Origin, Plan, Stream
from cep.plan.query import Query
from cep.plan.types import Attribute, Schema, Type
from tests.reference.generate_queries import CONSTANTS, SOURCE
from tests.reference.plans import Projection, length, query, time, with_schemas

SYMBOL, INT, LONG, FLOAT, DOUBLE, FLAG = (
    Column(index, attribute.name, attribute.type)
    for index, attribute in enumerate(SOURCE.schema.attributes)
)
Shape = Callable[[Expression, Expression], Expression]
"""A filter over the source, given a whole and a broken constant."""

SHAPES: tuple[Shape, ...] = (
    lambda whole, broken: Comparison("==", INT, whole),
    lambda whole, broken: Comparison(">", DOUBLE, broken),
    lambda whole, broken: Comparison(">=", broken, FLOAT),
    lambda whole, broken: both(
        Comparison("==", whole, Arithmetic("-", INT, LONG, Type.LONG)),
        Comparison("<=", DOUBLE, broken),
    ),
    lambda whole, broken: both(Comparison("==", FLOAT, broken), Comparison("<", LONG, whole)),
    lambda whole, broken: Logical(
        "or", Comparison("==", INT, whole), Comparison("<", DOUBLE, broken)
    ),
    lambda whole, broken: both(
        Comparison("!=", INT, whole), Comparison("==", FLAG, Constant(True, Type.BOOL))
    ),
    lambda whole, broken: both(
        Comparison("==", SYMBOL, Constant("A", Type.STRING)),
        Comparison("<", Arithmetic("/", DOUBLE, broken, Type.DOUBLE), whole),
    ),
)


def both(left: Expression, right: Expression) -> Logical:
    return Logical("and", left, right)


@st.composite
def filter_plans(draw: st.DrawFn) -> Plan:
    """Filters of two shapes mixed with a window; their targets are read, or are many."""
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=2))
    one_target = draw(st.booleans())
    queries = []
    for index in range(draw(st.integers(4, 14))):
        whole = Constant(draw(st.sampled_from((0, 1, 2, -3))), Type.INT)
        broken = Constant(draw(st.sampled_from(CONSTANTS[Type.DOUBLE])), Type.DOUBLE)
        projection: Projection = (("d", DOUBLE), ("w", Arithmetic("+", INT, whole, Type.INT)))
        made = query(
            f"q{index}",
            "S",
            "T" if one_target else f"T{index % 5}",
            projection,
            filters=[draw(st.sampled_from(shapes))(whole, broken)],
            having=draw(st.none() | st.just(Comparison(">", Output(0, "d", Type.DOUBLE), broken))),
        )
        queries.append(made)
        if draw(st.integers(0, 9)) == 0:
            queries.append(_running(f"r{index}", "S"))
    if one_target and draw(st.booleans()):
        counted = Aggregate("count", (), Type.LONG)
        readers = (("n", Aggregated(0, Type.LONG)),)
        queries.append(query("last", "T", "N", readers, window=length(3), aggregates=(counted,)))
    return _plan(queries)


def _running(name: str, source: str) -> Query:
    total = Aggregate("sum", (INT,), Type.LONG)
    chosen = (("n", Aggregated(0, Type.LONG)),)
    return query(name, source, "N", chosen, window=length(2), aggregates=(total,))


@st.composite
def window_plans(draw: st.DrawFn) -> Plan:
    """The same aggregates over windows of many sizes."""
    arguments = draw(st.lists(st.sampled_from((INT, LONG, DOUBLE, FLOAT)), max_size=3))
    aggregates = [_aggregate(draw, argument) for argument in arguments]
    aggregates += [Aggregate("count", (), Type.LONG)] * draw(st.integers(0, 1))
    grouped = draw(st.sampled_from(((), (SYMBOL,), (INT,), (SYMBOL, FLAG))))
    filters = draw(st.sampled_from(((), (Comparison(">", LONG, Constant(0, Type.INT)),))))
    behind = draw(st.sampled_from(((), (Comparison("<", INT, Constant(2, Type.INT)),))))
    window = draw(st.sampled_from((length, time)))
    targets = draw(st.integers(1, 3))
    limited = draw(st.booleans())
    queries = []
    for index in range(draw(st.integers(4, 7))):
        level = Constant(draw(st.sampled_from(CONSTANTS[Type.DOUBLE])), Type.DOUBLE)
        chosen: list[Expression] = [SYMBOL, Arithmetic("+", DOUBLE, level, Type.DOUBLE)]
        chosen += [Aggregated(place, one.type) for place, one in enumerate(aggregates)]
        queries.append(
            query(
                f"q{index}",
                "S",
                f"T{index % targets}",
                tuple((f"c{place}", one) for place, one in enumerate(chosen)),
                filters=filters,
                window=window(draw(st.sampled_from((1, 2, 3, 5, 40)))),
                window_filters=behind,
                aggregates=tuple(aggregates),
                group_by=grouped if aggregates else (),
                having=Comparison("!=", Output(1, "c1", Type.DOUBLE), level) if limited else None,
            )
        )
    return _plan(queries)


def _aggregate(draw: st.DrawFn, argument: Column) -> Aggregate:
    function = draw(st.sampled_from(("avg", "sum", "min", "max", "stdDev")))
    if function in ("min", "max"):
        return Aggregate(function, (argument,), argument.type)
    is_long = function == "sum" and argument.type.is_integer
    return Aggregate(function, (argument,), Type.LONG if is_long else Type.DOUBLE)


def _plan(queries: list[Query]) -> Plan:
    targets = {str(one.target): one.projection for one in queries}
    made = [
        Stream(
            name,
            Schema(tuple(Attribute(column, value.type) for column, value in projection)),
            Origin.QUERY,
        )
        for name, projection in targets.items()
    ]
    return with_schemas(Plan("families", (SOURCE, *made), tuple(queries)))
