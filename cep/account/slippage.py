"""`--slippage TEXT`: how much worse than the quote orders fill, as one text."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from mt5bridge.broker import Specification

MS_A_SECOND = 1000
RANGE_SECONDS = 60.0
WORDS = "POINTS, spread=SHARE, impact=POINTS/LOTS^POWER, range=SHARE/SECONDS, random=POINTS, seed=N"
EXAMPLE = "1,spread=0.25,impact=2/5^0.5,range=0.1/60,random=3,seed=7"


class SlippageError(ValueError):
    """A text that says no slippage; `hint` says what does."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.hint = f"its parts are {WORDS}, such as {EXAMPLE}"


@dataclass(frozen=True, slots=True)
class Slippage:
    """What comes to so many points of a symbol: see `Specification`, whose names these are."""

    slippage_spread: float = 0.0
    impact_points: float = 0.0
    impact_lots: float = 1.0
    impact_power: float = 1.0
    slippage_range: float = 0.0
    slippage_range_ms: int = 0
    slippage_random_points: float = 0.0
    slippage_seed: int = 0

    @property
    def is_none(self) -> bool:
        """Whether nothing comes to them."""
        return not (
            self.slippage_spread or self.impact_points or self.slippage_range
            or self.slippage_random_points
        )  # fmt: skip


NONE = Slippage()


def slippage_in(told: Specification) -> Slippage:
    """What comes to the points of a symbol."""
    return Slippage(**{one.name: getattr(told, one.name) for one in fields(Slippage)})


def slippage_of(text: float | str) -> tuple[float, Slippage]:
    """Points, and what comes to them. SlippageError says which part is none, and what parts are."""
    points, found = 0.0, dict[str, float]()
    seen = set[str]()
    for part in str(text).split(","):
        name, is_named, value = part.strip().partition("=")
        name, value = (name.strip(), value.strip()) if is_named else ("points", name)
        if name in seen:
            raise _wrong(part, f"{name} is said twice")
        seen.add(name)
        if name == "points":
            points = _number(part, value)
        elif name in _READERS:
            found |= _READERS[name](part, value)
        else:
            raise _wrong(part, "no such part")
    seed = int(found.pop("slippage_seed", 0))
    length_ms = int(found.pop("slippage_range_ms", 0))
    return points, Slippage(slippage_seed=seed, slippage_range_ms=length_ms, **found)


def _wrong(part: str, why: str) -> SlippageError:
    return SlippageError(f"slippage {part.strip()!r}: {why}")


def _number(part: str, text: str, least: float = 0.0) -> float:
    try:
        value = float(text)
    except ValueError:
        raise _wrong(part, f"{text!r} is no number") from None
    if not (least <= value < math.inf):
        raise _wrong(part, f"{text} must be {least:g} at least, and finite")
    return value


def _above_zero(part: str, text: str) -> float:
    value = _number(part, text)
    if value <= 0.0:
        raise _wrong(part, f"{text} must be above 0")
    return value


def _spread(part: str, text: str) -> dict[str, float]:
    return {"slippage_spread": _number(part, text)}


def _impact(part: str, text: str) -> dict[str, float]:
    points, _, rest = text.partition("/")
    lots, _, power = rest.partition("^")
    return {
        "impact_points": _number(part, points),
        "impact_lots": _above_zero(part, lots) if lots else 1.0,
        "impact_power": _above_zero(part, power) if power else 1.0,
    }


def _range(part: str, text: str) -> dict[str, float]:
    share, _, seconds = text.partition("/")
    length = _number(part, seconds, 0.001) if seconds else RANGE_SECONDS
    return {
        "slippage_range": _number(part, share), "slippage_range_ms": round(length * MS_A_SECOND)
    }  # fmt: skip


def _random(part: str, text: str) -> dict[str, float]:
    return {"slippage_random_points": _number(part, text)}


def _seed(part: str, text: str) -> dict[str, float]:
    value = _number(part, text)
    if value != int(value) or value >= 1 << 32:
        raise _wrong(part, "a seed is a whole number below 2^32")
    return {"slippage_seed": value}


_READERS = {
    "spread": _spread, "impact": _impact, "range": _range, "random": _random, "seed": _seed,
}  # fmt: skip
