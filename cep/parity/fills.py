"""What became of orders at a terminal, and at the broker here over the same ticks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from cep.backtest.simulate import Outcome
from cep.backtest.trading import answer_text
from mt5bridge.broker import Table, codes
from mt5bridge.orders.book import Fate
from mt5bridge.wire import Signal, SignalStatus

LOTS_NOISE = 1e-9
CHANGE, CHANGED = "change", "done"
"""What a pair is about that deals nothing, and what became of it if it was carried out."""
ID_DIGITS = 16
"""Hexadecimal digits of an order's id at the beginning of a deal's comment."""


@dataclass(frozen=True, slots=True)
class Fill:
    """Lots, their mean price, and when the first of them were dealt (ms UTC); no lots: `why`."""

    lots: float = 0.0
    price: float = 0.0
    time_msc: int = 0
    why: str = ""

    @classmethod
    def of(cls, parts: Iterable[tuple[float, float, int]], why: str = "") -> Fill:
        """Of (lots, price, time) of deals."""
        found = [part for part in parts if part[0] > 0.0]
        lots = sum(part[0] for part in found)
        if not found:
            return cls(why=why or "nothing was dealt")
        worth = sum(part[0] * part[1] for part in found)
        return cls(round(lots, 8), worth / lots, min(part[2] for part in found))

    @property
    def text(self) -> str:
        if not self.lots:
            return f"not filled ({self.why})"
        return f"{self.lots:g} lots at {self.price:.10g}"


@dataclass(frozen=True, slots=True)
class Pair:
    """One order, or what its stop or target closed, as a terminal dealt it and as it is here.

    `point` is the size of its symbol's point.
    """

    terminal: str
    signal: Signal
    what: str
    lived: Fill
    again: Fill
    is_buy: bool
    point: float

    @property
    def are_both(self) -> bool:
        return bool(self.lived.lots and self.again.lots)

    @property
    def worse_points(self) -> float:
        """How much worse than here the terminal's price was."""
        difference = self.lived.price - self.again.price
        return round((difference if self.is_buy else -difference) / self.point, 6) + 0.0

    @property
    def later_ms(self) -> int:
        """How much later than here the terminal dealt."""
        return self.lived.time_msc - self.again.time_msc

    @property
    def differs(self) -> bool:
        """In lots, price or time, or in being filled at all."""
        if self.what == CHANGE:
            return (self.lived.why == CHANGED) != (self.again.why == CHANGED)
        if not self.are_both:
            return bool(self.lived.lots) != bool(self.again.lots)
        has_other_lots = abs(self.lived.lots - self.again.lots) > LOTS_NOISE
        return has_other_lots or bool(self.worse_points) or bool(self.later_ms)

    @property
    def text(self) -> str:
        """In one line."""
        one = self.signal
        found = [
            fill.why if self.what == CHANGE else fill.text for fill in (self.lived, self.again)
        ]
        begin = (
            f"{self.terminal} {self.what} {one.id:016x} {one.name} {one.symbol}: lived "
            f"{found[0]}; again {found[1]}"
        )
        if not self.are_both:
            return begin
        return f"{begin}; {self.worse_points:+g} points worse, {self.later_ms:+,} ms later"


@dataclass(frozen=True, slots=True)
class Summary:
    """Of all pairs: means and the most, of those that are filled on both sides."""

    pairs: Sequence[Pair]

    @property
    def lines(self) -> list[str]:
        """As text."""
        dealt = [pair for pair in self.pairs if pair.what != CHANGE]
        changes = [pair for pair in self.pairs if pair.what == CHANGE]
        both = [pair for pair in dealt if pair.are_both]
        found = [_counts("fills", [(pair.lived.lots > 0, pair.again.lots > 0) for pair in dealt])]
        if changes:
            sides = [(one.lived.why == CHANGED, one.again.why == CHANGED) for one in changes]
            found.append(_counts("changes", sides))
        if both:
            worse = [pair.worse_points for pair in both]
            later = [pair.later_ms for pair in both]
            more = sum(pair.lived.lots - pair.again.lots for pair in both)
            found.append(
                f"lived against again: price {fmean(worse):+.2f} points worse on the mean "
                f"({min(worse):+g} to {max(worse):+g}), {fmean(later):+,.0f} ms later "
                f"({min(later):+,} to {max(later):+,}), {round(more, 8) + 0.0:+g} lots"
            )
        return found


def _counts(what: str, sides: Sequence[tuple[bool, bool]]) -> str:
    """How much of it there was lived, and again."""
    both, lived, again, none = (
        sides.count(one) for one in ((True, True), (True, False), (False, True), (False, False))
    )
    return (
        f"{what}: {both:,} of both, {lived:,} only lived, {again:,} only again, {none:,} of neither"
    )


def lived_change(fate: Fate) -> Fill:
    """What a terminal has told of a change of what is held or pending."""
    is_done = any(one.status is SignalStatus.EXECUTED for one in fate.results)
    return Fill(why=CHANGED) if is_done else lived_fill(fate)


def again_change(outcome: Outcome, tag: int) -> Fill:
    """What the broker here has made of one."""
    code = int(outcome.retcodes[tag - 1])
    return Fill(why=CHANGED if code == codes.DONE else answer_text(code))


def lived_fill(fate: Fate) -> Fill:
    """What a terminal has told of an order."""
    parts = [(one.lots, one.price, one.time_msc) for one in fate.results if one.status.is_fill]
    last = fate.results[-1] if fate.results else None
    why = fate.state if last is None else f"{fate.state}: {last.text}" if last.text else fate.state
    return Fill.of(parts, why)


def again_fill(outcome: Outcome, tag: int) -> Fill:
    """What the broker here has made of the order of a tag."""
    deals = outcome.deals[outcome.deals["tag"] == tag]
    return Fill.of(_parts(deals), answer_text(int(outcome.retcodes[tag - 1])))


def lived_exits(deals: Iterable[Mapping[str, Any]]) -> dict[int, Fill]:
    """What stops and targets of a terminal have closed, by the id of the order that opened it.

    `deals` are one terminal's, as rows of an archive.
    """
    opened: dict[int, int] = {}
    exits: dict[int, list[tuple[float, float, int]]] = {}
    for deal in deals:
        if (number := _number(deal["comment"])) is not None:
            opened.setdefault(int(deal["position_id"]), number)
        elif (number := opened.get(int(deal["position_id"]))) is not None:
            exits.setdefault(number, []).append(_part(deal))
    return {number: Fill.of(parts) for number, parts in exits.items()}


def again_exits(outcome: Outcome, numbers: Mapping[int, int]) -> dict[int, Fill]:
    """The same of the broker here; `numbers` are the ids of orders by their tags."""
    deals = outcome.deals
    exits: dict[int, list[tuple[float, float, int]]] = {}
    for deal in deals[deals["tag"] == 0]:
        exits.setdefault(numbers[int(deal["opened_by"])], []).append(_part(deal))
    return {number: Fill.of(parts) for number, parts in exits.items()}


def _parts(deals: Table) -> list[tuple[float, float, int]]:
    return [_part(deal) for deal in deals]


def _part(deal: Any) -> tuple[float, float, int]:
    return float(deal["volume"]), float(deal["price"]), int(deal["time_msc"])


def _number(comment: str) -> int | None:
    """The id that a deal's comment begins with."""
    digits = comment[:ID_DIGITS]
    try:
        return int(digits, 16) if len(digits) == ID_DIGITS and digits.isalnum() else None
    except ValueError:
        return None
