"""Expressions in SQL: on every database the interpreter's values, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cep.database.dialects import DIALECTS, POSTGRESQL, SQLITE
from cep.database.drivers import Driver, connect, values_of
from cep.database.errors import Refusal
from cep.database.expressions import Lowering
from cep.database.functions import gaps
from cep.interpreter.context import Context, Shared
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Row
from cep.plan.expressions import (
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
    walk,
)
from cep.plan.functions import SCALARS
from cep.plan.functions.user import register, unregister
from cep.plan.types import NUMERIC, Type, widest
from tests.campaign import examples

CONTEXT = Context(Shared(compat=False))
TYPES = (Type.INT, Type.LONG, Type.FLOAT, Type.DOUBLE, Type.STRING, Type.BOOL)
COLUMNS = {type_: Column(place, f"c{place}", type_) for place, type_ in enumerate(TYPES)}
NAMES = ("ts", *(f"c{place}" for place in range(len(TYPES))))


def moderate(width: int, end: float) -> st.SearchStrategy[float]:
    """Numbers whose products and quotients are not beyond what the type holds."""
    return st.floats(1 / end, end, width=width).flatmap(lambda one: st.sampled_from([one, -one]))


EDGES = st.sampled_from([0.0, -0.0, 1.5, -2.5, 0.5])
VALUES: dict[Type, st.SearchStrategy[Any]] = {
    Type.INT: st.integers(-(2**31), 2**31 - 1) | st.integers(-5, 5),
    Type.LONG: st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-5, 5),
    Type.FLOAT: moderate(32, 2.0**13) | EDGES,
    Type.DOUBLE: moderate(64, 2.0**100) | EDGES,
    Type.STRING: st.text("abcdAB 12.-äß€\t", max_size=6) | st.sampled_from(["true", "12", "1.5e3"]),
    Type.BOOL: st.booleans(),
}
ROWS = st.lists(
    st.tuples(st.integers(-(10**12), 2 * 10**12), *(st.none() | VALUES[type_] for type_ in TYPES)),
    min_size=1,
    max_size=6,
)


def constants(type_: Type) -> st.SearchStrategy[Expression]:
    return VALUES[type_].map(lambda value: Constant(value, type_))


def leaves(type_: Type) -> st.SearchStrategy[Expression]:
    found = st.just(COLUMNS[type_]) | constants(type_)
    return found | st.just(EventTime()) if type_ is Type.LONG else found


def numbers(depth: int) -> st.SearchStrategy[Expression]:
    return st.sampled_from(NUMERIC).flatmap(lambda type_: expressions(type_, depth))


@st.composite
def expressions(draw: st.DrawFn, type_: Type, depth: int = 3) -> Expression:
    """Any expression of a type."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(leaves(type_))
    inner = depth - 1
    kinds = ["call", "chosen"]
    if type_.is_numeric:
        kinds += ["arithmetic", "arithmetic"]
    if type_ is Type.BOOL:
        kinds = ["comparison", "comparison", "logical", "not", "null", "call"]
    match draw(st.sampled_from(kinds)):
        case "arithmetic":
            narrower = NUMERIC[: NUMERIC.index(type_) + 1]
            other = draw(expressions(draw(st.sampled_from(narrower)), inner))
            sides = [draw(expressions(type_, inner)), other]
            if draw(st.booleans()):
                sides.reverse()
            return Arithmetic(draw(st.sampled_from("+-*/%")), *sides, type_)
        case "comparison":
            if draw(st.integers(0, 3)) == 0:
                same = draw(st.sampled_from([Type.STRING, Type.BOOL]))
                sides = [draw(expressions(same, inner)), draw(expressions(same, inner))]
                return Comparison(draw(st.sampled_from(["==", "!="])), *sides)
            op = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
            return Comparison(op, draw(numbers(inner)), draw(numbers(inner)))
        case "logical":
            sides = [draw(expressions(Type.BOOL, inner)) for _ in range(2)]
            return Logical(draw(st.sampled_from(["and", "or"])), *sides)
        case "not":
            return Not(draw(expressions(Type.BOOL, inner)))
        case "null":
            return IsNull(draw(expressions(draw(st.sampled_from(TYPES)), inner)))
        case "chosen":
            name = draw(st.sampled_from(["coalesce", "ifThenElse"]))
            sides = [draw(expressions(type_, inner)) for _ in range(2)]
            if name == "ifThenElse":
                sides.insert(0, draw(expressions(Type.BOOL, inner)))
            return Call(name, tuple(sides), type_)
    return draw(calls(type_, inner))


REAL = ("abs", "ceil", "floor", "sqrt", "cbrt", "exp", "ln", "log2", "log10", "sin", "atan")
UNITS = ("year", "month", "day", "hour", "minute", "second", "weekday", "day_of_year")


@st.composite
def calls(draw: st.DrawFn, type_: Type, inner: int) -> Expression:
    """A call of a function that gives this type."""
    source = draw(st.sampled_from(TYPES))
    converted = Call(
        "convert", (draw(expressions(source, inner)), Constant(type_.value, Type.STRING)), type_
    )
    text = draw(expressions(Type.STRING, inner))
    number = draw(numbers(inner))
    found: list[Expression] = [converted]
    match type_:
        case Type.DOUBLE:
            found += [Call(f"math:{name}", (number,), type_) for name in REAL]
            found += [Call("math:pi", (), type_)]
        case Type.INT:
            unit = Constant(draw(st.sampled_from(UNITS)), Type.STRING)
            time = draw(leaves(Type.LONG))
            found += [
                Call("math:signum", (number,), type_),
                Call("str:length", (text,), type_),
                Call("time:extract", (time, unit), type_),
            ]
        case Type.LONG:
            real = draw(expressions(Type.DOUBLE, inner))
            found += [Call("math:round", (real,), type_), Call("eventTimestamp", (), type_)]
        case Type.STRING:
            any_ = draw(expressions(draw(st.sampled_from(TYPES)), inner))
            whole = draw(expressions(Type.INT, inner))
            found += [Call(f"str:{name}", (text,), type_) for name in ("upper", "trim", "reverse")]
            found += [Call("str:concat", (text, any_), type_)]
            found += [Call("str:substr", (text, Constant(1, Type.INT), whole), type_)]
        case Type.BOOL:
            part = draw(expressions(Type.STRING, inner))
            found += [
                Call("str:contains", (text, part), type_),
                Call("str:regexp", (text, Constant("a.*", Type.STRING)), type_),
                Call("instanceOfLong", (number,), type_),
                Call("math:isInfinite", (number,), type_),
                Call("math:isNan", (number,), type_),
            ]
    if type_.is_numeric:
        name = draw(st.sampled_from(["maximum", "minimum"]))
        sides = tuple(draw(expressions(type_, inner)) for _ in range(3))
        other = draw(numbers(inner))
        found.append(Call(name, sides, type_))
        if widest(type_, other.type) is type_:
            found.append(Call("math:max", (sides[0], other), type_))
    return draw(st.sampled_from(found))


ANY = st.sampled_from(TYPES).flatmap(lambda type_: expressions(type_))


class Bench:
    """A table on a database, and the values of expressions on its rows."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        kinds = [driver.dialect.column_types[type_] for type_ in (Type.LONG, *TYPES)]
        columns = [sa.Column(name, kind) for name, kind in zip(NAMES, kinds, strict=True)]
        self.table = sa.Table("bench", sa.MetaData(), sa.Column("n", sa.BigInteger()), *columns)
        self.driver.execute(driver.dialect.text(sa.schema.CreateTable(self.table))[0])

    def find(self, node: Column | EventTime) -> sa.ColumnElement[Any]:
        return self.table.c.ts if isinstance(node, EventTime) else self.table.c[node.name]

    def values(self, node: Expression, rows: list[tuple[Any, ...]]) -> list[Any]:
        """The expression's value on each row, and whether it holds if it is a condition."""
        lowering = Lowering(self.driver.dialect, self.find)
        chosen = [lowering.value(node).label("found")]
        if node.type is Type.BOOL:
            chosen.append(sa.case((lowering.truth(node), 1), else_=0).label("holds"))
        statement = sa.select(*chosen).select_from(self.table).order_by(self.table.c.n)
        self.driver.begin()
        try:
            numbered = [range(len(rows)), *zip(*rows, strict=True)]
            data = [list(column) for column in numbered]
            types = [Type.LONG, Type.LONG, *TYPES]
            self.driver.load("bench", ["n", *NAMES], data, types)
            columns = self.driver.fetch(*self.driver.dialect.text(statement))
        finally:
            self.driver.rollback()
        found = list(map(values_of, columns))
        if node.type is Type.BOOL:
            assert [value == 1 for value in found[0]] == [holds == 1 for holds in found[1]]
            return [None if value is None else bool(value) for value in found[0]]
        return list(found[0])


@pytest.fixture(scope="module", params=["sqlite", "duckdb", "postgresql"])
def bench(request: pytest.FixtureRequest, urls: dict[str, str]) -> Iterator[Bench]:
    driver = connect(urls[request.param])
    try:
        found = Bench(driver)
        yield found
        driver.execute(driver.dialect.text(sa.schema.DropTable(found.table))[0])
    finally:
        driver.close()


def meant(node: Expression, row: tuple[Any, ...]) -> Any:
    """The interpreter's value; -2 ** 63 stands for null where longs are stored."""
    found = evaluator(node, CONTEXT)(Row(row[0], list(row[1:])))
    return None if type(found) is int and found == -(2**63) else found


def _one_zero(value: Any) -> Any:
    return 0.0 if type(value) is float and value == 0.0 else value


def test_sqlite_has_one_zero(bench: Bench) -> None:
    """As docs/database.md says: "in SQLite a -0.0 that is stored comes back as 0.0"."""
    text = Call("convert", (COLUMNS[Type.DOUBLE], Constant("string", Type.STRING)), Type.STRING)
    row = (0, None, None, None, -0.0, None, None)
    try:
        (found,) = bench.values(text, [row])
    except Refusal:
        assert bench.driver.dialect.name == "postgresql"  # makes no text of a double
    else:
        assert found == ("0.0" if bench.driver.dialect.name == "sqlite" else "-0.0")


@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(node=ANY, rows=ROWS)
def test_every_expression_has_the_interpreters_value(
    bench: Bench, node: Expression, rows: list[tuple[Any, ...]]
) -> None:
    if bench.driver.dialect.name == "sqlite":
        rows = [tuple(map(_one_zero, row)) for row in rows]
    try:
        found = bench.values(node, rows)
    except Refusal as refusal:
        assert refusal.reason
        return
    # where a double below all longs is rounded the interpreter has -2 ** 63, the engine null
    inner = [evaluator(one, CONTEXT) for one in walk(node) if isinstance(one, Call)]
    values = [one(Row(row[0], list(row[1:]))) for one in inner for row in rows]
    assume(not any(type(value) is int and value == -(2**63) for value in values))
    assert found == [meant(node, row) for row in rows]


N, L, F, D, S, B = (COLUMNS[type_] for type_ in TYPES)
ROW = (1_700_000_000_123, -7, 2**62, 1.5, -0.5, "a.b", True)
NULLS = (0, None, None, None, None, None, None)
TWO, ZERO = Constant(2, Type.INT), Constant(0, Type.INT)


def text(value: str) -> Constant:
    return Constant(value, Type.STRING)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        # operands stay together
        (Arithmetic("/", Arithmetic("-", N, TWO, Type.INT), TWO, Type.INT), -4),
        (Arithmetic("-", TWO, Arithmetic("-", N, TWO, Type.INT), Type.INT), 11),
        (Arithmetic("/", TWO, Arithmetic("/", D, TWO, Type.DOUBLE), Type.DOUBLE), -8.0),
        (Arithmetic("*", Arithmetic("/", N, TWO, Type.INT), TWO, Type.INT), -6),
        (Arithmetic("%", Arithmetic("+", N, TWO, Type.INT), TWO, Type.INT), -1),
        # wrap, truncate, null
        (Arithmetic("+", L, L, Type.LONG), None),
        (Arithmetic("-", L, Constant(5, Type.LONG), Type.LONG), 2**62 - 5),
        (Arithmetic("+", L, Constant(2**62 + 1, Type.LONG), Type.LONG), -(2**63) + 1),
        (Arithmetic("*", N, Constant(2**31 - 1, Type.LONG), Type.LONG), -7 * (2**31 - 1)),
        (Arithmetic("*", L, Constant(3, Type.LONG), Type.LONG), -(2**62)),
        (
            Arithmetic("-", Arithmetic("+", L, L, Type.LONG), Constant(1, Type.LONG), Type.LONG),
            None,
        ),
        (Arithmetic("-", Constant(-(2**31), Type.INT), Constant(1, Type.INT), Type.INT), 2**31 - 1),
        (Arithmetic("/", N, ZERO, Type.INT), None),
        (Arithmetic("/", D, Constant(0.0, Type.DOUBLE), Type.DOUBLE), None),
        (Comparison("==", F, Constant(1.5, Type.DOUBLE)), True),
        (Comparison("==", L, Constant(2.0**62, Type.DOUBLE)), True),
        (Not(Comparison("==", Constant(None, Type.INT), N)), True),
        (Comparison("!=", Constant(None, Type.INT), Constant(None, Type.INT)), True),
        # functions
        (Call("math:round", (D,), Type.LONG), 0),
        (Call("math:sqrt", (N,), Type.DOUBLE), None),
        (Call("math:max", (N, D), Type.DOUBLE), -0.5),
        (Call("str:concat", (S, B, N), Type.STRING), "a.btrue-7"),
        (Call("str:substr", (S, TWO, Constant(None, Type.INT)), Type.STRING), "b"),
        (Call("str:substr", (S, Constant(4, Type.INT), TWO), Type.STRING), None),
        (Call("time:extract", (EventTime(), text("hour")), Type.INT), 22),
        (Call("eventTimestamp", (), Type.LONG), 1_700_000_000_123),
        (Call("convert", (D, text("int")), Type.INT), 0),
        (Call("convert", (Constant(1e30, Type.DOUBLE), text("int")), Type.INT), 2**31 - 1),
        (Call("convert", (L, text("int")), Type.INT), 0),
        (Call("convert", (Constant(2**63 - 1, Type.LONG), text("int")), Type.INT), -1),
        (Call("convert", (Constant(1 - 2**63, Type.LONG), text("int")), Type.INT), 1),
        (Call("convert", (text("TRUE"), text("bool")), Type.BOOL), True),
        (Call("instanceOfLong", (N,), Type.BOOL), False),
        (Call("instanceOfInteger", (N,), Type.BOOL), True),
    ],
)
def test_values(bench: Bench, node: Expression, expected: object) -> None:
    found = bench.values(node, [ROW, NULLS])
    assert found == [meant(node, ROW), meant(node, NULLS)]
    assert found[0] == expected


@pytest.mark.parametrize("value", [2.0**-1074, 1.7e308, float("inf"), -0.0, 5e-320])
def test_far_numbers(bench: Bench, value: float) -> None:
    if bench.driver.dialect.name == "postgresql":
        pytest.skip("PostgreSQL stops with an error where a result is beyond what doubles hold")
    row = (0, 1, 2**63 - 1, 1.0, value, "", False)
    for op in "+-*/%":
        node = Arithmetic(op, Arithmetic(op, D, L, Type.DOUBLE), D, Type.DOUBLE)
        assert bench.values(node, [row]) == [meant(node, row)]


def test_functions_of_the_user(bench: Bench) -> None:
    register("twice", [Type.INT], Type.INT, lambda value: None if value is None else 2 * value)
    node = Call("twice", (N,), Type.INT)
    try:
        if not bench.driver.dialect.in_process:
            with pytest.raises(Refusal, match="never: twice: a server does not call functions"):
                bench.values(node, [ROW])
            return
        assert bench.values(node, [ROW, NULLS]) == [-14, None]
        register("twice", [Type.INT], Type.INT, lambda value: 3)
        assert bench.values(node, [ROW, NULLS]) == [3, 3]
    finally:
        unregister("twice")


@pytest.mark.parametrize("name", ["sqlite", "duckdb", "postgresql"])
def test_every_function_is_written_called_or_refused_by_name(name: str) -> None:
    dialect = DIALECTS[name]
    for one in SCALARS:
        gap, written = gaps(dialect).get(one.name), one.sql_on(name)
        assert gap or written or dialect.in_process or one.name == "eventTimestamp"


def test_what_a_database_does_not_have_is_said() -> None:
    lowering = Lowering(POSTGRESQL, lambda node: sa.column("x", sa.Double()))
    with pytest.raises(Refusal, match="never: math:ln: the last digits") as refusal:
        lowering.value(Call("math:ln", (D,), Type.DOUBLE))
    assert refusal.value.gap == "never"
    with pytest.raises(Refusal, match="notimpl: convert of string to double"):
        lowering.value(Call("convert", (S, text("double")), Type.DOUBLE))
    with pytest.raises(Refusal, match="never: `% double`: PostgreSQL has no remainder"):
        lowering.value(Arithmetic("%", D, D, Type.DOUBLE))
    with pytest.raises(Refusal, match="never: UUID: it counts the calls"):
        Lowering(SQLITE, lambda node: sa.column("x")).value(Call("UUID", (), Type.STRING))


def test_having_names_aggregates_and_selected_values() -> None:
    found = Lowering(
        SQLITE,
        lambda node: sa.column("x"),
        lambda node: sa.column(f"{type(node).__name__}{node.position}", sa.BigInteger()),
    )
    node = Comparison(">", Aggregated(1, Type.LONG), Output(0, "n", Type.LONG))
    assert SQLITE.text(found.truth(node))[0] == '"Aggregated1" > "Output0"'
