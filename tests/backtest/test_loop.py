"""The broker's loop: machine code where there is some, and nobody waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.backtest import loop
from cep.backtest.loop import FEW_ORDERS, ROWS_OF_ORDER, compiled, loop_for
from cep.backtest.ticks import Ticks
from cep.backtest.trading import Trading
from cep.engine.machine_code import PATIENCE_ROWS, MachineCode, Made
from mt5bridge.broker import Specification
from mt5bridge.broker.broker import Run
from mt5bridge.broker.leap import leap
from mt5bridge.broker.run import run
from tests.backtest.test_trading import POINTS, as_ticks, mixed
from tests.engine.test_machine_code import Child, exists_as

PATIENCE_ORDERS = PATIENCE_ROWS // ROWS_OF_ORDER
BEGUN = list[Child]()


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    """The child that makes machine code, which nobody has made yet."""
    one = Child()
    monkeypatch.setattr(MachineCode, "_started", lambda self, haste: BEGUN.append(one) or one)
    monkeypatch.setattr(Path, "exists", exists_as(lambda: one.status == 0))

    @Made
    def made() -> Run:
        return run

    monkeypatch.setattr(loop, "compiled", made)
    monkeypatch.setattr(loop, "CODE", MachineCode(made))
    BEGUN.clear()
    yield one


def test_nobody_waits_for_the_compiler(child: Child) -> None:
    assert loop_for(PATIENCE_ORDERS, PATIENCE_ORDERS) is leap
    assert not BEGUN, "so few are not worth it"


def test_many_orders_have_machine_code_made_that_takes_over(child: Child) -> None:
    assert loop_for(PATIENCE_ORDERS + 1, PATIENCE_ORDERS + 1) is leap
    assert [child] == BEGUN
    child.status = 0
    assert loop_for(FEW_ORDERS - 1) is leap
    assert loop_for(FEW_ORDERS) is run


def test_machine_code_that_is_there_is_used_from_few_orders_on(child: Child) -> None:
    child.status = 0
    assert loop_for(FEW_ORDERS - 1, FEW_ORDERS - 1) is leap
    assert loop_for(FEW_ORDERS, 1) is run


def test_an_account_looks_for_it_between_batches(child: Child) -> None:
    orders, rows = mixed(5, 0.01)
    many = [one for one in orders for _ in range(PATIENCE_ORDERS)]
    account = Trading(many, {"X": Specification(0.01)})
    account.push(as_ticks(rows[:1]))
    assert account._broker.loop is leap
    child.status = 0
    account.push(as_ticks(rows[1:2]))
    assert account._broker.loop is run


def read_only(ticks: Ticks) -> Ticks:
    """Columns as Arrow has them."""
    for name in Ticks.__slots__:
        getattr(ticks, name).setflags(write=False)
    return ticks


@given(st.integers(0, 2**32), st.integers(0, 40), st.booleans())
def test_it_takes_over_midway_and_comes_to_the_same(seed: int, cut: int, arrow: bool) -> None:
    """Whatever columns there are: those of another type would be compiled anew, which takes long.

    With a cut at the end no tick is left to it.
    """
    orders, rows = mixed(seed, POINTS[seed % len(POINTS)])
    found = []
    for then in (leap, compiled.code):
        account = Trading(orders, {"X": Specification(POINTS[seed % len(POINTS)])}, loop=leap)
        account.push(as_ticks(rows[:cut]))
        account._broker.loop = then
        rest = as_ticks(rows[cut:])
        account.push(read_only(rest) if arrow else rest)
        found.append((account.deals.tobytes(), account.retcodes.tolist(), account.trades))
    assert found[0] == found[1]
    assert np.isfinite(account.money.equity)
