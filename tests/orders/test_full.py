"""The order journal has a limit: what opens waits for somebody, what closes goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mt5bridge.orders import OrderJournal
from mt5bridge.orders.desk import FULL
from mt5bridge.server import Funds, Trader
from mt5bridge.wire import Account, Side, SignalStatus, TradeMode
from tests.orders.desk import Office, order, result, signal
from tests.wire.samples import FRAMES

ACCOUNT = FRAMES["account"][1]
assert isinstance(ACCOUNT, Account)


def full(path: Path) -> Office:
    """One that has come to its limit with a signal that is filled in part."""
    office = Office(path)
    office.ask(signal(1))
    office.fill(1, 0.05, 7, last=False)
    office.journal._bytes_max = office.journal.size_bytes
    return office


def test_beyond_its_limit_nothing_is_opened_and_nothing_is_written_about_it(tmp_path: Path) -> None:
    office = full(tmp_path / "j")
    size = office.journal.size_bytes
    for number in range(2, 50):
        office.ask(signal(number))
        office.ask(order(number + 100), durable=True)
    office.desk.refuse(order(999), "off", office.now_msc)
    office.desk.on_trader(Trader("new", "account", TradeMode.LIVE, ("EURUSD",)))
    assert not office.desk.takes_deals()
    assert office.journal.size_bytes == size and len(office.desk.book) == 1
    assert {name for name, _ in office.complaints} == {"journal_reached"}
    assert all(FULL in text for _, text in office.complaints)
    assert office.news[-1].entry.state == "refused" and office.news[-1].entry.text == FULL
    assert office.post.sent == [("one", 1)]
    office.ask(signal(1000, side=Side.CLOSE))
    office.fill(1, 0.05, 8)
    assert office.post.sent == [("one", 1), ("one", 1000)] and office.state(1) == "executed"
    office.journal.close()
    assert OrderJournal(tmp_path / "j").size_bytes == (tmp_path / "j").stat().st_size > size
    again = office.again()
    again.ask(signal(2000))
    assert again.post.sent[-1] == ("one", 2000), "without that limit it goes on"


def test_reports_of_a_request_have_an_end(tmp_path: Path) -> None:
    office = Office(tmp_path / "j")
    office.desk.results_max = 5
    office.ask(signal(1))
    for deal in range(1, 50):
        office.fill(1, 0.001, deal, last=False)
    entry = office.desk.book.get(1)
    assert entry is not None and len(entry.fates["one"].results) == 5
    assert {name for name, _ in office.complaints} == {"results_refused"}
    office.tell(result(1, SignalStatus.REJECTED))
    assert office.state(1) == "rejected", "the last one counts"


def test_who_does_not_trade_is_believed_of_one_account(tmp_path: Path) -> None:
    office = Office(tmp_path / "j")
    for number in range(100):
        office.desk.on_funds(Funds("publisher", f"{number}@Server", ACCOUNT))
        office.desk.on_funds(Funds("other", "7@Server", replace(ACCOUNT, profit=-5.0)))
    assert set(office.desk.guard._accounts) == {"99@Server", "7@Server"}
