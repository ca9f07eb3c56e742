"""The options of a backtest: what each may be, whoever asks, a command or a program."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any, TypedDict, get_args

import numpy as np

from cep.account.market import MAGIC
from cep.account.slippage import SlippageError, slippage_of
from cep.backtest.bounds import (
    LATENCY_MS_MAX,
    MAGIC_MAX,
    POINT_MAX,
    POINT_MIN,
    VALID_SECONDS_MAX,
    Deals,
    Fills,
)
from cep.backtest.errors import BacktestError
from cep.lang import Given
from cep.plan.rule_file import read_rule_file

Moment = date | datetime | str | int | None
"""A time in UTC: `2024-03-01`, `2024-03-01T09:30`, or ms since 1970."""
_FIRST_MSC, _LAST_MSC = -62_135_596_800_000, 253_402_300_799_999
"""Of the years that a date can have."""


class Options(TypedDict, total=False):
    """Those of `mt5cep backtest`, by the same names: docs/operate.md says what each does.

    `start` and `end` are `--from` and `--to`. One text stands for a collection of it.
    """

    start: Moment
    end: Moment
    symbols: Collection[str] | None
    reject: Collection[str]
    streams: Collection[str] | None
    fills: Fills
    deals: Deals | None
    point: Mapping[str, float]
    valid_seconds: int
    magic: int
    account: Path | str | None
    parameters: Given
    hedging: bool
    latency: int
    slippage: float | str


DEFAULTS: Options = {
    "start": None, "end": None, "symbols": None, "reject": (), "streams": None,
    "fills": "next-tick", "deals": None, "point": {}, "valid_seconds": 60, "magic": MAGIC,
    "account": None, "parameters": {}, "hedging": False, "latency": 0, "slippage": 0.0,
}  # fmt: skip


def checked(options: Options) -> dict[str, Any]:
    """All of them as plain values, times in ms UTC, those left out as they are without.

    BacktestError names the one that cannot be, and says what can.
    """
    unknown = sorted(options.keys() - DEFAULTS.keys())
    if unknown:
        names = ", ".join(DEFAULTS)
        raise BacktestError(f"no option {', '.join(unknown)}", f"there are {names}")
    given: Options = DEFAULTS | options
    return {
        "start": _msc("start", given["start"]),
        "end": _msc("end", given["end"]),
        "symbols": _names("symbols", given["symbols"]),
        "reject": _names("reject", given["reject"]) or (),
        "streams": _names("streams", given["streams"]),
        "fills": _choice("fills", given["fills"], get_args(Fills)),
        "deals": _choice("deals", given["deals"], (None, *get_args(Deals))),
        "point": _points(given["point"]),
        "valid_seconds": whole("valid_seconds", given["valid_seconds"], 0, VALID_SECONDS_MAX),
        "magic": whole("magic", given["magic"], 0, MAGIC_MAX),
        "account": _file("account", given["account"]),
        "parameters": _mapping("parameters", given["parameters"], '{"Width": 1.5}'),
        "hedging": _flag("hedging", given["hedging"]),
        "latency": whole("latency", given["latency"], 0, LATENCY_MS_MAX),
        "slippage": _slippage(given["slippage"]),
    }


def whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """A whole number of a range. BacktestError."""
    try:
        number = operator.index(None if isinstance(value, bool) else value)  # type: ignore[arg-type]
    except TypeError:
        raise _wrong(name, value, "no whole number", f"give one from {least:,} on") from None
    if number < least or (most is not None and number > most):
        to = "on" if most is None else f"to {most:,}"
        raise _wrong(name, value, "out of its range", f"give one from {least:,} {to}")
    return number


def number(name: str, value: object, least: float, most: float) -> float:
    """A number of a range. BacktestError."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise _wrong(name, value, "no number", f"give one from {least:g} to {most:,.10g}")
    if not least <= value <= most:
        raise _wrong(name, value, "out of its range", f"give one from {least:g} to {most:,.10g}")
    return float(value)


def rules_text(rules: Path | str) -> tuple[str, str]:
    """Of a file, or a text itself, with a name for messages. BacktestError, RuleFileError."""
    if isinstance(rules, Path):
        try:
            return read_rule_file(rules), str(rules)
        except OSError as problem:
            what = f"rules: {rules} cannot be read ({problem.strerror})"
            raise BacktestError(what, "name a file of rules") from None
    if not isinstance(rules, str):
        raise _wrong("rules", rules, "no rules", "give Path(...) of a file, or their text")
    if "\n" not in rules and os.path.isfile(rules):  # noqa: PTH113 -- any text is fine with it
        hint = f"give Path({rules!r}): a text is the rules themselves"
        raise _wrong("rules", rules, "the name of a file, not its rules", hint)
    return rules, "rules"


def _wrong(name: str, value: object, what: str, hint: str) -> BacktestError:
    return BacktestError(f"{name}: {value!r} is {what}", hint)


def _choice(name: str, value: object, choices: Collection[str | None]) -> str | None:
    if (isinstance(value, str) or value is None) and value in choices:
        return value
    shown = ", ".join(map(str, choices))
    raise _wrong(name, value, "none of its values", f"there are {shown}")


def _names(name: str, value: object) -> tuple[str, ...] | None:
    """Texts; one stands for a list of it."""
    if value is None or isinstance(value, str):
        return None if value is None else (value,)
    found = tuple(value) if isinstance(value, Iterable) else (None,)
    if not all(isinstance(one, str) for one in found):
        raise _wrong(name, value, "no list of names", f'write {name}=["A", "B"]')
    return tuple(map(str, found))


def _mapping(name: str, value: object, example: str) -> dict[str, Any]:
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return dict(value)
    raise _wrong(name, value, "no values by name", f"write {name}={example}")


def _points(value: object) -> dict[str, float]:
    found = _mapping("point", value, '{"EURUSD": 0.00001}')
    return {
        symbol: number(f"point of {symbol}", size, POINT_MIN, POINT_MAX)
        for symbol, size in found.items()
    }


def _file(name: str, value: object) -> Path | None:
    if value is None or isinstance(value, (str, os.PathLike)):
        return None if value is None else Path(value)
    raise _wrong(name, value, "no file", f'give the path of one: {name}="account.toml"')


def _flag(name: str, value: object) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise _wrong(name, value, "neither True nor False", "give one of these")


def _slippage(value: object) -> float | str:
    """Points, or a text of parts."""
    try:
        slippage_of(value if isinstance(value, str) else number("slippage", value, 0.0, math.inf))
    except SlippageError as problem:
        raise BacktestError(str(problem), problem.hint) from None
    return value if isinstance(value, str) else float(value)  # type: ignore[arg-type]


def _msc(name: str, moment: object) -> int | None:
    """In ms UTC; a time without a zone is UTC."""
    if moment is None:
        return None
    hint = "write it such as 2024-03-01 or 2024-03-01T09:30, a date, or ms since 1970"
    try:
        if not isinstance(moment, (str, date)):
            return whole(name, moment, _FIRST_MSC, _LAST_MSC)
        found = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        if not isinstance(found, datetime):
            found = datetime.combine(found, time())
        return round((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError) as problem:
        raise BacktestError(f"{name}: {moment!r} is no moment ({problem})", hint) from None
