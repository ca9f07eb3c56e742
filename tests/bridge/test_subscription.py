"""Programs that read what happens at a daemon, by `for` and by `async for`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt5bridge.client import (
    Client,
    ClosedError,
    Mark,
    Missed,
    Subscription,
    SubscriptionError,
    named,
    of_engine,
    subscribe,
)
from mt5bridge.client.progress import Progress
from mt5bridge.credential import Credential
from mt5bridge.curve import CurveIdentity, new_keys
from mt5bridge.grant import Grant, Role
from mt5bridge.server import Settings
from mt5bridge.server.terminals import Terminals
from mt5bridge.simulator import simulated_hello, simulated_terminal
from mt5bridge.wire import Event, Frame, Standing
from tests.bridge.dialog import Dialog
from tests.bridge.live import SETTINGS, Daemon, run, wait_until, walks
from tests.bridge.test_events import ALL, NUMBERING, RULES, event
from tests.credentials import CREDENTIAL, PASSWORDS
from tests.waiting import LONG_S

READER = Credential("reader", "reads-and-nothing-else")
DAEMON_KEYS, READER_KEYS = new_keys(), new_keys()
CURVE_READER = CurveIdentity(user="curve-reader", daemon=DAEMON_KEYS.public, keys=READER_KEYS)
READS = Grant(roles=(Role.READ,))
WITH_READERS = replace(
    SETTINGS,
    passwords={**PASSWORDS, READER.user: READER.password, "trader": "trades"},
    grants={READER.user: READS, "curve-reader": READS, "trader": Grant(roles=(Role.TRADE,))},
    curve_bind="tcp://127.0.0.1:*",
    curve_secret=DAEMON_KEYS.secret,
    curve_keys={"curve-reader": READER_KEYS.public},
)


def publish(daemon: Daemon, *events: Event) -> None:
    """As the daemon's thread does."""

    def add(terminals: Terminals) -> None:
        for one in events:
            terminals.events.add(one)

    daemon.server._command(add)


def turns(first: int, last: int) -> list[Event]:
    return [event("Turn", number) for number in range(first, last + 1)]


@contextmanager
def with_rules(settings: Settings = WITH_READERS) -> Iterator[Daemon]:
    found = Daemon(settings)
    found.on_start = lambda server: server.tell_rules(NUMBERING, RULES)
    with found:
        yield found


def taken(events: Subscription, count: int) -> list[tuple[str, int]]:
    found = []
    for _ in range(count):
        one = events.take(LONG_S)
        assert one is not None
        found.append((one.name, one.number))
    return found


def numbered(first: int, last: int) -> list[tuple[str, int]]:
    return [("Turn", number) for number in range(first, last + 1)]


def test_events_come_as_they_happen() -> None:
    with with_rules() as daemon, subscribe(daemon.server.address, READER) as events:
        assert events.wait(LONG_S)
        publish(daemon, *turns(1, 300))
        found = [next(events) for _ in range(300)]
        assert found == turns(1, 300)
        assert found[0].bound[0].fields[0].value == 1.5
        assert events.mark == Mark(
            numbering=NUMBERING, numbers={"Turn": 300, "Break": 0, "Broad": 0}
        )
        assert events.take(0.0) is None


def test_only_those_wanted() -> None:
    with with_rules() as daemon:
        wanted = [named("Broad"), of_engine("Top")]
        with subscribe(daemon.server.address, READER, *wanted) as events:
            assert events.wait(LONG_S)
            publish(daemon, event("Turn", 1), event("Broad", 1, "Top"))
            assert taken(events, 1) == [("Broad", 1)]


def test_async_and_by_curve() -> None:
    """Two programs at once, neither in the other's way; and who waits can be cancelled."""

    async def read(daemon: Daemon) -> list[int]:
        found = []
        async with subscribe(daemon.server.curve_address, CURVE_READER) as events:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(events), 0.01)
            assert await asyncio.to_thread(events.wait, LONG_S)
            publish(daemon, *turns(1, 200))
            async for one in events:
                found.append(one.number)
                if one.number == 200:
                    return found
        return []

    with with_rules() as daemon:
        assert asyncio.run(read(daemon)) == [*range(1, 201)]


def test_a_program_that_crashed_goes_on_where_it_was() -> None:
    """Nothing is lost and nothing comes twice, whatever was on its way when it ended."""
    with with_rules() as daemon:
        with subscribe(daemon.server.address, READER) as events:
            assert events.wait(LONG_S)
            publish(daemon, *turns(1, 100))
            assert taken(events, 10) == numbered(1, 10)
            kept = str(events.mark)
        publish(daemon, *turns(101, 120))
        missed: list[Missed] = []
        with subscribe(daemon.server.address, READER, after=Mark.parse(kept)) as events:
            events.on_missed = missed.append
            assert taken(events, 110) == numbered(11, 120)
            publish(daemon, *turns(121, 121))
            assert taken(events, 1) == numbered(121, 121)
        assert missed == []


def test_a_program_is_told_what_it_missed() -> None:
    """The daemon keeps the newest ones only."""
    with with_rules(replace(WITH_READERS, events_max=5)) as daemon:
        publish(daemon, *turns(1, 20))
        after, missed = Mark(numbering=NUMBERING, numbers={"Turn": 3}), list[Missed]()
        with subscribe(daemon.server.address, READER, after=after) as events:
            events.on_missed = missed.append
            assert taken(events, 5) == numbered(16, 20)
    assert missed == [Missed("Turn", 4, 15)]
    assert str(missed[0]) == "of Turn is missing: 4 to 15"


def test_a_daemon_that_restarts_is_come_back_to() -> None:
    with with_rules() as daemon, subscribe(daemon.server.address, READER) as events:
        assert events.wait(LONG_S)
        publish(daemon, *turns(1, 5))
        assert taken(events, 5) == numbered(1, 5)
        daemon.settings = replace(WITH_READERS, bind=daemon.server.address)
        daemon.stop()
        wait_until(lambda: events.drops > 0)
        now = [Standing(5, "Turn", "Main"), *RULES[1:]]
        daemon.on_start = lambda server: server.tell_rules(NUMBERING, now)
        daemon.start()
        publish(daemon, *turns(6, 8))
        assert taken(events, 3) == numbered(6, 8)


def test_numbers_that_begin_anew_are_told() -> None:
    with with_rules() as daemon:
        missed: list[Missed] = []
        with subscribe(
            daemon.server.address, READER, after=Mark(numbering=3, numbers={"Turn": 50})
        ) as events:
            events.on_missed = missed.append
            assert events.wait(LONG_S)
            publish(daemon, *turns(1, 1))
            assert taken(events, 1) == numbered(1, 1)
            assert events.mark.numbering == NUMBERING
        assert missed == [Missed()]
        assert "anew" in str(missed[0])


def test_a_program_that_takes_nothing_holds_up_nobody() -> None:
    """Its memory and the daemon's stay bounded: the connection is given up until there is room."""
    with (
        with_rules() as daemon,
        subscribe(daemon.server.address, READER, queued_max=20) as events,
    ):
        assert events.wait(LONG_S)
        publish(daemon, *turns(1, 2_000))
        wait_until(lambda: events.drops > 0)
        waiting = len(events._mailbox)
        assert 20 < waiting < 1_000
        run(simulated_terminal(walks("E", 500)), daemon)
        assert len(events._mailbox) == waiting
        assert taken(events, 2_000) == numbered(1, 2_000)


def test_without_the_role_it_is_refused_and_told() -> None:
    refused = "neither the role `publish` nor `read`"
    with with_rules() as daemon:
        address = daemon.server.address
        with (
            subscribe(address, Credential("trader", "trades")) as events,
            pytest.raises(SubscriptionError, match=refused),
        ):
            next(events)
        with (
            subscribe(address, Credential("reader", "wrong")) as events,
            pytest.raises(SubscriptionError, match="not a credential of this daemon"),
        ):
            events.wait(LONG_S)


def test_after_the_end_comes_what_was_received_then_nothing() -> None:
    with with_rules() as daemon:
        events = subscribe(daemon.server.address, CREDENTIAL)
        assert events.wait(LONG_S)
        publish(daemon, *turns(1, 3))
        wait_until(lambda: len(events._mailbox) >= 4)
        events.close()
        events.close()
        assert [one.number for one in events] == [1, 2, 3]
        with pytest.raises(ClosedError):
            events.take()


@pytest.mark.parametrize("text", ["", "{}x", '{"numbers": 3}', '{"number": {}}'])
def test_what_is_no_mark_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no mark of a subscription.*leave it out"):
        Mark.parse(text)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"address": "localhost:5655"}, ValueError, "`localhost:5655` is no address .* tcp://HOST"),
        ({"address": "tcp://127.0.0.1"}, ValueError, "no address of a daemon; write tcp://HOST:P"),
        ({"credential": "secret"}, TypeError, r"of type str; give read_credential\(PATH\)"),
        ({"wanted": ["Turn"]}, TypeError, r"'Turn' is nothing .*; give named\('Turn'\)"),
        ({"after": "{}"}, TypeError, r"after is of type str; give Mark.parse\(TEXT\)"),
    ],
)
def test_arguments_of_another_kind_are_named(
    change: dict[str, Any], error: type[Exception], message: str
) -> None:
    given: dict[str, Any] = {"address": "tcp://127.0.0.1:1", "credential": CREDENTIAL, **change}
    wanted = given.pop("wanted", ())
    address, credential = given.pop("address"), given.pop("credential")
    with pytest.raises(error, match=message) as caught:
        subscribe(address, credential, *wanted, **given)
    assert "secret" not in str(caught.value)


def test_a_mark_with_impossible_numbers_is_refused() -> None:
    after = Mark(numbering=1, numbers={"Turn": -1})
    with pytest.raises(ValueError, match="out of range"):
        subscribe("tcp://127.0.0.1:1", CREDENTIAL, after=after)


class Program:
    """One that takes events, and may crash: all it keeps is its mark."""

    def __init__(self, made: Dialog) -> None:
        self.made = made
        self.mark = Mark()
        self.had: list[tuple[str, int]] = []
        self.missed: list[Missed] = []
        self.runs = 0
        self.start()

    def start(self) -> None:
        self.runs += 1
        self.client = Client(simulated_hello("demo", self.runs))
        if self.mark.numbering:
            self.client.go_on(self.mark.numbering, self.mark.numbers)
        self.client.subscribe(ALL)
        self.progress = Progress(self.mark)
        self.progress.on_missed = self.missed.append
        self.connect()

    def connect(self) -> None:
        self.made.ms += 2_000  # the connection before is silent
        self.client.disconnected()
        self.client.connected(self.made.now)
        self.turn()
        self.turn()

    def turn(self) -> None:
        for frame in self.client.outgoing(self.made.now):
            self._receive(self.made.say(frame))
        self._receive(self.made.due())

    def _receive(self, frames: list[Frame]) -> None:
        for frame in frames:
            self.client.receive(frame, self.made.now)

    def take(self, count: int) -> None:
        """Take so many of what has come; the mark is kept with each."""
        if self.client.subscribed is not None:
            self.progress.take(self.client.subscribed)
        for one in self.client.events[:count]:
            if (found := self.progress.take(one)) is not None:
                self.had.append((found.name, found.number))
        del self.client.events[:count]
        self.mark = self.progress.mark


STEPS = st.lists(
    st.tuples(st.sampled_from(["publish", "take", "turn", "connect", "crash"]), st.integers(1, 90)),
    max_size=30,
)


@given(STEPS)
def test_whatever_breaks_each_event_is_had_once(steps: list[tuple[str, int]]) -> None:
    """The obvious reference: all that was published behind the first mark, in order."""
    made = Dialog()
    made.terminals.events.begin(NUMBERING, RULES)
    program, number = Program(made), 0
    program.take(0)
    for step, count in steps:
        match step:
            case "publish":
                for one in turns(number + 1, number + count):
                    made.terminals.events.add(one)
                number += count
            case "take":
                program.take(count)
            case "turn":
                program.turn()
            case "connect":
                program.connect()
            case "crash":
                program.start()
    for _ in range(number // 32 + 3):
        program.turn()
    program.take(number)
    assert program.had == numbered(1, number)
    assert program.missed == []
