"""What the order desk does when two things meet: late, full, asked, halted, damaged, tidied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mt5bridge.orders import Desk, Limits, NamedLimits, OrderJournal, read_book, read_journal
from mt5bridge.orders.journal import _line
from mt5bridge.orders.records import Halted, Record, Requested, Sent, Terminal, Told
from mt5bridge.records import DealEntry, DealType, Records
from mt5bridge.server import DEALS, Batch
from mt5bridge.server.session import TOO_MANY
from mt5bridge.wire import OrderKind, OrderSide, Side, SignalStatus
from tests.orders.desk import DAY_MS, NOON_MSC, Memory, Office, order, result, signal, trader
from tests.orders.test_guard import account, deal

BOTH = {"one": ("EURUSD",), "two": ("EURUSD",)}
CLOSE = signal(9, side=Side.CLOSE, lots=0.0)
LATE = {"valid_until_msc": NOON_MSC - 1}


def today(office: Office) -> float:
    return office.desk.guard.lots_today(office.now_msc)


def open_lots(office: Office, symbol: str = "EURUSD") -> float:
    return office.desk.guard.lots_of(symbol)


def restarted(office: Office, **how: Any) -> Office:
    """Another process, after a clean end."""
    office.journal.close()
    return office.again(**how)


def hear(office: Office, *deals: Records, owner: str = "account of one") -> None:
    for records in deals:
        quality = np.zeros(len(records), np.uint8)
        office.desk.on_deals(Batch("one", DEALS, 1, records, quality, 0, NOON_MSC), owner)


# -- late -----------------------------------------------------------------------------------------


def test_what_is_late_is_refused_before_it_uses_anything_up(tmp_path: Path) -> None:
    limits = Limits(lots_per_day=0.1, orders_per_minute=1, lots_per_symbol=0.1, lots_per_order=0.1)
    office = Office(tmp_path / "o", limits)
    office.ask(signal(1, **LATE))
    office.ask(order(2, lots=0.1, **LATE), durable=True)
    office.ask(signal(3, side=Side.CLOSE, **LATE))
    office.ask(signal(4, lots=9.0, **LATE))
    office.desk.flush()
    assert office.post.sent == office.post.asked == []
    late = "1 ms too late, so it was not sent"
    assert [office.text(number) for number in (1, 2, 3, 4)] == [late] * 4
    again = restarted(office)
    assert today(again) == open_lots(again) == 0
    again.ask(signal(5, valid_until_msc=NOON_MSC))
    assert again.post.sent == [("one", 5)]


def test_the_terminals_clock_says_what_is_late(tmp_path: Path) -> None:
    office = Office(tmp_path / "o")
    office.ask(signal(1, valid_until_msc=NOON_MSC + 5), judged_msc=NOON_MSC + 6)
    office.ask(signal(2, valid_until_msc=NOON_MSC - 5), judged_msc=NOON_MSC - 5)
    office.ask(signal(3, valid_until_msc=5), judged_msc=0)
    assert office.state(1) == "refused" and office.post.sent == [("one", 2), ("one", 3)]


def test_what_is_late_and_may_have_been_sent_is_asked_about(tmp_path: Path) -> None:
    office = Office(tmp_path / "o")
    office.ask(signal(1, **LATE), sent_before_msc=NOON_MSC)
    office.ask(signal(2, **LATE), sent_before_msc=NOON_MSC - 1)
    assert office.post.asked == [("one", 1)] and office.post.sent == [("one", 2)]


def test_the_order_of_the_checks_is_that_of_the_docs(tmp_path: Path) -> None:
    """What is wrong in every way is refused for the first reason; mended, for the next."""
    tight = Limits(symbols=("XAUUSD",), lots_per_order=0.01, lots_per_symbol=0.02,
                   lots_per_day=0.03, orders_per_minute=1, loss_per_day=1.0,
                   dry_run=True)  # fmt: skip
    mended: list[tuple[str, dict[str, Any]]] = [
        ("sending is off", {}),
        ("1 ms too late", {}),
        ("halted: news", {}),
        ("symbols", {"symbols": ()}),
        ("lots_per_order", {"lots_per_order": 0.0}),
        ("lots_per_symbol", {"lots_per_symbol": 0.0}),
        ("lots_per_day", {"lots_per_day": 0.0}),
        ("orders_per_minute", {"orders_per_minute": 0}),
        ("loss_per_day", {"loss_per_day": 0.0}),
        ("one, two could do it", {}),
        ("would be sent to one", {"dry_run": False}),
    ]
    keys = {name: getattr(tight, name) for name in tight.__slots__}
    found = []
    for number in range(len(mended) + 1):
        post = Memory(BOTH)
        desk = Desk(OrderJournal(tmp_path / f"o{number}"), Limits(**keys),
                    sends=lambda _request, number=number: number > 0)  # type: ignore[misc]  # fmt: skip
        desk.open(post, 0, NOON_MSC)
        desk.guard.sent(signal(50, lots=1.0), ["one", "two"], NOON_MSC)
        desk.guard.funds("account of one", account(-5.0))
        desk.halt(number < 3, "news", NOON_MSC)
        until = NOON_MSC - 1 if number < 2 else 0
        terminal = "one" if number >= len(mended) - 1 else None
        asked = desk.ask(order(1, valid_until_msc=until), NOON_MSC, terminal)
        found.append(asked.text)
        assert bool(post.sent) == (number == len(mended))
        if number < len(mended):
            keys.update(mended[number][1])
    assert [text[: len(said)] for text, (said, _) in zip(found, mended, strict=False)] == [
        said for said, _ in mended
    ]


# -- full -----------------------------------------------------------------------------------------


class Crowded(Memory):
    """Some terminals have no room."""

    full: tuple[str, ...] = ()

    def send_now(self, identity: str, request: Any) -> str:
        return TOO_MANY if identity in self.full else super().send_now(identity, request)


def crowded(office: Office, *full: str) -> Office:
    post = Crowded(office.post.symbols)
    post.full = full
    office.post = post
    office.desk.open(post, 0, NOON_MSC)
    return office


def test_of_two_terminals_one_is_full(tmp_path: Path) -> None:
    limits = Limits(lots_per_day=9.0, lots_per_symbol=9.0)
    office = crowded(Office(tmp_path / "o", limits, BOTH), "two")
    office.ask(signal(1))
    assert office.post.sent == [("one", 1)] and office.state(1) == "queued, rejected"
    assert today(office) == open_lots(office) == pytest.approx(0.1)
    (news,) = office.news
    assert news.terminal == "two" and news.result is not None
    assert news.result.text == "too many requests without a result"
    office.fill(1, 0.1, 71)
    again = restarted(office)
    assert again.post.sent == again.post.asked == []
    assert again.state(1) == "executed, rejected"
    assert today(again) == open_lots(again) == pytest.approx(0.1)


def test_what_none_took_uses_up_no_minute(tmp_path: Path) -> None:
    office = crowded(Office(tmp_path / "o", Limits(orders_per_minute=2), BOTH), "one", "two")
    office.ask(signal(1))
    assert office.state(1) == "refused"
    again = restarted(office)
    again.ask(signal(2))
    again.ask(CLOSE)
    assert again.post.sent == [("one", 2), ("two", 2), ("one", 9), ("two", 9)]
    again.ask(signal(3))
    assert again.text(3) == "orders_per_minute 2: asked for sell 0.1 lots EURUSD after 2"


def test_what_finds_no_room_at_a_restart_is_asked_about(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", Limits(lots_per_symbol=0.15))
    office.ask(signal(1))
    office.journal.close()
    office.kill()
    again = crowded(Office(tmp_path / "o", office.limits), "one")
    assert again.post.asked == [("one", 1)]
    assert open_lots(again) == pytest.approx(0.1)


def test_a_restart_leaves_those_who_have_answered(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", traders=BOTH)
    office.ask(signal(1, valid_until_msc=NOON_MSC + 1))
    office.fill(1, 0.1, 71)
    office = restarted(office)
    assert office.post.sent == [("two", 1)] and office.post.asked == []
    office = restarted(office, market_msc=NOON_MSC + 2)
    assert office.post.asked == [("two", 1)] and office.post.sent == []


# -- asked ----------------------------------------------------------------------------------------


def test_what_is_asked_about_counts_until_it_is_known(tmp_path: Path) -> None:
    """A crash has lost the journal's lines; the signal may be executed all the same."""
    office = Office(tmp_path / "o", Limits(lots_per_day=0.25, lots_per_symbol=0.25))
    lost = {"valid_until_msc": NOON_MSC + 1}
    for number in (1, 2):
        office.ask(signal(number, **lost), sent_before_msc=NOON_MSC + 2)
    for _ in range(3):
        assert office.post.asked[:2] == [("one", 1), ("one", 2)] and office.post.sent == []
        assert today(office) == open_lots(office) == pytest.approx(0.2)
        office = restarted(office, market_msc=NOON_MSC + 2)
    office.ask(signal(3))
    assert "lots_per_symbol" in office.text(3)
    office.tell(result(1, SignalStatus.UNKNOWN))
    office.fill(2, 0.1, 72)
    for found in (office, restarted(office)):
        assert today(found) == open_lots(found) == pytest.approx(0.1)
        assert (found.state(1), found.state(2)) == ("unknown", "executed")
        assert [entry.is_open for entry in found.desk.book] == [False] * 3


def test_what_was_sent_and_is_asked_about_later_counts_once(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", Limits(orders_per_minute=2, lots_per_day=0.2))
    office.ask(signal(1, valid_until_msc=NOON_MSC + 1))
    office = restarted(office, market_msc=NOON_MSC + 2)
    assert office.post.asked == [("one", 1)]
    assert office.journal.last == 1
    again = restarted(office, market_msc=NOON_MSC + 2)
    assert again.journal.last == 0, "that it was asked about is known"
    for found in (office, again):
        assert today(found) == open_lots(found) == pytest.approx(0.1)
        assert found.desk.guard.refusal(signal(2), 1, [], NOON_MSC) is None


def test_a_part_that_was_filled_before_a_restart_is_not_open_twice(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", Limits(lots_per_symbol=9.0, lots_per_day=9.0))
    office.ask(signal(1, lots=0.5, valid_until_msc=NOON_MSC + 1))
    office.fill(1, 0.2, 71, last=False)
    office = restarted(office, market_msc=NOON_MSC + 2)
    assert today(office) == open_lots(office) == pytest.approx(0.5)
    office.fill(1, 0.2, 71, last=False)  # told again
    office.tell(result(1, SignalStatus.CANCELLED))
    assert today(office) == open_lots(office) == pytest.approx(0.2)


# -- results --------------------------------------------------------------------------------------


def test_more_than_asked_is_filled(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", Limits(lots_per_symbol=1.0, lots_per_day=1.0))
    office.ask(signal(1))
    office.fill(1, 0.3, 71, last=False)
    assert open_lots(office) == pytest.approx(0.3) and today(office) == pytest.approx(0.1)
    office.fill(1, 0.2, 72)
    for found in (office, restarted(office)):
        assert open_lots(found) == pytest.approx(0.5) and today(found) == pytest.approx(0.1)
        found.ask(signal(2, lots=0.6))
        assert "with 0.5 open" in found.text(2)


def test_nothing_follows_the_last_result(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", Limits(lots_per_symbol=1.0, lots_per_day=1.0))
    office.ask(signal(1))
    office.tell(result(1, SignalStatus.REJECTED))
    office.fill(1, 0.1, 71)
    office.fill(1, 0.1, 72, last=False)
    for found in (office, restarted(office)):
        assert found.state(1) == "rejected" and open_lots(found) == today(found) == 0
        assert len(found.desk.book.get(1).fates["one"].results) == 1  # type: ignore[union-attr]
    assert [news.result.status for news in office.news if news.result] == [SignalStatus.REJECTED]


def test_two_accounts_have_tickets_of_their_own(tmp_path: Path) -> None:
    """Brokers number deals each for itself: 71 there is not 71 here."""
    office = Office(tmp_path / "o", Limits(lots_per_symbol=9.0, loss_per_day=9.0), BOTH)
    for identity in BOTH:
        office.desk.on_trader(trader(identity, "EURUSD"))
    office.ask(signal(1))
    sold = {"type": DealType.SELL, "profit": -4.0}
    for identity in BOTH:
        office.tell(result(1, SignalStatus.EXECUTED, lots=0.1, deal=71), identity)
    assert open_lots(office) == pytest.approx(0.2)
    hear(office, deal(**sold))
    assert open_lots(office) == pytest.approx(0.2)
    again = restarted(office)
    hear(again, deal(**sold), owner="account of two")
    hear(again, deal(**sold), owner="account of two")
    for found in (again, restarted(again)):
        assert open_lots(found) == pytest.approx(0.2)
        guard = found.desk.guard
        assert [guard.loss_today(f"account of {name}", NOON_MSC) for name in BOTH] == [4.0, 4.0]
        closed = deal(ticket=72, entry=DealEntry.OUT)
        assert guard.refusal(signal(2), 2, ["account of one"], NOON_MSC) is None
        hear(found, closed)
        assert open_lots(found) == pytest.approx(0.1)


def test_several_terminals_share_the_limit_of_a_day(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", Limits(lots_per_day=0.5, orders_per_minute=9), BOTH)
    office.ask(signal(1))
    office.ask(signal(2))
    assert today(office) == pytest.approx(0.4)
    office.ask(signal(3))
    assert office.text(3) == "lots_per_day 0.5: asked for sell 0.1 lots EURUSD after 0.4 today"
    office.ask(signal(4), terminal="one")
    assert office.state(4) == "queued"
    office.tell(result(1, SignalStatus.REJECTED), "two")
    office.tell(result(2, SignalStatus.EXPIRED), "one")
    for found in (office, restarted(office)):
        assert today(found) == pytest.approx(0.3)
        found.now_msc = NOON_MSC + 12 * 3_600_000
        assert today(found) == 0


# -- halted ---------------------------------------------------------------------------------------


def test_a_halt_while_the_daemon_was_down(tmp_path: Path) -> None:
    office = Office(tmp_path / "o")
    office.ask(signal(1))
    office.ask(order(2, kind=OrderKind.CANCEL, ticket=5, side=OrderSide.NONE))
    office.journal.add(Requested(id=3, time_msc=NOON_MSC, signal=signal(3)))  # and then killed
    office.journal.close()
    office.kill()
    post = Memory(office.post.symbols)
    desk = Desk(OrderJournal(office.path), Limits())
    desk.halt(True, "news", NOON_MSC)
    desk.open(post, 0, NOON_MSC)
    assert post.halts == [(True, "news")] and post.sent == [("one", 2)]
    assert post.asked == [("one", 1), ("one", 3)]
    desk.journal.close()
    again = Office(office.path)
    again.desk.halt(False, "over", NOON_MSC)
    again.ask(signal(1))
    assert again.post.sent == [("one", 2)] and again.post.asked == [("one", 1), ("one", 3)]


def test_a_halt_overtakes_an_order_that_waits_for_the_disk(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", Limits(lots_per_day=1.0, orders_per_minute=1))
    office.ask(order(1), durable=True)
    close = order(2, kind=OrderKind.CLOSE, side=OrderSide.NONE, lots=0.0)
    office.ask(close, durable=True)
    office.desk.halt(True, "news", NOON_MSC)
    office.desk.flush()
    assert office.post.sent == [("one", 2)] and office.text(1) == "halted: news"
    assert today(office) == 0
    again = restarted(office)
    assert again.post.sent == [("one", 2)] and again.post.asked == []
    again.desk.halt(False, "", NOON_MSC)
    again.ask(order(3))
    assert again.state(3) == "queued"


def test_a_dry_run_says_what_a_halt_would_do(tmp_path: Path) -> None:
    office = Office(tmp_path / "o", Limits(dry_run=True, lots_per_day=0.1))
    office.desk.halt(True, "news", NOON_MSC)
    office.ask(signal(1))
    office.ask(CLOSE)
    assert (office.state(1), office.text(1)) == ("refused", "halted: news")
    assert (office.state(9), office.text(9)) == ("dry run", "would be sent to one: close EURUSD")
    office.desk.halt(False, "", NOON_MSC)
    for number in (2, 3):
        office.ask(signal(number))
        assert office.state(number) == "dry run" and today(office) == 0
    assert office.post.sent == [] and restarted(office).post.sent == []


# -- damaged --------------------------------------------------------------------------------------


def damaged(office: Office, kind: type[Record]) -> Office:
    """A restart that finds the first line of a kind damaged."""
    office.journal.close()
    office.kill()
    records = read_journal(office.path).records
    lines = [_line(record, number) for number, record in enumerate(records, 1)]
    at = next(i for i, record in enumerate(records) if type(record) is kind)
    lines[at] = lines[at].replace(b'"', b"'", 1)
    office.path.write_bytes(b"".join(lines))
    return Office(office.path, office.limits, office.post.symbols)


@pytest.mark.parametrize("kind", [Halted, Sent, Told, Requested, Terminal])
def test_a_damaged_journal_halts_until_somebody_has_looked(
    tmp_path: Path, kind: type[Record]
) -> None:
    office = Office(tmp_path / "o", Limits(lots_per_day=5.0))
    office.desk.on_trader(trader("one", "EURUSD"))
    office.ask(signal(1))
    office.fill(1, 0.05, 71, last=False)
    office.desk.halt(True, "news", NOON_MSC)
    if kind is not Halted:
        office.desk.halt(False, "over", NOON_MSC)
    again = damaged(office, kind)
    for found in (again, restarted(again)):
        ((halted, reason),) = found.post.halts
        assert halted and "damaged" in reason and "`mt5cep orders resume`" in reason
        assert found.post.sent == []
        found.ask(signal(2 + len(found.desk.book)))
        assert found.post.sent == []
    found.desk.halt(False, "I have looked", NOON_MSC)
    assert restarted(found).post.halts == [(False, "I have looked")]


@pytest.mark.parametrize("where", ["journal", "traders", "nowhere"])
def test_an_id_of_which_the_damaged_journal_lost_the_request_is_not_sent_again(
    tmp_path: Path, where: str
) -> None:
    office = Office(tmp_path / "o")
    office.ask(signal(1))
    if where == "journal":
        office.fill(1, 0.05, 71, last=False)
    again = damaged(office, Requested)
    again.desk.halt(False, "I have looked", NOON_MSC)
    if where != "journal":
        again.desk.book.lost[1] = []
    if where == "nowhere":
        again.post.symbols = {}
    again.ask(signal(1))
    assert again.post.sent == []
    if where == "nowhere":
        assert again.text(1).startswith("the damaged order journal has lost")
        return
    assert again.post.asked == [("one", 1)] and again.state(1) == "asked"
    third = restarted(again)
    assert third.post.sent == [] and third.post.asked == [("one", 1)]
    third.tell(result(1, SignalStatus.UNKNOWN))
    assert third.state(1) == "unknown" and not third.desk.book.lost


@pytest.mark.parametrize("by", ["report", "deal"])
def test_what_is_told_of_a_lost_request_is_kept(tmp_path: Path, by: str) -> None:
    """An id of which only the sending is left; the cause of the request does not come again."""
    office = Office(tmp_path / "o", Limits(named=(NamedLimits("main", 77, Limits()),)))
    office.desk.on_trader(trader("one", "EURUSD"))
    office.ask(signal(1))
    again = damaged(office, Requested)
    assert list(again.desk.book.lost) == [1]
    if by == "report":
        again.tell(result(1, SignalStatus.EXECUTED, lots=0.1, deal=71))
    else:
        hear(again, deal(magic=77, comment=b"%016x Fade" % 1))
    assert [name for name, _ in again.complaints] == ["orders_unremembered"]
    third = restarted(again)
    assert list(third.desk.book.unremembered) == list(read_book(third.path).unremembered) == [1]
    third.desk.halt(False, "I have looked", NOON_MSC)
    third.ask(signal(1))
    assert third.post.sent == [] and third.post.asked == [("one", 1)], "it is asked about, as ever"
    third.tell(result(1, SignalStatus.EXECUTED, lots=0.1, deal=71))
    assert third.state(1) == "executed" and not third.desk.book.unremembered


def test_what_a_damaged_journal_lost_is_forgotten_like_everything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mt5bridge.orders.desk._TIDY_AT", 0)
    office = Office(tmp_path / "o")
    office.ask(signal(1))
    again = damaged(office, Requested)
    assert list(again.desk.book.lost) == [1]
    for days, kept in ((2, [1]), (3, [1]), (4, [])):
        again = restarted(again)
        again.desk.tidy(NOON_MSC + days * DAY_MS, keep_days=3)
        assert list(again.desk.book.lost) == list(read_book(again.path).lost) == kept
        assert again.desk.guard.is_halted


# -- tidied ---------------------------------------------------------------------------------------


def test_tidied_with_deals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open positions stay, however old; closed ones go; the day's loss stays."""
    monkeypatch.setattr("mt5bridge.orders.desk._TIDY_AT", 0)
    office = Office(tmp_path / "o", Limits(lots_per_symbol=9.0, loss_per_day=9.0))
    old, out = {"time_msc": NOON_MSC - 9 * DAY_MS}, {"entry": DealEntry.OUT, "type": DealType.SELL}
    hear(
        office,
        deal(ticket=1, position_id=1, volume=0.5, profit=-1.0, **old),
        deal(ticket=2, position_id=1, volume=0.2, profit=-2.0, **old, **out),
        deal(ticket=3, position_id=3, volume=0.4, **old),
        deal(ticket=4, position_id=3, volume=0.4, profit=-3.0, **old, **out),
        deal(ticket=5, position_id=5, volume=0.7, **old),
        deal(ticket=6, position_id=5, volume=0.7, profit=-4.0, **out),
        deal(ticket=7, position_id=99, volume=0.9, profit=-1.5, **out),
        deal(ticket=8, position_id=8, volume=0.1),
    )

    def check(found: Office) -> None:
        assert open_lots(found) == pytest.approx(0.4)
        assert found.desk.guard.loss_today("account of one", NOON_MSC) == pytest.approx(5.5)

    check(office)
    for _ in range(2):
        office = restarted(office)
        office.desk.tidy(NOON_MSC, keep_days=1)
        check(office)
    tickets = [record.ticket for record in read_journal(office.path).records]  # type: ignore[union-attr]
    assert tickets == [1, 2, 6, 7, 8]
    hear(office, deal(ticket=9, position_id=1, volume=0.3, **out))
    assert open_lots(office) == pytest.approx(0.1)


def test_what_was_sent_today_is_not_tidied_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mt5bridge.orders.desk._TIDY_AT", 0)
    office = Office(tmp_path / "o", Limits(lots_per_day=9.0, lots_per_symbol=9.0))
    office.desk.on_trader(trader("one", "EURUSD"))
    for number in (1, 2, 3):
        office.ask(signal(number))
    office.fill(1, 0.1, 71)
    office.tell(result(2, SignalStatus.REJECTED))
    office = restarted(office)
    office.desk.tidy(NOON_MSC, keep_days=1)
    assert today(office) == open_lots(office) == pytest.approx(0.2)
    assert [found.identity for found in office.desk.traders] == ["one"]
    hear(office, deal(type=DealType.SELL))  # the fill's own: its owner is known still
    assert open_lots(office) == pytest.approx(0.2)
