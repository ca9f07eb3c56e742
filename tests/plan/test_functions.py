"""Functions: types of arguments and results, stream functions, functions of the user."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cep.plan.expressions import Aggregate, Call, Column, Constant, EventTime
from cep.plan.functions import (
    AGGREGATORS,
    SCALARS,
    STREAM_FUNCTIONS,
    aggregator,
    register,
    scalar,
    unregister,
    user_function,
)
from cep.plan.steps import StreamFunction
from cep.plan.types import Type
from tests.plan.rules import query, refused, source

PRICE = Column(1, "price", Type.DOUBLE)


@pytest.fixture
def spread() -> Iterator[None]:
    register("fx:spread", [Type.DOUBLE, Type.LONG], Type.FLOAT, lambda price, volume: 1.0)
    yield
    unregister("fx:spread")


def selected(text: str) -> object:
    return query(f"from S select {text} as x insert into Out;").projection[0][1]


def type_of(text: str) -> Type:
    return query(f"from S select {text} as x insert into Out;").schema.attributes[0].type


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("cast(price, 'string')", Type.DOUBLE),  # what is selected stays what it is
        ("convert(symbol, 'LONG')", Type.LONG),
        ("ifThenElse(ok, n, 1)", Type.INT),
        ("coalesce(symbol, 'none')", Type.STRING),
        ("default(price, 1.0)", Type.DOUBLE),
        ("maximum(n, 1, 2)", Type.INT),
        ("minimum(price, 1.0)", Type.DOUBLE),
        ("instanceOfLong(n)", Type.BOOL),
        ("createSet(symbol)", Type.OBJECT),
        ("sizeOfSet(createSet(symbol))", Type.INT),
        ("uuid()", Type.STRING),
        ("currentTimeMillis()", Type.LONG),
        ("math:abs(n)", Type.DOUBLE),
        ("math:round(price)", Type.LONG),
        ("math:round(cast(price, 'float'))", Type.INT),
        ("math:max(n, volume)", Type.LONG),
        ("math:pi()", Type.DOUBLE),
        ("STR:upper(symbol)", Type.STRING),
        ("str:concat(symbol, n, price)", Type.STRING),
        ("str:substr(symbol, 1)", Type.STRING),
        ("str:contains(symbol, 'EUR')", Type.BOOL),
        ("time:extract(t, 'HOUR')", Type.INT),
        ("sum(n)", Type.LONG),
        ("distinctCount(symbol)", Type.LONG),
        ("minForever(n)", Type.INT),
        ("and(ok)", Type.BOOL),
        ("unionSet(createSet(n))", Type.OBJECT),
        ("lag(symbol)", Type.STRING),
        ("lag(ok, 3)", Type.BOOL),
        ("rsi(price, 14)", Type.DOUBLE),
        ("atr(price, price, n, 14)", Type.DOUBLE),
        ("percentile(n, 95)", Type.DOUBLE),
        ("correlation(price, n)", Type.DOUBLE),
        ("vwap(price, volume)", Type.DOUBLE),
    ],
)
def test_result_types(text: str, type_: Type) -> None:
    assert type_of(text) is type_


@pytest.mark.parametrize(
    "text",
    [
        "cast(n)", "cast(n, 'number')", "cast(n, symbol)", "convert(n, 5)", "coalesce(n, price)",
        "ifThenElse(n, 1, 2)", "ifThenElse(ok, 1, 'a')", "default(n, 1/2)", "default(n, 1.0)",
        "maximum(n, price)", "maximum(symbol)", "createSet(n, n)", "sizeOfSet(n)", "math:abs()",
        "math:abs(symbol)", "math:nothing(n)", "str:upper(n)", "sum(symbol)", "sum(n, n)",
        "sum(sum(n))", "and(n)", "ema(price, n)", "ema(price, 0)", "ema(price)", "lag(n, -1)",
        "percentile(n, price)", "time:extract(t, 'week of')", "eventTimestamp(n)", "nothing(n)",
        "eventTimestamp(S, S)", "fx:spread(price, volume)",
    ],
)  # fmt: skip
def test_refused(text: str) -> None:
    error = refused(f"from S select {text} as x insert into Out;")
    assert error.line == 4
    assert error.hint


def test_names_do_not_depend_on_case() -> None:
    for one in SCALARS:
        assert scalar(one.name.upper()) is one.signature
    for each in AGGREGATORS:
        assert aggregator(each.name.lower()) is each.signature


def test_every_function_says_what_it_does() -> None:
    known = [*(one.signature for one in (*SCALARS, *AGGREGATORS)), *STREAM_FUNCTIONS]
    assert all(signature.doc for signature in known)
    assert len({signature.name.lower() for signature in known}) == len(known)


def test_times_of_rows() -> None:
    assert selected("eventTimestamp()") == EventTime()
    assert selected("eventTimestamp(S)") == EventTime(0)
    found = query("from e1=S -> e2=R select eventTimestamp(e2) as x insert into Out;")
    assert found.projection[0][1] == EventTime(1)


def test_optional_arguments_are_filled_in() -> None:
    found = query("from S select lag(n) as x, str:substr(symbol, 2) as y insert into Out;")
    n = Column(3, "n", Type.INT)
    assert found.aggregates == (Aggregate("lag", (n, Constant(1, Type.INT)), Type.INT),)
    cut = found.projection[1][1]
    assert isinstance(cut, Call)
    assert cut.arguments[2] == Constant(None, Type.INT)


def test_all_attributes_at_once() -> None:
    text = "define stream P (a int, b int); from P select maximum(*) as x insert into Out;"
    call = query(text).projection[0][1]
    assert isinstance(call, Call)
    assert [argument.name for argument in call.arguments] == ["a", "b"]  # type: ignore[union-attr]


def functions(text: str) -> list[StreamFunction]:
    return [one for one in source(text).before if isinstance(one, StreamFunction)]


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("#log('seen')", ()),
        ("#log('INFO', 'seen', false)", ()),
        ("#pol2Cart(price, price)", ("x", "y")),
        ("#pol2Cart(price, price, price)", ("x", "y", "z")),
        ("#bollinger(price, 20)", ("upper", "middle", "lower")),
        ("#macd(price, 12, 26, 9)", ("macd", "signal", "histogram")),
        ("#bars:ticks(price, volume, 100)",
         ("open", "high", "low", "close", "bar_volume", "bar_ticks", "start_msc")),
    ],
)  # fmt: skip
def test_stream_functions(text: str, added: tuple[str, ...]) -> None:
    (found,) = functions(text)
    assert found.added.names == added
    assert source(text).schema.names[6:] == added


def test_arguments_of_log() -> None:
    (found,) = functions("#log('seen')")
    assert [one.value for one in found.arguments] == [None, "seen", True]  # type: ignore[union-attr]


def test_what_functions_remember_is_kept_per_group() -> None:
    text = "from S#bars:time(price, volume, 1 min) select symbol, {} group by {} insert into Out;"
    (found,) = query(text.format("close", "symbol, n")).stream_input.before
    assert isinstance(found, StreamFunction)
    assert [key.name for key in found.keys] == ["symbol", "n"]
    (found,) = query(text.format("count() as c", "close")).stream_input.before
    assert isinstance(found, StreamFunction)
    assert found.keys == ()


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("#length(3)", "#window.length"),
        ("#bollingr(price, 3)", "bollinger"),
        ("#bars:hours(price, volume, 3)", ""),
        ("#bollinger(price, 3)#bollinger(price, 4)", "other names"),
        ("#macd(price, 3, 4, 0)", "smooth"),
        ("#log(5)", "log"),
    ],
)
def test_refused_stream_functions(text: str, hint: str) -> None:
    assert hint in refused(f"from S{text} insert into Out;").hint


def test_functions_of_the_user(spread: None) -> None:
    call = selected("FX:Spread(price, volume)")
    found = user_function("fx:SPREAD")
    assert found is not None
    digest = found.signature.digest
    assert call == Call("fx:spread", (PRICE, Column(2, "volume", Type.LONG)), Type.FLOAT, digest)
    assert digest
    assert "a long" in refused("from S select fx:spread(price, n) as x insert into O;").message
    assert found.call(1.0, 2) == 1.0


def test_a_name_of_the_user_is_a_name() -> None:
    for name in ("a:b:c", "a b", "", "1x"):
        with pytest.raises(ValueError, match="namespace"):
            register(name, [], Type.INT, lambda: 1)
