"""The terminal's side: outboxes and dialog."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt5bridge.broker import Specification, codes
from mt5bridge.client import Client, ClientState, Outbox
from mt5bridge.clock import Now
from mt5bridge.position import Position
from mt5bridge.records import TICK, Records
from mt5bridge.simulator import (
    Account,
    Walk,
    random_walk,
    simulated_hello,
    simulated_symbol,
    simulated_terminal,
)
from mt5bridge.simulator.account import specification
from mt5bridge.simulator.properties import properties
from mt5bridge.wire import (
    Ack,
    Durable,
    Error,
    ErrorCode,
    Frame,
    Heartbeat,
    Hello,
    Lost,
    LostReason,
    Mark,
    Properties,
    Resend,
    Resume,
    SwapMode,
    Symbols,
    Ticks,
    TradeSession,
    Welcome,
)

_WELCOME = Welcome(1, 0, 100, 500, 1_000, "", (Resume(40, 9, 2, "EURUSD"),))
_START = Now(1_000, 0)


def _ticks(*volumes: int) -> Records:
    ticks = np.zeros(len(volumes), TICK)
    ticks["volume"] = volumes
    return ticks


def _drain(box: Outbox, records_max: int = 100) -> list[tuple[int, list[int]]]:
    """First sequence and volumes of each frame; LOST as first and [last]."""
    found: list[tuple[int, list[int]]] = []
    while frame := box.next_frame(records_max):
        if isinstance(frame, Lost):
            found.append((frame.first, [frame.last]))
        else:
            assert isinstance(frame, Ticks)
            found.append((frame.first, frame.records["volume"].tolist()))
    return found


def _live(welcome: Welcome = _WELCOME) -> Client:
    client = Client(simulated_hello("demo", 1))
    client.add_symbol(simulated_symbol("EURUSD"))
    client.connected(_START)
    client.outgoing(_START)
    client.receive(welcome, _START)
    return client


def _of_type(frames: list[Frame], kind: type) -> list[Frame]:
    return [frame for frame in frames if isinstance(frame, kind)]


@given(
    st.lists(
        st.tuples(st.sampled_from(["append", "send", "ack", "rewind"]), st.integers(0, 12)),
        max_size=30,
    )
)
def test_outbox_keeps_what_is_unacknowledged(steps: list[tuple[str, int]]) -> None:
    """6.5, against a list that forgets nothing; volume is the sequence."""
    box, end, acknowledged, cursor = Outbox(1), 1, 0, 1
    for name, number in steps:
        if name == "append":
            box.append(_ticks(*range(end, end + number)), 0)
            end += number
        elif name == "ack":
            acknowledged = max(acknowledged, min(number * 3, end - 1))
            box.acknowledge(min(number * 3, end - 1))
        elif name == "rewind":
            cursor = min(cursor, max(1, number))
            box.rewind(max(1, number))
        elif frame := box.next_frame(max(1, number)):
            assert not isinstance(frame, Lost) or frame.last <= acknowledged
            assert frame.first == cursor
            if isinstance(frame, Ticks):
                sent = list(range(cursor, cursor + len(frame.records)))
                assert frame.records["volume"].tolist() == sent
            cursor = box.cursor
        cursor = max(cursor, box.cursor)
        assert box.unacknowledged == end - 1 - acknowledged


def test_outbox_grows_and_compacts() -> None:
    box = Outbox(1)
    for first in range(1, 10_000, 100):
        box.append(_ticks(*range(first, first + 100)), 0)
        box.acknowledge(first - 50)
    assert [volumes for _, volumes in _drain(box, 10_000)] == [list(range(9_852, 10_001))]


def test_a_frame_has_one_offset() -> None:
    """6.3: daylight saving begins between two records."""
    box = Outbox(1)
    box.append(_ticks(1, 2), 7_200_000)
    box.append(_ticks(3), 10_800_000)
    frames = [box.next_frame(10), box.next_frame(10)]
    assert [frame.utc_offset_ms for frame in frames if isinstance(frame, Ticks)] == [
        7_200_000,
        10_800_000,
    ]
    box.rewind(1)
    assert _drain(box) == [(1, [1, 2]), (3, [3])]


def test_lost_takes_the_place_of_its_records() -> None:
    """7.3"""
    box = Outbox(1)
    box.append(_ticks(1, 2, 3, 4, 5), 0)
    box.lose(2, 3, LostReason.OVERFLOW, "")
    assert _drain(box) == [(1, [1]), (2, [3]), (4, [4, 5])]


def test_discarded_records_are_declared_lost() -> None:
    """7.3: the daemon's disk was wiped."""
    box = Outbox(1)
    box.append(_ticks(1, 2, 3, 4), 0)
    _drain(box)
    box.acknowledge(3)
    box.resume(0)
    assert _drain(box) == [(1, [3]), (4, [4])]


def test_an_earlier_runs_records_are_not_sent_again() -> None:
    """6.7: numbers above all given ones were an earlier run's."""
    box = Outbox(1)
    box.append(_ticks(1), 0)
    box.resume(3)
    box.append(_ticks(2, 3, 4), 0)
    assert _drain(box) == [(4, [4])]


def test_hello_comes_first_and_alone() -> None:
    """5.1"""
    client = Client(simulated_hello("demo", 1))
    client.add_symbol(simulated_symbol("EURUSD"))
    client.connected(_START)
    assert [type(frame) for frame in client.outgoing(_START)] == [Hello]
    assert client.outgoing(_START) == []
    with pytest.raises(RuntimeError, match="no WELCOME yet"):
        client.take_ticks("EURUSD", _ticks(1))


def test_goes_on_behind_the_disk() -> None:
    """6.7"""
    client = _live()
    assert client.resume("EURUSD") == Position(40, 9, 2)
    assert client.resume("XAUUSD") == Position()
    client.take_ticks("EURUSD", _ticks(1, 2))
    symbols, ticks = client.outgoing(_START)
    assert isinstance(symbols, Symbols)
    assert isinstance(ticks, Ticks)
    assert ticks.first == 41


def test_a_symbol_may_be_added_later() -> None:
    """5.5"""
    client = _live(replace(_WELCOME, streams=(Resume(7, 0, 0, "XAUUSD"),)))
    client.outgoing(_START)
    client.add_symbol(simulated_symbol("XAUUSD"))
    client.take_ticks("XAUUSD", _ticks(1))
    symbols, ticks = client.outgoing(_START)
    assert isinstance(symbols, Symbols)
    assert [symbol.stream for symbol in symbols.symbols] == [2]
    assert isinstance(ticks, Ticks)
    assert (ticks.stream, ticks.first) == (2, 8)


def test_properties_go_behind_the_symbols_and_again_when_they_change() -> None:
    """5.10"""
    told = properties(specification(simulated_symbol("EURUSD")))
    client = Client(simulated_hello("demo", 1))
    client.add_symbol(simulated_symbol("XAUUSD"))
    client.add_symbol(simulated_symbol("EURUSD"), told)
    client.connected(_START)
    client.receive(_WELCOME, _START)
    _, symbols, first = client.outgoing(_START)
    assert isinstance(symbols, Symbols) and first == replace(told, stream=2)
    client.change("EURUSD", replace(told, swap_long=1.0))
    assert client.outgoing(_START) == [replace(told, stream=2, swap_long=1.0)]
    client.disconnected()
    client.change("EURUSD", replace(told, swap_long=2.0))
    client.connected(_START)
    client.receive(_WELCOME, _START)
    assert client.outgoing(_START)[-1] == replace(told, stream=2, swap_long=2.0)


def test_a_simulated_terminal_tells_what_its_account_is_told() -> None:
    hour, day = 3_600_000, 86_400_000
    known = Specification(
        0.1, swap_mode=codes.SWAP_POINTS, swap_long=-2.0, swap_short=1.0, stops_level_points=7.0,
        profit_currency="JPY",
        sessions=(
            (day + 9 * hour, 2 * day), (0, 2 * hour), (day, day + 9 * hour), (hour, 3 * hour),
        ),
    )  # fmt: skip
    account = Account()
    account.add(simulated_symbol("A"), known)
    ticks = {"A": random_walk(Walk(ticks=5)), "B": random_walk(Walk(ticks=5))}
    told = simulated_terminal(ticks, account=account).client.properties
    assert told["A"] == Properties(
        1, 7, 0, SwapMode.POINTS, 3, -2.0, 1.0, 0.0, "JPY",
        (TradeSession(0, 180), TradeSession(1440, 1980), TradeSession(1980, 2880)),
    )  # fmt: skip
    assert told["B"] == replace(properties(specification(simulated_symbol("B"))), stream=2)


def test_a_daemon_that_does_not_know_a_frame_is_talked_to() -> None:
    """3.4"""
    client = _live()
    client.outgoing(_START)
    client.receive(Error.of(ErrorCode.BAD_FRAME, "unknown_type: type 25"), _START)
    assert client.state is ClientState.LIVE and client.outgoing(_START) == []


def test_window() -> None:
    """6.6"""
    client = _live(replace(_WELCOME, window_records=3))
    client.take_ticks("EURUSD", _ticks(*range(10)))
    sent = _of_type(client.outgoing(_START), Ticks)
    assert sum(len(frame.records) for frame in sent if isinstance(frame, Ticks)) == 3
    assert _of_type(client.outgoing(_START), Ticks) == []
    client.receive(Ack((Durable(1, 41),)), _START)
    (frame,) = _of_type(client.outgoing(_START), Ticks)
    assert isinstance(frame, Ticks)
    assert (frame.first, len(frame.records)) == (44, 1)


def test_heartbeats() -> None:
    """8.1, 8.2, 8.5"""
    client = _live()
    client.take_ticks("EURUSD", _ticks(1, 2))
    client.outgoing(_START)
    beat_at = Now(1_100, 100)
    (beat,) = client.outgoing(beat_at)
    assert beat == Heartbeat(1, 100, 0, 0, 0, (Mark(0, 0, 0), Mark(1, 42, 42)))
    client.receive(Heartbeat(1, 0, 0, 0, 0, (Mark(1, 42, 41),)), Now(1_107, 107))
    assert client.round_trip_ms == 7
    assert client.unacknowledged == 1
    client.receive(Heartbeat(0, 0, 0, 0, 0, ()), Now(1_200, 200))
    assert client.round_trip_ms == 7
    (beat,) = client.outgoing(Now(1_300, 300))
    assert isinstance(beat, Heartbeat) and beat.round_trip_us == 7_000


def test_a_promise_ends_where_something_is_not_sent() -> None:
    """8.6"""
    client = _live(replace(_WELCOME, window_records=1))
    assert client.utc_offset_ms == 0
    ticks = _ticks(1, 2, 3)
    ticks["time_msc"] = 100, 200, 50  # the last one is late
    client.take_ticks("EURUSD", ticks)
    client.outgoing(_START)
    (nothing,) = client.outgoing(Now(1_100, 100))
    client.whole_msc = 300
    (first,) = client.outgoing(Now(1_200, 200))
    client.receive(Ack((Durable(1, 41),)), _START)
    client.outgoing(_START)
    (late,) = client.outgoing(Now(1_300, 300))
    client.receive(Ack((Durable(1, 42),)), _START)
    client.outgoing(_START)
    client.utc_offset_ms = 1_000
    (whole,) = client.outgoing(Now(1_400, 400))
    beats = [beat for beat in (nothing, first, late, whole) if isinstance(beat, Heartbeat)]
    assert [beat.complete_msc for beat in beats] == [0, 200, 50, 1_300]


def test_who_publishes_no_ticks_promises_nothing() -> None:
    """8.6"""
    client = Client(simulated_hello("demo", 1))
    client.connected(_START)
    client.receive(_WELCOME, _START)
    client.whole_msc = 300
    beats = [frame for frame in client.outgoing(Now(9_000, 9_000)) if isinstance(frame, Heartbeat)]
    assert [beat.complete_msc for beat in beats] == [0]


def test_silence() -> None:
    """8.4"""
    client = _live()
    assert not client.silent(Now(1_500, 0))
    assert client.silent(Now(1_501, 0))
    client.disconnected()
    assert not client.silent(Now(9_999, 0))


@pytest.mark.parametrize("code", [ErrorCode.HELLO_FIRST, ErrorCode.UNKNOWN_STREAM])
def test_greets_again(code: ErrorCode) -> None:
    """5.2, 5.6"""
    client = _live()
    client.receive(Error(code, ""), _START)
    assert [type(frame) for frame in client.outgoing(_START)] == [Hello]


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.WRONG_VERSION,
        ErrorCode.IDENTITY_IN_USE,
        ErrorCode.SUPERSEDED,
        ErrorCode.LIMIT,
    ],
)
def test_gives_up(code: ErrorCode) -> None:
    """9.2"""
    client = _live()
    client.take_ticks("EURUSD", _ticks(1))
    client.receive(Error(code, "why"), _START)
    assert client.state is ClientState.REFUSED
    assert client.refusal == Error(code, "why")
    assert _of_type(client.outgoing(_START), Ticks) == []


def test_unknown_streams_are_ignored() -> None:
    client = _live()
    client.receive(Resend(9, 1, 2), _START)
    client.receive(Ack((Durable(9, 1),)), _START)
    assert client.unacknowledged == 0


def test_a_terminals_frame_is_answered_with_an_error() -> None:
    """9.1"""
    client = _live()
    client.receive(Symbols(()), _START)
    (error,) = _of_type(client.outgoing(_START), Error)
    assert isinstance(error, Error)
    assert error.code is ErrorCode.UNEXPECTED_FRAME
