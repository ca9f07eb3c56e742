"""The daemon's side of the dialog, clause by clause."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mt5bridge.position import Position
from mt5bridge.records import TICK
from mt5bridge.server import DEALS, Settings, terminals, ticks_of
from mt5bridge.simulator import simulated_hello
from mt5bridge.wire import (
    Ack,
    Bye,
    Deals,
    Durable,
    Error,
    ErrorCode,
    Frame,
    Heartbeat,
    Lost,
    LostReason,
    Mark,
    Resend,
    Resume,
    Symbols,
    Ticks,
    Welcome,
    decode,
    encode,
)
from tests.bridge.dialog import SETTINGS, Dialog, symbol, ticks
from tests.wire.broken import sealed
from tests.wire.samples import FRAMES, OFFSET_MS, some_deals


def _codes(frames: list[Frame]) -> list[ErrorCode]:
    return [frame.code for frame in frames if isinstance(frame, Error)]


def test_hello_first() -> None:
    """5.2: once a connection, and whatever else it sends is dropped."""
    dialog = Dialog()
    assert _codes(dialog.say(ticks(1, 2))) == [ErrorCode.HELLO_FIRST]
    assert dialog.say(ticks(3, 2)) == []
    assert dialog.counters["strangers"] == 2
    assert dialog.batches == []


def test_strangers_without_end_are_not_all_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """5.2: silence is the answer to the newest of them; the others are told once more."""
    monkeypatch.setattr(terminals, "_STRANGERS_MAX", 2)
    dialog = Dialog()
    for route in (b"one", b"two", b"three"):
        assert _codes(dialog.say(ticks(1, 2), route)) == [ErrorCode.HELLO_FIRST]
    assert [dialog.say(ticks(1, 2), route) for route in (b"two", b"three")] == [[], []]
    assert _codes(dialog.say(ticks(1, 2), b"one")) == [ErrorCode.HELLO_FIRST]


def test_welcome_tells_where_to_go_on() -> None:
    """4.2, 6.7"""
    resumes = {
        ("demo", DEALS): Position(2, 900, 1),
        ("demo", ticks_of("EURUSD")): Position(40, 1_000, 3),
        ("demo", ("clock",)): Position(7, 7, 7),
    }
    (welcome,) = Dialog(resumes=resumes).greet()
    assert isinstance(welcome, Welcome)
    assert set(welcome.streams) == {Resume(2, 900, 1, ""), Resume(40, 1_000, 3, "EURUSD")}
    assert welcome.window_records == SETTINGS.window_records


def test_records_are_handed_on_once() -> None:
    """6.4: duplicates dropped, overlapping frames cut."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    for first, count in [(1, 3), (1, 3), (2, 4), (6, 1)]:
        dialog.say(ticks(first, count))
    assert [(batch.first, batch.last) for batch in dialog.batches] == [(1, 3), (4, 5), (6, 6)]
    assert dialog.batches[1].records["bid"].tolist() == ticks(2, 4).records["bid"][2:].tolist()
    assert dialog.counters["duplicates"] == 5
    assert dialog.counters["ticks"] == 6
    assert not dialog.sink.complaints


def test_batches_say_whose_and_when() -> None:
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.say(Ticks(1, OFFSET_MS, 1, ticks(1, 2).records))
    dialog.say(Deals(0, OFFSET_MS, 1, some_deals()))
    tick_batch, deal_batch = dialog.batches
    assert (tick_batch.identity, tick_batch.stream) == ("demo", ("ticks", "EURUSD"))
    assert deal_batch.stream == ("deals",)
    assert deal_batch.quality.tolist() == []
    assert tick_batch.utc_offset_ms == OFFSET_MS
    assert tick_batch.arrival_msc == dialog.now.utc_msc


def test_odd_ticks_keep_their_place() -> None:
    """6.9"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    odd = np.zeros(3, TICK)
    odd["bid"], odd["ask"] = [1.0, np.nan, 2.0], [1.5, 1.5, 1.5]
    odd["time_msc"] = [5, 4, 5]
    dialog.say(Ticks(1, 0, 1, odd))
    assert dialog.batches[0].quality.tolist() == [0, 1 | 16, 8]
    assert dialog.counters["quality_nan"] == 1
    dialog.say(Ticks(1, 0, 4, odd[1:2]))
    assert dialog.batches[1].quality.tolist() == [1 | 16]


@pytest.mark.parametrize("far_msc", [2**63 - 1, 253_402_300_799_999, -1, -(2**63)])
def test_far_times_move_nothing(far_msc: int) -> None:
    """6.8, 6.9: stored under their numbers; neither what follows nor a restart is led astray."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    records = ticks(1, 3).records.copy()
    records["time_msc"][1] = far_msc
    dialog.say(Ticks(1, OFFSET_MS, 1, records))
    dialog.say(ticks(4, 20))
    assert dialog.batches[0].quality.tolist() == [0, 32, 0]
    assert not (dialog.batches[1].quality & 32).any()
    dialog.terminals.acknowledge("demo", ticks_of("EURUSD"), 2)
    dialog.terminals.acknowledge("demo", ticks_of("EURUSD"), 3)
    (welcome,) = dialog.greet()
    assert isinstance(welcome, Welcome)
    assert welcome.streams[1] == Resume(3, int(records["time_msc"][2]), 1, "EURUSD")
    assert dialog.counters["quality_far"] == 1
    assert "demo EURUSD" in dialog.sink.complaints[0] and "clocks" in dialog.sink.complaints[0]


def test_how_far_ahead_is_a_setting() -> None:
    """6.9: measured in UTC, deals alike."""
    dialog = Dialog(replace(SETTINGS, ahead_max_ms=1_000))
    dialog.begin("EURUSD")
    for number, ahead_ms in enumerate([1_000, 1_001], 1):
        deal = some_deals()
        deal["time_msc"] = dialog.now.utc_msc + OFFSET_MS + ahead_ms
        dialog.say(Deals(0, OFFSET_MS, number, deal))
        tick = ticks(1, 1).records.copy()
        tick["time_msc"] = deal["time_msc"]
        dialog.say(Ticks(1, OFFSET_MS, number, tick))
    assert [batch.quality.tolist() for batch in dialog.batches] == [[], [], [32], [32]]


def test_gap_is_asked_for_and_filled() -> None:
    """7.1, 7.2"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.say(ticks(1, 2))
    assert dialog.say(ticks(5, 2)) == [Resend(1, 3, 6)]
    assert dialog.say(ticks(7, 2)) == []
    assert len(dialog.batches) == 1
    assert dialog.counters["beyond"] == 4
    dialog.ms += 50
    assert dialog.due() == [Resend(1, 3, 8)]
    dialog.say(ticks(3, 6))
    dialog.ms += 50
    assert dialog.due() == []
    assert dialog.batches[-1].last == 8


def test_lost_interval_is_recorded() -> None:
    """7.4"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.say(ticks(1, 2))
    dialog.say(ticks(5, 2))
    dialog.say(Lost(1, 1, 4, LostReason.DISCARDED, "not\nkept"))
    dialog.say(ticks(5, 2))
    (gap,) = dialog.gaps
    assert (gap.identity, gap.stream, gap.first, gap.last) == ("demo", ticks_of("EURUSD"), 3, 4)
    assert (gap.reason, gap.text) == (LostReason.DISCARDED, "not\nkept")
    assert dialog.counters["gaps"] == 1
    assert dialog.counters["lost"] == 2
    stream = dialog.terminals.sessions["demo"].streams[ticks_of("EURUSD")]
    assert (stream.gaps, stream.lost) == (1, 2), "the status tells them by stream"
    assert dialog.batches[-1].first == 5


def test_lost_elsewhere_is_not_taken() -> None:
    """7.4: further on it is asked for, before it is a duplicate."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.say(ticks(1, 4))
    assert dialog.say(Lost(1, 7, 8, LostReason.OTHER, "")) == [Resend(1, 5, 8)]
    assert dialog.say(Lost(1, 2, 3, LostReason.OTHER, "")) == []
    assert dialog.gaps == []


def test_what_is_lost_waits_for_room_as_records_do() -> None:
    """7.5: nothing is kept of it meanwhile, however much is said to be lost."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.say(ticks(1, 4))
    dialog.room = False
    for last in range(6, 100):
        dialog.say(Lost(1, 5, last, LostReason.OTHER, ""))
    assert dialog.gaps == [] and dialog.counters["refused"] == 94
    dialog.ms += 1_000
    assert dialog.due() == [Resend(1, 5, 99)]
    dialog.room = True
    dialog.say(Lost(1, 5, 99, LostReason.OTHER, ""))
    dialog.say(ticks(100, 1))
    assert [(one.first, one.last) for one in dialog.gaps] == [(5, 99)]
    assert dialog.batches[-1].first == 100 and dialog.counters["lost"] == 95


def test_loss_at_the_end_shows_in_a_heartbeat() -> None:
    """8.2, 8.3"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.say(ticks(1, 2))
    dialog.terminals.acknowledge("demo", ticks_of("EURUSD"), 1)
    answer, resend = dialog.say(Heartbeat(9, 0, 0, 0, 0, (Mark(1, 9, 4),)))
    assert answer == Heartbeat(9, dialog.now.utc_msc, 0, 0, 0, (Mark(0, 0, 0), Mark(1, 2, 1)))
    assert resend == Resend(1, 3, 4)


def promise(complete_msc: int, *marks: Mark, offset_ms: int = 0) -> Heartbeat:
    return Heartbeat(1, 0, offset_ms, 0, complete_msc, marks)


def test_a_promise_is_handed_on_once_and_never_goes_back() -> None:
    """8.6, 8.8"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    for complete_msc in (0, 5_000, 5_000, 4_000, 6_000):
        dialog.say(promise(complete_msc, offset_ms=1_000))
    assert [mark.utc_msc for mark in dialog.watermarks] == [4_000, 5_000]
    assert {mark.identity for mark in dialog.watermarks} == {"demo"}
    (terminal,) = dialog.status().terminals
    assert terminal.complete_msc == 5_000


def test_a_promise_counts_when_nothing_sent_before_it_is_missing() -> None:
    """8.8: lost on the way, or not taken for want of room."""
    dialog = Dialog()
    dialog.begin("EURUSD", "GBPUSD")
    dialog.say(ticks(1, 2))
    dialog.say(promise(5_000, Mark(1, 4, 4), Mark(2, 0, 0)))
    dialog.say(promise(5_100, Mark(1, 4, 4)))
    assert not dialog.watermarks
    dialog.room = False
    dialog.say(ticks(3, 2))
    dialog.say(promise(5_200, Mark(1, 4, 4)))
    assert not dialog.watermarks
    dialog.room = True
    dialog.say(ticks(3, 2))
    dialog.say(promise(5_300, Mark(1, 4, 4)))
    assert [mark.time_msc for mark in dialog.watermarks] == [5_300]


def test_a_promise_of_a_far_time_is_not_believed() -> None:
    """6.9, 8.8"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.say(promise(dialog.now.utc_msc + 2 * 86_400_000))
    assert not dialog.watermarks and dialog.counters["far_times"] == 1


def test_what_a_lost_connection_has_told_of_is_told_anew() -> None:
    """6.7, 7.1: nothing is asked for that the terminal may not have any more."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.say(ticks(1, 2))
    dialog.say(ticks(7, 2))
    dialog.begin("EURUSD")
    assert dialog.say(ticks(3, 1)) == []
    dialog.ms += 50
    assert dialog.due() == []
    assert dialog.say(ticks(6, 1)) == [Resend(1, 4, 6)]


def test_ack_only_after_the_disk() -> None:
    """6.5"""
    dialog = Dialog()
    dialog.begin("EURUSD", "XAUUSD")
    dialog.due()
    dialog.say(ticks(1, 4))
    assert dialog.due() == []
    dialog.terminals.acknowledge("demo", ticks_of("EURUSD"), 3)
    dialog.terminals.acknowledge("nobody", ticks_of("EURUSD"), 3)
    assert dialog.due() == [Ack((Durable(1, 3),))]
    assert dialog.due() == []


def test_no_room_takes_nothing_and_asks_again() -> None:
    """7.5"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.room = False
    assert dialog.say(ticks(1, 2)) == []
    assert dialog.say(ticks(3, 2)) == []
    assert dialog.counters["refused"] == 1
    dialog.room = True
    dialog.ms += 50
    assert dialog.due()[-1] == Resend(1, 1, 4)
    dialog.say(ticks(1, 4))
    assert [(batch.first, batch.last) for batch in dialog.batches] == [(1, 4)]


def test_second_program_with_the_identity_is_refused() -> None:
    """5.3: the older one is not disturbed."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    assert _codes(dialog.greet(b"other", instance=2)) == [ErrorCode.IDENTITY_IN_USE]
    assert dialog.counters["refused_identity_in_use"] == 1
    dialog.say(ticks(1, 2))
    assert len(dialog.batches) == 1


@pytest.mark.parametrize("how", ["silent", "bye", "dead"])
def test_a_free_identity_is_taken_over(how: str) -> None:
    """5.4"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    if how == "silent":
        dialog.ms += 1_001
    elif how == "bye":
        dialog.say(Bye(""))
    else:
        dialog.terminals.gone(b"r")
    (welcome,) = dialog.greet(b"other", instance=2)
    assert isinstance(welcome, Welcome)
    assert _codes(dialog.say(ticks(1, 2))) == [ErrorCode.HELLO_FIRST]


def test_the_same_program_reconnects_at_once() -> None:
    """5.3: the old connection is told."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    replies = dialog.terminals.receive(b"new", [encode(simulated_hello("demo", 1))], dialog.now)
    assert [(route, type(frame)) for route, frame in replies] == [
        (b"r", Error),
        (b"new", Welcome),
    ]
    assert _codes([replies[0][1]]) == [ErrorCode.SUPERSEDED]


def test_a_connection_may_change_its_identity() -> None:
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.greet(identity="second")
    assert dialog.terminals.connected() == ("second",)


def test_silence_ends_a_connection() -> None:
    """8.4"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.ms += 1_000
    dialog.due()
    assert dialog.terminals.connected() == ("demo",)
    dialog.ms += 1
    dialog.due()
    assert dialog.terminals.connected() == ()
    assert dialog.counters["timeouts"] == 1


def test_numbers_end_with_the_connection() -> None:
    """2.3, 5.6"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.greet()
    assert _codes(dialog.say(ticks(1, 2))) == [ErrorCode.UNKNOWN_STREAM]
    for frame in (
        Heartbeat(1, 0, 0, 0, 0, (Mark(1, 1, 1), Mark(2, 1, 1))),
        Lost(1, 1, 1, LostReason.OTHER, ""),
    ):
        assert _codes(dialog.say(frame)) == [ErrorCode.UNKNOWN_STREAM]


def test_a_number_keeps_its_symbol() -> None:
    """5.5"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    assert dialog.say(Symbols((symbol("EURUSD", 1),))) == []
    assert _codes(dialog.say(Symbols((symbol("XAUUSD", 1),)))) == [ErrorCode.UNEXPECTED_FRAME]


def test_limits() -> None:
    """11.2"""
    dialog = Dialog(Settings(terminals_max=1, symbols_max=1))
    dialog.begin("EURUSD")
    assert _codes(dialog.greet(b"other", identity="second")) == [ErrorCode.LIMIT]
    assert _codes(dialog.say(Symbols((symbol("XAUUSD", 2),)))) == [ErrorCode.LIMIT]


@pytest.mark.parametrize("name", ["welcome", "ack", "resend", "signal"])
def test_the_daemons_own_frames_are_refused(name: str) -> None:
    """9.1"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    assert _codes(dialog.say(FRAMES[name][1])) == [ErrorCode.UNEXPECTED_FRAME]


def test_errors_are_not_answered() -> None:
    """9.3"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    assert dialog.say(FRAMES["error"][1]) == []
    assert dialog.counters["errors_received"] == 1


def test_who_speaks_another_version_can_read_why_it_is_refused() -> None:
    """3.4; who is connected is answered in our own, whatever it sends."""
    dialog = Dialog()
    hello = sealed(encode(simulated_hello("old", 1)), {4: 1})
    (error,) = dialog.say_bytes(hello, b"old")
    assert isinstance(error, Error) and error.code is ErrorCode.WRONG_VERSION
    data = encode(error, dialog.terminals.version(b"old"))
    assert data[4] == 1 and decode(sealed(data, {4: 2})) == error
    dialog.begin("EURUSD")
    dialog.say_bytes(sealed(encode(ticks(1, 2)), {4: 1}))
    dialog.say_bytes(sealed(hello, {4: 3}), b"new")
    assert dialog.terminals.version(b"r") == dialog.terminals.version(b"new") == 2
    dialog.greet(b"old", "updated")
    assert dialog.terminals.version(b"old") == 2


def test_bad_frames_disturb_nobody() -> None:
    """3.3, 9.1"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    good = encode(ticks(1, 2))
    assert _codes(dialog.say_bytes(good[:-1])) == [ErrorCode.BAD_FRAME]
    assert _codes(dialog.say_bytes(sealed(good, {4: 1}))) == [ErrorCode.WRONG_VERSION]
    assert _codes(dialog.say_bytes(b"", b"stranger")) == [ErrorCode.BAD_FRAME]
    parts = dialog.terminals.receive(b"r", [good, good], dialog.now)
    assert _codes([frame for _, frame in parts]) == [ErrorCode.BAD_FRAME]
    assert dialog.batches == []
    dialog.say_bytes(good)
    assert len(dialog.batches) == 1
    names = ["truncated", "wrong_version", "multipart"]
    assert [dialog.counters[f"bad_frames_{name}"] for name in names] == [2, 1, 1]
