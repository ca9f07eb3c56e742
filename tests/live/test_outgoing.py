"""The daemon's desk without sockets: clocks, commands, halts that may have been."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cep.live.config import Config, Ordering, Risk, Rules, StateFolder, Trading
from cep.live.outgoing import LOOK_MS, Outgoing, journal_path
from mt5bridge.clock import Now
from mt5bridge.orders import Inbox, OrderRequest, SendOrder, TurnHalt, order_id, read_book
from mt5bridge.server import DEALS, Batch
from mt5bridge.wire import Side, Signal
from tests.bridge.live import wait_until
from tests.orders.desk import NOON_MSC, Memory, signal
from tests.orders.test_guard import deal

NOW = Now(1_000, NOON_MSC)


class Floor(Memory):
    """A server that remembers; `ahead` are the terminals' clocks, as far as they have been told."""

    def __init__(self) -> None:
        super().__init__({"one": ("EURUSD",), "two": ("EURUSD", "GBPUSD")})
        self.ahead: dict[str, int] = {}
        self.terminals = SimpleNamespace(sessions=dict.fromkeys([*self.symbols, "publisher"]))

    def clock_difference_ms(self, identity: str) -> int | None:
        return self.ahead.get(identity)

    def wake(self) -> None:
        """Nobody sleeps."""


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    monkeypatch.setattr("mt5bridge.clock.now", lambda: NOW)
    monkeypatch.setattr("mt5bridge.clock.now_msc", lambda: NOON_MSC)
    with ExitStack() as stack:
        yield stack


def config_of(folder: Path, **sections: Any) -> Config:
    usual = {"signals": Trading(send=True), "orders": Ordering(send=True, terminal="one")}
    return Config(
        rules=Rules(file=folder / "r"), state=StateFolder(folder=folder), **{**usual, **sections}
    )


def begun(stack: ExitStack, config: Config, found_again: list[Signal] | None = None) -> Outgoing:
    outgoing = Outgoing(config, lambda _row: None, list)
    outgoing.find_again(found_again or [], NOON_MSC)
    outgoing.begin(stack, Floor(), NOON_MSC)  # type: ignore[arg-type]
    return outgoing


def post_of(outgoing: Outgoing) -> Floor:
    assert isinstance(outgoing.server, Floor)
    return outgoing.server


@pytest.mark.parametrize(
    ("ahead", "valid_ms", "is_sent"),
    [
        ({}, -1, True),  # nobody knows what time it is there
        ({"one": 0, "two": 0}, 0, True),
        ({"one": 0, "two": 0}, -1, False),
        ({"one": 500, "two": 500}, 499, False),
        ({"one": 500, "two": 300}, 300, True),  # in time for one of them
        ({"one": 500, "two": 300}, 299, False),
        ({"one": -(10**9)}, -(10**9), True),  # a tape of another year
        ({"publisher": 0}, -1, False),  # the traders are away, the clock is there
        ({"publisher": -5, "one": 10}, 9, False),  # theirs counts first
        ({"publisher": -5, "one": 10}, 10, True),
    ],
    ids=str,
)
def test_a_signal_is_late_by_the_clocks_of_those_who_would_get_it(
    stack: ExitStack, tmp_path: Path, ahead: dict[str, int], valid_ms: int, is_sent: bool
) -> None:
    outgoing = begun(stack, config_of(tmp_path, risk=Risk(lots_per_day=0.2)))
    post_of(outgoing).ahead = ahead
    of_this_run = NOON_MSC + 1_000
    outgoing.signal(signal(1, time_msc=of_this_run, valid_until_msc=NOON_MSC + valid_ms))
    assert post_of(outgoing).sent == ([("one", 1), ("two", 1)] if is_sent else [])
    outgoing.signal(signal(2))
    assert (("one", 2) in post_of(outgoing).sent) == (not is_sent), "it has used up the day"


@pytest.mark.parametrize("halts", [False, True])
def test_a_signal_of_before_the_start_that_is_not_sent_is_asked_about(
    stack: ExitStack, tmp_path: Path, *, halts: bool
) -> None:
    """An earlier run may have sent it, and have been ended before its tick was stored."""
    outgoing = begun(stack, config_of(tmp_path))
    post_of(outgoing).ahead = {"one": 0, "two": 0}
    if halts:
        outgoing.desk.halt(True, "news", NOON_MSC)
    valid_msc = NOON_MSC if halts else NOON_MSC - 1
    outgoing.signal(signal(1, time_msc=NOON_MSC - 1, valid_until_msc=valid_msc))
    assert post_of(outgoing).asked == [("one", 1), ("two", 1)] and post_of(outgoing).sent == []
    outgoing.signal(signal(2, time_msc=NOON_MSC, valid_until_msc=valid_msc))
    assert len(post_of(outgoing).asked) == 2 and post_of(outgoing).sent == []
    entry = outgoing.desk.book.get(2)
    assert entry is not None and entry.state == "refused"


def test_the_tick_of_a_signal_of_before_the_start_may_be_of_a_clock_ahead_of_the_traders(
    stack: ExitStack, tmp_path: Path
) -> None:
    outgoing = begun(stack, config_of(tmp_path))
    post_of(outgoing).ahead = {"one": -900, "two": -800, "publisher": 100}
    outgoing.desk.halt(True, "news", NOON_MSC)
    outgoing.signal(signal(1, time_msc=NOON_MSC + 99))
    assert post_of(outgoing).asked == [("one", 1), ("two", 1)]
    outgoing.signal(signal(2, time_msc=NOON_MSC + 100))
    assert len(post_of(outgoing).asked) == 2 and post_of(outgoing).sent == []


def test_a_signal_for_one_terminal_is_judged_by_its_clock(stack: ExitStack, tmp_path: Path) -> None:
    outgoing = begun(stack, config_of(tmp_path, signals=Trading(send=True, terminal="two")))
    post_of(outgoing).ahead = {"one": -9_000, "two": 0}
    outgoing.signal(signal(1, valid_until_msc=NOON_MSC - 1))
    outgoing.signal(signal(2, valid_until_msc=NOON_MSC))
    assert post_of(outgoing).sent == [("two", 2)]


def test_signals_found_again_are_asked_about_when_they_are_late(
    stack: ExitStack, tmp_path: Path
) -> None:
    found = [signal(1, valid_until_msc=NOON_MSC - 1), signal(2, valid_until_msc=NOON_MSC)]
    post = post_of(begun(stack, config_of(tmp_path), found))
    assert post.asked == [("one", 1), ("two", 1)] and post.sent == [("one", 2), ("two", 2)]


def test_signals_found_again_go_to_the_terminal_of_the_settings(
    stack: ExitStack, tmp_path: Path
) -> None:
    config = config_of(tmp_path, signals=Trading(send=True, terminal="two"))
    assert post_of(begun(stack, config, [signal(1)])).sent == [("two", 1)]


BAD = {
    "half a halt": (b'{"type":"halt","hal', True),
    "garbled": (b'{"tyqe":"halt","halted":true,"reason":""}', True),
    "nothing": (b"", True),
    "no text": (b"\xff\xfe\x00", True),
    "half an order": (b'{"type":"order","order":{"client_', False),
}


@pytest.mark.parametrize(("content", "halts"), BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("while_down", [True, False])
def test_a_command_that_nobody_can_read_may_have_been_a_halt(
    stack: ExitStack, tmp_path: Path, content: bytes, halts: bool, while_down: bool
) -> None:
    path = tmp_path / "inbox" / f"{NOON_MSC:015d}-x.json"
    path.parent.mkdir()
    if while_down:
        path.write_bytes(content)
        outgoing = begun(stack, config_of(tmp_path), [signal(1)])
    else:
        outgoing = begun(stack, config_of(tmp_path))
        path.write_bytes(content)
        outgoing.look(NOW)
        outgoing.signal(signal(1))
    post = post_of(outgoing)
    assert bool(post.sent) == (not halts)
    assert [halted for halted, _ in post.halts] == [True] * halts
    assert all("x.bad in the inbox is damaged" in reason for _, reason in post.halts)
    outgoing.journal.sync()
    outgoing.look(NOW._replace(ms=NOW.ms + 500))
    assert [found.name for found in path.parent.iterdir()] == [path.with_suffix(".bad").name]
    halted = read_book(journal_path(outgoing.config)).halted
    assert (halted is not None and halted.halted) == halts


@pytest.mark.parametrize("first", ["resume", "damage"])
def test_commands_are_obeyed_in_their_order_the_damaged_too(
    stack: ExitStack, tmp_path: Path, first: str
) -> None:
    inbox = Inbox(tmp_path / "inbox")
    inbox.put(TurnHalt(False, "over"), NOON_MSC)
    at_msc = NOON_MSC + (1 if first == "resume" else -1)
    (tmp_path / "inbox" / f"{at_msc:015d}-x.json").write_bytes(b"{")
    post = post_of(begun(stack, config_of(tmp_path)))
    assert post.halts[-1][0] == (first == "resume")


def test_a_halt_while_the_daemon_was_down_comes_before_what_is_open(
    stack: ExitStack, tmp_path: Path
) -> None:
    with ExitStack() as life:
        first = begun(life, config_of(tmp_path))
        first.signal(signal(1))
        first.signal(signal(2, side=Side.CLOSE, lots=0.0))
    inbox = Inbox(tmp_path / "inbox")
    order = OrderRequest(client_id="a", symbol="EURUSD", side="buy", lots=0.1)
    inbox.put(SendOrder(order, NOON_MSC), NOON_MSC)
    inbox.put(TurnHalt(True, "news"), NOON_MSC + 1)
    outgoing = begun(stack, config_of(tmp_path), [signal(3)])
    outgoing.look(NOW)
    post = post_of(outgoing)
    assert post.sent == [("one", 2), ("two", 2)]
    assert post.asked == [("one", 1), ("two", 1), ("one", 3), ("two", 3)]
    entry = outgoing.desk.book.get(order_id("a"))
    assert entry is not None and entry.text == "halted: news"
    outgoing.journal.sync()
    outgoing.look(NOW._replace(ms=NOW.ms + 500))
    assert inbox.take() == []


def test_the_inbox_is_looked_at_now_and_then(stack: ExitStack, tmp_path: Path) -> None:
    """Not in every turn: a look costs a system call or two."""
    outgoing, inbox = begun(stack, config_of(tmp_path)), Inbox(tmp_path / "inbox")
    halts = post_of(outgoing).halts
    for ms, reasons in ((0, ["0"]), (LOOK_MS - 1, ["0"]), (LOOK_MS, ["0", "1", "2"])):
        inbox.put(TurnHalt(True, str(len(halts) if ms != LOOK_MS else 2)), NOON_MSC + ms)
        outgoing.look(NOW._replace(ms=NOW.ms + ms))
        assert [reason for _, reason in halts] == reasons


def test_what_a_callback_ordered_while_records_ran_again_is_taken_at_the_start(
    stack: ExitStack, tmp_path: Path
) -> None:
    """Before anything else can end the daemon: the rows that caused it will not be found again."""
    order = OrderRequest(client_id="a", symbol="EURUSD", side="buy", lots=0.1)
    outgoing = Outgoing(config_of(tmp_path), lambda _row: None, lambda: [order])
    outgoing.begin(stack, Floor(), NOON_MSC)  # type: ignore[arg-type]
    assert outgoing.desk.book.get(order_id("a")) is not None


def test_an_order_is_on_disk_before_it_is_sent_and_its_file_goes(
    stack: ExitStack, tmp_path: Path
) -> None:
    outgoing, inbox = begun(stack, config_of(tmp_path)), Inbox(tmp_path / "inbox")
    for client_id, asked_msc in (("good", NOON_MSC), ("late", NOON_MSC - 60_001)):
        order = OrderRequest(client_id=client_id, symbol="EURUSD", side="buy", lots=0.1)
        inbox.put(SendOrder(order, asked_msc), asked_msc)
    outgoing.look(NOW)
    entry = outgoing.desk.book.get(order_id("late"))
    assert entry is not None and entry.text == "1 ms too late, so it was not sent"
    wait_until(lambda: outgoing.journal.durable == outgoing.journal.last)
    outgoing.look(NOW)
    assert post_of(outgoing).sent == [("one", order_id("good"))] and inbox.take() == []


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing comes to the disk by itself."""
    monkeypatch.setattr("cep.live.outgoing.Syncer.start", lambda _syncer: None)
    monkeypatch.setattr("cep.live.outgoing.Syncer.stop", lambda _syncer: None)


@pytest.mark.usefixtures("unsynced")
def test_the_end_leaves_everything_on_disk(stack: ExitStack, tmp_path: Path) -> None:
    with ExitStack() as life:
        outgoing = begun(life, config_of(tmp_path))
        outgoing.signal(signal(1))
        assert outgoing.journal.durable < outgoing.journal.last
    assert outgoing.journal.durable == outgoing.journal.last
    assert read_book(journal_path(outgoing.config)).get(1) is not None


@pytest.mark.usefixtures("unsynced")
def test_commands_stay_until_their_effect_is_on_disk_and_are_obeyed_once(
    stack: ExitStack, tmp_path: Path
) -> None:
    outgoing, inbox = begun(stack, config_of(tmp_path)), Inbox(tmp_path / "inbox")
    order = OrderRequest(client_id="a", symbol="EURUSD", side="buy", lots=0.1)
    inbox.put(SendOrder(order, NOON_MSC), NOON_MSC)
    inbox.put(TurnHalt(False, "over"), NOON_MSC + 1)
    for turn in range(3):
        outgoing.look(NOW._replace(ms=NOW.ms + 500 * turn))
        assert post_of(outgoing).sent == [] and len(inbox.take()) == 2
        assert post_of(outgoing).halts == [(False, "over")]
    outgoing.journal.sync()
    outgoing.look(NOW)
    assert post_of(outgoing).sent == [("one", order_id("a"))] and inbox.take() == []


@pytest.mark.usefixtures("unsynced")
@pytest.mark.parametrize("is_on", ["signals", "orders", "neither"])
def test_what_is_on_is_sent_and_deals_are_counted_before_they_are_stored(
    stack: ExitStack, tmp_path: Path, is_on: str
) -> None:
    sends = {name: is_on == name for name in ("signals", "orders")}
    config = config_of(tmp_path, signals=Trading(send=sends["signals"]),
                       orders=Ordering(send=sends["orders"], terminal="one"))  # fmt: skip
    outgoing = begun(stack, config)
    outgoing.before_deals(Batch("one", DEALS, 1, deal(), np.zeros(1, np.uint8), 0, NOON_MSC))
    counted = outgoing.journal.last
    assert (counted, outgoing.journal.durable) == (int(is_on != "neither"), 0)
    assert outgoing.before_storing()
    assert outgoing.journal.durable == counted
    outgoing.desk.ask(signal(1), NOON_MSC, "one")
    order = OrderRequest(client_id="a", symbol="EURUSD", side="buy", lots=0.1)
    Inbox(tmp_path / "inbox").put(SendOrder(order, NOON_MSC), NOON_MSC)
    outgoing.look(NOW)
    outgoing.journal.sync()
    outgoing.look(NOW)
    ids = {"signals": [1], "orders": [order_id("a")], "neither": []}[is_on]
    assert post_of(outgoing).sent == [("one", number) for number in ids]
