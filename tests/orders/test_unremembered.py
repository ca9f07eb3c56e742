"""Requests that were executed, and of which a loss of power has left the journal nothing."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from mt5bridge.orders import Desk, Limits, NamedLimits, read_book, unremembered
from mt5bridge.orders.deals import request_in
from mt5bridge.orders.unremembered import witnessed
from mt5bridge.server import DEALS, Batch, Outcome
from mt5bridge.wire import SignalStatus
from tests.orders.desk import DAY_MS, NOON_MSC, Office, result, signal, trader
from tests.orders.test_guard import OUT, deal

MAGIC = 77
LIMITS = Limits(named=(NamedLimits("main", MAGIC, Limits()),))
OURS = {"magic": MAGIC, "comment": b"%016x Fade" % 1}
SAID = f"account of one: deal 71: 0.1 lots EURUSD of {1:016x}"


def without_power(office: Office) -> Office:
    """Another process, after the disk has lost all that was not synced."""
    office.kill()
    os.truncate(office.path, 0)
    return office.again()


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """It has sent signal 1, and does not know it any more."""
    before = Office(tmp_path / "orders.journal", LIMITS)
    before.ask(signal(1))
    assert before.post.sent == [("one", 1)]
    found = without_power(before)
    assert not len(found.desk.book)
    return found


def hear(office: Office, **changes: object) -> None:
    records = deal(**{**OURS, **changes})
    batch = Batch("one", DEALS, 1, records, np.zeros(1, np.uint8), 0, NOON_MSC)
    office.desk.on_deals(batch, "account of one")


def tell(office: Office, number: int, status: SignalStatus) -> None:
    office.desk.on_outcome(Outcome("one", result(number, status, lots=0.1, deal=71)), NOON_MSC)


def adopted(desk: Desk) -> list[str]:
    return [witnessed(one) for one in desk.book.unremembered.values()]


def test_a_deal_tells_of_its_request(office: Office) -> None:
    """Once, and a restart knows it, and who reads the journal."""
    hear(office)
    hear(office, ticket=72)
    assert adopted(office.desk) == [SAID] and office.complaints == [("orders_unremembered", SAID)]
    office.desk.flush()
    again = office.again()
    assert adopted(again.desk) == [SAID] and list(read_book(office.path).unremembered) == [1]
    assert again.desk.guard.lots_of("EURUSD") == pytest.approx(0.2), "deals count as ever"


def test_its_cause_is_a_request_like_any_other(office: Office) -> None:
    """Terminals know what they have executed, and no witness keeps another one from an order."""
    hear(office)
    office.ask(signal(1), sent_before_msc=NOON_MSC)
    assert office.post.sent == [("one", 1)] and not office.desk.book.unremembered
    office.fill(1, 0.1, 71)
    office.desk.flush()
    again = office.again()
    assert again.state(1) == "executed" and not again.desk.book.unremembered


@pytest.mark.parametrize(
    "changes",
    [
        {"magic": 5},
        {"revision": 1},
        {"comment": b"by hand"},
        {"comment": b"%016xa" % 1},
        {"comment": b"%016x" % 2},
    ],
)
def test_what_is_no_lost_request_is_a_deal_and_no_more(
    office: Office, changes: dict[str, object]
) -> None:
    """Another program's, a later revision, no id, or the id of a request that is known."""
    office.ask(signal(2))
    hear(office, **changes)
    assert not office.desk.book.unremembered and not office.complaints
    assert office.desk.guard.lots_of("EURUSD") == pytest.approx(0.2)


def test_a_new_journal_knows_nothing_of_an_accounts_past(tmp_path: Path) -> None:
    office = Office(tmp_path / "orders.journal", LIMITS)
    hear(office, time_msc=NOON_MSC - 1)
    assert not office.desk.book.unremembered
    hear(office, ticket=72, comment=b"%016x" % 2)
    assert list(office.desk.book.unremembered) == [2]


def test_a_terminal_that_trades_tells_of_what_it_has_done(office: Office) -> None:
    office.desk.on_trader(trader("one", "EURUSD"))
    tell(office, 1, SignalStatus.EXECUTED)
    said = f"one: executed 0.1 lots of {1:016x}"
    assert adopted(office.desk) == [said] and office.complaints == [("orders_unremembered", said)]
    tell(office, 1, SignalStatus.EXECUTED)
    hear(office)
    assert adopted(office.desk) == [said] and office.complaints[1][0] == "results_ignored"
    office.desk.flush()
    again = office.again()
    assert adopted(again.desk) == [said] and not again.desk.book.lost
    again.ask(signal(1))
    assert again.post.sent == [("one", 1)]


@pytest.mark.parametrize("trades", [True, False])
def test_others_have_done_nothing(office: Office, trades: bool) -> None:
    """Who does not trade, and what was refused, has expired or was never seen."""
    if trades:
        office.desk.on_trader(trader("one", "EURUSD"))
    done = (SignalStatus.EXECUTED, SignalStatus.PARTIAL, SignalStatus.PLACED)
    told = [status for status in SignalStatus if not trades or status not in done]
    for number, status in enumerate(told, 1):
        tell(office, number, status)
    assert not office.desk.book.unremembered
    assert [name for name, _ in office.complaints] == ["results_ignored"] * len(told)


def test_there_is_an_end(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unremembered, "MOST", 2)
    office.desk.on_trader(trader("one", "EURUSD"))
    for number in range(1, 5):
        hear(office, ticket=number, comment=b"%016x" % number)
        tell(office, number, SignalStatus.EXECUTED)
    assert list(office.desk.book.unremembered) == [1, 2]


def test_they_are_forgotten_like_everything_else(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mt5bridge.orders.desk._TIDY_AT", 0)
    office.desk.on_trader(trader("one", "EURUSD"))
    hear(office, **OUT)
    tell(office, 2, SignalStatus.EXECUTED)
    office.desk.flush()
    for days, kept in ((2, [1, 2]), (4, [])):
        again = office.again()
        again.desk.tidy(NOON_MSC + days * DAY_MS, keep_days=3)
        assert list(again.desk.book.unremembered) == kept
        again.journal.close()
    left = again.path.read_bytes()
    assert not any(name in left for name in (b'"deal"', b'"result"'))


@pytest.mark.parametrize(
    ("comment", "number"),
    [
        ("00000000000000ff", 255), ("00000000000000ff Fade", 255), ("00000000000000ff:2 F", 255),
        ("", 0), ("00000000000000f", 0), ("00000000000000FF", 0), (" 00000000000000ff", 0),
    ],
)  # fmt: skip
def test_a_comment_begins_with_the_id(comment: str, number: int) -> None:
    assert request_in(comment) == number
