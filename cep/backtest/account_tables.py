"""What an account has done in a run, as Arrow tables: orders, deals, trades, equity, returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, fields
from typing import Any

import pyarrow as pa

from cep.account.orders import Order
from cep.backtest.daily import Returns
from cep.backtest.records import ingest_of
from cep.backtest.simulate import Outcome
from cep.backtest.trades import Trade
from cep.backtest.trading import answer_text
from mt5bridge.broker import Table, codes

_OF_PYTHON = {
    "str": pa.string(), "int": pa.int64(), "float": pa.float64(), "float | None": pa.float64(),
}  # fmt: skip
SIDES = {codes.BUY: "buy", codes.SELL: "sell"}
ENTRIES = {codes.IN: "in", codes.OUT: "out", codes.INOUT: "inout"}
REASONS = {
    codes.BY_EXPERT: "signal", codes.BY_STOP: "stop", codes.BY_TARGET: "target",
    codes.BY_STOP_OUT: "stop out",
}  # fmt: skip


def account_tables(outcome: Outcome, returns: Returns) -> dict[str, pa.Table]:
    """By name, which is that of their file, too."""
    return {
        "orders": orders_table(outcome),
        "deals": deals_table(outcome),
        "trades": trades_table(outcome.trades),
        "equity": equity_table(outcome),
        "returns": returns.table(),
    }


def orders_table(outcome: Outcome) -> pa.Table:
    """Each order by its number from 1 on: `ingest` of what caused it, what was asked, and what the
    broker answered.
    """
    orders = outcome.orders
    asked = {one.name: _values(orders, one) for one in fields(Order) if one.name != "order"}
    return pa.table(
        {
            "number": pa.array(range(1, len(orders) + 1), pa.int64()),
            "ingest": pa.array([order.order >> 1 for order in orders], pa.int64()),
            **asked,
            "lots": pa.array([order.lots_wanted for order in orders], asked["lots"].type),
            "retcode": pa.array(outcome.retcodes, pa.int64()),
            "answer": pa.array(map(answer_text, outcome.retcodes.tolist()), pa.string()),
        }
    )


def deals_table(outcome: Outcome) -> pa.Table:
    """The broker's deals: `ingest` of the tick that made each, and `order_number` of its order,
    null for those that a stop, a target or a stop-out made.
    """
    deals, symbols = outcome.deals, outcome.symbols
    tags = deals["tag"]
    signals = [outcome.orders[tag - 1].signal if tag else None for tag in tags.tolist()]
    return pa.table(
        {
            "ticket": _column(deals, "ticket"),
            "order": _column(deals, "order"),
            "order_number": pa.array(tags.copy(), mask=tags == 0),
            "signal": pa.array(signals, pa.string()),
            "ingest": pa.array(ingest_of(deals["place"])),
            "time_msc": _column(deals, "time_msc"),
            "symbol": pa.array([symbols[row] for row in deals["symbol"].tolist()], pa.string()),
            "side": _texts(deals, "type", SIDES),
            "entry": _texts(deals, "entry", ENTRIES),
            "reason": _texts(deals, "reason", REASONS),
            "lots": _column(deals, "volume"),
            "price": _column(deals, "price"),
            "commission": _column(deals, "commission"),
            "swap": _column(deals, "swap"),
            "profit": _column(deals, "profit"),
            "position": _column(deals, "position_id"),
            "magic": _column(deals, "magic"),
        }
    )


def trades_table(trades: list[Trade]) -> pa.Table:
    """A row for each trade, in the order of closing."""
    return pa.table({one.name: _values(trades, one) for one in fields(Trade)})


def equity_table(outcome: Outcome) -> pa.Table:
    """A row for each minute in which anything was open or dealt."""
    names = ("time_msc", "balance", "equity", "low", "high")
    return pa.table({name: pa.array(getattr(outcome.equity, name)) for name in names})


def _column(deals: Table, name: str) -> pa.Array:
    values = deals[name].copy()
    if values.dtype.kind == "f":
        values += 0.0  # costs of nothing are 0.0, never -0.0
    return pa.array(values)


def _texts(deals: Table, name: str, texts: dict[int, str]) -> pa.Array:
    return pa.array([texts[code] for code in deals[name].tolist()], pa.string())


def _values(rows: Sequence[object], one: Field[Any]) -> pa.Array:
    """One field of all rows."""
    return pa.array([getattr(row, one.name) for row in rows], _OF_PYTHON[str(one.type)])
