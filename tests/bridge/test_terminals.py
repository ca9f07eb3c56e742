"""Who has a place, who makes room, and what a fault in one session does to the others."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from loguru import logger

from mt5bridge.clock import Now
from mt5bridge.position import Position
from mt5bridge.server import DEALS, Batch, Settings, Trader, ticks_of
from mt5bridge.server.session import Session
from mt5bridge.server.survey import survey
from mt5bridge.simulator import simulated_hello
from mt5bridge.wire import (
    SYMBOLS_MAX,
    Ask,
    Bye,
    Error,
    ErrorCode,
    Frame,
    Heartbeat,
    Lost,
    LostReason,
    Mark,
    Signal,
    SignalResult,
    SignalStatus,
    Symbols,
    TradeMode,
    Welcome,
    encode,
)
from tests.bridge.dialog import SETTINGS, Dialog, symbol, ticks
from tests.wire.samples import FRAMES

FEW = replace(SETTINGS, terminals_max=3)
SIGNAL = FRAMES["signal"][1]
RESULT = FRAMES["signal_result"][1]
assert isinstance(SIGNAL, Signal)
assert isinstance(RESULT, SignalResult)


def errors(frames: list[Frame]) -> list[Error]:
    return [frame for frame in frames if isinstance(frame, Error)]


def trader(dialog: Dialog, identity: str) -> None:
    """One that trades EURUSD and has gone away."""
    route = identity.encode()
    dialog.say(replace(simulated_hello(identity, 1), trades=TradeMode.LIVE), route)
    dialog.say(Symbols((symbol("EURUSD", 1),)), route)
    dialog.say(Bye(""), route)


def publish(dialog: Dialog, identity: str, route: bytes | None = None) -> None:
    """One that sends ticks of EURUSD and does not trade."""
    route = route or identity.split()[-1].encode()
    dialog.say(replace(simulated_hello(identity, 1), trades=TradeMode.NONE), route)
    dialog.say(Symbols((symbol("EURUSD", 1),)), route)


def test_any_number_of_greetings_locks_nobody_out() -> None:
    """11.2: who is away, and has nothing to trade and nothing under way, makes room."""
    dialog = Dialog(FEW)
    dialog.begin("EURUSD")
    dialog.say(ticks(1, 4))
    for number in range(100):
        route = b"%d" % number
        (welcome,) = dialog.greet(route, identity=f"stranger {number}")
        assert isinstance(welcome, Welcome)
        if number % 2:
            publish(dialog, f"stranger {number}")
        dialog.say(Bye(""), route)
    assert isinstance(dialog.greet(b"good", identity="good")[0], Welcome)
    assert len(dialog.terminals.sessions) == FEW.terminals_max and not dialog.terminals.resting
    dialog.say(ticks(5, 1))
    assert dialog.batches[-1].last == 5, "who is connected notices nothing"


def test_names_without_end_leave_nothing_behind() -> None:
    """11.2: who has only greeted is not noted, and of others there are no more than allowed."""
    dialog = Dialog(replace(SETTINGS, terminals_max=1, identities_max=20))
    for number in range(100):
        dialog.greet(b"g", identity=f"demo {number}")
        dialog.say(Bye(""), b"g")
    assert not dialog.traders and not dialog.terminals.resting
    for number in range(100):  # each says what it trades, trades no more, and makes room
        trader(dialog, f"demo {number}")
        quiet = replace(simulated_hello(f"demo {number}", 2), trades=TradeMode.NONE)
        dialog.say(quiet, b"q")
        dialog.say(Bye(""), b"q")
    noted = {one.identity for one in dialog.traders}
    assert len(dialog.terminals.names) == len(noted) == 20
    assert dialog.counters["identities_refused"] >= 80
    (error,) = errors(dialog.greet(b"g", identity="one more"))
    assert error.code is ErrorCode.LIMIT and "raise identities_max" in error.text
    assert isinstance(dialog.greet(b"g", identity="demo 7")[0], Welcome), "who is known may come"


def test_those_that_are_connected_keep_their_places() -> None:
    dialog = Dialog(FEW)
    for name in ("one", "two", "three"):
        dialog.greet(name.encode(), identity=name)
    (error,) = errors(dialog.greet(b"four", identity="four"))
    assert error.code is ErrorCode.LIMIT
    assert "raise terminals_max" in error.text and "forget" in error.text
    dialog.ms += FEW.timeout_ms + 1
    dialog.due()
    assert isinstance(dialog.greet(b"four", identity="four")[0], Welcome)


def test_numbers_go_on_when_who_made_room_is_back() -> None:
    """6.1: exactly once, also over a place given away; and who is not all on disk keeps it."""
    dialog = Dialog(replace(SETTINGS, terminals_max=1))
    publish(dialog, "demo", b"r")
    dialog.say(ticks(1, 4))
    dialog.say(Bye(""))
    assert errors(dialog.greet(b"new", identity="new")), "its ticks are not on disk yet"
    dialog.terminals.acknowledge("demo", ticks_of("EURUSD"), 4)
    assert isinstance(dialog.greet(b"new", identity="new")[0], Welcome)
    assert list(dialog.terminals.resting) == ["demo"]
    dialog.say(Bye(""), b"new")
    (welcome,) = dialog.greet()
    assert isinstance(welcome, Welcome)
    assert [one.durable for one in welcome.streams if one.name] == [4]
    assert dialog.terminals.resting == {}
    dialog.say(Symbols((symbol("EURUSD", 1),)))
    dialog.say(ticks(1, 6))
    assert [(batch.first, batch.last) for batch in dialog.batches] == [(1, 4), (5, 6)]


def test_who_trades_keeps_its_place_until_it_is_forgotten() -> None:
    """10.6: signals wait for it."""
    dialog = Dialog(replace(SETTINGS, terminals_max=1))
    trader(dialog, "old")
    assert errors(dialog.greet(b"new", identity="new"))
    assert dialog.terminals.forget("old") == ""
    assert dialog.traders[-1] == Trader("old", "", TradeMode.NONE, ())
    assert dialog.terminals.traders("EURUSD") == ()
    assert isinstance(dialog.greet(b"new", identity="new")[0], Welcome)


def test_what_was_sent_to_who_is_forgotten_is_known_when_it_is_back() -> None:
    """10.1: nothing is executed twice for it, and nothing is lost."""
    dialog = Dialog(SETTINGS)
    trader(dialog, "old")
    assert not dialog.terminals.send("old", SIGNAL)
    dialog.terminals.ask("old", [7])
    assert dialog.terminals.forget("old") == ""
    assert not dialog.terminals.send("old", SIGNAL), "a restart sends it again"
    dialog.say(replace(simulated_hello("old", 2), trades=TradeMode.LIVE), b"old")
    due = dialog.due()
    assert [type(frame) for frame in due] == [Ask, Signal] and due[1] == SIGNAL


def test_what_cannot_be_forgotten_says_why() -> None:
    dialog = Dialog(SETTINGS)
    assert dialog.terminals.forget("demo") == "no terminal demo is known"
    dialog.begin("EURUSD")
    assert "connected" in dialog.terminals.forget("demo")
    dialog.say(ticks(1, 1))
    dialog.say(Bye(""))
    assert "not on disk yet" in dialog.terminals.forget("demo")
    dialog.terminals.acknowledge("demo", ticks_of("EURUSD"), 1)
    assert dialog.terminals.forget("demo") == ""
    assert dialog.terminals.forget("demo") == "no terminal demo is known"


def test_who_was_forgotten_stays_so_over_a_restart_and_is_back_when_it_speaks() -> None:
    dialog = Dialog(SETTINGS)
    dialog.begin("EURUSD")
    dialog.say(Bye(""))
    dialog.terminals.forget("demo")
    resumes = {("demo", ticks_of("EURUSD")): Position(9, 8, 1), ("two", DEALS): Position(1, 1, 1)}
    again = Dialog(SETTINGS, resumes, dialog.traders)
    assert list(again.terminals.sessions) == ["two"]
    assert again.terminals.forget("two") == ""
    again.begin("EURUSD")
    assert again.terminals.sessions["demo"].streams[ticks_of("EURUSD")].expected == 10
    assert again.traders[-1].symbols == ("EURUSD",)
    assert list(Dialog(SETTINGS, resumes, again.traders[-1:]).terminals.sessions) == ["demo", "two"]


def test_a_symbol_has_one_number() -> None:
    """5.5: else each HEARTBEAT would be answered with a mark for each of its numbers."""
    dialog = Dialog(SETTINGS)
    dialog.begin("EURUSD")
    for number in range(2, 40):
        (error,) = errors(dialog.say(Symbols((symbol("EURUSD", number),))))
        assert error.code is ErrorCode.UNEXPECTED_FRAME and "stream 1 already" in error.text
    (answer,) = dialog.say(Heartbeat(1, 0, 0, 0, 0, ()))
    assert isinstance(answer, Heartbeat) and len(answer.marks) == 2


def test_as_many_symbols_as_there_may_be_are_answered() -> None:
    dialog = Dialog(replace(SETTINGS, symbols_max=SYMBOLS_MAX))
    dialog.greet()
    for begin in range(1, SYMBOLS_MAX + 1, 1_024):
        names = [f"{number:032d}" for number in range(begin, begin + 1_024)]
        found = dialog.say(Symbols(tuple(symbol(n, i) for i, n in enumerate(names, begin))))
        assert found == []
    for frame in [*dialog.say(Heartbeat(1, 0, 0, 0, 0, ())), *dialog.greet()]:
        assert encode(frame)


def test_streams_of_all_terminals_are_counted_also_of_those_that_made_room() -> None:
    """11.2: where each stream stands is written into each segment."""
    dialog = Dialog(replace(SETTINGS, terminals_max=1, streams_max=5))
    for name in ("one", "two"):
        publish(dialog, name)
        dialog.say(ticks(1, 1), name.encode())
        dialog.terminals.acknowledge(name, ticks_of("EURUSD"), 1)
        dialog.say(Bye(""), name.encode())
    assert isinstance(dialog.greet(b"three", identity="three")[0], Welcome)
    (error,) = errors(dialog.say(Symbols((symbol("EURUSD", 1),)), b"three"))
    assert error.code is ErrorCode.LIMIT and "begin a new one" in error.text
    dialog.say(Bye(""), b"three")
    publish(dialog, "one")
    dialog.say(ticks(2, 1), b"one")
    assert dialog.batches[-1].first == 2, "what is known goes on"


def test_a_loss_of_everything_is_a_number_that_can_be_told(tmp_path: Path) -> None:
    """Sums of what was lost outgrow 64 bits; the status is JSON."""
    dialog = Dialog(SETTINGS)
    dialog.begin("A", "B", "C")
    for stream in (0, 1, 2, 3):
        dialog.say(Lost(stream, 1, 2**63 - 1, LostReason.OTHER, "\x01" * 1_000))
        dialog.say(Heartbeat(1, 0, 0, 0, 0, (Mark(stream, 2**63 - 1, 2**63 - 1),)))
        dialog.say(Lost(stream, 2**63 - 1, 2**63 - 1, LostReason.OTHER, ""))
    assert len(dialog.gaps) == 4
    status = survey(dialog.terminals, "tcp://127.0.0.1:1", 0, Now(dialog.ms, 0))
    found = msgspec.json.decode(msgspec.json.encode(status))
    assert found["counters"]["lost"] == 2**63 - 1


def test_a_second_look_at_the_figures_leaves_no_garbage() -> None:
    """It is taken each second, in the thread that a signal waits for."""
    dialog = Dialog(SETTINGS)
    dialog.begin("EURUSD")
    before = survey(dialog.terminals, "", 0, dialog.now)
    gc.collect()
    gc.disable()
    try:
        assert survey(dialog.terminals, "", 0, dialog.now) == before
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize("method", ["receive", "outgoing", "remind", "connect"])
def test_a_fault_in_a_session_ends_that_session_alone(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """9.5"""
    dialog = Dialog(SETTINGS)
    dialog.begin("EURUSD")
    dialog.greet(b"other", identity="other")
    right = getattr(Session, method)

    def wrong(self: Session, *arguments: object) -> object:
        if self.identity == "other":
            raise OverflowError("too large")
        return right(self, *arguments)

    monkeypatch.setattr(Session, method, wrong)
    if method == "connect":
        found = dialog.greet(b"other", identity="other")
    else:
        found = dialog.say(Heartbeat(1, 0, 0, 0, 0, ()), b"other") + dialog.due()
    (error,) = errors(found)
    assert error.code is ErrorCode.BAD_FRAME and "OverflowError: too large" in error.text
    assert dialog.terminals.connected() == ("demo",)
    assert dialog.counters["sessions_failed"] == 1
    assert dialog.say(ticks(1, 1), b"other") == [], "it is not asked to come back at once"
    dialog.say(ticks(1, 2))
    assert dialog.batches[-1].last == 2
    monkeypatch.undo()
    assert isinstance(dialog.greet(b"other", identity="other")[0], Welcome)


def test_faults_without_end_do_not_fill_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of them, and ever fewer of the others, are there with all details."""
    monkeypatch.setattr(Session, "receive", lambda *_: 1 / 0)
    dialog = Dialog(SETTINGS)
    lines: list[str] = []
    listener = logger.add(lines.append, level="ERROR", format="{message}")
    for _ in range(5):
        dialog.greet()
        dialog.say(ticks(1, 1))
        lines.append("")
    logger.remove(listener)
    told = [text for text in lines if "ZeroDivisionError" in text]
    assert [place for place, text in enumerate(lines) if text in told] == [0, 2, 5]


def test_a_disk_that_fails_is_no_sessions_fault() -> None:
    """Nothing may go on as if it had been stored."""
    dialog = Dialog(SETTINGS)
    dialog.begin("EURUSD")

    def broken(_batch: Batch) -> bool:
        raise OSError("the disk is gone")

    dialog.sink.on_batch = broken
    with pytest.raises(OSError, match="the disk is gone"):
        dialog.say(ticks(1, 2))


def test_a_request_that_is_no_frame_is_refused_when_it_is_sent() -> None:
    """Queued, it would end each of the terminal's connections."""
    dialog = Dialog(SETTINGS)
    trader(dialog, "old")
    assert dialog.terminals.send("old", replace(SIGNAL, symbol="x" * 2_000))
    assert dialog.terminals.send("old", replace(SIGNAL, name="\ud800"))
    assert dialog.counters["signals_refused"] == 2


def test_a_strangers_result_leaves_the_queue_as_it_is() -> None:
    """10.5: it is sent again to whom it was sent."""
    dialog = Dialog(SETTINGS)
    trader(dialog, "old")
    dialog.terminals.send("old", SIGNAL)
    dialog.greet()
    dialog.say(replace(RESULT, id=SIGNAL.id, status=SignalStatus.EXECUTED, lots=50.0))
    dialog.say(replace(simulated_hello("old", 2), trades=TradeMode.LIVE), b"old")
    assert SIGNAL in dialog.due()


def test_a_signal_does_not_wait_until_all_terminals_were_asked() -> None:
    """What others are due they get with the next turn."""
    dialog = Dialog(SETTINGS)
    for name in ("one", "two"):
        route = name.encode()
        dialog.say(replace(simulated_hello(name, 1), trades=TradeMode.LIVE), route)
        dialog.say(Symbols((symbol("EURUSD", 1),)), route)
        dialog.terminals.send(name, SIGNAL)
    assert dialog.terminals.outgoing_of("one") == [(b"one", SIGNAL)]
    assert dialog.terminals.outgoing_of("nobody") == []
    assert dialog.terminals.outgoing() == [(b"two", SIGNAL)]


def test_settings_of_places() -> None:
    with pytest.raises(ValueError, match="terminals_max = 0: use 1 or more"):
        Settings(terminals_max=0).check()
