"""Random order sessions: the broker against the emulated terminal's, which is written apart."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from mt5bridge.broker import codes
from tests.broker.emulated import outcomes
from tests.broker.sessions import as_lines, ours, session
from tests.campaign import either

SESSIONS = either(400, 10_000)
RETCODES = (
    codes.DONE, codes.INVALID, codes.INVALID_VOLUME, codes.INVALID_PRICE, codes.INVALID_STOPS,
    codes.NO_MONEY, codes.PRICE_OFF, codes.INVALID_EXPIRATION, codes.NO_CHANGES, codes.FROZEN,
    codes.INVALID_FILL, codes.REJECT, codes.PLACED, codes.DONE_PARTIAL, codes.CANCELLED,
    codes.INVALID_ORDER, codes.MARKET_CLOSED, codes.POSITION_CLOSED, codes.INVALID_CLOSE_VOLUME,
)  # fmt: skip
OF_HELD = (
    codes.DONE, codes.INVALID_STOPS, codes.MARKET_CLOSED, codes.FROZEN, codes.INVALID_ORDER,
    codes.POSITION_CLOSED,
)  # fmt: skip
REASONS = (codes.BY_EXPERT, codes.BY_STOP, codes.BY_TARGET, codes.BY_STOP_OUT)
DEALS = [f"{codes.OUT} {reason}" for reason in REASONS]
CASES = (
    [f"retcode {retcode}" for retcode in RETCODES]
    + [f"held {retcode}" for retcode in OF_HELD]
    + [f"deal {kind}" for kind in (f"{codes.IN} 3", f"{codes.INOUT} 3", *DEALS)]
    + [f"order {kind}" for kind in range(codes.SELL_STOP_LIMIT + 1)]
)
"""Those of market orders are what is left of them."""


def case_of(line: str) -> str:
    """What kind of outcome a line tells of."""
    words = line.split(" ")
    if words[0] == "order":
        return f"order {words[2]}"
    return f"deal {words[6]} {words[7]}" if words[0] == "deal" else line


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_random_sessions_come_to_the_same(tmp_path: Path) -> None:
    sessions = [session(seed) for seed in range(SESSIONS)]
    lines = [line for found in sessions for line in as_lines(found)]
    seen: Counter[str] = Counter()
    reference = outcomes(lines, tmp_path / "log")
    for seed, (found, expected) in enumerate(zip(sessions, reference, strict=True)):
        assert ours(found) == expected, seed
        seen.update(map(case_of, expected))
    assert [case for case in CASES if not seen[case]] == []
