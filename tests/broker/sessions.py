"""Random order sessions, as text for the emulated broker and as calls of ours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mt5bridge.broker import REQUEST, Broker, Specification, Terms, codes
from mt5bridge.broker.codes import (
    BUY_LIMIT,
    CANCEL_HELD,
    CHANGE_HELD,
    DEAL,
    MODIFY,
    PENDING,
    REMOVE,
    SELL_STOP,
    SELL_STOP_LIMIT,
    SLTP,
)
from mt5bridge.broker.rates import DIRECT, INVERSE

BASE = 1 << 32
"""The emulated broker's order tickets begin behind it, ours at 1."""

NAMES = ("EURUSD", "XAUUSD", "PAIR")
SIZES = (1e-5, 0.01, 1e-5)
MIDDLES = (1.1, 1900.0, 1.25)
CONTRACTS = (100_000.0, 100.0, 100_000.0)
RATE = 2
"""The row of the symbol that converts the profits of the first one, if these are not in dollars."""
PAIRS = ("", "CHFUSD", "USDCHF")
"""Its names: none is needed, a direct and an inverse pair."""
HEDGING = 2
INSTANT, AT_MARKET = 1, 2
"""ENUM_SYMBOL_TRADE_EXECUTION: all filling modes are allowed, or those that the symbol names."""


@dataclass(frozen=True, slots=True)
class Tick:
    symbol: int
    time_msc: int
    bid: float
    ask: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as a server gets it; tickets count from 1, 0 is none."""

    action: int
    type: int
    symbol: int
    lots: float
    price: float
    sl: float
    tp: float
    order: int
    position: int
    magic: int
    expires_s: int
    limit_price: float
    filling: int


@dataclass(frozen=True, slots=True)
class Held:
    """Other levels for all that a magic number has of a symbol, or the end of its orders there."""

    action: int
    symbol: int
    magic: int
    sl: float
    tp: float


@dataclass(frozen=True, slots=True)
class Session:
    mode: int
    leverage: int
    balance: float
    commission: float
    slippage_points: int
    stop_out_percent: int
    stops_level: int
    freeze_level: int
    open_ms: tuple[int, int]
    depth_lots: float
    execution: int
    filling_modes: int
    pair: str
    steps: tuple[Tick | Asked | Held, ...]


class _Maker:
    """Draws a session: quotes in whole points, and orders near enough to them to matter."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.bids = [round(middle / size) for middle, size in zip(MIDDLES, SIZES, strict=True)]
        self.spreads = [2, 2, 2]
        self.time_msc = 1_000_000
        self.made = 0
        self.levels = self.chosen(0, 0, 4)
        self.fills_in_part = self.chosen(False, True)

    def chosen(self, *values: Any) -> Any:
        return values[int(self.random.integers(len(values)))]

    def between(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def price(self, symbol: int, points: float) -> float:
        return round(points * SIZES[symbol], 8)

    def tick(self, symbol: int | None = None) -> Tick:
        symbol = self.chosen(0, 0, 1, RATE) if symbol is None else symbol
        far = 40 if self.random.random() < 0.1 else 6
        far *= 300 if symbol == RATE else 1  # so that rates matter
        self.bids[symbol] += self.between(-far, far)
        self.spreads[symbol] = self.between(0, 5)
        self.time_msc += self.chosen(0, 1, 200, 900)
        bid = self.bids[symbol]
        ask = bid + self.spreads[symbol]
        return Tick(symbol, self.time_msc, self.price(symbol, bid), self.price(symbol, ask))

    def near(self, symbol: int, at: float, sign: int, zero: float = 0.4) -> float:
        """A price on one side of another, sometimes none, wrong, or between two steps."""
        if self.random.random() < zero:
            return 0.0
        away = self.chosen(1, 2, 3, 4, 5, 6, 10, 20, 20, 30, 0, -3) * sign
        return self.price(symbol, at + away + self.chosen(*[0] * 20, 0.5))

    def asked(self) -> Asked:
        symbol = self.chosen(0, 0, 1)
        action = self.chosen(DEAL, DEAL, DEAL, PENDING, PENDING, SLTP, MODIFY, REMOVE)
        kind = self.between(0, 1) if action == DEAL else self.between(BUY_LIMIT, SELL_STOP_LIMIT)
        sign = 1 if kind % 2 == 0 else -1
        at = self.bids[symbol] + (self.spreads[symbol] if sign > 0 else 0)
        price = 0.0
        if action in (PENDING, MODIFY):
            side = -sign if kind < 4 else sign
            price = self.near(symbol, at, side, 0.02)
            at = price / SIZES[symbol]
        limit = 0.0
        if kind > SELL_STOP or (action == MODIFY and self.random.random() < 0.2):
            limit = self.near(symbol, at, -sign, 0.05)
            at = limit / SIZES[symbol] if kind > SELL_STOP else at
        self.made += action in (DEAL, PENDING)
        return Asked(
            action, kind, symbol, self.chosen(0.1, 0.1, 0.2, 0.3, 0.01, 1.0, 0.0, 0.015, 500.0),
            price, self.near(symbol, at, -sign), self.near(symbol, at, sign),
            order=self.between(0, self.made + 2), position=self.ticket(action),
            magic=self.between(0, 2), expires_s=self.expiry(), limit_price=limit,
            filling=self.between(0, 2) if self.fills_in_part else (0 if action == DEAL else 2),
        )  # fmt: skip

    def held(self) -> Held:
        symbol, sign = self.chosen(0, 0, 1), self.chosen(1, -1)
        action = self.chosen(CHANGE_HELD, CHANGE_HELD, CANCEL_HELD)
        levels = [0.0, 0.0]
        if action == CHANGE_HELD:
            levels = [self.level(symbol, -sign), self.level(symbol, sign)]
        return Held(action, symbol, self.between(0, 2), *levels)

    def level(self, symbol: int, sign: int) -> float:
        """A price step near the market; 0: it is not said."""
        away = self.chosen(0, 1, 3, 6, 10, 20, 30, 30, 30)
        return self.price(symbol, self.bids[symbol] + sign * away) if away else 0.0

    def step(self) -> Tick | Asked | Held:
        drawn = self.random.random()
        return self.asked() if drawn < 0.36 else self.held() if drawn < 0.42 else self.tick()

    def ticket(self, action: int) -> int:
        if action == SLTP or (action == DEAL and self.random.random() < 0.3):
            return self.between(0, self.made + 2)
        return 0

    def opening(self) -> tuple[int, int]:
        """When the first symbol is traded; nothing: always."""
        if self.random.random() < 0.7:
            return 0, 0
        middle_msc = (1_000_000 + self.time_msc) // 2
        return middle_msc - self.between(0, 9_000), middle_msc + self.between(0, 9_000)

    def expiry(self) -> int:
        return int(self.chosen(0, 0, 0, self.time_msc // 1000 + self.between(-1, 6)))


def session(seed: int, length: int = 60) -> Session:
    """Some ticks and requests; the seed says all of it."""
    maker = _Maker(seed)
    steps: list[Tick | Asked | Held] = [maker.tick(RATE), *(maker.tick() for _ in range(6))]
    steps += [maker.step() for _ in range(length)]
    return Session(
        maker.chosen(0, HEDGING), maker.chosen(100, 100, 500, 30),
        maker.chosen(10_000.0, 1e6, 400.0, 400.0), maker.chosen(0.0, 3.5, 0.07),
        maker.chosen(0, 0, 2), maker.chosen(0, 60, 150, 175), maker.levels, maker.chosen(0, 0, 3),
        maker.opening(), maker.chosen(0.15, 0.3, 0.05) if maker.fills_in_part else 0.0,
        maker.chosen(INSTANT, AT_MARKET), maker.chosen(3, 3, 1, 2),
        maker.chosen(*PAIRS), tuple(steps),
    )  # fmt: skip


def as_lines(found: Session) -> Iterator[str]:
    """A session as the emulated broker's program reads it."""
    yield f"session {found.mode} {found.leverage} {found.balance}"
    yield f"set commission={found.commission}"
    yield f"set slippage_points={found.slippage_points}"
    yield f"set stop_out={found.stop_out_percent}"
    yield f"set depth_lots={found.depth_lots}"
    for name, size, contract in zip(names(found), SIZES, CONTRACTS, strict=True):
        currency = "CHF" if found.pair and name == NAMES[0] else "USD"
        yield (
            f"symbol {name} {size!r} {contract} 0.01 100 0.01 "
            f"{found.stops_level} {found.freeze_level} {found.execution} {found.filling_modes} "
            f"{currency}"
        )
    for step in found.steps:
        if isinstance(step, Tick):
            if any(found.open_ms):
                is_open = found.open_ms[0] <= step.time_msc < found.open_ms[1]
                yield f"set {'open' if is_open else 'closed'}={NAMES[0]}"
            yield f"tick {names(found)[step.symbol]} {step.time_msc} {step.bid!r} {step.ask!r}"
        elif isinstance(step, Held):
            each = SLTP if step.action == CHANGE_HELD else REMOVE
            yield f"held {each} {NAMES[step.symbol]} {step.magic} {step.sl!r} {step.tp!r}"
        else:
            yield (
                f"request {step.action} {step.type} {NAMES[step.symbol]} {step.lots!r} "
                f"{step.price!r} {step.sl!r} {step.tp!r} {_ticket(step.order)} "
                f"{_ticket(step.position)} {step.magic} {step.expires_s} "
                f"{step.limit_price!r} {step.filling}"
            )
    yield "end"


def names(found: Session) -> tuple[str, ...]:
    """Of the symbols."""
    return (*NAMES[:RATE], found.pair or NAMES[RATE])


def sessions_of(open_ms: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """From milliseconds since 1970, which began on a Thursday, to those of a week."""
    thursday_ms = 4 * 86_400_000
    return ((open_ms[0] + thursday_ms, open_ms[1] + thursday_ms),) if any(open_ms) else ()


def _ticket(number: int) -> int:
    return BASE + number if number else 0


def ours(found: Session) -> list[str]:
    """What our broker makes of a session, in the words of the emulated one's program."""
    broker = Broker(
        Terms(
            found.mode == HEDGING, found.balance, found.leverage, money_digits=2,
            stop_out_percent=found.stop_out_percent,
        ),
        [
            Specification(
                size, size, contract, 0.01, 100.0, 0.01, found.stops_level, found.freeze_level,
                found.slippage_points, found.commission,
                sessions=sessions_of(found.open_ms) if row == 0 else (),
                depth_lots=found.depth_lots, filling_modes=allowed(found),
            )
            for row, (size, contract) in enumerate(zip(SIZES, CONTRACTS, strict=True))
        ],
    )  # fmt: skip
    if found.pair:
        broker.convert(0, [(RATE, DIRECT if found.pair == PAIRS[1] else INVERSE)])
    lines = []
    for step in found.steps:
        if isinstance(step, Tick):
            broker.tick(step.symbol, step.time_msc, step.bid, step.ask)
        elif isinstance(step, Held):
            lines.append(f"held {broker.execute(_of_held(step))['retcode']}")
        else:
            lines.append(f"retcode {broker.send(_request(step))}")
    return lines + _books(broker)


def allowed(found: Session) -> int:
    """Bits of ours for SYMBOL_FILLING_MODE, whose lowest are FOK and IOC."""
    return codes.ALL_FILLINGS if found.execution == INSTANT else found.filling_modes << codes.FOK


def _request(step: Asked) -> Any:
    record = np.zeros(1, REQUEST)[0]
    for name in ("action", "type", "symbol", "lots", "price", "sl", "tp", "order", "position",
                 "magic", "limit_price"):  # fmt: skip
        record[name] = getattr(step, name)
    record["expires_msc"] = 1000 * step.expires_s
    record["filling"] = step.filling + codes.FOK
    return record


def _of_held(step: Held) -> Any:
    record = np.zeros(1, REQUEST)[0]
    for name in ("action", "symbol", "magic", "sl", "tp"):
        record[name] = getattr(step, name)
    return record


def _books(broker: Broker) -> list[str]:
    lines = [
        _line("deal", _ticket(d["order"]), d["time_msc"], d["magic"], _ticket(d["position_id"]),
              d["type"], d["entry"], d["reason"], d["volume"], d["price"], d["commission"],
              d["profit"], d["sl"], d["tp"], NAMES[d["symbol"]])
        for d in broker.take_deals()
    ]  # fmt: skip
    lines += [
        _line("position", _ticket(p["ticket"]), _ticket(p["identifier"]), int(p["side"] < 0),
              p["magic"], p["lots"], p["price"], p["sl"], p["tp"], NAMES[p["symbol"]])
        for p in broker.positions
    ]  # fmt: skip
    lines += [
        _line("order", _ticket(o["ticket"]), o["type"], o["magic"], o["lots"], o["price"], o["sl"],
              o["tp"], o["expires_msc"] // 1000, NAMES[o["symbol"]])
        for o in broker.orders
    ]  # fmt: skip
    return [*lines, _line("balance", broker.balance)]


def _line(*values: Any) -> str:
    return " ".join(f"{v:.17g}" if isinstance(v, float) else str(v) for v in values)
