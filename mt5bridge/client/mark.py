"""How far a program has come in what a daemon numbers: to be kept, and to go on from."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec


class Mark(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The numbers of the newest complex events had, by name, under one numbering (13.3, 13.4)."""

    numbering: int = 0  # 0: none yet
    numbers: dict[str, int] = {}

    @classmethod
    def parse(cls, text: str | bytes) -> Mark:
        """What `str` has made of one. ValueError, with the remedy, when it is none."""
        try:
            return msgspec.json.decode(text, type=cls)
        except msgspec.MsgspecError as problem:
            raise ValueError(
                f"no mark of a subscription: {problem}; leave it out to begin with what comes now"
            ) from None

    def __str__(self) -> str:
        """One line of JSON."""
        return msgspec.json.encode(self).decode()


@dataclass(frozen=True, slots=True)
class Missed:
    """Complex events of a name, or rows, that the daemon did not keep for us, by their numbers.

    Without numbers it has begun to number anew, because of other rules or another spool, and nobody
    can say how many are missing; without a name, all but orders.
    """

    name: str = ""
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        if not self.last:
            what = (
                f"{self.name} (another order journal)" if self.name else "complex events and rows"
            )
            return (
                f"the daemon has begun to number {what} anew: what came before that and was not "
                "received is missing"
            )
        return f"of {self.name} is missing: {self.first} to {self.last}"
