"""`--account FILE`: the account and what trading its symbols costs, as TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec

from cep.account.slippage import MS_A_SECOND, NONE, RANGE_SECONDS, Slippage, slippage_in
from mt5bridge.broker import Specification, Terms, codes
from mt5bridge.orders import Limits
from mt5bridge.orders.limits import MINUTES_A_DAY
from mt5bridge.settings_errors import told
from mt5bridge.simulator.account import DEPOSIT

HOUR_MS, MINUTE_MS = 3_600_000, 60_000
OTHERS = "*"
"""The name of what holds for all symbols that have no part of their own."""


class AccountFileError(ValueError):
    """An account's file that cannot be used; `hint` says what to do about it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


MOST = 1e12
Size = Annotated[float, msgspec.Meta(ge=0, le=MOST)]
Cost = Annotated[float, msgspec.Meta(ge=-MOST, le=MOST)]
Above = Annotated[float, msgspec.Meta(gt=0, le=MOST)]
"""None is nan or infinite, which no comparison holds for."""
SAME = 1e-6
"""Values of ticks are rounded where contracts are not."""
SIDES = {"each": codes.EACH_SIDE, "entry": codes.ENTRY_SIDE, "exit": codes.EXIT_SIDE}
MODES = {
    "none": codes.NO_SWAP,
    "points": codes.SWAP_POINTS,
    "money": codes.SWAP_MONEY,
    "percent": codes.SWAP_PERCENT,
}
CURRENCY = re.compile(r"([A-Z]{3,8})?")
"""USD, or as long as USDT is; empty where nobody says it."""
Filling = Literal["fok", "ioc", "return"]
FILLINGS: tuple[Filling, ...] = get_args(Filling)
_FILLING_CODES = {"fok": codes.FOK, "ioc": codes.IOC, "return": codes.RETURN}
Day = Literal["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
DAYS: tuple[str, ...] = get_args(Day)
_DAY = "|".join(DAYS)
SPAN = re.compile(rf"({_DAY})(?:-({_DAY}))? (\d\d):(\d\d)-(\d\d):(\d\d)")
RISK = tuple(one.name for one in fields(Limits) if one.name not in ("dry_run", "named"))
"""What `[risk]` may have, as in the settings of the daemon."""


def spans(text: str) -> list[tuple[int, int]]:
    """Ms of the week of `monday-friday 00:05-23:55`, a span for each day. ValueError: no such."""
    match = SPAN.fullmatch(text)
    days = [DAYS.index(day) for day in match.group(1, 2) if day] if match else []
    if match is None or days[0] > days[-1]:
        raise ValueError(f"session {text!r}: use such as 'monday-friday 00:05-23:55'")
    hours, minutes = (tuple(map(int, match.group(*pair))) for pair in ((3, 5), (4, 6)))
    first, last = (60 * hour + minute for hour, minute in zip(hours, minutes, strict=True))
    if not first < last <= MINUTES_A_DAY or max(minutes) > 59:
        raise ValueError(f"session {text!r}: its times must follow each other, 24:00 at the latest")
    starts = [day * MINUTES_A_DAY for day in range(days[0], days[-1] + 1)]
    return [(MINUTE_MS * (start + first), MINUTE_MS * (start + last)) for start in starts]


def _mask(names: Iterable[str]) -> int:
    """The bits of filling modes."""
    return sum(1 << _FILLING_CODES[name] for name in set(names))


_CODES: dict[str, Callable[[Any], Any]] = {
    "commission_side": SIDES.__getitem__,
    "filling_modes": _mask,
    "swap_mode": MODES.__getitem__,
    "sessions": lambda texts: tuple(span for text in texts for span in spans(text)),
    "swap_triple_day": DAYS.index,
}
"""How the broker has what a file says in words."""


class AccountPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[account]`. Its money has `money_digits` decimals; the server's midnight is so many hours
    before that of UTC. Without a `balance` it begins with `DEPOSIT`.
    """

    hedging: bool = False
    balance: Size | None = None
    currency: str = ""
    leverage: Size = 0.0
    money_digits: Annotated[int, msgspec.Meta(ge=0, le=8)] = 2
    stop_out_percent: Size = 0.0
    server_ahead_hours: Annotated[float, msgspec.Meta(ge=-24, le=24)] = 0.0
    fills: tuple[float, ...] = (1.0,)


class SymbolPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[symbols.NAME]`: what the broker says of a symbol; see `Specification`. Zero: no limit.

    `tick_value` is what a tick brings for a lot, in the currency of profits; by the size of a tick
    it is the contract size, whatever `contract_size` says. What is None here the file leaves to who
    describes the symbol otherwise, a terminal or nobody.
    """

    point: Size = 0.0
    tick_size: Size = 0.0
    tick_value: Above | None = None
    contract_size: Above | None = None
    profit_currency: str = ""
    volume_min: Size | None = None
    volume_max: Size | None = None
    volume_step: Size | None = None
    stops_level_points: Size | None = None
    freeze_level_points: Size | None = None
    depth_lots: Size = 0.0
    filling_modes: Annotated[tuple[Filling, ...], msgspec.Meta(min_length=1)] | None = None
    slippage_points: Size = 0.0
    slippage_spread: Size = 0.0
    impact_points: Size = 0.0
    impact_lots: Above = 1.0
    impact_power: Above = 1.0
    slippage_range: Size = 0.0
    slippage_range_seconds: Annotated[float, msgspec.Meta(ge=0.001, le=MOST)] = RANGE_SECONDS
    slippage_random_points: Size = 0.0
    slippage_seed: Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)] = 0
    commission_per_lot: Cost = 0.0
    commission_per_mille: Cost = 0.0
    commission_side: Literal["each", "entry", "exit"] = "each"
    swap_mode: Literal["none", "points", "money", "percent"] | None = None
    swap_long: Cost | None = None
    swap_short: Cost | None = None
    swap_triple_day: Day | None = None
    sessions: tuple[str, ...] | None = None

    def specification(
        self, told: Specification, slippage_points: float, slippage: Slippage = NONE
    ) -> Specification:
        """Of a symbol of which this is `told`, its point among it; what is not given here is taken
        from the arguments: key by key, slippage where nothing of it is.
        """
        own = msgspec.structs.asdict(self)
        range_ms = round(own.pop("slippage_range_seconds") * MS_A_SECOND)
        own |= {
            "point": told.point,
            "tick_size": self.tick_size or told.tick_size,
            "slippage_range_ms": range_ms if self.slippage_range else 0,
        }
        if own.pop("tick_value") and own["tick_size"]:
            own["contract_size"] = self._contract(own["tick_size"])
        if self.filling_modes is not None:
            own["filling"] = _FILLING_CODES[self.filling_modes[0]]
        given = {key: value for key, value in own.items() if value is not None}
        as_codes = {key: code(given[key]) for key, code in _CODES.items() if key in given}
        found = replace(told, **(given | as_codes))
        if self.slippage_points or not slippage_in(found).is_none:
            return found
        return replace(found, slippage_points=slippage_points, **asdict(slippage))

    def _contract(self, tick_size: float) -> float:
        """What the value of a tick makes of the contract: 100000 of 1 and 0.00001, and no more
        digits than decimals of prices and money have.
        """
        return float(f"{(self.tick_value or 0.0) / tick_size:.12g}")

    @property
    def has_contract(self) -> bool:
        """Whether it says what a lot is worth."""
        return self.contract_size is not None or self.tick_value is not None

    def over(self, said: SymbolPart) -> SymbolPart:
        """What is given here, key by key, and else what is `said`."""
        own, plain = msgspec.structs.asdict(self), msgspec.structs.asdict(SymbolPart())
        given = {key: value for key, value in own.items() if value != plain[key]}
        return msgspec.structs.replace(said, **laid_over({}, given))

    @property
    def costs_money(self) -> bool:
        """Whether its lots cost amounts, however much they are worth."""
        return bool(self.commission_per_lot) or self.swap_mode == "money"


def laid_over(said: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of a symbol that somebody says, and over them those that another gives: a contract size
    of these stands over the value of a tick.
    """
    plain = {"tick_value": None} if "contract_size" in given else {}
    return {**said, **plain, **given}


class AccountFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole file."""

    account: AccountPart = AccountPart()
    symbols: dict[str, SymbolPart] = {}
    risk: dict[str, Any] = {}

    @property
    def limits(self) -> Limits | None:
        """Of the risk guard; None where there are none. ValueError names the key that is wrong."""
        for name in self.risk:
            if name not in RISK:
                raise ValueError(f"`risk.{name}`: no such key; there are {', '.join(RISK)}")
        return msgspec.convert(self.risk, Limits) if self.risk else None

    def terms(self, plain: Terms) -> Terms:
        """Of the account, which is `plain` without the file. It is a hedging account where either
        says so; where neither says anything of money there is none, and nothing is rounded.
        """
        own, is_money = self.account, self.has_money or plain.balance > 0
        balance = DEPOSIT if own.balance is None and is_money else own.balance or 0.0
        digits = own.money_digits if is_money else plain.money_digits
        return Terms(
            own.hedging or plain.hedging, balance, own.leverage, digits, own.fills,
            stop_out_percent=own.stop_out_percent,
            server_ahead_ms=int(own.server_ahead_hours * HOUR_MS), currency=own.currency,
        )  # fmt: skip

    def part(self, symbol: str) -> SymbolPart | None:
        """What it says of a symbol."""
        return self.symbols.get(symbol) or self.symbols.get(OTHERS)

    def profit_currency(self, symbol: str) -> str:
        """What the profits of a symbol are in; empty where nobody says it."""
        part = self.part(symbol)
        return "" if part is None else part.profit_currency

    @property
    def has_money(self) -> bool:
        """Whether it says anything of the account's money: how much, of what, or what is lent."""
        own = self.account
        return own.balance is not None or bool(own.currency) or bool(own.leverage)

    @property
    def limits_losses(self) -> bool:
        """Whether the risk guard counts money."""
        return self.limits is not None and self.limits.loss_per_day > 0

    @property
    def points(self) -> dict[str, float]:
        """The sizes of points that it says."""
        return {name: part.point for name, part in self.symbols.items() if part.point}


def section(symbol: str) -> str:
    """The head of a symbol's section, as TOML has it: its strings are written as JSON's are."""
    return f"[symbols.{json.dumps(symbol, ensure_ascii=False)}]"


def check_symbol(name: str, part: SymbolPart) -> None:
    """ValueError for what no broker says of a symbol."""
    if 0 < (part.volume_max or 0) < (part.volume_min or 0):
        raise ValueError(
            f"`symbols.{name}`: volume_max {part.volume_max:g} is below volume_min "
            f"{part.volume_min:g}; no order could be filled"
        )
    _check_currency(f"symbols.{name}.profit_currency", part.profit_currency)
    part.specification(Specification(1.0, 1.0), 0.0)


def _check_contract(name: str, part: SymbolPart) -> None:
    """ValueError for a file that says two things of what a lot is worth, as terminals may."""
    told = part.specification(Specification(1.0, 1.0), 0.0).contract_size
    if part.tick_size and part.contract_size and abs(told / part.contract_size - 1) > SAME:
        raise ValueError(
            f"`symbols.{name}`: tick_value {part.tick_value:g} for {part.tick_size:g} is a "
            f"contract_size of {told:g}, and not {part.contract_size:g}; leave one of them out"
        )


def check_account(part: AccountPart) -> None:
    """ValueError for what no account is."""
    AccountFile(account=part).terms(Terms())
    _check_currency("account.currency", part.currency)


def _check_currency(key: str, value: str) -> None:
    """ValueError for what is no currency."""
    if not CURRENCY.fullmatch(value):
        raise ValueError(f"`{key}` {value!r} is no currency: write it in capitals, such as USD")


def _check_sections(symbols: object) -> None:
    """ValueError names the symbol whose section is wrong, among many."""
    for name, keys in symbols.items() if isinstance(symbols, dict) else ():
        if not isinstance(keys, dict):
            raise ValueError(f"`symbols.{name}`: a symbol has a section: {section(name)}")
        inner = [key for key, value in keys.items() if isinstance(value, dict)]
        if inner:
            raise ValueError(
                f"`symbols.{name}.{inner[0]}`: is {name}.{inner[0]} a symbol? Then write its name "
                f"in quotes: {section(f'{name}.{inner[0]}')}"
            )
        try:
            msgspec.convert(keys, SymbolPart)
        except msgspec.ValidationError as problem:
            raise ValueError(told(problem, SymbolPart, f"symbols.{name}")) from None


def read_account(path: Path) -> AccountFile:
    """AccountFileError names the file and the key that is wrong."""
    try:
        plain = msgspec.toml.decode(path.read_text(encoding="utf-8"))
        _check_sections(plain.get("symbols"))
        found = msgspec.convert(plain, AccountFile)
        check_account(found.account)
        _ = found.limits
        for name, part in found.symbols.items():
            check_symbol(name, part)
            _check_contract(name, part)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as problem:
        hint = "docs/backtest.md has all keys: Account and costs"
        said = str(problem)
        if isinstance(problem, msgspec.ValidationError):
            said = told(problem, AccountFile)
        raise AccountFileError(f"{path}: {said}", hint) from None
    if OTHERS in found.points:
        raise AccountFileError(
            f"{path}: `point` of symbols.{OTHERS}: symbols have points of their own",
            "say it of each symbol, or leave it to the prices",
        )
    return found
