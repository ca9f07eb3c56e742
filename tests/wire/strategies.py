"""Hypothesis strategies for frames, made from their layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from mt5bridge.records import Records
from mt5bridge.wire import (
    FRAMES,
    SEQUENCE_MAX,
    TIME_MSC_MAX,
    TIME_MSC_MIN,
    Account,
    Ask,
    Asked,
    Deals,
    Entry,
    Event,
    Field,
    Frame,
    Halt,
    Order,
    OrderKind,
    OrderSide,
    Properties,
    Recount,
    Resume,
    Side,
    SignalOrder,
    SignalResult,
    Standing,
    Symbol,
    Ticks,
    TradeSession,
    Wanted,
)
from mt5bridge.wire.layout import Code, Entries, Numbers, RecordArray, parts

_RANGES = {
    "B": (0, 2**8 - 1),
    "H": (0, 2**16 - 1),
    "I": (0, 2**32 - 1),
    "Q": (0, 2**64 - 1),
    "i": (-(2**31), 2**31 - 1),
    "q": (-(2**63), 2**63 - 1),
}
_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
_NAME = st.text(st.sampled_from("ABCxyz.#€"), min_size=1, max_size=10)
_SIZE = st.floats(0, 1e9)
_SEQUENCE = st.integers(0, SEQUENCE_MAX)
_TIME = st.integers(TIME_MSC_MIN, TIME_MSC_MAX)
_NAMED: dict[str, st.SearchStrategy[Any]] = {
    "nonce": st.text("0123456789abcdef", min_size=32, max_size=32),
    "proof": st.text("0123456789abcdef", min_size=64, max_size=64),
    "utc_offset_ms": st.integers(-86_400_000, 86_400_000),
    "first": st.integers(1, 2**62),
    "last": st.integers(2**62, 2**63 - 1),
    "identity": _NAME,
    "lots": _SIZE,
    "stop_points": _SIZE,
    "target_points": _SIZE,
    "price": _SIZE,
    "sl": _SIZE,
    "tp": _SIZE,
    "time_msc": _TIME,
    "complete_msc": _TIME,
    "valid_until_msc": _TIME,
    "sequence": _SEQUENCE,
    "taken": _SEQUENCE,
    "passed": _SEQUENCE,
    "durable": _SEQUENCE,
}


_MONEY = st.floats(allow_nan=False, allow_infinity=False)
_SESSIONS = st.lists(st.integers(0, 69), unique=True, max_size=5).map(
    lambda found: tuple(TradeSession(144 * at, 144 * at + 144) for at in sorted(found))
)
_OF_CLASS: dict[type, dict[str, st.SearchStrategy[Any]]] = {
    Account: dict.fromkeys(
        ("balance", "credit", "profit", "equity", "margin", "margin_free"), _MONEY
    ),
    Ask: {
        "ids": st.lists(st.builds(Asked, st.integers(0, 2**64 - 1)), min_size=1, max_size=3).map(
            tuple
        )
    },
    Halt: {"halted": st.integers(0, 1)},
    Properties: {
        "swap_triple_day": st.integers(0, 6),
        "swap_long": _MONEY,
        "swap_short": _MONEY,
        "tick_value": _SIZE,
        "profit_currency": _NAME | st.just(""),
        "sessions": _SESSIONS,
    },
    Recount: {"from_msc": st.integers(TIME_MSC_MIN, 0), "to_msc": st.integers(1, TIME_MSC_MAX)},
    Resume: {"time_msc": st.integers(-(2**63), 2**63 - 1)},
    SignalResult: {"price": _MONEY},
    Standing: {"number": _SEQUENCE},
    Event: {
        "number": st.integers(1, SEQUENCE_MAX),
        "first_msc": _TIME,
        "name": _NAME,
    },
    Field: {"number": _MONEY},
    Symbol: {
        "name": _NAME,
        **dict.fromkeys(
            (
                "point",
                "tick_size",
                "contract_size",
                "volume_min",
                "volume_max",
                "volume_step",
            ),
            _SIZE,
        ),
    },
}


def bodies(cls: type) -> st.SearchStrategy[Any]:
    """Valid instances of a frame or of an entry in one."""
    arguments: dict[str, st.SearchStrategy[Any]] = {}
    for part in parts(cls):
        arguments.update(_strategies(part))
    arguments.update({name: made for name, made in _NAMED.items() if name in arguments})
    if cls in (Ticks, Symbol, Recount, Properties):
        arguments["stream"] = st.integers(1, 2**32 - 1)
    if cls is Deals:
        arguments["stream"] = st.just(0)
    arguments.update(_OF_CLASS.get(cls, {}))
    if cls is SignalOrder:
        return signal_orders(arguments)
    if cls is Order:
        return orders(arguments)
    if cls is Entry:
        return entries()
    return st.builds(cls, **arguments)


_SIZES = ("stop", "target", "stop_distance", "target_distance", "risk_percent")


def signal_orders(arguments: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[SignalOrder]:
    """Those of all kinds; only pending ones have a price."""
    arguments["side"] = st.sampled_from([Side.BUY, Side.SELL])
    arguments |= dict.fromkeys(_SIZES, _SIZE)
    kinds = {
        OrderKind.MARKET: st.just(0.0),
        OrderKind.LIMIT: st.floats(0.1, 1e6),
        OrderKind.STOP: st.floats(0.1, 1e6),
    }
    nothing = dict.fromkeys(("lots", "price", "risk_percent"), st.just(0.0))
    change = {**arguments, **nothing, "side": st.just(Side.CLOSE), "symbol": _NAME}
    levels = dict.fromkeys(("stop", "stop_distance", "stop_points"), st.floats(0.1, 1e6))
    no_levels = dict.fromkeys((*_SIZES, "stop_points", "target_points"), st.just(0.0))
    return st.one_of(
        *(
            st.builds(SignalOrder, **{**arguments, "kind": st.just(kind), "price": price})
            for kind, price in kinds.items()
        ),
        st.builds(SignalOrder, **{**change, **levels, "kind": st.just(OrderKind.MODIFY)}),
        st.builds(SignalOrder, **{**change, **no_levels, "kind": st.just(OrderKind.CANCEL)}),
    )


def orders(arguments: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Order]:
    """Orders of all kinds; each has at least what its kind needs."""
    some = {name: arguments[name] for name in ("side", "lots", "price", "ticket", "symbol")}
    sized = {"side": st.sampled_from([OrderSide.BUY, OrderSide.SELL]), "lots": st.floats(0.01, 50)}
    priced = {**sized, "price": st.floats(0.1, 1e6)}
    ticketed = {"ticket": st.integers(1, 2**64 - 1)}
    needed = {
        OrderKind.MARKET: sized,
        OrderKind.LIMIT: priced,
        OrderKind.STOP: priced,
        OrderKind.MODIFY: ticketed,
        OrderKind.CANCEL: ticketed,
        OrderKind.CLOSE: {"symbol": _NAME},
    }
    return st.one_of(
        [
            st.builds(Order, **{**arguments, **some, "kind": st.just(kind), **what})
            for kind, what in needed.items()
        ]
    )


def entries() -> st.SearchStrategy[Entry]:
    """Wishes of all kinds."""
    return st.one_of(
        st.builds(Entry, st.just(Wanted.ALL), st.just(0), st.just("")),
        st.builds(Entry, st.sampled_from([Wanted.ENGINE, Wanted.NAMED]), st.just(0), _NAME),
        st.builds(Entry, st.just(Wanted.KNOWN), _SEQUENCE, _NAME),
    )


def frames() -> st.SearchStrategy[Frame]:
    """Valid frames of all types."""
    return st.one_of([bodies(cls) for cls in FRAMES])


def records(dtype: np.dtype[Any]) -> st.SearchStrategy[Records]:
    """One to three records of any bytes."""
    return st.integers(1, 3).flatmap(
        lambda count: st.binary(
            min_size=count * dtype.itemsize, max_size=count * dtype.itemsize
        ).map(lambda raw: np.frombuffer(raw, dtype))
    )


def _strategies(part: Any) -> dict[str, st.SearchStrategy[Any]]:
    if isinstance(part, Numbers):
        codes = part.form.format[1:]
        return {name: _number(code) for name, code in zip(part.names, codes, strict=True)}
    if isinstance(part, Code):
        return {part.name: st.sampled_from(list(part.codes))}
    if isinstance(part, RecordArray):
        return {part.name: records(part.dtype)}
    if isinstance(part, Entries):
        return {part.name: st.lists(bodies(part.entry), max_size=3).map(tuple)}
    return {part.name: _TEXT}


def _number(code: str) -> st.SearchStrategy[Any]:
    return st.floats() if code == "d" else st.integers(*_RANGES[code])
