"""Limits and a switch for each magic number, beside those of all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt5bridge.orders import Limits, NamedLimits, OrderJournal
from mt5bridge.orders.guard import Guard
from mt5bridge.orders.guards import Guards
from mt5bridge.orders.records import Dealt
from mt5bridge.wire import Order, OrderKind, Side, SignalStatus
from tests.orders.desk import NOON_MSC, Office, order, result, signal, trader

ONE, OTHER = 7, 8
NO_LIMIT = Limits()


def guards(own: Limits, everybody: Limits = NO_LIMIT) -> Guards:
    named = (NamedLimits("one", ONE, own), NamedLimits("other", OTHER, NO_LIMIT))
    return Guards(replace(everybody, named=named))


def deal(
    ticket: int, lots: float, magic: int, *, is_exit: bool = False, profit: float = 0
) -> Dealt:
    return Dealt("me", ticket, 0, NOON_MSC, 1, "EURUSD", lots, profit, is_exit, magic)


def refusal(guard: Guard, magic: int = ONE, **changes: object) -> str | None:
    return guard.refusal(signal(99, magic=magic, **changes), 1, ["me"], NOON_MSC)


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (Limits(lots_per_order=0.05), "lots_per_order 0.05 of one: asked for sell 0.1 lots EURUSD"),
        (Limits(lots_per_symbol=0.15), "lots_per_symbol 0.15 of one: "),
        (Limits(lots_per_day=0.15), "lots_per_day 0.15 of one: "),
        (Limits(orders_per_minute=1), "orders_per_minute 1 of one: "),
        (Limits(symbols=("USDJPY",)), "symbols USDJPY of one: asked for EURUSD"),
        (Limits(loss_per_day=5.0), "loss_per_day 5 of one: me has lost 6.00 today"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_limits_of_one_hold_back_one(limits: Limits, text: str) -> None:
    guard = guards(limits)
    guard.dealt(deal(1, 0.1, ONE))
    guard.dealt(deal(2, 0.0, ONE, is_exit=True, profit=-6.0))
    guard.sent(signal(1, magic=ONE), ["t"], NOON_MSC)
    assert (refusal(guard) or "").startswith(text)
    assert refusal(guard, OTHER) is None and refusal(guard, 12345) is None
    assert refusal(guard, side=Side.CLOSE) is None


def test_what_another_has_used_up_counts_for_him_and_for_all() -> None:
    guard = guards(Limits(lots_per_day=0.15, lots_per_symbol=0.15), Limits(lots_per_day=0.25))
    guard.sent(signal(1, magic=OTHER), ["t"], NOON_MSC)
    assert refusal(guard) is None
    guard.sent(signal(2, magic=ONE), ["t"], NOON_MSC)
    assert "lots_per_day 0.25: " in (refusal(guard, OTHER) or ""), "that of all"
    guard.unsent(2, "t")
    assert refusal(guard) is None and refusal(guard, OTHER) is None


def test_a_part_that_was_not_filled_is_given_back_to_its_own() -> None:
    guard = guards(Limits(lots_per_day=0.15))
    asked = signal(1, magic=ONE)
    guard.sent(asked, ["t"], NOON_MSC)
    guard.told(asked, "t", result(1, SignalStatus.PARTIAL, lots=0.04, deal=5), False)
    guard.told(asked, "t", result(1, SignalStatus.CANCELLED), True)
    assert guard._own[ONE].lots_today(NOON_MSC) == pytest.approx(0.04)
    assert guard.lots_today(NOON_MSC) == pytest.approx(0.04)
    assert refusal(guard) is None


def test_a_position_that_is_closed_by_hand_is_closed_for_whom_it_was() -> None:
    guard = guards(Limits(lots_per_symbol=0.15))
    guard.dealt(deal(1, 0.1, ONE))
    assert refusal(guard) is not None
    guard.dealt(deal(2, -0.1, 0, is_exit=True))
    assert refusal(guard) is None


@given(st.lists(st.tuples(st.sampled_from([ONE, OTHER]), st.integers(1, 5)), max_size=8))
def test_each_is_judged_as_by_a_guard_that_sees_nothing_else(asked: list[tuple[int, int]]) -> None:
    """The slow reference: one guard for one magic number."""
    limits = Limits(lots_per_day=0.4, orders_per_minute=4)
    everybody, alone = guards(limits), Guard(limits)
    for number, (magic, tenths) in enumerate(asked, 1):
        request = signal(number, magic=magic, lots=tenths / 10)
        found = everybody.refusal(request, 1, ["me"], NOON_MSC)
        if magic == ONE:
            expected = alone.refusal(request, 1, ["me"], NOON_MSC)
            assert (found or "").replace(" of one:", ":") == (expected or "")
        else:
            assert found is None
        if found is None:
            everybody.sent(request, ["t"], NOON_MSC)
            if magic == ONE:
                alone.sent(request, ["t"], NOON_MSC)


def test_another_limit_of_one_counts_from_the_reload(tmp_path: Path) -> None:
    """docs/orders.md: "what was used up before stays used up"."""
    day = Limits(lots_per_day=1.0)
    office = Office(tmp_path / "j", Limits(named=(NamedLimits("one", ONE, day),)))
    office.ask(signal(1, magic=ONE, lots=0.8))
    office.ask(signal(2, magic=ONE, lots=0.8))
    assert office.state(2) == "refused"
    office.desk.change_limits(Limits(named=(NamedLimits("one", ONE, Limits(lots_per_day=1.7)),)))
    office.ask(signal(3, magic=ONE, lots=0.8))
    office.ask(signal(4, magic=ONE, lots=0.8))
    assert office.post.sent == [("one", 1), ("one", 3)]
    assert office.text(4).startswith("lots_per_day 1.7 of one: ") and "after 1.6" in office.text(4)


def test_one_is_halted_alone_also_over_restarts(tmp_path: Path) -> None:
    named = (NamedLimits("one", ONE, NO_LIMIT), NamedLimits("other", OTHER, NO_LIMIT))
    office = Office(tmp_path / "j", Limits(named=named))
    office.desk.halt_rules("one", True, "by hand", NOON_MSC)
    office.desk.halt_rules("gone", True, "by hand", NOON_MSC)
    office.ask(signal(1, magic=ONE))
    office.ask(signal(2, magic=OTHER))
    office.ask(signal(3, magic=ONE, side=Side.CLOSE))
    assert office.text(1) == "one is halted: by hand"
    assert office.post.sent == [("one", 2), ("one", 3)] and office.post.halts == []
    office.journal.sync()
    again = office.again()
    again.ask(signal(4, magic=ONE))
    assert again.text(4) == "one is halted: by hand"
    again.desk.tidy(NOON_MSC, 30)
    kept = [*again.desk._kept(NOON_MSC)]
    assert [one.name for one in again.desk.book.rules_halted.values()] == ["one", "gone"]
    assert all(one in kept for one in again.desk.book.rules_halted.values())
    again.desk.halt_rules("one", False, "by hand", NOON_MSC)
    again.ask(signal(5, magic=ONE))
    assert again.post.sent[-1] == ("one", 5)
    again.journal.close()
    assert OrderJournal(tmp_path / "j").records


def test_what_waits_for_the_disk_is_stopped_by_its_own_switch(tmp_path: Path) -> None:
    office = Office(tmp_path / "j", Limits(named=(NamedLimits("one", ONE, NO_LIMIT),)))
    office.ask(signal(1, magic=ONE), durable=True)
    office.desk.halt_rules("one", True, "news", NOON_MSC)
    office.desk.flush()
    assert office.post.sent == [] and office.text(1) == "one is halted: news"


def test_what_was_taken_back_while_it_waited_is_never_sent(tmp_path: Path) -> None:
    """Not after a resume either: its terminal has answered that it knows nothing of it."""
    office = Office(tmp_path / "j", Limits(named=(NamedLimits("one", ONE, NO_LIMIT),)))
    office.ask(signal(1, magic=ONE), durable=True)
    office.desk.halt_rules("one", True, "news", NOON_MSC)
    office.tell(result(1, SignalStatus.UNKNOWN))
    office.desk.halt_rules("one", False, "over", NOON_MSC)
    office.desk.flush()
    assert office.post.asked == [("one", 1)]
    assert office.post.sent == [] and office.state(1) == "unknown"


def test_halted_its_requests_are_taken_back_from_terminals(tmp_path: Path) -> None:
    """What was not executed never is, and what stands at a broker is cancelled, also later."""
    named = (NamedLimits("one", ONE, NO_LIMIT), NamedLimits("other", OTHER, NO_LIMIT))
    office = Office(tmp_path / "j", Limits(named=named))
    limits = {2: ONE, 3: OTHER, 4: ONE, 5: ONE}
    for number, magic in limits.items():
        office.ask(order(number, magic=magic))
    office.ask(signal(1, magic=ONE))
    office.ask(signal(6, magic=ONE, side=Side.CLOSE))
    for number in (2, 3, 5):
        office.tell(result(number, SignalStatus.PLACED, order=50 + number))
    office.tell(result(5, SignalStatus.CANCELLED))
    office.desk.halt_rules("one", True, "news", NOON_MSC)
    assert office.post.asked == [("one", 2), ("one", 4), ("one", 1)]
    assert cancelled(office) == [] and office.journal.awaited.is_set()
    office.desk.flush()
    assert cancelled(office) == [(52, ONE)]
    office.tell(result(4, SignalStatus.PLACED, order=54))  # it had come there before the question
    office.tell(result(3, SignalStatus.PLACED, order=53))
    office.desk.flush()
    assert cancelled(office) == [(52, ONE), (54, ONE)]
    again = office.again()
    assert cancelled(again) == [(52, ONE), (54, ONE)], "until the terminal has done so"
    assert {("one", 2), ("one", 4), ("one", 1)} <= set(again.post.asked)
    again.desk.halt_rules("one", False, "over", NOON_MSC + 1)
    again.ask(order(7, magic=ONE))
    again.tell(result(7, SignalStatus.PLACED, order=57))
    again.desk.flush()
    assert len(cancelled(again)) == 2
    again.desk.halt_rules("one", True, "news", NOON_MSC + 2)
    again.desk.flush()
    assert (57, ONE) in cancelled(again)
    again.journal.close()


def test_a_halt_cancels_nothing_on_another_account(tmp_path: Path) -> None:
    """There the ticket is somebody else's."""
    office = Office(tmp_path / "j", Limits(named=(NamedLimits("one", ONE, NO_LIMIT),)))
    office.desk.on_trader(trader("one", "EURUSD"))
    office.ask(order(2, magic=ONE))
    office.desk.flush()
    office.tell(result(2, SignalStatus.PLACED, order=52))
    office.desk.on_trader(replace(trader("one", "EURUSD"), owner="9@Other"))
    office.desk.halt_rules("one", True, "news", NOON_MSC)
    office.desk.flush()
    assert cancelled(office) == []
    assert [name for name, _ in office.complaints] == ["orders_left"]


def cancelled(office: Office) -> list[tuple[int, int]]:
    """Tickets and magic numbers of what the post was given to cancel."""
    found = (office.desk.book.get(number) for _, number in office.post.sent)
    asked = [one.request for one in found if one is not None]
    return [
        (one.ticket, one.magic)
        for one in asked
        if isinstance(one, Order) and one.kind is OrderKind.CANCEL
    ]
