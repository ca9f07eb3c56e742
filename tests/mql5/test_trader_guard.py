"""The terminal's own risk guard: every limit, the kill switches, dry run and off."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.wire import OrderKind, OrderSide, Side, SignalStatus
from tests.bridge.live import wait_until
from tests.mql5.trading import BID, IDENTITY, SYMBOL, Floor, order, signal, trading
from tests.waiting import LONG_S

BUY, SELL = OrderSide.BUY, OrderSide.SELL
EXECUTED, REJECTED = SignalStatus.EXECUTED, SignalStatus.REJECTED


def _refused(floor: Floor, text: str, side: Side = Side.BUY, lots: float = 0.1) -> None:
    before = len(floor.trades())
    result = floor.ask(signal(side, lots))
    assert (result.status, result.retcode) == (REJECTED, 0)
    assert text in result.text
    assert len(floor.trades()) == before


def test_lots_per_order_and_symbol(tmp_path: Path) -> None:
    inputs = {"MaxLotsPerOrder": "0.5", "MaxLotsPerSymbol": "0.8"}
    with trading(tmp_path, inputs=inputs) as floor:
        _refused(floor, "lots per order: 0.6 asked, 0 there already, limit 0.5", lots=0.6)
        assert floor.ask(signal(Side.BUY, 0.5)).status is EXECUTED
        pending = order(OrderKind.LIMIT, BUY, 0.2, BID - 0.01)
        floor.server.send(IDENTITY, pending)
        floor.wait_status(pending.id, SignalStatus.PLACED)
        _refused(floor, "lots per symbol: EURUSD 0.2 asked, 0.7 there already, limit 0.8", lots=0.2)
        assert floor.ask(signal(Side.SELL, 0.1)).status is EXECUTED
        assert floor.ask(signal(Side.CLOSE)).status is EXECUTED


def test_netting_may_always_reduce(tmp_path: Path) -> None:
    inputs = {"MaxLotsPerSymbol": "0.5", "MaxOrdersPerMinute": "1"}
    with trading(tmp_path, mode="netting", inputs=inputs) as floor:
        assert floor.ask(signal(Side.BUY, 0.5)).status is EXECUTED
        _refused(floor, "orders per minute: 1 asked, 1 there already, limit 1")
        assert floor.ask(signal(Side.SELL, 0.2)).status is EXECUTED
        _refused(floor, "orders per minute", Side.SELL, 0.4)


def test_lots_per_day_survive_a_restart(tmp_path: Path) -> None:
    with trading(tmp_path, inputs={"MaxLotsPerDay": "0.5"}) as floor:
        assert floor.ask(signal(Side.BUY, 0.4)).status is EXECUTED
        assert floor.ask(signal(Side.CLOSE)).status is EXECUTED
        _refused(floor, "lots per day: 0.2 asked, 0.4 there already, limit 0.5", lots=0.2)
        floor.terminal.kill()
        floor.terminal.start()
        floor.wait_online()
        _refused(floor, "lots per day: 0.2 asked, 0.4 there already, limit 0.5", lots=0.2)


def test_daily_loss(tmp_path: Path) -> None:
    broker = "broker commission=35"
    with trading(tmp_path, broker=broker, inputs={"MaxDailyLoss": "40"}) as floor:
        assert floor.ask(signal(Side.BUY, 1.0)).status is EXECUTED
        _refused(floor, "limit 40.00")
        assert floor.ask(signal(Side.CLOSE)).status is EXECUTED


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({"MaxLotsPerDay": "-1"}, "a risk limit in the inputs is negative or no number"),
        ({"MaxDailyLoss": "inf"}, "a risk limit in the inputs is negative or no number"),
        ({"DefaultLots": "nan"}, "lots: nan asked, which is no size"),
    ],
    ids=str,
)
def test_inputs_that_are_no_numbers_open_nothing(
    tmp_path: Path, inputs: dict[str, str], text: str
) -> None:
    with trading(tmp_path, inputs=inputs) as floor:
        _refused(floor, text, lots=0.0)
        assert len(floor.trades()) == 0


def test_kill_switch(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        opened = floor.ask(signal(Side.BUY, 0.2, stop_points=300))
        pending = order(OrderKind.LIMIT, BUY, 0.2, BID - 0.01)
        floor.server.send(IDENTITY, pending)
        floor.wait_status(pending.id, SignalStatus.PLACED)
        floor.halt(True, "enough")
        floor.terminal.wait_journal("halted: enough", LONG_S)
        assert floor.final(pending.id).status is SignalStatus.CANCELLED
        _refused(floor, "halted: enough")
        floor.terminal.kill()
        floor.terminal.start()
        floor.wait_online()
        _refused(floor, "halted: enough")
        nearer = order(OrderKind.MODIFY, ticket=opened.order, sl=BID - 0.002)
        assert floor.ask(nearer).status is EXECUTED
        wider = floor.ask(order(OrderKind.MODIFY, ticket=opened.order, sl=BID - 0.005))
        assert wider.status is REJECTED and "halted" in wider.text
        assert floor.ask(order(OrderKind.CLOSE)).status is EXECUTED
        floor.halt(False, "")
        floor.terminal.wait_journal("released", LONG_S)
        assert floor.ask(signal(Side.BUY, 0.2)).status is EXECUTED


def test_a_kill_switch_that_cannot_be_written(tmp_path: Path) -> None:
    """ "... is tried again each second, and until then nothing is opened": on and off."""
    with trading(tmp_path) as floor:
        floor.terminal.act("files='open=1 delete=1 name=halt.txt'")
        floor.halt(True, "enough")
        floor.terminal.wait_journal("the kill switch cannot be written", LONG_S)
        _refused(floor, "halted: enough")
        floor.terminal.act("files='open=0 delete=1 name=halt.txt'")
        floor.terminal.wait_journal("the kill switch is on the disk now", LONG_S)
        floor.forget_halt()
        floor.terminal.kill()
        floor.terminal.start()
        floor.wait_online()
        _refused(floor, "halted: enough")
        floor.terminal.act("files='delete=1 name=halt.txt'")
        floor.halt(False, "")
        floor.terminal.wait_journal("the kill switch cannot be written", LONG_S)
        _refused(floor, "halted: until the file Files\\Mt5Bridge\\")
        bought = floor.ask(order(OrderKind.CLOSE))
        assert bought.status is REJECTED and "no position" in bought.text
        floor.terminal.act("files='delete=0'")
        floor.terminal.wait_journal("the kill switch is on the disk now", LONG_S)
        assert floor.ask(signal(Side.BUY, 0.2)).status is EXECUTED


def test_local_kill_switch(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        switch = next(floor.terminal.folder.rglob("orders.journal")).parents[1] / "HALT"
        switch.touch()
        _refused(floor, "halted: by the file Files\\Mt5Bridge\\HALT")
        switch.unlink()
        assert floor.ask(signal(Side.BUY, 0.2)).status is EXECUTED


def test_halted_by_input(tmp_path: Path) -> None:
    with trading(tmp_path, inputs={"Halted": "true"}) as floor:
        assert floor.ask(signal(Side.BUY, 0.1)).text == "halted: by the input Halted"


def test_off_by_default(tmp_path: Path) -> None:
    with trading(tmp_path, inputs={"Trading": "TRADING_OFF"}, trades=False) as floor:
        wait_until(lambda: IDENTITY in floor.server.terminals.connected())
        assert floor.server.traders(SYMBOL) == ()
        assert len(floor.broker().orders) == 0


def test_dry_run(tmp_path: Path) -> None:
    with trading(tmp_path, inputs={"Trading": "TRADING_DRY", "MaxLotsPerOrder": "0.5"}) as floor:
        said = floor.ask(signal(Side.SELL, 0.25, stop_points=100))
        assert said.status is SignalStatus.DRY_RUN
        assert said.text == "would sell 0.25 EURUSD at 1.10000, stop 1.10100"
        _refused(floor, "lots per order", lots=0.6)
        wait_until(lambda: len(floor.outcomes) >= 2)
        assert len(floor.broker().orders) == 0
