"""Reports count from whom a request was sent to, and from nobody else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mt5bridge.orders import Limits, OrderJournal, read_book
from mt5bridge.orders.records import Told
from mt5bridge.server import Funds
from mt5bridge.wire import Account, SignalStatus
from tests.orders.desk import Office, order, result, signal, trader
from tests.wire.samples import FRAMES

TRADERS = {"one": ("EURUSD",), "two": ("GBPUSD",)}
LIMITS = Limits(lots_per_symbol=1.0, lots_per_day=1.0)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path / "orders.journal", LIMITS, TRADERS)


@pytest.mark.parametrize("stranger", ["two", "nobody", "one ", ""])
@pytest.mark.parametrize("status", list(SignalStatus))
def test_a_stranger_claims_nothing(office: Office, stranger: str, status: SignalStatus) -> None:
    """Neither book, guard, journal nor callback, whatever it says first or last."""
    office.ask(signal(1))
    office.ask(order(2), durable=True)
    office.desk.flush()
    journal, news = office.path.read_bytes(), list(office.news)
    for number in (1, 2):
        office.tell(result(number, status, lots=50.0, deal=71, price=1.0), stranger)
    office.desk.flush()
    assert office.path.read_bytes() == journal and office.news == news
    assert (office.state(1), office.state(2)) == ("queued", "queued")
    guard = office.desk.guard
    assert (guard.lots_of("EURUSD"), guard.lots_today(office.now_msc)) == pytest.approx((0.4, 0.4))
    assert [name for name, _ in office.complaints] == ["results_ignored"] * 2
    text = office.complaints[0][1]
    assert text.startswith(f"{stranger}: {status.name.lower()} 50 lots") and text.endswith("to one")
    office.fill(1, 0.1, 72)
    entry = office.desk.book.get(1)
    assert entry is not None and list(entry.fates) == ["one"] and entry.state == "executed"


def test_a_refused_request_has_no_results(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", Limits(lots_per_order=0.05), TRADERS)
    office.ask(signal(1))
    office.fill(1, 0.1, 71)
    assert office.state(1) == "refused" and office.desk.guard.lots_of("EURUSD") == 0.0
    assert office.complaints[0][1].endswith("which was sent to nobody")


def test_who_was_only_asked_may_answer(office: Office) -> None:
    """10.9: after a restart that finds the signal late."""
    office.desk.flush()
    late = office.again()
    late.ask(signal(1, valid_until_msc=10), sent_before_msc=20)
    assert late.post.asked == [("one", 1)] and not late.post.sent
    late.tell(result(1, SignalStatus.EXECUTED, lots=0.1, deal=71), "two")
    assert late.state(1) == "asked"
    late.fill(1, 0.1, 71)
    assert late.state(1) == "executed" and late.desk.guard.lots_of("EURUSD") == pytest.approx(0.1)


def test_claims_that_an_older_version_took_count_no_more(tmp_path: Path) -> None:
    """What it wrote into the journal means nothing today, to the daemon and to `orders ls`."""
    office = Office(tmp_path / "o", LIMITS, TRADERS)
    office.ask(signal(1))
    claim = result(1, SignalStatus.EXECUTED, lots=50.0, deal=71)
    office.journal.add(Told(office.now_msc, "two", claim))
    office.desk.flush()
    again = office.again()
    assert again.state(1) == "queued" and again.post.sent == [("one", 1)]
    assert again.desk.guard.lots_of("EURUSD") == pytest.approx(0.1)
    entry = read_book(again.path).get(1)
    assert entry is not None and entry.state == "queued"
    assert sum(isinstance(one, Told) for one in OrderJournal(again.path).records) == 1


def test_unknown_and_late_results_are_complained_of_by_name(office: Office) -> None:
    office.tell(result(9, SignalStatus.EXECUTED, lots=50.0), "two")
    assert office.complaints == [
        ("results_ignored", "two: executed 50 lots of 0000000000000009, which is unknown here")
    ]
    office.ask(signal(1))
    office.fill(1, 0.1, 71)
    office.fill(1, 0.1, 71)
    assert len(office.complaints) == 1, "the same again is no surprise"
    office.fill(1, 50.0, 72)
    assert office.complaints[1][1].endswith("after the final one or unasked")
    assert office.desk.guard.lots_of("EURUSD") == pytest.approx(0.1)


def test_more_lots_than_asked_for_are_counted_and_complained_of(office: Office) -> None:
    """They are held, whoever is to blame."""
    office.ask(signal(1))
    office.fill(1, 0.08, 71, last=False)
    assert office.complaints == []
    office.fill(1, 0.7, 72)
    assert office.desk.guard.lots_of("EURUSD") == pytest.approx(0.78)
    ((name, text),) = office.complaints
    assert name == "results_overfilled" and text.endswith("0.78 of 0.1 asked")
    office.ask(signal(2, lots=0.3))
    assert office.text(2).startswith("lots_per_symbol")


def test_who_trades_is_believed_above_others_of_the_account(tmp_path: Path) -> None:
    """Anybody can say in HELLO that an account is theirs."""
    office = Office(tmp_path / "o", Limits(loss_per_day=100.0), TRADERS)
    account = FRAMES["account"][1]
    assert isinstance(account, Account)
    owner, desk = "account of one", office.desk

    def tell(identity: str, profit: float) -> float:
        desk.on_funds(Funds(identity, owner, replace(account, profit=profit)))
        return desk.guard.loss_today(owner, office.now_msc)

    assert tell("publisher", -40.0) == 40.0, "nobody else has told yet"
    desk.on_trader(trader("one", "EURUSD"))
    desk.on_trader(trader("two", "EURUSD"))
    assert tell("one", -150.0) == 150.0
    assert tell("publisher", 1e9) == tell("two", 1e9) == 150.0
    office.ask(signal(1))
    assert office.state(1) == "refused"
    assert tell("one", 0.0) == 0.0
