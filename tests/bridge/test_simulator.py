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
from mt5bridge.simulator.deals import comment
from mt5bridge.simulator.script import Action, Fault
from mt5bridge.simulator.ticks import crowd, delay
from mt5bridge.simulator.wish import wish_of
from mt5bridge.wire import Side, Signal, SignalStatus
from tests.wire.samples import FRAMES

_SIGNAL = FRAMES["signal"][1]
assert isinstance(_SIGNAL, Signal)


def market(fills: tuple[float, ...] = (1.0,), bid: float = 1.25, ask: float = 1.251) -> Account:
    """An account that has seen one tick of EURUSD, at the time of the signal."""
    account = Account(fills)
    account.add(simulated_symbol("EURUSD"))
    quote(account, bid, ask)
    return account


def quote(account: Account, bid: float, ask: float, time_msc: int = _SIGNAL.time_msc) -> None:
    ticks = _at(time_msc)
    ticks["bid"], ticks["ask"] = bid, ask
    account.take_ticks({"EURUSD": ticks})


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
    assert (tape.start_msc, tape.now_msc) == (10, 10)
    assert tape.release(9, until_msc=9) == {}
    assert tape.release(9, until_msc=20)["A"]["time_msc"].tolist() == [10, 20, 20]
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


def test_an_account_sees_each_tick_once() -> None:
    """What an earlier tape has shown it is not shown again, whether it is sent again or not."""
    ticks = {"A": _at(10, 20, 20, 30), "B": _at(5, 25)}
    tape = Tape(ticks)
    tape.release(3)
    seen = tape.pass_on()
    assert {name: array["time_msc"].tolist() for name, array in seen.items()} == {
        "A": [10, 20], "B": [5]
    }  # fmt: skip
    again = Tape(ticks)
    again.traded("A", Position(0, 20, 1))
    again.seek("A", Position(3, 20, 2))
    again.release(99)
    rest = {name: array["time_msc"].tolist() for name, array in again.pass_on().items()}
    assert rest == {"A": [20, 30], "B": [5, 25]} and again.pass_on() == {}


def test_account_executes_once() -> None:
    """10.1"""
    account = market()
    first = account.execute(_SIGNAL)
    quote(account, 9.0, 9.1)
    again = account.execute(_SIGNAL)
    assert first == again
    deal = account.deals[0]
    assert (deal["type"], deal["entry"]) == (DealType.SELL, DealEntry.IN)
    assert (deal["price"], deal["volume"], deal["magic"]) == (1.25, 0.1, 42)
    assert deal["sl"] == pytest.approx(1.252)
    assert deal["tp"] == pytest.approx(1.246)
    assert text_of(deal["comment"]) == "fedcba9876543210 Fade"
    assert first[0].status is SignalStatus.EXECUTED
    assert first[0].deal == deal["ticket"]


def test_the_market_reaches_stops_and_targets() -> None:
    account = market()
    account.execute(_SIGNAL)
    quote(account, 1.252, 1.253)
    account.execute(replace(_SIGNAL, id=2, stop_points=0.0))
    quote(account, 1.24, 1.241)
    assert [text_of(comment) for comment in account.deals["comment"]] == [
        "fedcba9876543210 Fade", "[sl 1.25200]", "0000000000000002 Fade", "[tp 1.24800]",
    ]  # fmt: skip
    assert account.deals["price"].tolist() == [1.25, 1.253, 1.252, 1.248]
    assert account.deals["entry"].tolist() == [DealEntry.IN, DealEntry.OUT] * 2
    assert account.positions == 0 and account.balance == 10_000.0 - 30.0 + 40.0


def test_partial_fills() -> None:
    """10.4"""
    account = market(fills=(0.5, 0.3, 0.2))
    results = account.execute(_SIGNAL)
    assert [result.lots for result in results] == [0.05, 0.03, 0.02]
    assert [result.status.final for result in results] == [False, False, True]
    assert len(set(account.deals["ticket"])) == 3
    assert len(set(account.deals["order"])) == 1
    assert len(set(account.deals["position_id"])) == 1


def test_an_order_too_small_to_split_is_filled_at_once() -> None:
    account = market(fills=(0.5, 0.5))
    (result,) = account.execute(replace(_SIGNAL, lots=0.01))
    assert (result.lots, result.status) == (0.01, SignalStatus.EXECUTED)


def test_closing_and_reversing() -> None:
    account = market(bid=1.25, ask=1.5)
    for number, (side, lots) in enumerate(
        [(Side.BUY, 0.2), (Side.SELL, 0.1), (Side.SELL, 0.3), (Side.CLOSE, 0.0), (Side.CLOSE, 0.0)]
    ):
        signal = replace(_SIGNAL, id=number, side=side, lots=lots, stop_points=0, target_points=0)
        results = account.execute(signal)
    assert account.deals["entry"].tolist() == [
        DealEntry.IN,
        DealEntry.OUT,
        DealEntry.INOUT,
        DealEntry.OUT,
    ]
    assert account.deals["volume"].tolist() == pytest.approx([0.2, 0.1, 0.3, 0.2])
    assert account.deals["profit"].tolist() == pytest.approx([0, -2_500, -2_500, -5_000])
    assert results[0].status is SignalStatus.REJECTED


def test_strategies_share_a_net_position_and_close_their_own_part() -> None:
    account = market()
    for number, magic in enumerate((1, 2, 2)):
        account.execute(replace(_SIGNAL, id=number, magic=magic))
    assert account.positions == 1
    account.execute(replace(_SIGNAL, id=9, magic=2, side=Side.CLOSE, lots=0.0))
    assert (account.deals["magic"][-1], account.deals["volume"][-1]) == (2, pytest.approx(0.2))
    hedged = Account(hedging=True)
    hedged.add(simulated_symbol("EURUSD"))
    quote(hedged, 1.25, 1.251)
    for number in range(3):
        hedged.execute(replace(_SIGNAL, id=number))
    assert hedged.positions == 3 and len(set(hedged.deals["position_id"])) == 3


@pytest.mark.parametrize(
    ("late_ms", "status"), [(60_000, SignalStatus.EXECUTED), (60_001, SignalStatus.EXPIRED)]
)
def test_expiry_is_judged_by_the_terminal(late_ms: int, status: SignalStatus) -> None:
    """10.3, by UTC: the server is two hours ahead."""
    account = market()
    account.utc_offset_ms = 7_200_000
    quote(account, 1.25, 1.251, _SIGNAL.time_msc + 7_200_000 + late_ms)
    (result,) = account.execute(_SIGNAL)
    assert result.status is status


def test_no_limit_and_no_price() -> None:
    """10.2"""
    unlimited = replace(_SIGNAL, valid_until_msc=0, lots=0.0, stop_points=0.0)
    account = market()
    (result,) = account.execute(unlimited)
    assert result.lots == 0.1
    assert account.deals["sl"].tolist() == [0.0]
    (refused,) = Account().execute(_SIGNAL)
    assert (refused.status, refused.text) == (SignalStatus.REJECTED, "no price for this symbol")


def test_what_a_server_refuses_is_refused_with_its_code() -> None:
    account = market(bid=1.25, ask=1.253)  # the stop would be inside the spread
    (result,) = account.execute(_SIGNAL)
    assert (result.status, result.retcode) == (SignalStatus.REJECTED, 10_016)
    (result,) = account.execute(replace(_SIGNAL, id=2, lots=0.001))
    assert (result.status, result.retcode) == (SignalStatus.REJECTED, 10_014)
    assert len(account.deals) == 0


def test_comments_fit_what_brokers_keep() -> None:
    assert (
        comment(wish_of(replace(_SIGNAL, id=1, name="n" * 99))) == b"0000000000000001 " + b"n" * 14
    )


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
        (
            '[[fault]]\naction = "explode"\nat_record = 5',
            r"`fault\[0\]\.action`: .*explode.*; there are disconnect",
        ),
        ("lat = 0.1", "`lat`: no such section or key; did you mean `late`"),
        ("late = ", "s.toml: not TOML"),
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
