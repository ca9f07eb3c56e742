"""Made-up ticks, tape, account and script."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt5bridge.position import Position
from mt5bridge.records import TICK, DealEntry, DealType, Records, text_of
from mt5bridge.simulator import (
    Account,
    ScriptError,
    Tape,
    Walk,
    parse_script,
    random_walk,
    read_script,
    simulated_symbol,
    simulated_terminal,
)
from mt5bridge.simulator.account import Quote, comment
from mt5bridge.simulator.script import Action, Fault
from mt5bridge.simulator.ticks import crowd, delay
from mt5bridge.wire import Side, Signal, SignalStatus
from tests.wire.samples import FRAMES

_SIGNAL = FRAMES["signal"][1]
assert isinstance(_SIGNAL, Signal)
_MARKET = Quote(bid=1.25, ask=1.5, time_msc=_SIGNAL.time_msc, utc_offset_ms=0)
_EURUSD = simulated_symbol("EURUSD")


def _at(*times: int) -> Records:
    ticks = np.zeros(len(times), TICK)
    ticks["time_msc"] = times
    return ticks


def test_a_walk_is_its_seed() -> None:
    walk = Walk(ticks=500, seed=3)
    ticks = random_walk(walk)
    assert ticks.tobytes() == random_walk(walk).tobytes()
    assert ticks.tobytes() != random_walk(replace(walk, seed=4)).tobytes()
    assert (np.diff(ticks["time_msc"]) > 0).all()
    assert (ticks["ask"] > ticks["bid"]).all()
    assert (ticks["time"] == ticks["time_msc"] // 1_000).all()


def test_oddities() -> None:
    ticks = random_walk(Walk(ticks=2_000))
    crowded, delayed = crowd(ticks, 0.3, 1), delay(ticks, 0.1, 1)
    assert 0.2 < np.mean(np.diff(crowded["time_msc"]) == 0) < 0.4
    assert (np.diff(crowded["time_msc"]) >= 0).all()
    assert 0 < np.mean(np.diff(delayed["time_msc"]) < 0) < 0.2
    assert len(crowd(ticks[:0], 0.5, 1)) == 0


@given(st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=3), st.integers(1, 5))
def test_tape_releases_everything_once_in_time(times: list[list[int]], count_max: int) -> None:
    arrays = {str(number): _at(*row) for number, row in enumerate(times)}
    tape = Tape(arrays)
    found: dict[str, list[int]] = {name: [] for name in arrays}
    newest = 0
    while not tape.finished:
        for name, ticks in tape.release(count_max).items():
            found[name] += ticks["time_msc"].tolist()
        assert tape.now_msc >= newest
        newest = tape.now_msc
    assert found == {str(number): row for number, row in enumerate(times)}


def test_tape_waits_for_its_time() -> None:
    tape = Tape({"A": _at(10, 20, 20, 30)})
    assert (tape.start_msc, tape.now_msc, tape.last_tick("A")) == (10, 10, None)
    assert tape.release(9, until_msc=9) == {}
    assert tape.release(9, until_msc=20)["A"]["time_msc"].tolist() == [10, 20, 20]
    last = tape.last_tick("A")
    assert last is not None
    assert last["time_msc"] == 20
    assert not tape.finished


def test_tape_goes_on_by_time_and_count() -> None:
    """6.7, with a late tick that does not count."""
    tape = Tape({"A": _at(10, 20, 15, 20, 20, 30), "B": _at(5)})
    tape.seek("A", Position(4, 20, 2))
    tape.seek("B", Position())
    tape.seek("C", Position(1, 1, 1))
    released = tape.release(99)
    assert released["A"]["time_msc"].tolist() == [20, 30]
    assert released["B"]["time_msc"].tolist() == [5]


def test_account_executes_once() -> None:
    """10.1"""
    account = Account()
    first = account.execute(_SIGNAL, _EURUSD, _MARKET)
    again = account.execute(_SIGNAL, _EURUSD, replace(_MARKET, bid=9.0))
    assert first == again
    assert len(account.deals) == 1
    (deal,) = account.deals
    assert (deal["type"], deal["entry"]) == (DealType.SELL, DealEntry.IN)
    assert (deal["price"], deal["volume"], deal["magic"]) == (1.25, 0.1, 42)
    assert deal["sl"] == pytest.approx(1.252)
    assert deal["tp"] == pytest.approx(1.246)
    assert text_of(deal["comment"]) == "fedcba9876543210 Fade"
    assert first[0].status is SignalStatus.EXECUTED
    assert first[0].deal == deal["ticket"]


def test_partial_fills() -> None:
    """10.4"""
    account = Account(fills=(0.5, 0.3, 0.2))
    results = account.execute(_SIGNAL, _EURUSD, _MARKET)
    assert [result.lots for result in results] == [0.05, 0.03, 0.02]
    assert [result.status.final for result in results] == [False, False, True]
    assert len(set(account.deals["ticket"])) == 3
    assert len(set(account.deals["order"])) == 1
    assert len(set(account.deals["position_id"])) == 1


def test_an_order_too_small_to_split_is_filled_at_once() -> None:
    account = Account(fills=(0.5, 0.5))
    (result,) = account.execute(replace(_SIGNAL, lots=0.01), _EURUSD, _MARKET)
    assert (result.lots, result.status) == (0.01, SignalStatus.EXECUTED)


def test_closing_and_reversing() -> None:
    account = Account()
    for number, (side, lots) in enumerate(
        [(Side.BUY, 0.2), (Side.SELL, 0.1), (Side.SELL, 0.3), (Side.CLOSE, 0.0), (Side.CLOSE, 0.0)]
    ):
        signal = replace(_SIGNAL, id=number, side=side, lots=lots)
        results = account.execute(signal, _EURUSD, _MARKET)
    assert account.deals["entry"].tolist() == [
        DealEntry.IN,
        DealEntry.OUT,
        DealEntry.INOUT,
        DealEntry.OUT,
    ]
    assert account.deals["volume"].tolist() == pytest.approx([0.2, 0.1, 0.3, 0.2])
    assert account.deals["profit"].tolist() == pytest.approx([0, -2_500, -2_500, -5_000])
    assert results[0].status is SignalStatus.REJECTED


@pytest.mark.parametrize(
    ("late_ms", "status"), [(60_000, SignalStatus.EXECUTED), (60_001, SignalStatus.EXPIRED)]
)
def test_expiry_is_judged_by_the_terminal(late_ms: int, status: SignalStatus) -> None:
    """10.3, by UTC: the server is two hours ahead."""
    quote = Quote(1.0, 1.0, _SIGNAL.time_msc + 7_200_000 + late_ms, 7_200_000)
    (result,) = Account().execute(_SIGNAL, _EURUSD, quote)
    assert result.status is status


def test_no_limit_and_no_price() -> None:
    """10.2"""
    unlimited = replace(_SIGNAL, valid_until_msc=0, lots=0.0, stop_points=0.0)
    account = Account()
    (result,) = account.execute(unlimited, _EURUSD, _MARKET)
    assert result.lots == 0.1
    assert account.deals["sl"].tolist() == [0.0]
    (refused,) = Account().execute(_SIGNAL, None, None)
    assert refused.status is SignalStatus.REJECTED


def test_comments_fit_what_brokers_keep() -> None:
    assert comment(replace(_SIGNAL, id=1, name="n" * 99)) == b"0000000000000001 " + b"n" * 14


def test_symbols_have_their_own_points() -> None:
    terminal = simulated_terminal({"A": _at(1), "B": _at(1)}, points={"B": 0.01})
    assert [(symbol.point, symbol.digits) for symbol in terminal.client.symbols.values()] == [
        (0.00001, 5),
        (0.01, 2),
    ]


def test_fills_must_be_whole() -> None:
    with pytest.raises(ValueError, match="make their sum 1"):
        Account(fills=(0.5, 0.4))


def test_script() -> None:
    script = parse_script('late = 0.1\n[[fault]]\naction = "skip"\nat_record = 5')
    assert script.late == 0.1
    assert script.fault == (Fault(Action.SKIP, 5),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[fault]]\naction = "explode"\nat_record = 5', r"explode.*\$\.fault\[0\]\.action"),
        ("lat = 0.1", "unknown field `lat`"),
        ("late = ", "s.toml"),
    ],
)
def test_script_errors_name_the_place(
    text: str, message: str, tmp_path: pytest.TempPathFactory
) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScriptError, match=message):
        read_script(path)


def test_a_tape_of_other_ticks_goes_on_behind_the_time_reached() -> None:
    ticks = random_walk(Walk(100, gap_ms=1_000))
    tape = Tape({"A": ticks})
    tape.seek("A", Position(7, int(ticks["time_msc"][40]), 3))  # three ticks, but there is one
    assert len(tape.release(1_000)["A"]) == 59
