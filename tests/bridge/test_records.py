"""Record layouts, positions and time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mt5bridge import clock
from mt5bridge.position import START, Position
from mt5bridge.records import DEAL, TICK, fixed_text, text_of, utc_msc


def test_tick_is_mql_tick() -> None:
    """4.19: the layout of MetaTrader5.copy_ticks_range."""
    metatrader = [
        ("time", "<i8"),
        ("bid", "<f8"),
        ("ask", "<f8"),
        ("last", "<f8"),
        ("volume", "<u8"),
        ("time_msc", "<i8"),
        ("flags", "<u4"),
        ("volume_real", "<f8"),
    ]
    assert np.dtype(metatrader) == TICK
    assert TICK.itemsize == 60


def test_deal_is_packed() -> None:
    """4.20"""
    assert DEAL.itemsize == 252
    assert sum(DEAL[name].itemsize for name in DEAL.names or ()) == 252


@given(st.text(), st.integers(0, 40))
def test_fixed_text_cuts_between_characters(text: str, bytes_max: int) -> None:
    raw = fixed_text(text, bytes_max)
    assert len(raw) <= bytes_max
    assert text.encode(errors="replace").decode().startswith(raw.decode())
    assert len(raw) > bytes_max - 4 or raw == text.encode(errors="replace")


def test_text_of_survives_foreign_bytes() -> None:
    assert text_of(b"EURUSD\0\0") == "EURUSD"
    assert text_of(b"\xff") == "�"


def test_server_time_to_utc() -> None:
    ticks = np.zeros(1, TICK)
    ticks["time_msc"] = 7_200_000
    assert utc_msc(ticks, 7_200_000).tolist() == [0]


def test_clocks_agree() -> None:
    before = clock.monotonic_ms()
    now = clock.now()
    assert before <= now.ms <= clock.monotonic_ms()
    assert now.utc_msc <= clock.now_msc()
    assert clock.monotonic_ns() // 1_000_000 >= now.ms


@given(st.lists(st.lists(st.integers(1, 6), max_size=5), max_size=8))
def test_position_is_a_recount(batches: list[list[int]]) -> None:
    """6.8: the newest time and how often it occurred, however the ticks came in batches."""
    position = START
    times: list[int] = []
    for batch in batches:
        ticks = np.zeros(len(batch), TICK)
        ticks["time_msc"] = batch
        times += batch
        position = position.advanced(len(times), ticks)
    newest = max(times, default=0)
    assert position == Position(len(times), newest, times.count(newest))
