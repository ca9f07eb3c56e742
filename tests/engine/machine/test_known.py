"""Keys that are known: exactly those that were made known, whatever room there was."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cep.engine.jit import plain
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.kernels import known
from cep.engine.machine.kernels.words import HEADER, TOP

know: Any = plain(known.know)
is_known: Any = plain(known.is_known)
CODES = st.just(int(NULL)) | st.integers(0, 300) | st.integers(0, 20_000)


@given(st.lists(CODES, max_size=40), st.lists(CODES, max_size=40))
def test_what_was_made_known_is(codes: list[int], others: list[int]) -> None:
    i = np.zeros((1, HEADER + 2_000), np.int64)
    i[0, TOP] = HEADER
    for code in codes:
        assert know(i, code)
    for code in (*codes, *others):
        assert is_known(i, code) == (code in codes)


def test_without_room_nothing_changes() -> None:
    i = np.zeros((1, HEADER + 4), np.int64)
    i[0, TOP] = HEADER
    assert know(i, 3) and not know(i, 20_000)
    assert is_known(i, 3) and not is_known(i, 20_000)
