"""Ticks and deals as the columns rule files know, the same for live records and archived ones.

A rule file may declare any of these attributes on a source stream called `Tick` or `Deal`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cep.plan.nodes import Plan, Stream
from cep.plan.readers import readers
from cep.plan.types import Attribute, Type
from mt5bridge.records import DEAL, TICK, DealEntry, DealKind, DealType
from mt5bridge.spool import Told
from mt5bridge.validate import reject_mask

TICK_STREAM, DEAL_STREAM = "Tick", "Deal"
REJECTED = reject_mask({})
"""Quality bits of what rules do not see: no number, an empty or negative side, a far time."""

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
FITTING: dict[Type, tuple[Type, ...]] = {
    Type.STRING: (Type.STRING,),
    Type.DOUBLE: (Type.DOUBLE, Type.FLOAT),
    Type.LONG: (Type.LONG, Type.INT, Type.DOUBLE, Type.FLOAT),
}
"""The types that an attribute may be declared with, the best first."""


class MarketError(ValueError):
    """A rule file asks of ticks or deals what they do not have."""


def check_market(plan: Plan) -> None:
    """MarketError when a `Tick` or `Deal` stream declares an attribute that records lack."""
    known = {
        TICK_STREAM: {"symbol": Type.STRING, **_types(TICK_ATTRIBUTES, TICK)},
        DEAL_STREAM: {**dict.fromkeys(DEAL_TEXTS, Type.STRING), **_types(DEAL_ATTRIBUTES, DEAL)},
    }
    for stream in plan.sources:
        if stream.name not in known:
            raise MarketError(
                f"{plan.name}: stream {stream.name} has no source here; "
                f"live runs and archives feed {TICK_STREAM} and {DEAL_STREAM}"
            )
        for attribute in stream.schema.attributes:
            _check_attribute(f"{plan.name}: {stream.name}", attribute, known[stream.name])


def _types(attributes: Mapping[str, str], records: np.dtype[Any]) -> dict[str, Type]:
    """What each attribute is in the records: a whole number or a price."""
    return {
        name: Type.DOUBLE if records[field].kind == "f" else Type.LONG
        for name, field in attributes.items()
    }


def _check_attribute(where: str, attribute: Attribute, known: Mapping[str, Type]) -> None:
    if attribute.name not in known:
        has = ", ".join(sorted(known))
        raise MarketError(f"{where} has no attribute {attribute.name}; it has {has}")
    fitting = FITTING[known[attribute.name]]
    if attribute.type not in fitting:
        raise MarketError(
            f"{where}.{attribute.name} is declared {attribute.type}: "
            f"use {' or '.join(map(str, fitting))}"
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


def shown_ticks(quality: NDArray[Any], hidden: int = 0) -> NDArray[np.bool_]:
    """Which ticks rules see; those with a mark of `hidden` are kept from them too."""
    shown: NDArray[np.bool_] = (quality & (REJECTED | hidden)) == 0
    return shown


def shown_deals(field: Field, quality: NDArray[Any]) -> NDArray[np.bool_]:
    """Which deal revisions rules see: each deal's first; corrections are archived only.

    `quality` may be empty where all are good.
    """
    shown: NDArray[np.bool_] = (field("kind") == int(DealKind.ADD)) & (field("revision") <= 1)
    return shown & shown_ticks(quality) if len(quality) else shown


def table_field(table: pa.Table) -> Field:
    """Access to the columns of an archived table by record field."""
    return lambda name: table[name].to_numpy()


def says(source: str, told: int) -> tuple[str | None, bool]:
    """Who a clock record speaks of, and whether that one is away; None is the daemon's own clock.

    `told` is a `mt5bridge.spool.Told`, which is the record's quality mark.
    """
    return None if told == Told.OWN else source, told == Told.AWAY


def table_text(table: pa.Table, name: str) -> pa.Array:
    """A text column of an archived table, dictionary encoded."""
    column = table[name].unify_dictionaries().combine_chunks()
    return column if isinstance(column, pa.DictionaryArray) else pc.dictionary_encode(column)


def fixed_texts(values: Iterable[bytes]) -> pa.Array:
    """Fixed-width bytes of records as strings."""
    return pa.array(
        [value.rstrip(b"\0").decode("utf-8", errors="replace") for value in values], pa.string()
    )


SIMULATED, RECORDED, NONE = "simulated", "recorded", "none"
_SEEN = {
    SIMULATED: "they see those of the simulated account, and none that the archive has recorded",
    RECORDED: "here are those that the archive has recorded, and no others; fills that this run "
    "simulates do not become deals",
    NONE: "the archive has recorded none here, so they stay silent",
}


def fills_told(plan: Plan, seen: str) -> str:
    """Which fills rules see that read any; empty where none does. `seen`: SIMULATED and so on."""
    direct, after = readers(plan, DEAL_STREAM) if source(plan, DEAL_STREAM) else ({}, ())
    if not direct:
        return ""
    named = {plan.position_of(name) or name: line for name, line in direct.items()}
    who = ", ".join(f"{name} (line {line})" for name, line in named.items())
    depending = f"; on them depend: {', '.join(after)}" if after else ""
    return f"rules that read fills ({DEAL_STREAM}), {who}: {_SEEN[seen]}{depending}"
