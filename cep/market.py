"""Ticks and deals as the columns rule files know, the same for live records and archived ones.

A rule file may declare any of these attributes on a source stream called `Tick` or `Deal`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cep.plan.nodes import Plan, Stream
from mt5bridge.records import DealEntry, DealKind, DealType
from mt5bridge.validate import reject_mask

TICK_STREAM, DEAL_STREAM = "Tick", "Deal"
REJECTED = reject_mask({})
"""Quality bits of ticks that rules do not see: no number, an empty or negative side."""

Columns = dict[str, Any]
Field = Callable[[str], NDArray[Any]]

SIDES = {int(DealType.BUY): "buy", int(DealType.SELL): "sell"}
ENTRIES = {int(entry): entry.name.lower() for entry in DealEntry}
TICK_ATTRIBUTES: dict[str, str] = {
    "bid": "bid",
    "ask": "ask",
    "last": "last",
    "volume": "volume_real",
    "flags": "flags",
}
DEAL_ATTRIBUTES: dict[str, str] = {
    "ticket": "ticket",
    "order": "order",
    "position": "position_id",
    "magic": "magic",
    "lots": "volume",
    "price": "price",
    "commission": "commission",
    "swap": "swap",
    "profit": "profit",
    "fee": "fee",
    "stop": "sl",
    "target": "tp",
    "reason": "reason",
}
DEAL_TEXTS = ("symbol", "comment", "side", "entry")


class MarketError(ValueError):
    """A rule file asks of ticks or deals what they do not have."""


def check_market(plan: Plan) -> None:
    """MarketError when a `Tick` or `Deal` stream declares an attribute that records lack."""
    known = {
        TICK_STREAM: {"symbol", *TICK_ATTRIBUTES},
        DEAL_STREAM: {*DEAL_TEXTS, *DEAL_ATTRIBUTES},
    }
    for stream in plan.sources:
        if stream.name not in known:
            raise MarketError(
                f"{plan.name}: stream {stream.name} has no source here; "
                f"live runs and archives feed {TICK_STREAM} and {DEAL_STREAM}"
            )
        for name in stream.schema.names:
            if name not in known[stream.name]:
                has = ", ".join(sorted(known[stream.name]))
                raise MarketError(
                    f"{plan.name}: {stream.name} has no attribute {name}; it has {has}"
                )


def source(plan: Plan, name: str) -> Stream | None:
    """The plan's source stream of that name, if it has one."""
    return next((stream for stream in plan.sources if stream.name == name), None)


def tick_columns(stream: Stream, field: Field, symbols: Any) -> Columns:
    """Columns of `Tick`; `field` gives a record field as an array, `symbols` one name per row."""
    columns = {
        name: field(TICK_ATTRIBUTES[name]) for name in stream.schema.names if name != "symbol"
    }
    return columns | {"symbol": symbols}


def deal_columns(stream: Stream, field: Field, texts: Callable[[str], Any]) -> Columns:
    """Columns of `Deal`; `texts` gives symbol or comment as strings."""
    columns: Columns = {}
    for name in stream.schema.names:
        if name in ("symbol", "comment"):
            columns[name] = texts(name)
        elif name == "side":
            columns[name] = _words(field("type"), SIDES)
        elif name == "entry":
            columns[name] = _words(field("entry"), ENTRIES)
        else:
            columns[name] = field(DEAL_ATTRIBUTES[name])
    return columns


def _words(codes: NDArray[Any], words: dict[int, str]) -> pa.Array:
    return pa.array([words.get(int(code)) for code in codes], pa.string())


def shown_ticks(quality: NDArray[Any]) -> NDArray[np.bool_]:
    """Which ticks rules see."""
    shown: NDArray[np.bool_] = (quality & REJECTED) == 0
    return shown


def shown_deals(field: Field) -> NDArray[np.bool_]:
    """Which deal revisions rules see: each deal's first; corrections are archived only."""
    shown: NDArray[np.bool_] = (field("kind") == int(DealKind.ADD)) & (field("revision") <= 1)
    return shown


def table_field(table: pa.Table) -> Field:
    """Access to the columns of an archived table by record field."""
    return lambda name: table[name].to_numpy()


def table_text(table: pa.Table, name: str) -> pa.Array:
    """A text column of an archived table, dictionary encoded."""
    column = table[name].combine_chunks()
    return column if isinstance(column, pa.DictionaryArray) else pc.dictionary_encode(column)


def fixed_texts(values: Iterable[bytes]) -> pa.Array:
    """Fixed-width bytes of records as strings."""
    return pa.array(
        [value.rstrip(b"\0").decode("utf-8", errors="replace") for value in values], pa.string()
    )
