"""Complex events on their way to terminals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mt5bridge.client import Client
from mt5bridge.server.events import EVENTS_A_HEARTBEAT, EventStore
from mt5bridge.simulator import simulated_hello
from mt5bridge.wire import (
    Ack,
    Bound,
    Entry,
    Event,
    Field,
    FieldKind,
    Frame,
    Heartbeat,
    Signal,
    Standing,
    Subscribe,
    Subscribed,
    TradeMode,
    Wanted,
    WireError,
)
from tests.bridge.dialog import SETTINGS, Dialog, ticks
from tests.wire.samples import FRAMES

ALL = Entry(Wanted.ALL, 0, "")
RULES = (Standing(0, "Turn", "Main"), Standing(0, "Break", "Main"), Standing(0, "Broad", "Top"))
BEAT = Heartbeat(1, 0, 0, 0, 0, ())
NUMBERING = 7


def event(name: str, number: int, engine: str = "Main") -> Event:
    fields = (Field(FieldKind.NUMBER, 0, 1.5, "bid", ""),)
    return Event(number, 1_000, 900, name, engine, "A", (Bound(3, 900, "Up", "S", "A", fields),))


def dialog(events_max: int = 10_000) -> Dialog:
    """A daemon whose rules have three complex events."""
    made = Dialog(replace(SETTINGS, events_max=events_max))
    made.terminals.events.begin(NUMBERING, RULES)
    made.greet()
    return made


def publish(made: Dialog, *events: Event) -> None:
    for one in events:
        made.terminals.events.add(one)


def sent(made: Dialog) -> list[tuple[str, int]]:
    """Names and numbers of the events that the daemon sends now."""
    return [(one.name, one.number) for one in made.due() if isinstance(one, Event)]


def told(made: Dialog) -> list[Subscribed]:
    return [one for one in made.due() if isinstance(one, Subscribed)]


def test_who_asks_for_nothing_gets_nothing() -> None:
    """13.1"""
    made = dialog()
    publish(made, event("Turn", 1))
    assert made.due() == []
    made.say(Subscribe(0, ()))
    assert told(made) == [Subscribed(NUMBERING, ())]
    publish(made, event("Turn", 2))
    assert sent(made) == []


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ((ALL,), ["Turn", "Broad", "Break"]),
        ((Entry(Wanted.ENGINE, 0, "Main"),), ["Turn", "Break"]),
        ((Entry(Wanted.NAMED, 0, "Broad"),), ["Broad"]),
        ((Entry(Wanted.NAMED, 0, "Broad"), Entry(Wanted.ENGINE, 0, "Top")), ["Broad"]),
        ((Entry(Wanted.ENGINE, 0, "None"), Entry(Wanted.NAMED, 0, "None")), []),
    ],
)
def test_what_is_wanted(entries: tuple[Entry, ...], expected: list[str]) -> None:
    """13.1, 13.2"""
    made = dialog()
    made.say(Subscribe(0, entries))
    (answer,) = told(made)
    assert {one.name for one in answer.events} == set(expected)
    publish(made, event("Turn", 1), event("Broad", 1, "Top"), event("Break", 1))
    assert [name for name, _ in sent(made)] == expected
    assert sent(made) == []


def test_a_new_subscription_begins_now_and_replaces_the_old_one() -> None:
    """13.1, 13.5"""
    made = dialog()
    publish(made, event("Turn", 1), event("Turn", 2))
    made.say(Subscribe(0, (ALL,)))
    assert made.due() == [Subscribed(NUMBERING, (Standing(2, "Turn", "Main"), *RULES[1:]))]
    made.say(Subscribe(0, (Entry(Wanted.NAMED, 0, "Break"),)))
    publish(made, event("Turn", 3), event("Break", 1))
    assert sent(made) == [("Break", 1)]


def test_an_event_right_behind_the_subscription_is_not_told_as_had() -> None:
    """13.2: "the newest occurrence of each that is not still to be sent"."""
    made = dialog()
    publish(made, event("Turn", 1))
    made.say(Subscribe(NUMBERING, (ALL,)))
    publish(made, event("Turn", 2), event("Break", 1))
    first, *frames = made.due()
    assert first == Subscribed(NUMBERING, (Standing(1, "Turn", "Main"), *RULES[1:]))
    events = [(one.name, one.number) for one in frames if isinstance(one, Event)]
    assert events == [("Turn", 2), ("Break", 1)]


def test_who_comes_back_gets_what_it_has_missed() -> None:
    """13.5"""
    made = dialog()
    publish(made, *(event("Turn", number) for number in range(1, 6)), event("Break", 1))
    known = (ALL, Entry(Wanted.KNOWN, 2, "Turn"))
    made.say(Subscribe(NUMBERING, known))
    assert sent(made) == [("Turn", 3), ("Turn", 4), ("Turn", 5)]  # Break was not known: from now
    made.say(Subscribe(NUMBERING + 1, known))
    assert sent(made) == []
    made.greet()
    publish(made, event("Turn", 6))
    assert made.due() == [], "a subscription ends with its connection"


def test_what_is_not_kept_shows_by_the_numbers_and_is_counted() -> None:
    """13.5, 13.6"""
    made = dialog(events_max=3)
    publish(made, *(event("Turn", number) for number in range(1, 11)))
    made.say(Subscribe(NUMBERING, (ALL, Entry(Wanted.KNOWN, 4, "Turn"))))
    assert sent(made) == [("Turn", 8), ("Turn", 9), ("Turn", 10)]
    assert made.counters["events_dropped"] == 3
    assert made.counters["events_left_out"] == 1
    assert "3 were not kept" in made.sink.complaints[-1]


def test_a_slow_terminal_gets_some_for_each_heartbeat() -> None:
    """13.6"""
    made = dialog()
    made.say(Subscribe(0, (ALL,)))
    publish(made, *(event("Turn", number) for number in range(1, 200)))
    assert len(sent(made)) == EVENTS_A_HEARTBEAT
    assert sent(made) == []
    made.say(BEAT)
    made.say(BEAT)
    assert [number for _, number in sent(made)] == [*range(65, 129)]
    made.say(BEAT)
    made.say(BEAT)
    assert len(sent(made)) == 64
    made.say(BEAT)
    assert [number for _, number in sent(made)] == [*range(193, 200)]


def test_events_come_behind_signals_and_acknowledgements() -> None:
    """13.6"""
    made = dialog()
    hello = replace(simulated_hello("demo", 1), trades=TradeMode.LIVE)
    made.say(hello)
    made.say(Subscribe(0, (ALL,)))
    made.due()
    publish(made, *(event("Turn", number) for number in range(1, 100)))
    signal = FRAMES["signal"][1]
    assert isinstance(signal, Signal)
    assert not made.terminals.send("demo", signal)
    frames = made.due()
    assert isinstance(frames[0], Signal)
    assert all(isinstance(frame, Event) for frame in frames[1:])


def test_ticks_are_acknowledged_whatever_events_wait() -> None:
    """13.6"""
    made = dialog()
    made.begin("EURUSD")
    made.say(Subscribe(0, (ALL,)))
    publish(made, *(event("Turn", number) for number in range(1, 1_000)))
    made.say(ticks(1, 5))
    made.terminals.acknowledge("demo", ("ticks", "EURUSD"), 5)
    frames = made.due()
    assert isinstance(frames[0], Ack)
    assert sum(isinstance(frame, Event) for frame in frames) == EVENTS_A_HEARTBEAT


def test_what_the_socket_had_no_room_for_comes_again_in_order() -> None:
    """13.3"""
    made = dialog()
    made.say(Subscribe(0, (ALL,)))
    publish(made, event("Turn", 1), event("Turn", 2))
    for frame in made.due():
        made.terminals.unsent(b"r", frame)
    publish(made, event("Turn", 3))
    frames = made.due()
    assert isinstance(frames[0], Subscribed)
    assert [one.number for one in frames[1:] if isinstance(one, Event)] == [1, 2, 3]


def test_new_rules_are_told() -> None:
    """13.2, 13.4"""
    made = dialog()
    made.say(Subscribe(0, (ALL,)))
    made.due()
    publish(made, event("Turn", 1))
    made.due()
    made.terminals.events.begin(
        NUMBERING, [Standing(1, "Turn", "Main"), Standing(0, "New", "Main")]
    )
    (answer,) = told(made)
    assert [(one.name, one.number) for one in answer.events] == [("Turn", 1), ("New", 0)]
    publish(made, event("New", 1), event("Turn", 2))
    assert sent(made) == [("New", 1), ("Turn", 2)]
    made.terminals.events.begin(8, [Standing(5, "Turn", "Main")])
    assert told(made) == [Subscribed(8, (Standing(5, "Turn", "Main"),))]


def test_the_store_is_bounded_by_bytes() -> None:
    store = EventStore(kept_max=1_000, bytes_max=1_000)
    store.begin(1, RULES)
    for number in range(1, 100):
        store.add(event("Turn", number))
    assert store.end == 99
    assert 90 < store.oldest < 99
    assert store.at(98).number == 99
    with pytest.raises(WireError):
        store.add(replace(event("Turn", 100), key="\0"))
    assert store.end == 99


def test_other_terminals_are_sent_none() -> None:
    made = dialog()
    made.greet(b"other", "other")
    made.say(Subscribe(0, (ALL,)), b"other")
    publish(made, event("Turn", 1))
    routes = {route for route, frame in made.terminals.outgoing() if isinstance(frame, Event)}
    assert routes == {b"other"}


class Line:
    """A client and a daemon, frame by frame."""

    def __init__(self, made: Dialog) -> None:
        self.made = made
        self.client = Client(simulated_hello("demo", 1))

    def connect(self) -> None:
        self.client.connected(self.made.now)
        self.turn()

    def turn(self) -> None:
        """What both have to say."""
        for frame in self.client.outgoing(self.made.now):
            self._take(self.made.say(frame))
        self._take(self.made.due())

    def _take(self, frames: list[Frame]) -> None:
        for frame in frames:
            self.client.receive(frame, self.made.now)


def test_the_client_has_each_event_once_over_connections() -> None:
    """13.3, 13.5, 13.6"""
    made = dialog()
    line = Line(made)
    line.client.subscribe(ALL)
    line.connect()
    line.turn()
    publish(made, *(event("Turn", number) for number in range(1, 300)))
    for _ in range(20):
        line.turn()  # without time passing: it beats sooner to get more
    assert [one.number for one in line.client.events] == [*range(1, 300)]
    line.client.disconnected()
    publish(made, *(event("Turn", number) for number in range(300, 310)))
    line.connect()
    line.turn()
    assert [one.number for one in line.client.events] == [*range(1, 310)]
    assert line.client.missed_events == 0
    assert line.client.events[0].bound[0].fields[0].value == 1.5
