"""Orders and accounts for programs that read along."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.live.account_feed import AccountFeed
from cep.live.order_feed import OrderFeed, order_event
from mt5bridge.client import (
    ACCOUNTS,
    ORDERS,
    Mark,
    Missed,
    Subscription,
    account_of,
    order_of,
    subscribe,
)
from mt5bridge.client.progress import Progress
from mt5bridge.grant import Grant
from mt5bridge.orders import OrderJournal, read_journal
from mt5bridge.orders.records import Halted, Record, Refused, Sent, Terminal, Told, requested
from mt5bridge.server import Funds
from mt5bridge.server.feeds import AHEAD_MAX, Feeds
from mt5bridge.simulator import simulated_hello
from mt5bridge.wire import (
    Account,
    Entry,
    Event,
    Side,
    Signal,
    SignalResult,
    SignalStatus,
    Standing,
    Subscribe,
    Subscribed,
    TradeMode,
    Wanted,
    decode,
    encode,
)
from tests.bridge.dialog import SETTINGS, Dialog
from tests.credentials import CREDENTIAL
from tests.live.service import Service, address, play, terminal, walks, write_settings
from tests.waiting import LONG_S

CLOCKLESS: dict[str, dict[str, Any]] = {
    "rules": {"numba": False},
    "state": {"snapshot_records": 300, "clock_every_ms": 0},
}
SIGNAL = Signal(7, 1, 0, 77, 0.1, 0.0, 0.0, Side.BUY, "Fade", "A")
RESULT = SignalResult(7, 4, 5, 2, 0.1, 1.25, 10009, SignalStatus.EXECUTED, "done")
RECORDS: list[Record] = [
    Terminal("one", "1@S", 1, ["A"]),
    requested(SIGNAL, 1),
    Sent(7, 2, ["one", "two"], accounts=["1@S", "2@S"]),
    Told(3, "one", RESULT, "1@S"),
    Refused(8, 4, "too many", is_dry=True),
    Halted(5, True, "news"),
]


def told(event: Event) -> dict[str, Any]:
    one = decode(encode(event))
    assert isinstance(one, Event)
    return order_of(one)


def test_each_record_of_an_order_is_told_in_full() -> None:
    asked, sent, result, refused, halted = (
        told(event) for record in RECORDS if (event := order_event(record, 3)) is not None
    )
    id_ = f"{7:016x}"
    assert asked["what"], asked["id"] == ("asked", id_)
    assert (asked["is_signal"], asked["symbol"], asked["side"], asked["lots"]) == (
        True, "A", "buy", 0.1,
    )  # fmt: skip
    assert sent == {
        "what": "sent", "id": id_, "time_msc": 2, "account": "1@S,2@S", "terminals": "one,two",
    }  # fmt: skip
    assert (result["status"], result["price"], result["account"]) == ("executed", 1.25, "1@S")
    assert (refused["what"], refused["text"]) == ("dry run", "too many")
    assert (halted["what"], halted["id"], halted["reason"]) == ("halted", "", "news")
    with pytest.raises(ValueError, match="Turn is not of @orders"):
        order_of(Event(1, 0, 0, "Turn", "", "", ()))


def handed_out(journal: OrderJournal, number: int) -> list[Event]:
    """All behind an entry, as a connection gets it."""
    feeds = Feeds()
    feeds.add(OrderFeed(journal))
    cursor = feeds.begin(ORDERS.name, number)
    found: list[Event] = []
    while feeds.fill():
        found += cursor.ready
        cursor.ready.clear()
    return found


def test_nothing_is_told_before_it_is_on_disk(tmp_path: Path) -> None:
    journal = OrderJournal(tmp_path / "o")
    journal.add(*RECORDS)
    journal.write()
    assert handed_out(journal, 0) == []
    journal.sync()
    assert [one.number for one in handed_out(journal, 0)] == [2, 3, 4, 5, 6]


KEPT = st.lists(st.booleans(), min_size=40, max_size=40)


@given(KEPT, st.integers(0, 120), st.booleans())
def test_numbers_last_over_restarts_and_tidying(kept: list[bool], place: int, is_old: bool) -> None:
    """From any entry on come those behind it that are still there, each once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "o"
        journal = OrderJournal(path)
        journal.add(RECORDS[0], *(Refused(number, number, "no") for number in range(2, 41)))
        journal.close()
        if is_old:  # as an earlier version has written it
            path.write_bytes(b"".join(map(_unnumbered, path.read_bytes().splitlines())))
        journal = OrderJournal(path)
        old = journal.records
        stay = [
            Terminal("one", "1@S", 1, ["A", "B"]),
            *(record for record, is_kept in zip(old[1:], kept[1:], strict=True) if is_kept),
        ]
        journal.rewrite(stay)
        journal.close()
        journal = OrderJournal(path)
        journal.add(*(Refused(number, number, "no") for number in range(41, 61)))
        journal.sync()
        wanted = [n for n in range(2, 41) if kept[n - 1]] + [*range(41, 61)]
        start = min(place, 60)
        assert [one.number for one in handed_out(journal, place)] == [
            n for n in wanted if n > start
        ]
        assert len(wanted) < AHEAD_MAX
        journal.close()
        assert read_journal(path).last == 60


def _unnumbered(line: bytes) -> bytes:
    text = re.sub(rb'"n":\d+,', b"", line[9:])
    return b"%08x %s\n" % (crc32(text), text)


def entries(events: Subscription, count: int) -> list[Event]:
    found = []
    for _ in range(count):
        one = events.take(LONG_S)
        assert one is not None
        found.append(one)
    return found


def test_orders_and_accounts_of_a_daemon(tmp_path: Path) -> None:
    """Results come to a program that was away, too."""
    settings = write_settings(tmp_path, CLOCKLESS)
    with Service(settings) as service:
        play(terminal(walks("AB", 1_500)), address(settings), until=service.is_settled)
        journal = service.daemon.outgoing.journal
        count = len([one for one in map(order_event, *_numbered(journal)) if one is not None])
        after = Mark(numbering=1, numbers={ORDERS.name: 0})
        with subscribe(address(settings), CREDENTIAL, ORDERS, ACCOUNTS, after=after) as events:
            events.on_missed = lambda missed: None
            orders, figures = list[dict[str, Any]](), list[dict[str, Any]]()
            while len(orders) < count or not figures:
                (one,) = entries(events, 1)
                if one.name == ORDERS.name:
                    orders.append(order_of(one))
                else:
                    figures.append(account_of(one))
            assert figures[0]["terminal"] == "demo"
            assert {"asked", "sent", "result"} <= {one["what"] for one in orders}
            mark = events.mark
        with subscribe(address(settings), CREDENTIAL, ORDERS, after=mark) as events:
            assert events.wait(LONG_S)
            desk = service.daemon.outgoing.desk
            service.server._command(lambda _terminals: desk.halt(True, "a test", 1))
            assert order_of(entries(events, 1)[0])["reason"] == "a test"


def _numbered(journal: OrderJournal) -> tuple[list[Record], list[int]]:
    content = read_journal(journal.path)
    return content.records, content.numbers


def test_figures_of_accounts() -> None:
    feed, feeds, clock = AccountFeed(lambda: 1_000), Feeds(), 5
    feeds.add(feed)
    first = feeds.begin(ACCOUNTS.name, None)
    for balance in (10.0, 20.0):
        figures = Account(clock, balance, 0.0, 0.0, balance, 0.0, balance, 0, 0, 31)
        feed.take(Funds("one", "1@S", figures))
    feed.take(Funds("two", "2@S", figures))
    assert feeds.fill()
    found = [account_of(one) for one in first.ready]
    assert [(one["account"], one["terminal"], one["balance"]) for one in found] == [
        ("1@S", "one", 20.0),
        ("2@S", "two", 20.0),
    ]
    later = feeds.begin(ACCOUNTS.name, first.ready[-1].number)
    assert feeds.fill() is False and not later.ready


def test_orders_go_on_under_other_rules_and_a_lost_journal_is_told() -> None:
    missed: list[Missed] = []
    progress = Progress(Mark(numbering=3, numbers={"Turn": 9, ORDERS.name: 50}))
    progress.on_missed = missed.append
    progress.take(Subscribed(4, (Standing(1, "Turn", "Main"), Standing(50, ORDERS.name, ""))))
    assert progress.mark.numbers == {"Turn": 1, ORDERS.name: 50}
    assert missed == [Missed()]
    progress.take(Subscribed(4, (Standing(2, ORDERS.name, ""),)))
    assert missed[1:] == [Missed(ORDERS.name)] and "order journal" in str(missed[1])
    assert progress.mark.numbers[ORDERS.name] == 2


def test_a_credential_of_an_account_sees_that_account_alone() -> None:
    mine = "10000001@Simulated-Demo"
    grant = Grant(account=10_000_001, server="Simulated-Demo")
    made = Dialog(replace(SETTINGS, passwords={"reader": "x"}, grants={"reader": grant}))
    feed = AccountFeed(lambda: 1)
    made.terminals.events.feeds.add(feed)
    for number, owner in enumerate((mine, "2@S")):
        figures = Account(5, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0, 0, 31)
        feed.take(Funds(f"t{number}", owner, figures))
    hello = simulated_hello("reader", 1, trades=TradeMode.NONE)
    made.terminals.receive(b"r", [encode(hello)], made.now, "reader")
    made.say(Subscribe(0, (Entry(Wanted.NAMED, 0, ACCOUNTS.name),)))
    made.terminals.events.feeds.fill()
    found = [one for one in made.due() if isinstance(one, Event)]
    assert [account_of(one)["account"] for one in found] == [mine]
