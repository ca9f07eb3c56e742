"""What the broker has done is known after any crash, and done once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mt5bridge.emulator.broker_log import Deal, OrderState, Outcome, read_broker_log
from mt5bridge.emulator.terminal import EmulatedTerminal
from tests.emulator.broker_session import (
    PROBE,
    WITHIN_S,
    Session,
    bids,
    needs_compiler,
    script,
    session_of,
)

pytestmark = needs_compiler

STEPS = ["send type=0 volume=0.4 comment=once", "wait 2"]


def crash_then_go_on(
    folder: Path, *statements: str, effect: int, after: list[str], before: list[str] = STEPS
) -> Session:
    """Run `before` until the crash at an effect, then `after` in a second run."""
    prices = bids(*[1.1] * 200)
    first = script(folder, before, prices, *statements, f"crash effect={effect}", rate=1000)
    terminal = EmulatedTerminal([PROBE], first, folder)
    terminal.start()
    assert terminal.wait_end(within_s=WITHIN_S).exit_code == 137
    terminal.script = script(folder, after, prices, *statements, rate=1000)
    terminal.start()
    terminal.wait_journal("\tdone", within_s=WITHIN_S)
    return session_of(folder, terminal.stop())


# Which effect of a run of STEPS is the first of its kind for the order.
EFFECTS = {"account_opened": 1, "deposit": 2, "order_sent": 3, "order_accepted": 4, "deal_made": 5}


@pytest.mark.parametrize("share", [0, 1])
def test_a_request_under_way_at_a_crash_is_executed_or_lost(tmp_path: Path, share: int) -> None:
    session = crash_then_go_on(
        tmp_path,
        f"broker in_flight={share} in_flight_delay_ms=300",
        effect=EFFECTS["order_sent"],
        after=["show", "wait 450", "show"],
    )
    (request,) = session.log.requests.values()
    assert request.outcome == (Outcome.ANSWERED if share else Outcome.LOST)
    orders = session.log.orders_of(comment="once")
    assert len(orders) == share
    assert len(session.facts("position")) == share
    assert all(order.state == OrderState.FILLED for order in orders)
    if share:
        kinds = [kind for kind, _ in session.transactions()]
        assert 10 not in kinds, "nobody waits for the answer any more"
        assert 6 in kinds


@pytest.mark.parametrize("name", ["order_accepted", "deal_made"])
def test_an_accepted_order_is_filled_once_and_whole(tmp_path: Path, name: str) -> None:
    session = crash_then_go_on(
        tmp_path,
        "broker fills=3 fill_delay_ms=5 in_flight=1",
        effect=EFFECTS[name],
        after=["wait 60", "show"],
    )
    (order,) = session.log.orders_of(comment="once")
    assert order.state == OrderState.FILLED
    assert round(sum(deal.volume for deal in session.log.deals_of(order)), 8) == 0.4
    assert session.facts("position")[0]["volume"] == "0.4"
    assert [past["comment"] for past in session.facts("past")] == ["once"]


def test_any_crash_leaves_every_deal_once(tmp_path: Path) -> None:
    steps = ["async type=0 volume=0.1 comment=a", "async type=1 volume=0.3 comment=b", "wait 60"]
    for effect in range(3, 12):
        folder = tmp_path / str(effect)
        session = crash_then_go_on(
            folder, "broker fills=1..3 latency_ms=0..2", effect=effect, before=steps,
            after=["wait 30", "show"],
        )  # fmt: skip
        tickets = Counter(deal.ticket for deal in session.log.changes(Deal))
        assert max(tickets.values()) == 1
        shown = {int(deal["ticket"]) for deal in session.facts("deal")}
        assert shown == set(session.log.deals), "the terminal shows what the broker did"
        for comment in "ab":
            assert len(session.log.orders_of(comment=comment)) <= 1
        assert not [each for each in session.log.requests.values() if each.outcome == Outcome.SENT]


def test_pending_orders_go_on_without_the_terminal(tmp_path: Path) -> None:
    down = bids(*[1.1] * 100, *[1.0896] * 200)
    steps = ["send action=5 type=2 price=1.09 filling=2 tp=1.2", "wait 5"]
    terminal = EmulatedTerminal([PROBE], script(tmp_path, steps, down, rate=100), tmp_path)
    terminal.start()
    terminal.wait_journal("\tdone", within_s=WITHIN_S)
    terminal.kill()
    terminal.script = script(
        tmp_path, ["wait 5", "show"], down, "offline_ticks count=120", rate=100
    )
    terminal.start()
    terminal.wait_journal("\tdone", within_s=WITHIN_S)
    session = session_of(tmp_path, terminal.stop())
    assert session.facts("deal")[-1]["price"] == "1.08980"
    assert session.facts("position")[0]["volume"] == "0.1"


def test_a_torn_entry_of_the_log_is_cut(tmp_path: Path) -> None:
    prices = bids(*[1.1] * 5)
    terminal = EmulatedTerminal([PROBE], script(tmp_path, STEPS, prices), tmp_path)
    terminal.start()
    terminal.wait_journal("\tdone", within_s=WITHIN_S)
    terminal.stop()
    path = tmp_path / "broker.log"
    whole = path.read_bytes()
    for torn in (whole + b"\x40\0\0\0\1\2\3", whole + whole[:20], whole + b"\xff" * 12):
        path.write_bytes(torn)
        assert len(read_broker_log(path).deals) == 2
        terminal.script = script(tmp_path, ["show"], prices)
        terminal.start()
        terminal.wait_journal("\tdone", within_s=WITHIN_S)
        session = session_of(tmp_path, terminal.stop())
        assert len(session.facts("deal")) == 2
        assert path.read_bytes() == whole
