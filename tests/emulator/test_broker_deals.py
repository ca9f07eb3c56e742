"""Fills, transactions and history as unkind as real ones: parts, disorder, delay, revisions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from mt5bridge.emulator.broker_log import Deal, OrderState
from mt5bridge.records import DealKind
from tests.emulator.broker_session import Session, bids, needs_compiler, run

pytestmark = needs_compiler

ORDER_ADD, ORDER_UPDATE, ORDER_DELETE, HISTORY_ADD = 0, 1, 2, 3
DEAL_ADD, DEAL_UPDATE, DEAL_DELETE, REQUEST = 6, 7, 8, 10


def fills(session: Session) -> list[float]:
    """The volumes of all deals but the deposit."""
    return [float(deal["volume"]) for deal in session.facts("deal")[1:]]


def test_an_order_is_filled_in_parts_of_one_millisecond(tmp_path: Path) -> None:
    session = run(tmp_path, ["send type=0 volume=0.5", "wait 5", "show"], "broker fills=4")
    assert fills(session) == [0.12, 0.12, 0.13, 0.13]
    assert session.retcodes == [10009]
    deals = [deal for deal in session.log.changes(Deal) if deal.order]
    assert len({deal.time_msc for deal in deals}) == 1
    assert len({deal.ticket for deal in deals}) == 4
    assert session.facts("position")[0]["volume"] == "0.5"


def test_immediate_or_cancel_leaves_the_rest_cancelled(tmp_path: Path) -> None:
    session = run(tmp_path, ["send type=0 volume=0.5 filling=1", "show"], "broker liquidity=0.3")
    assert session.retcodes == [10010]
    assert session.sent[0]["volume"] == "0.15"
    (past,) = session.facts("past")
    assert (past["state"], past["left"]) == ("ORDER_STATE_CANCELED", "0.35")
    assert fills(session) == [0.15]


def test_return_leaves_the_rest_working_for_later_ticks(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        ["send type=0 volume=0.5 filling=2", "show", "above 1.1003", "wait 60", "show"],
        "symbol EURUSD digits=5 execution=3",
        "broker liquidity=0.4 fill_ticks=5",
        prices=bids(*[1.1] * 40, *[1.1004] * 40),
        mode="exchange",
        rate=150,
    )
    assert session.retcodes == [10008]
    (working,) = session.facts("order")
    assert (int(working["state"]), working["left"]) == (OrderState.PARTIAL, "0.3")
    assert fills(session)[-2:] == [0.2, 0.3]
    (order,) = session.log.orders.values()
    assert order.state == OrderState.FILLED


def test_parts_that_come_later_answer_as_placed(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        ["send type=0 volume=0.4", "wait 120", "show"],
        "broker fills=2 fill_delay_ms=30",
    )
    assert session.retcodes == [10008]
    assert fills(session) == [0.2, 0.2]


def test_transactions_come_in_every_order_and_sometimes_twice(tmp_path: Path) -> None:
    orders = 40
    session = run(
        tmp_path, ["async type=0 volume=0.02"] * orders + ["wait 30"], "broker duplicates=0.1"
    )
    first: dict[str, list[int]] = {}
    for kind, facts in session.transactions():
        if kind in (ORDER_DELETE, DEAL_ADD) and facts["order"] != "0":
            first.setdefault(facts["order"], []).append(kind)
    leaders = Counter(kinds[0] for kinds in first.values())
    assert len(first) == orders
    assert min(leaders[ORDER_DELETE], leaders[DEAL_ADD]) > orders / 5, "both orders occur"
    deals = Counter(facts["deal"] for kind, facts in session.transactions() if kind == DEAL_ADD)
    assert max(deals.values()) == 2
    assert len(deals) == orders, "none is missing"


def test_transactions_may_never_come_though_everything_happened(tmp_path: Path) -> None:
    session = run(
        tmp_path, ["async type=0 volume=0.02"] * 20 + ["wait 30", "show"], "broker missing=0.5"
    )
    deals = [facts for kind, facts in session.transactions() if kind == DEAL_ADD]
    assert 3 < len(deals) < 18
    assert len(fills(session)) == 20
    assert "trade" in session.lines


def test_one_trade_event_stands_for_many_changes(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        ["wait 30", "wait 30"],
        'at ms=15 broker="burst 50 EURUSD 0.1"',
    )
    deals = [facts for kind, facts in session.transactions() if kind == DEAL_ADD]
    assert len(deals) == 50
    assert session.lines.count("trade") < 10
    times = {deal.time_msc for deal in session.log.changes(Deal) if deal.order}
    assert len(times) == 1, "fifty deals in one millisecond"


def test_without_shuffling_transactions_come_in_their_order(tmp_path: Path) -> None:
    session = run(tmp_path, ["send type=0", "wait 5"], "broker shuffle=0")
    kinds = [kind for kind, facts in session.transactions() if facts["order"] != "0"]
    assert kinds == [ORDER_ADD, DEAL_ADD, ORDER_DELETE, HISTORY_ADD]


def test_history_may_know_a_deal_later_than_its_answer(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        ["send type=0", "show", "wait 500", "show"],
        "broker history_delay_ms=300..400",
    )
    tickets = [deal["ticket"] for deal in session.facts("deal")]
    made = session.sent[0]["deal"]
    assert made != "0"
    assert tickets.count(made) == 1, "only the second look finds it"
    assert len(session.facts("position")) == 1


def test_deals_are_revised_cancelled_and_deleted(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        ["send type=0", "send type=1", "wait 350", "show"],
        'at ms=200 broker="revise last swap -1.25"',
        'at ms=220 broker="cancel_deal last"',
        'at ms=240 broker="delete_deal 9007199254740994"',
        'at ms=260 broker="balance 250 bonus for you"',
        'at ms=260 broker="operation 7 -3.5"',
    )
    deals = {deal["ticket"]: deal for deal in session.facts("deal")}
    cancelled = deals["9007199254740995"]
    assert (cancelled["type"], cancelled["swap"], cancelled["profit"]) == ("14", "-1.25", "0.00")
    assert "9007199254740994" not in deals
    kinds = Counter(kind for kind, _ in session.transactions())
    assert (kinds[DEAL_UPDATE], kinds[DEAL_DELETE]) == (2, 1)
    revisions = session.log.revisions
    assert list(revisions["revision"]) == [0, 0, 0, 1, 2, 0, 1, 0, 0]
    assert list(revisions["kind"][3:5]) == [DealKind.UPDATE, DealKind.UPDATE]
    assert revisions["kind"][6] == DealKind.DELETE
    amounts = {deal["comment"]: deal["profit"] for deal in deals.values() if deal["type"] == "2"}
    assert amounts["cancelled"] == "2.00", "what the deal had brought is taken back"
    assert amounts["bonus for you"] == "250.00"
    assert session.log.balance == 10000 - 2 - 1.25 + 2 + 250 - 3.5


def test_chance_revises_deals_after_a_while(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        ["async type=0 volume=0.02"] * 30 + ["wait 80"],
        "broker revisions=0.5 revision_delay_ms=5..40",
    )
    revised = session.log.revisions[session.log.revisions["revision"] > 0]
    assert 5 < len(revised) < 25
    assert len(np.unique(revised["ticket"])) == len(revised)
    told = [facts["deal"] for kind, facts in session.transactions() if kind == DEAL_UPDATE]
    assert sorted(map(int, told)) == sorted(revised["ticket"])


def test_brokers_change_comments_but_keep_the_magic(tmp_path: Path) -> None:
    steps = ["send type=0 magic=77 comment=0123456789abcdef", "show"]
    for number, (setting, expected) in enumerate(
        {"cut:8": "01234567", "drop": "", "replace:XYZ": "XYZ", "keep": "0123456789abcdef"}.items()
    ):
        session = run(tmp_path / str(number), steps, f"broker comments={setting}")
        (position,) = session.facts("position")
        assert (position["comment"], position["magic"]) == (expected, "77")
        assert session.facts("deal")[-1]["magic"] == "77"
        (order,) = session.log.orders_of(comment="0123456789abcdef")
        assert order.comment == expected


def test_somebody_else_trades_on_the_account(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        ["wait 60", "show"],
        "broker activity_ticks=10 activity_lots=0.2",
        prices=bids(*[1.1] * 45),
        mode="hedging",
    )
    assert [deal["reason"] for deal in session.facts("deal")[1:]] == ["1"] * 4
    assert fills(session) == [0.2] * 4
    assert not session.facts("position"), "every second one closes the first"


def test_selecting_a_single_deal_resets_the_list(tmp_path: Path) -> None:
    session = run(tmp_path, ["send type=0", "send type=0", "wait 5", "traps"])
    traps = [line for line in session.lines if line.startswith("trap")]
    assert traps == [
        "trap deals 3 then 1, orders 2 then 2",
        "trap hidden 0 error 4755",
        "trap found 0 error 4755 still 1",
        "trap position 0 error 4753",
    ]
