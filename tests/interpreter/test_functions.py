"""Scalar functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cep.interpreter.context import Context, Shared
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Row
from cep.plan.build import compile_rules
from cep.plan.functions import register, unregister
from cep.plan.types import Type

STREAM = "define stream S (i int, l long, f float, d double, s string, b bool, o object); "
ROW: dict[str, Any] = {
    "i": -7, "l": 2**40, "f": 0.10000000149011612, "d": 2.5, "s": "Ab c", "b": True, "o": [1, "x"],
}  # fmt: skip


def value(text: str, compat: bool = False, **changed: Any) -> Any:
    """An expression on a row, some of whose values are changed."""
    plan = compile_rules(STREAM + f"from S select {text} as x insert into O;")
    context = Context(Shared(compat))
    context.shared.clock.jump(1_600_000_000_000)
    context.shared.cause.at_ms = 1_600_000_000_000
    [(_, expression)] = plan.queries[0].projection
    return evaluator(expression, context)(Row(1_500_000_000_123, list((ROW | changed).values())))


CASES: list[tuple[str, Any]] = [
    ("cast(o, 'string')", [1, "x"]),
    ("convert(d, 'string')", "2.5"),
    ("convert(f, 'string')", "0.1"),
    ("convert(1.0E10, 'string')", "1.0E10"),
    ("convert(b, 'string')", "true"),
    ("convert(o, 'string')", "[1, x]"),
    ("convert('12', 'int')", 12),
    ("convert('1e3', 'int')", None),
    ("convert('3000000000', 'int')", None),
    ("convert(' 1e3 ', 'double')", 1000.0),
    ("convert('0x', 'double')", None),
    ("convert(l, 'int')", 0),
    ("convert(1.0E20, 'long')", 2**63 - 1),
    ("convert(-2.9, 'int')", -2),
    ("convert(0.1, 'float')", 0.10000000149011612),
    ("convert('TRUE', 'bool')", True),
    ("convert(2, 'bool')", False),
    ("convert(b, 'long')", 1),
    ("ifThenElse(i < 0, 'low', 'high')", "low"),
    ("ifThenElse(d / 0 > 1, 1, 2)", 2),
    ("coalesce(d / 0, d)", 2.5),
    ("default(d / 0, 9.5)", 9.5),
    ("maximum(i, 3, -1)", 3),
    ("minimum(d / 0, d)", 2.5),
    ("instanceOfString(s)", True),
    ("instanceOfInteger(l)", False),
    ("instanceOfInteger(i)", True),
    ("instanceOfLong(l)", True),
    ("instanceOfFloat(f)", True),
    ("instanceOfDouble(d)", True),
    ("instanceOfBoolean(b)", True),
    ("instanceOfString(o)", False),
    ("sizeOfSet(createSet(s))", 1),
    ("eventTimestamp()", 1_500_000_000_123),
    ("currentTimeMillis()", 1_600_000_000_000),
    ("math:abs(i)", 7.0),
    ("math:floor(-2.5)", -3.0),
    ("math:round(2.5)", 3),
    ("math:round(-2.5)", -2),
    ("math:sqrt(-1.0)", None),
    ("math:ln(0.0)", -math.inf),
    ("math:log(8.0, 2.0)", pytest.approx(3.0)),
    ("math:power(2, 10)", 1024.0),
    ("math:power(10.0, 400)", math.inf),
    ("math:max(i, d)", 2.5),
    ("math:min(i, l)", -7),
    ("math:signum(d)", 1),
    ("math:isNan(d)", False),
    ("str:concat(s, '-', i, f)", "Ab c--70.1"),
    ("str:length(s)", 4),
    ("str:upper(s)", "AB C"),
    ("str:reverse(s)", "c bA"),
    ("str:contains(s, 'b')", True),
    ("str:equalsIgnoreCase(s, 'aB C')", True),
    ("str:regexp(s, '[A-Z].*')", True),
    ("str:regexp(s, 'A')", False),
    ("str:replaceAll(s, '(b)', '<$1>')", "A<b> c"),
    ("str:substr(s, 1)", "b c"),
    ("str:substr(s, 1, 1)", "b"),
    ("str:substr(s, 9)", None),
    ("time:extract(1600000000000L, 'year')", 2020),
    ("time:extract(1600000000000L, 'weekday')", 1),
    ("time:extract(1600000000000L, 'day_of_year')", 257),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_function(text: str, expected: Any) -> None:
    found = value(text)
    assert found == expected
    assert expected is None or isinstance(expected, bool) is isinstance(found, bool)


def test_null_in_null_out() -> None:
    for text in ("math:abs(d)", "str:length(s)", "convert(d, 'string')", "math:round(d)",
                 "math:max(d, 1)", "str:substr(s, 1)", "maximum(d, d)"):  # fmt: skip
        assert value(text, d=None, s=None) is None
    assert value("str:concat(s, 'x')", s=None) == "x"
    assert value("instanceOfDouble(d)", d=None) is False


def test_objects_are_looked_at() -> None:
    assert value("instanceOfLong(o)", o=2**40) is True
    assert value("instanceOfInteger(o)", o=2**40) is False
    assert value("instanceOfBoolean(o)", o=True) is True
    assert value("instanceOfDouble(o)", o=1.5) is True
    with pytest.raises(TypeError, match="sizeOfSet"):
        value("sizeOfSet(o)", o=5)


def test_a_value_of_another_type_than_declared_is_looked_at() -> None:
    assert value("instanceOfString(i)", i="seven") is True
    assert value("instanceOfInteger(i)", i="seven") is False
    assert value("instanceOfBoolean(l)", l=True) is True
    assert value("instanceOfDouble(i)", i=1.5) is True
    assert value("instanceOfInteger(l)", l=np.int32(5)) is True
    assert value("instanceOfLong(l)", l=np.int32(5)) is False
    assert value("instanceOfFloat(o)", o=np.float32(0.1)) is True
    assert value("instanceOfDouble(o)", o=np.float32(0.1)) is False


def test_maximum_of_negative_numbers() -> None:
    assert value("maximum(i, -9)") == -7
    assert value("maximum(i, -9)", compat=True) == 0
    assert value("maximum(i, 9)", compat=True) == 9


def test_uuids_differ_within_a_run_and_not_between_runs() -> None:
    assert len(value("UUID()")) == 36
    assert value("UUID()") == value("UUID()")
    assert value("UUID() == UUID()") is False


def test_user_function() -> None:
    register("test:twice", [Type.DOUBLE], Type.DOUBLE, lambda x: None if x is None else 2 * x)
    try:
        assert value("test:twice(d)") == 5.0
        assert value("test:twice(d)", d=None) is None
    finally:
        unregister("test:twice")
