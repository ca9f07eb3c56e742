"""Signals to terminals."""

from __future__ import annotations

from dataclasses import replace

from mt5bridge.server import Outcome, Settings
from mt5bridge.wire import Frame, Signal, SignalResult, SignalStatus
from tests.bridge.dialog import Dialog
from tests.wire.samples import FRAMES

_SIGNAL = FRAMES["signal"][1]
_RESULT = FRAMES["signal_result"][1]
assert isinstance(_SIGNAL, Signal)
assert isinstance(_RESULT, SignalResult)


def _signals(frames: list[Frame]) -> list[int]:
    return [frame.id for frame in frames if isinstance(frame, Signal)]


def test_a_signal_goes_out_once_a_connection() -> None:
    """10.5"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    assert dialog.terminals.send("demo", replace(_SIGNAL, id=1)) == 1
    assert dialog.terminals.send("demo", replace(_SIGNAL, id=1)) == 1
    assert _signals(dialog.due()) == [1]
    assert _signals(dialog.due()) == []
    dialog.begin("EURUSD")
    assert _signals(dialog.due()) == [1]


def test_a_final_result_ends_it() -> None:
    """10.4, 10.5: a fill that leaves a rest does not."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.terminals.send("demo", replace(_SIGNAL, id=1))
    partial = replace(_RESULT, id=1, status=SignalStatus.PARTIAL)
    executed = replace(_RESULT, id=1, status=SignalStatus.EXECUTED)
    dialog.due()
    dialog.say(partial)
    dialog.begin("EURUSD")
    assert _signals(dialog.due()) == [1]
    dialog.say(executed)
    dialog.begin("EURUSD")
    assert _signals(dialog.due()) == []
    assert dialog.outcomes == [Outcome("demo", partial), Outcome("demo", executed)]


def test_a_signal_waits_for_its_terminal() -> None:
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.terminals.gone(b"r")
    dialog.terminals.send("demo", _SIGNAL)
    assert dialog.due() == []
    dialog.begin("EURUSD")
    assert _signals(dialog.due()) == [_SIGNAL.id]


def test_without_a_name_it_goes_to_whom_publishes_the_symbol() -> None:
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.greet(b"other", identity="second")
    assert dialog.terminals.send(None, _SIGNAL) == 1
    assert dialog.terminals.send(None, replace(_SIGNAL, symbol="XAUUSD")) == 0
    assert dialog.terminals.send("nobody", _SIGNAL) == 0
    assert dialog.counters["signals_undeliverable"] == 2


def test_a_socket_without_room_is_tried_again() -> None:
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.terminals.send("demo", _SIGNAL)
    dialog.due()
    dialog.terminals.unsent(b"r", _SIGNAL)
    assert _signals(dialog.due()) == [_SIGNAL.id]


def test_too_many_without_result_are_refused() -> None:
    """11.2"""
    dialog = Dialog(Settings(signals_max=1))
    dialog.begin("EURUSD")
    assert dialog.terminals.send("demo", replace(_SIGNAL, id=1)) == 1
    assert dialog.terminals.send("demo", replace(_SIGNAL, id=2)) == 0
    assert dialog.counters["signals_refused"] == 1
