"""Signals and orders to terminals that trade."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mt5bridge.server import Outcome, Settings, Trader
from mt5bridge.simulator import simulated_hello
from mt5bridge.wire import (
    ASKED_MAX,
    Ask,
    Asked,
    Frame,
    Halt,
    Order,
    Signal,
    SignalResult,
    SignalStatus,
    Symbols,
    TradeMode,
)
from tests.bridge.dialog import Dialog, symbol
from tests.wire.samples import FRAMES

_SIGNAL = FRAMES["signal"][1]
_ORDER = FRAMES["order"][1]
_RESULT = FRAMES["signal_result"][1]
assert isinstance(_SIGNAL, Signal)
assert isinstance(_ORDER, Order)
assert isinstance(_RESULT, SignalResult)


def _ids(frames: list[Frame]) -> list[int]:
    return [frame.id for frame in frames if isinstance(frame, Signal | Order)]


def test_a_signal_goes_out_once_a_connection() -> None:
    """10.5"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    assert not dialog.terminals.send("demo", replace(_SIGNAL, id=1))
    assert not dialog.terminals.send("demo", replace(_SIGNAL, id=1))
    assert not dialog.terminals.send("demo", replace(_ORDER, id=2))
    assert _ids(dialog.due()) == [1, 2]
    assert _ids(dialog.due()) == []
    dialog.begin("EURUSD")
    assert _ids(dialog.due()) == [1, 2]


def test_a_final_result_ends_it() -> None:
    """10.4, 10.5: a fill that leaves a rest does not, nor a pending order that stands."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.terminals.send("demo", replace(_SIGNAL, id=1))
    partial = replace(_RESULT, id=1, status=SignalStatus.PARTIAL)
    placed = replace(_RESULT, id=1, status=SignalStatus.PLACED)
    cancelled = replace(_RESULT, id=1, status=SignalStatus.CANCELLED)
    dialog.due()
    dialog.say(partial)
    dialog.say(placed)
    dialog.begin("EURUSD")
    assert _ids(dialog.due()) == [1]
    dialog.say(cancelled)
    dialog.begin("EURUSD")
    assert _ids(dialog.due()) == []
    owner = "10000001@Simulated-Demo"
    told = [Outcome("demo", found, owner) for found in (partial, placed, cancelled)]
    assert dialog.outcomes == told


def test_a_signal_waits_for_its_terminal() -> None:
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.terminals.gone(b"r")
    dialog.terminals.send("demo", _SIGNAL)
    assert dialog.due() == []
    dialog.begin("EURUSD")
    assert _ids(dialog.due()) == [_SIGNAL.id]


def test_who_trades_a_symbol() -> None:
    """10.6, 5.8: announced, and trades not 0."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.greet(b"other", identity="second")
    dialog.say(simulated_hello("watcher", 3, trades=TradeMode.NONE), b"third")
    dialog.say(Symbols((symbol("EURUSD", 1),)), b"third")
    assert dialog.terminals.traders("EURUSD") == ("demo",)
    assert dialog.terminals.traders("") == ("demo", "second")
    assert dialog.terminals.traders("EURUSD", "watcher") == ()
    assert dialog.terminals.traders("XAUUSD") == ()
    assert dialog.terminals.send("nobody", _SIGNAL)


def test_who_does_not_trade_is_sent_nothing() -> None:
    """5.7"""
    dialog = Dialog()
    dialog.say(simulated_hello("demo", 1, trades=TradeMode.NONE))
    dialog.terminals.send("demo", _SIGNAL)
    dialog.terminals.ask("demo", [5])
    dialog.terminals.set_halt(Halt(1, "news"))
    assert dialog.due() == []
    dialog.say(simulated_hello("demo", 1, trades=TradeMode.DRY_RUN))
    assert dialog.due() == [Halt(1, "news"), Ask((Asked(5),)), _SIGNAL]


def test_a_trader_is_known_from_before() -> None:
    """10.6: it has no stream that could tell of it."""
    owner = "10000001@Simulated-Demo"
    dialog = Dialog(traders=[Trader("demo", owner, TradeMode.LIVE, ("EURUSD",))])
    assert dialog.terminals.traders("EURUSD") == ("demo",)
    assert dialog.terminals.owner("demo") == owner
    dialog.terminals.send("demo", _SIGNAL)
    dialog.greet()
    assert _ids(dialog.due()) == [_SIGNAL.id]


def test_traders_are_told_to_the_sink_when_they_change() -> None:
    """10.6; one that has only greeted leaves nothing to remember."""
    dialog = Dialog()
    dialog.begin("EURUSD", "XAUUSD")
    dialog.begin("EURUSD", "XAUUSD")
    owner = "10000001@Simulated-Demo"
    assert dialog.traders == [Trader("demo", owner, TradeMode.LIVE, ("EURUSD", "XAUUSD"))]
    dialog.greet(instance=2)
    dialog.greet(instance=2)
    dialog.say(Symbols((symbol("GBPUSD", 1),)))
    dialog.say(Symbols((symbol("USDJPY", 2),)))
    assert dialog.traders[-1].symbols == ("GBPUSD", "USDJPY")
    dialog.say(simulated_hello("demo", 2, trades=TradeMode.NONE))
    assert dialog.traders[-1].trades is TradeMode.NONE


def test_questions() -> None:
    """10.9: asked again on every connection until answered, and never sent again."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.terminals.send("demo", replace(_SIGNAL, id=7))
    dialog.terminals.ask("demo", [7, 8])
    asked = Ask((Asked(7), Asked(8)))
    assert dialog.due() == [asked]
    dialog.begin("EURUSD")
    assert dialog.due() == [asked]
    dialog.say(replace(_RESULT, id=7, status=SignalStatus.UNKNOWN))
    dialog.say(replace(_RESULT, id=8, status=SignalStatus.PARTIAL))
    dialog.begin("EURUSD")
    assert dialog.due() == [Ask((Asked(8),))]


def test_what_is_answered_before_it_is_asked_is_not_asked() -> None:
    """10.9: a late result says what became of it, and nothing is left to answer."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.terminals.ask("demo", [7, 8])
    dialog.say(replace(_RESULT, id=7, status=SignalStatus.EXECUTED))
    assert dialog.due() == [Ask((Asked(8),))]


def test_many_questions_are_several_frames() -> None:
    """4.16"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.terminals.ask("demo", range(1, ASKED_MAX + 2))
    assert [len(frame.ids) for frame in dialog.due() if isinstance(frame, Ask)] == [ASKED_MAX, 1]


def test_unknown_ends_nothing_that_was_not_asked() -> None:
    """10.9"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.terminals.send("demo", replace(_SIGNAL, id=7))
    dialog.due()
    dialog.say(replace(_RESULT, id=7, status=SignalStatus.UNKNOWN))
    dialog.begin("EURUSD")
    assert _ids(dialog.due()) == [7]


def test_the_kill_switch_is_told_on_change_and_to_who_connects() -> None:
    """10.10"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    assert dialog.due() == []
    dialog.terminals.set_halt(Halt(1, "news"))
    assert dialog.due() == [Halt(1, "news")]
    assert dialog.due() == []
    dialog.begin("EURUSD")
    dialog.terminals.send("demo", _SIGNAL)
    assert dialog.due() == [Halt(1, "news"), _SIGNAL]
    dialog.terminals.set_halt(Halt(0, "over"))
    dialog.begin("EURUSD")
    assert dialog.due() == [Halt(0, "over"), _SIGNAL]


@pytest.mark.parametrize("frame", [_SIGNAL, _ORDER, Ask((Asked(3),)), Halt(1, "news")])
def test_a_socket_without_room_is_tried_again(frame: Frame) -> None:
    dialog = Dialog()
    dialog.begin("EURUSD")
    if isinstance(frame, Signal | Order):
        dialog.terminals.send("demo", frame)
    elif isinstance(frame, Ask):
        dialog.terminals.ask("demo", [3])
    elif isinstance(frame, Halt):
        dialog.terminals.set_halt(frame)
    assert dialog.due() == [frame]
    dialog.terminals.unsent(b"r", frame)
    assert dialog.due() == [frame]


def test_too_many_without_result_are_refused() -> None:
    """11.2"""
    dialog = Dialog(Settings(signals_max=1))
    dialog.begin("EURUSD")
    assert not dialog.terminals.send("demo", replace(_SIGNAL, id=1))
    assert dialog.terminals.send("demo", replace(_SIGNAL, id=2))
    assert dialog.counters["signals_refused"] == 1
