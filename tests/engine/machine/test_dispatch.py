"""Operations that read their second value themselves give what those give that find it stacked."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cep.engine.jit import plain
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.dispatch import CELL, END, ROW, fused, operations, with_operand
from cep.engine.machine.kernels.evaluate import evaluate

run: Any = plain(evaluate)
BASIC = [one for one in operations().values() if len(one.takes) == 2 and one.is_basic]
WHOLE = st.sampled_from([NULL, -3, 0, 1, 2, 2**31, 2**62])
REAL = st.sampled_from([float("nan"), -1.5, 0.0, 0.5, 2.0, 1e300])
ROW_AT, CELL_AT, TOP = 10, 20, 30


def bits(value: float) -> int:
    return int(struct.unpack("q", struct.pack("d", value))[0])


@given(st.sampled_from(BASIC), st.sampled_from([ROW, CELL]), st.data())
def test_a_second_value_is_read_where_it_is(operation: Any, source: int, data: Any) -> None:
    given_ = [data.draw(REAL.map(bits) if word == "f" else WHOLE) for word in operation.takes]
    memory = np.zeros((1, 40), np.int64)
    memory[0, ROW_AT + 1], place = given_[0], 2 if source == ROW else CELL_AT
    memory[0, ROW_AT + 2] = memory[0, CELL_AT] = given_[1]
    steps = [ROW, 1, source, place, operation.number, 0, END]
    shorter = fused(steps)
    assert shorter == [ROW, 1, with_operand()[operation.number, source], place, END]
    left = []
    for code in (steps, shorter):
        with np.errstate(all="ignore"):
            run(memory, memory.view(np.float64), np.array(code, np.int64), 0, ROW_AT, TOP)
        left.append(memory[0, TOP])
    assert left[0] == left[1]


def test_only_what_was_stacked_last_is_read() -> None:
    """`(a - b) < (c + d)`: the sum is no word of the row."""
    minus, plus = operations()["f-", 2].number, operations()["f+", 2].number
    less = operations()["f<", 2].number
    steps = [ROW, 1, ROW, 2, minus, 0, ROW, 3, CELL, 4, plus, 0, less, 0, END]
    own = with_operand()
    assert fused(steps) == [ROW, 1, own[minus, ROW], 2, ROW, 3, own[plus, CELL], 4, less, 0, END]
