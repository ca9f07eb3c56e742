"""Words that become more where they are, against an array that is copied."""

from __future__ import annotations

import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cep.engine.buffer import HUGE_BYTES, WORD_BYTES, Buffer
from cep.engine.native import Compiled
from cep.plan import compile_rules

LENGTHS = st.lists(st.integers(1, 3_000), max_size=6)
RULES = """
define stream Tick (symbol string, bid double);
from Tick#window.time(5 min) select symbol, avg(bid) as a group by symbol insert into Mean;
"""


@given(st.integers(1, 3_000), LENGTHS, st.booleans(), st.integers(0, 2**32))
def test_words_stay_and_new_ones_are_zero(
    first: int, more: list[int], is_held: bool, seed: int
) -> None:
    """Whether somebody holds an array or not; who does keeps what was there."""
    chance, buffer = np.random.default_rng(seed), Buffer(first)
    expected = np.zeros(first, np.int64)
    for length in more:
        expected = chance.integers(1, 2**60, len(expected))
        buffer.words()[:] = expected
        held, before = buffer.words() if is_held else None, expected
        expected = np.concatenate([expected, np.zeros(length, np.int64)])
        buffer.lengthen(len(expected))
        assert buffer.words().tolist() == expected.tolist()
        assert held is None or held.tolist() == before.tolist()


def test_it_becomes_huge() -> None:
    buffer, count = Buffer(10), HUGE_BYTES // WORD_BYTES
    buffer.words()[:] = 7
    for times in (1, 3):
        buffer.lengthen(times * count)
    words = buffer.words()
    assert words[:10].tolist() == [7] * 10 and not words[10:].any() and len(words) == 3 * count


def test_a_run_becomes_longer_without_copying_its_state() -> None:
    """Copying megabytes keeps signals waiting; Linux need not."""
    run = Compiled(compile_rules(RULES, "t"), machine="always", jit=False).start()
    memory = run.machine.memory
    words = memory.i.shape[1]
    memory.i[0, memory.top] = 77
    place = memory.top
    memory.reserve(9 * words)
    assert memory.i.shape[1] >= 9 * words and memory.i[0, place] == 77
    assert memory.buffer.copies == 0 or sys.platform != "linux"
