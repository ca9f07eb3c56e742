"""Where two runs over the same records differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from mt5bridge.records import Records, text_of

NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """One of the `what`, counted from 1: as it was lived, and as it is when run again."""

    what: str
    number: int
    lived: str
    again: str

    @property
    def text(self) -> str:
        """In one line."""
        return f"{self.what} {self.number:,}: lived {self.lived}; again {self.again}"


def differing(what: str, lived: Sequence[bytes], again: Sequence[bytes]) -> list[Difference]:
    """Places at which two sequences of texts are not the same to the byte."""
    return [
        Difference(what, at, _shown(one), _shown(other))
        for at, (one, other) in enumerate(zip_longest(lived, again), 1)
        if one != other
    ]


def _shown(found: bytes | None) -> str:
    return NOTHING if found is None else found.decode("utf-8", errors="replace")


def deal_text(deal: Any) -> str:
    """The fields of a deal that people look at."""
    return (
        f"{int(deal['ticket'])} at {int(deal['time_msc'])} {text_of(deal['symbol'])} "
        f"type {int(deal['type'])} entry {int(deal['entry'])} {float(deal['volume']):g} lots at "
        f"{float(deal['price']):.10g}, profit {float(deal['profit']):g}, commission "
        f"{float(deal['commission']):g}, swap {float(deal['swap']):g}, {text_of(deal['comment'])!r}"
    )


def deal_differences(lived: Records, again: Records) -> list[Difference]:
    """Deals that are not the same to the byte."""
    pairs = (lived, again)
    one, other = ([deal.tobytes() for deal in deals] for deals in pairs)
    found = []
    for at, (left, right) in enumerate(zip_longest(one, other), 1):
        if left != right:
            texts = [deal_text(deals[at - 1]) if at <= len(deals) else NOTHING for deals in pairs]
            found.append(Difference("deal", at, *texts))
    return found
