"""Scalar functions on the machine give what they give in the interpreter, to the last bit."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.engine.jit import compiled, kernel
from cep.engine.kernels.scalar import NULL
from cep.interpreter.context import Context, Shared
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Row
from cep.plan.expressions import Call, Column, Constant
from cep.plan.functions.scalars.times import FIRST_MS, LAST_MS, UNITS, time_part
from cep.plan.functions.scalars.transcendent import cosine, sine
from cep.plan.types import Type
from tests.engine.machine.compared import Record, assert_same

STREAM = "define stream S (k string, n int, m long, a float, x double, f bool);\n"
SELECTED = [
    *(f"time:extract(m, '{unit}') as v" for unit in UNITS),
    "math:sin(x) as v, math:cos(n) as w",
    "math:max(a, n) as v, math:min(a, m) as w, math:max(a, a) as u",
    "currentTimeMillis() as v, eventTimestamp() as w",
    "convert(x, 'int') as v, convert(x, 'long') as w, convert(m, 'int') as u",
    "convert(m, 'float') as v, convert(a, 'double') as w, convert(x, 'bool') as u",
    "math:round(x) as v, math:round(a) as w, math:floor(x) as u, math:ceil(x) as t",
    "cast(x, 'double') as v, coalesce(n, 3) as w, instanceOfLong(m) as u",
]
VALUES: list[tuple[object, ...]] = [
    (None, None, None, None, None, None),
    ("a", 0, 0, 0.5, 0.5, True),
    ("b", -1, -1, -0.1, -2.5, False),
    ("b", 2**31 - 1, LAST_MS, 1e10, 1e19, True),
    ("c", -(2**31), LAST_MS + 1, -1e30, -1e19, None),
    ("c", 7, FIRST_MS, 16777217.0, float("inf"), None),
    ("c", 7, FIRST_MS - 1, 3.3, float("-inf"), None),
    ("c", 7, 2**53 + 1, 1.5, 1e300, None),
]


@pytest.mark.parametrize("selected", SELECTED)
def test_call(selected: str) -> None:
    records: list[Record] = [
        ("S", 1_700_000_000_000 + 1000 * n, values) for n, values in enumerate(VALUES)
    ]
    rules = f"from S[m > -1 or true] select {selected} insert into Out;"
    assert assert_same(STREAM + rules, records) == len(VALUES)


def test_current_time_is_that_of_what_is_under_way() -> None:
    rules = """
from S#window.time(5 sec) select k, currentTimeMillis() as now insert all events into Out;"""
    records: list[Record] = [
        ("S", 1_700_000_000_000 + at_ms, VALUES[1]) for at_ms in (0, 100, 20_000, 7_000, 90_000)
    ]
    assert_same(STREAM + rules, records, 1_700_000_200_000)


@given(
    time_ms=st.integers(FIRST_MS - 10, LAST_MS + 10)
    | st.integers(-(2**63), 2**63 - 1)
    | st.integers(-800_000, 2_900_000).map(lambda days: days * 86_400_000)
)
def test_part_of_a_time(time_ms: int) -> None:
    for place, unit in enumerate(UNITS):
        call = Call(
            "time:extract", (Column(0, "t", Type.LONG), Constant(unit, Type.STRING)), Type.INT
        )
        meant = evaluator(call, Context(Shared(compat=False)))(Row(0, [time_ms]))
        assert time_part(time_ms, place) == (NULL if meant is None else meant)


@kernel
def both(values: np.ndarray, made: np.ndarray) -> None:  # type: ignore[type-arg]
    for place in range(len(values)):
        made[place, 0] = _sine(values[place])
        made[place, 1] = _cosine(values[place])


_sine, _cosine = compiled(sine), compiled(cosine)


def test_compiled_angles_have_the_bits_of_numpy() -> None:
    """A processor on which they differ must not have them compiled."""
    bits = np.random.default_rng(5).integers(0, 2**64, 20_000, dtype=np.uint64)
    values = np.concatenate([
        bits.view(np.float64), np.random.default_rng(6).uniform(-1000, 1000, 20_000),
    ])  # fmt: skip
    made = np.empty((len(values), 2))
    both(values, made)
    with np.errstate(all="ignore"):
        for value, (one, other) in zip(values, made, strict=True):
            for found, function in ((one, np.sin), (other, np.cos)):
                meant = float(function(np.float64(value)))
                same = struct.pack("d", found) == struct.pack("d", meant)
                assert same or (math.isnan(found) and math.isnan(meant)), value
