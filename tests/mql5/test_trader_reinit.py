"""The trader while its inputs, its chart's symbol or period change: nothing twice, nothing lost."""

from __future__ import annotations

from pathlib import Path

from mt5bridge.wire import OrderKind, OrderSide, Side, SignalStatus
from tests.bridge.live import wait_until
from tests.mql5.reinit import INPUTS, PERIOD, chart, inputs
from tests.mql5.trading import IDENTITY, SYMBOL, fills_and_final, order, signal, trading

EXECUTED = SignalStatus.EXECUTED


def test_executed_ids_are_answered_and_not_executed_again(tmp_path: Path) -> None:
    with trading(tmp_path, broker="broker fills=3..3", symbol="execution=3") as floor:
        request = signal(Side.BUY, 0.3)
        floor.ask(request)
        first = fills_and_final(floor, request.id)
        for change in (INPUTS, PERIOD, inputs(MaxLotsPerOrder="5"), INPUTS):
            floor.reinit(change)
            floor.outcomes.clear()
            floor.ask(request)
            assert fills_and_final(floor, request.id) == first
            floor.outcomes.clear()
            floor.question(request.id)
            floor.final(request.id)
            assert fills_and_final(floor, request.id) == first
        assert len(floor.broker().orders) == 1
        other = signal(Side.BUY, 0.1)
        assert floor.ask(other).status is EXECUTED


def test_fills_before_between_and_after(tmp_path: Path) -> None:
    """The chart's symbol changes, too: what was begun in the old one is followed to its end."""
    broker = "broker fills=8..8 fill_delay_ms=150..200\nsymbol GBPUSD digits=5"
    with trading(tmp_path, broker=broker, inputs={"Symbols": ""}) as floor:
        request, pending = signal(Side.BUY, 0.8), order(OrderKind.LIMIT, OrderSide.BUY, 0.1, 1.0)
        placed = floor.ask_until(pending, SignalStatus.PLACED)
        floor.ask_until(request, SignalStatus.PARTIAL)
        floor.reinit(inputs(DeviationPoints="5"))
        floor.reinit(chart("GBPUSD"), symbol="GBPUSD")
        floor.reinit(INPUTS, symbol="GBPUSD")
        assert floor.final(request.id).status is EXECUTED
        assert len(fills_and_final(floor, request.id)) == len(floor.deals(request.id)) == 8
        floor.reinit(chart(SYMBOL))
        assert floor.ask(order(OrderKind.CANCEL, ticket=placed.order)).status is EXECUTED
        assert floor.final(pending.id).status is SignalStatus.CANCELLED


def test_orders_on_their_way_while_it_begins_again(tmp_path: Path) -> None:
    """Whatever the daemon sends again, as it does until there is a final result."""
    with trading(tmp_path, broker="broker latency_ms=1..60 in_flight=0") as floor:
        requests = [signal(Side.BUY, 0.1) for _ in range(8)]
        for early, late in zip(requests[::2], requests[1::2], strict=True):
            floor.server.send(IDENTITY, early)
            floor.wait_status(early.id, SignalStatus.RECEIVED)
            floor.server.send(IDENTITY, late)
            floor.reinit(INPUTS)
            for request in (early, late):
                floor.server.send(IDENTITY, request)
        for request in requests:
            assert floor.final(request.id).status is EXECUTED
            assert len(fills_and_final(floor, request.id)) == len(floor.deals(request.id)) == 1
        assert len(floor.broker().orders) == len(requests)


def test_a_halt_outlives_it(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        floor.halt(True, "enough for today")
        assert floor.ask(signal(Side.BUY, 0.1)).text == "halted: enough for today"
        floor.forget_halt()
        for change in (INPUTS, PERIOD, inputs(Halted="true")):
            floor.reinit(change)
            assert floor.ask(signal(Side.BUY, 0.1)).text == "halted: enough for today"
        floor.halt(False, "")
        wait_until(lambda: floor.ask(signal(Side.BUY, 0.1)).text == "halted: by the input Halted")
        floor.reinit(inputs(Halted="false"))
        assert floor.ask(signal(Side.BUY, 0.1)).status is EXECUTED


def test_other_inputs_hold_from_then_on_and_change_no_answer(tmp_path: Path) -> None:
    broker = "symbol GBPUSD digits=5"
    with trading(tmp_path, inputs={"Trading": "TRADING_OFF"}, broker=broker, trades=False) as floor:
        wait_until(lambda: IDENTITY in floor.server.terminals.connected())
        requests = [signal(Side.BUY, 0.1) for _ in range(2)]
        answers = []
        for request, choice in zip(requests, ("TRADING_DRY", "TRADING_LIVE"), strict=True):
            floor.reinit(inputs(Trading=choice))
            answers.append(floor.ask(request))
        assert [answer.status for answer in answers] == [SignalStatus.DRY_RUN, EXECUTED]
        floor.reinit(inputs(Symbols="GBPUSD"), symbol="GBPUSD")
        assert floor.ask(signal(Side.BUY, 0.1)).text.startswith(f"symbol: {SYMBOL} is not one of")
        floor.outcomes.clear()
        for request, answer in zip(requests, answers, strict=True):
            assert floor.ask(request) == answer
        assert len(floor.broker().orders) == 1


def test_another_identity_and_a_wrong_port(tmp_path: Path) -> None:
    """Each name has a memory of its own; the old one is there when the name comes back."""
    with trading(tmp_path) as floor:
        answer = floor.ask(request := signal(Side.BUY, 0.1))
        floor.reinit(inputs(Identity="other"), identity="other")
        floor.outcomes.clear()
        floor.server._command(lambda terminals: terminals.ask("other", [request.id]))
        assert floor.final(request.id).deal == answer.deal  # found at the broker
        floor.reinit(inputs(Identity="", Port="1"), online=False)
        floor.terminal.wait(lambda stats: "offline" in stats.program("Trader").comment, 20)
        floor.reinit(inputs(Port=floor.port))
        floor.outcomes.clear()
        assert floor.ask(request) == answer
        assert len(floor.broker().orders) == 1
