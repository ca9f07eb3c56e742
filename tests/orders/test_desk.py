"""Guard, journal and terminals together: nothing twice, no report lost, whatever is killed when."""

from __future__ import annotations

import random
from dataclasses import replace
from errno import ENOSPC
from pathlib import Path

import pytest

from mt5bridge.orders import Book, Desk, Limits, OrderJournal, read_book
from mt5bridge.orders.records import Refused, Told
from mt5bridge.server import Request, Trader
from mt5bridge.server.session import TOO_MANY
from mt5bridge.wire import Order, OrderKind, OrderSide, SignalStatus, TradeMode
from tests.orders.desk import (
    DAY_MS,
    NOON_MSC,
    Memory,
    Office,
    order,
    result,
    signal,
    trader,
    warnings,
)

EXECUTED, REJECTED, UNKNOWN = SignalStatus.EXECUTED, SignalStatus.REJECTED, SignalStatus.UNKNOWN


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path / "orders.journal")


class Reader(Memory):
    """A post that looks, for each that it sends, what the journal's file has of it."""

    def __init__(self, path: Path) -> None:
        super().__init__({"one": ("EURUSD",)})
        self.path = path
        self.states: list[str] = []

    def send_now(self, identity: str, request: Request) -> str:
        entry = read_book(self.path).get(request.id)
        self.states.append("nothing" if entry is None else entry.state)
        return super().send_now(identity, request)


def test_the_journals_file_knows_a_signal_before_it_leaves_and_the_disk_follows(
    office: Office,
) -> None:
    post = Reader(office.path)
    office.desk.open(post, 0, NOON_MSC)
    for number in (1, 2):
        office.ask(signal(number))
    assert post.sent == [("one", 1), ("one", 2)] and post.states == ["queued", "queued"]
    assert office.journal.durable == 0
    again = office.again()
    assert again.post.sent == post.sent, "it is killed, and nothing is forgotten"
    again.ask(signal(1))
    assert again.post.sent == post.sent, "its cause leads to the same id"


def test_a_signal_that_cannot_be_written_down_waits(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_at(_number: int, _data: bytes, _offset: int) -> None:
        raise OSError(ENOSPC, "no room")

    with monkeypatch.context() as full:
        full.setattr(office.journal._disk, "write_at", write_at)
        office.ask(signal(1))
        office.desk.release()
    assert office.post.sent == [] and office.state(1) == "queued"
    assert office.journal.awaited.is_set(), "the thread that syncs tries at once"
    office.desk.flush()
    assert office.post.sent == [("one", 1)]


def test_an_order_waits_for_the_disk(office: Office) -> None:
    office.ask(order(1), durable=True)
    office.desk.release()
    assert office.post.sent == []
    office.journal.sync()
    office.desk.release()
    assert office.post.sent == [("one", 1)]
    office.desk.release()
    assert len(office.post.sent) == 1


def test_one_id_is_one_request(office: Office) -> None:
    """10.1"""
    office.ask(signal(1))
    office.ask(signal(1))
    office.ask(signal(1, lots=5.0))
    office.fill(1, 0.1, 71)
    office.ask(signal(1))
    assert office.post.sent == [("one", 1)] and office.state(1) == "executed"


def test_an_id_that_means_something_else_now_is_told(office: Office) -> None:
    """A warning names both; asked again at another time it is the same, and nobody is warned."""
    later = {"time_msc": NOON_MSC + 9, "valid_until_msc": NOON_MSC + 60_009}
    with warnings() as told:
        for first in (signal(1), order(2)):
            office.ask(first)
            office.ask(replace(first, **later))  # type: ignore[arg-type]
        assert told == []
        office.ask(signal(1, stop_points=70.0))
        office.ask(order(2, sl=1.1))
        office.ask(order(1))
    assert [line.split(" was asked before as ")[0] for line in told] == [
        "sell 0.1 lots EURUSD", "buy limit 0.3 lots EURUSD at 1.25",
        "buy limit 0.3 lots EURUSD at 1.25",
    ]  # fmt: skip


def test_results_are_news_once(office: Office) -> None:
    """10.11"""
    office.ask(signal(1))
    for _ in range(2):
        office.tell(result(1, SignalStatus.RECEIVED))
        office.fill(1, 0.04, 71, last=False)
        office.fill(1, 0.03, 72, last=False)
        office.fill(1, 0.03, 73)
    office.tell(result(1, REJECTED))
    assert [news.result.status.name for news in office.news if news.result] == [
        "RECEIVED", "PARTIAL", "PARTIAL", "EXECUTED",
    ]  # fmt: skip
    office.desk.flush()
    entry = read_book(office.path).get(1)
    assert entry is not None and entry.fates["one"].lots == pytest.approx(0.1)
    assert sum(isinstance(record, Told) for record in office.again().journal.records) == 4


def test_a_refusal_names_limit_value_and_what_was_asked(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", Limits(lots_per_order=0.05))
    office.ask(signal(1))
    assert office.post.sent == [] and office.state(1) == "refused"
    assert office.text(1) == "lots_per_order 0.05: asked for sell 0.1 lots EURUSD"
    assert [news.result for news in office.news] == [None]
    office.desk.flush()
    again = office.again()
    again.ask(signal(1))
    assert again.post.sent == again.post.asked == []


def test_what_is_refused_for_a_limit_is_counted_by_name(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", Limits(lots_per_order=0.2))
    office.ask(signal(1, lots=0.3))
    office.ask(signal(2, lots=0.3))
    office.ask(signal(3))
    office.desk.halt(True, "lunch", 0)
    office.ask(signal(4, lots=0.3))
    counts = {("signal", signal(1).name): 2}
    assert office.desk.limited == counts
    office.desk.flush()
    assert office.again().desk.limited == counts


def test_a_dry_run_journals_what_it_would_do(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", Limits(dry_run=True, lots_per_order=0.2))
    office.ask(signal(1))
    office.ask(signal(2, lots=0.3))
    assert office.post.sent == []
    assert (office.state(1), office.state(2)) == ("dry run", "refused")
    assert office.text(1) == "would be sent to one: sell 0.1 lots EURUSD"


def test_who_gets_it(tmp_path: Path) -> None:
    """10.6: signals go to all that trade the symbol, an order to exactly one."""
    traders = {"one": ("EURUSD",), "two": ("EURUSD", "GBPUSD")}
    office = Office(tmp_path / "o", traders=traders)
    office.ask(signal(1))
    office.ask(signal(2, symbol="GBPUSD"))
    office.ask(signal(3, symbol="XAUUSD"))
    office.ask(order(4))
    office.ask(order(5), terminal="one")
    office.ask(order(6, symbol="GBPUSD"), terminal="one")
    assert office.post.sent == [("one", 1), ("two", 1), ("two", 2), ("one", 5)]
    assert office.text(3) == "no terminal trades XAUUSD, as far as it has said so"
    assert office.text(4) == "one, two could do it: name one terminal"
    assert office.text(6) == "terminal one does not trade GBPUSD, as far as it has said so"


def test_a_request_for_two_ends_when_both_have_answered(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", traders={"one": ("EURUSD",), "two": ("EURUSD",)})
    office.ask(signal(1))
    office.fill(1, 0.1, 71)
    entry = office.desk.book.get(1)
    assert entry is not None and entry.is_open and entry.state == "executed, queued"
    office.tell(result(1, REJECTED), "two")
    assert not entry.is_open and entry.state == "executed, rejected"


def test_the_kill_switch_outlives_the_process(office: Office) -> None:
    """10.10"""
    office.ask(signal(1))
    office.desk.halt(True, "news", NOON_MSC)
    office.ask(signal(2))
    close = order(3, kind=OrderKind.CLOSE, side=OrderSide.NONE)
    office.ask(close)
    assert office.post.halts == [(True, "news")]
    assert office.text(2) == "halted: news"
    assert office.post.sent == [("one", 1), ("one", 3)]
    office.journal.close()
    again = office.again()
    assert again.post.halts == [(True, "news")]
    again.ask(signal(4))
    again.desk.halt(False, "over", NOON_MSC)
    again.ask(signal(5))
    assert again.text(4) == "halted: news" and again.state(5) == "queued"
    again.journal.close()
    assert again.again().post.halts == [(False, "over")]


def test_no_post_has_room(office: Office) -> None:
    """11.2"""
    office.post.refusal = TOO_MANY
    office.ask(signal(1))
    assert office.text(1) == TOO_MANY == "too many requests without a result"


def test_a_restart_sends_again_what_has_no_final_result(office: Office) -> None:
    """10.5"""
    for number in (1, 2, 3):
        office.ask(signal(number))
    office.ask(order(4), durable=True)
    office.fill(1, 0.1, 71)
    office.fill(2, 0.05, 72, last=False)
    office.tell(result(3, SignalStatus.PLACED))
    office.journal.close()
    assert office.again().post.sent == [("one", 2), ("one", 3), ("one", 4)]


def test_a_restart_asks_about_what_is_too_late(office: Office) -> None:
    """10.3, 10.9"""
    office.ask(signal(1, valid_until_msc=NOON_MSC + 1_000))
    office.ask(signal(2, valid_until_msc=NOON_MSC + 9_000))
    office.ask(signal(3, valid_until_msc=NOON_MSC + 1_000))
    office.journal.close()
    second = office.again(market_msc=NOON_MSC + 5_000)
    assert second.post.sent == [("one", 2)]
    assert second.post.asked == [("one", 1), ("one", 3)]
    second.tell(result(1, UNKNOWN))
    second.fill(3, 0.1, 71)
    assert (second.state(1), second.state(3)) == ("unknown", "executed")
    assert [entry.request.id for entry in second.desk.book if entry.is_open] == [2]
    second.journal.close()
    third = second.again(market_msc=NOON_MSC + 5_000)
    assert third.post.sent == [("one", 2)] and third.post.asked == []


def test_unknown_is_no_end_for_what_was_not_asked(office: Office) -> None:
    """10.9"""
    office.ask(signal(1))
    office.tell(result(1, UNKNOWN))
    assert office.state(1) == "queued" and office.news == []


def test_a_signal_that_the_journal_has_lost_may_have_been_sent(tmp_path: Path) -> None:
    """Found again: sent again, or, where it would not be sent now, asked about."""
    office = Office(tmp_path / "o", Limits(symbols=("EURUSD",)), {"one": ("EURUSD", "XAUUSD")})
    sent = {"sent_before_msc": NOON_MSC + 5_000}
    office.ask(signal(1), **sent)
    office.ask(signal(2, valid_until_msc=NOON_MSC), **sent)
    office.ask(signal(3, symbol="XAUUSD"), **sent)
    office.ask(signal(4, symbol="XAUUSD"))
    assert office.post.sent == [("one", 1)]
    assert office.post.asked == [("one", 2), ("one", 3)]
    assert office.state(4) == "refused"
    office.tell(result(3, EXECUTED, lots=0.1, deal=71))
    assert office.state(3) == "executed"


def test_a_new_terminal_is_on_disk_before_anything_is_sent_to_it(office: Office) -> None:
    """10.6"""
    office.desk.on_trader(trader("two", "GBPUSD"))
    office.desk.on_trader(trader("two", "GBPUSD"))
    assert office.journal.last == 1
    office.post.symbols["two"] = ("GBPUSD",)
    office.ask(signal(7, symbol="GBPUSD"))
    office.desk.release()
    assert office.post.sent == []
    office.desk.flush()
    assert office.post.sent == [("two", 7)]
    retired = Trader("two", "account of two", TradeMode.NONE, ())
    office.desk.on_trader(retired)
    office.desk.flush()
    assert office.again().desk.traders == [retired]


def test_a_result_of_nobodys_request_is_left(office: Office) -> None:
    office.fill(77, 0.1, 71)
    assert len(office.desk.book) == 0 and office.journal.last == 0


def test_tidying_keeps_what_matters(tmp_path: Path) -> None:
    office = Office(tmp_path / "o")
    office.desk.on_trader(trader("one", "EURUSD"))
    office.desk.halt(True, "news", NOON_MSC)
    office.desk.halt(False, "over", NOON_MSC)
    for number in range(1, 1_501):
        office.ask(signal(number))
        if number != 700:
            office.fill(number, 0.1, 10_000 + number)
    office.now_msc += 9 * DAY_MS
    office.ask(signal(2_000))
    office.fill(2_000, 0.1, 20_000)
    office.journal.close()
    again = office.again()
    size = again.path.stat().st_size
    again.desk.tidy(office.now_msc, keep_days=10)
    assert again.path.stat().st_size == size
    again = office.again()
    again.desk.tidy(office.now_msc, keep_days=5)
    assert again.path.stat().st_size < size / 100
    for book in (again.desk.book, read_book(again.path)):
        assert [entry.request.id for entry in book] == [700, 2_000]
        assert [entry.state for entry in book] == ["queued", "executed"]
        assert book.halted is not None and book.halted.reason == "over"
        assert list(book.terminals) == ["one"]


def test_what_ended_is_kept_from_its_end_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long ago it was asked for."""
    monkeypatch.setattr("mt5bridge.orders.desk._TIDY_AT", 0)
    office = Office(tmp_path / "o")
    office.ask(signal(1))
    office.now_msc += 4 * DAY_MS
    office.fill(1, 0.1, 71)
    office.journal.close()
    for days, kept in ((5, [1]), (6, [1]), (7, [])):
        office = office.again()
        office.desk.tidy(NOON_MSC + days * DAY_MS, keep_days=2)
        assert [entry.request.id for entry in read_book(office.path)] == kept


class Broker:
    """A terminal that keeps its promises: executes an id once, and answers what it had."""

    def __init__(self) -> None:
        self.results: dict[int, list[object]] = {}
        self.deals = 0

    def execute(self, number: int, pick: random.Random) -> None:
        if number not in self.results:
            self.deals += 2
            deals = (self.deals - 1, self.deals)
            first = result(number, SignalStatus.PARTIAL, lots=0.05, deal=deals[0])
            last = result(number, EXECUTED, lots=0.05, deal=deals[1])
            refusal = result(number, REJECTED)
            self.results[number] = [first, last] if pick.random() < 0.8 else [refusal]


def live_through(folder: Path, seed: int) -> tuple[Broker, Book]:
    """Signals and orders with kills at any moment; what the disk has not is lost with power."""
    pick, broker = random.Random(seed), Broker()
    office = Office(folder / "o")
    wanted: list[int] = []

    def deliver(ids: list[int]) -> None:
        for number in ids:
            for found in broker.results[number][: pick.randint(0, 2)]:
                office.tell(found)  # type: ignore[arg-type]

    def step() -> None:
        ids = [number for _, number in office.post.sent]
        for number in ids:
            if pick.random() < 0.8:
                broker.execute(number, pick)
        deliver([number for number in ids if number in broker.results and pick.random() < 0.8])
        if pick.random() < 0.4:
            office.desk.flush()

    for number in range(1, 40):
        wanted.append(number)
        office.ask(order(number) if number % 3 == 0 else signal(number), durable=number % 3 == 0)
        step()
        if pick.random() < 0.3:
            office = office.again()  # what was added and not written is gone
            for known in wanted:  # causes are found again; users ask again
                request = order(known) if known % 3 == 0 else signal(known)
                office.ask(request, durable=known % 3 == 0, sent_before_msc=NOON_MSC)
    office.desk.flush()
    office = office.again()
    for _, number in office.post.sent:
        broker.execute(number, pick)
        for found in broker.results[number]:
            office.tell(found)  # type: ignore[arg-type]
    office.desk.flush()
    return broker, read_book(office.path)


def test_nothing_twice_and_no_report_lost_whatever_is_killed_when(tmp_path: Path) -> None:
    for seed in range(30):
        folder = tmp_path / str(seed)
        folder.mkdir()
        broker, book = live_through(folder, seed)
        found = {entry.request.id: entry.fates["one"].results for entry in book}
        assert found == broker.results and len(found) == 39
        assert not any(entry.is_open for entry in book)


def test_an_old_refusal_stays_one(office: Office) -> None:
    office.desk.refuse(order(1), "orders are off", NOON_MSC, "mine")
    office.desk.refuse(order(1), "again", NOON_MSC)
    office.ask(order(1))
    assert office.text(1) == "orders are off" and office.post.sent == []
    office.desk.flush()
    entry = read_book(office.path).get(1)
    assert entry is not None and isinstance(entry.refusal, Refused)
    assert entry.asked.client_id == "mine" and entry.request == order(1)


def test_a_restart_asks_about_what_is_not_sent_any_more(office: Office) -> None:
    """Settings and the kill switch of now count, not those of when it was asked for."""
    close = order(3, kind=OrderKind.CLOSE, side=OrderSide.NONE)
    for request in (signal(1), order(2), close):
        office.ask(request)
    office.journal.close()

    def reopened(limits: Limits, sends: type, *, halted: bool = False) -> Memory:
        post = Memory({"one": ("EURUSD",)})
        desk = Desk(OrderJournal(office.path), limits, sends=lambda found: isinstance(found, sends))
        if halted:
            desk.halt(True, "news", NOON_MSC)
        desk.open(post, 0, NOON_MSC)
        return post

    everything = [("one", 1), ("one", 2), ("one", 3)]
    assert reopened(Limits(), object).sent == everything
    dry = reopened(Limits(dry_run=True), object)
    assert (dry.sent, dry.asked) == ([], everything)
    no_signals = reopened(Limits(), Order)
    assert (no_signals.sent, no_signals.asked) == (everything[1:], everything[:1])
    halted = reopened(Limits(), object, halted=True)
    assert (halted.sent, halted.asked) == (everything[2:], everything[:2])


def test_nothing_is_sent_of_a_kind_that_is_off(tmp_path: Path) -> None:
    post = Memory({"one": ("EURUSD",)})
    desk = Desk(OrderJournal(tmp_path / "o"), Limits(), sends=lambda _request: False)
    desk.open(post, 0, NOON_MSC)
    assert desk.ask(signal(1), NOON_MSC).text == "sending is off in the daemon's settings"
    desk.ask(signal(2), NOON_MSC, sent_before_msc=NOON_MSC)
    assert (post.sent, post.asked) == ([], [("one", 2)])


def test_what_no_terminal_took_uses_nothing_up(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", Limits(lots_per_symbol=0.1, lots_per_day=0.1))
    office.post.refusal = TOO_MANY
    office.ask(signal(1))
    office.desk.flush()
    for found in (office, office.again()):
        assert found.desk.guard.lots_of("EURUSD") == pytest.approx(0)
        assert found.desk.guard.lots_today(NOON_MSC) == pytest.approx(0)


def test_no_room_for_what_waited_for_the_disk(tmp_path: Path) -> None:
    """Also for a closing, which counts nowhere, and for what was sent longer than a minute ago."""
    office = Office(tmp_path / "o", Limits(orders_per_minute=2))
    office.ask(order(1), durable=True)
    office.ask(order(2, kind=OrderKind.CLOSE, side=OrderSide.NONE), durable=True)
    office.now_msc += 60_000
    office.ask(signal(3))
    office.post.refusal = TOO_MANY
    office.desk.flush()
    full = "too many requests without a result"
    assert [office.text(number) for number in (1, 2, 3)] == [full, full, ""]
    office.post.refusal = ""
    office.ask(signal(4))
    office.ask(signal(5))
    assert [office.state(number) for number in (4, 5)] == ["queued", "refused"]
