"""What else befalls the chaos proof's terminal: begun again, logged in elsewhere, files held."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from tests.mql5 import matrix

FIRST, OTHER = "5001@Chaos", "5002@Other"
"""The script's account, and the one that the terminal is also logged in to."""
TO_OTHER = 'account="login=5002 server=Other"'
_TO_FIRST = 'account="login=5001 server=Chaos"'
_FAILING = "Symbols='NOPE'"
_REASONS, _VISITS, _HELD = 3, 2, 2
_FILES = ("open", "move", "delete", "write")
_SHARES = (0.2, 0.5, 0.2, 0.1)


@dataclass(frozen=True, slots=True)
class Names:
    """What the publisher is to the daemon with the first and with the other account."""

    first: str
    other: str
    log: str = f"broker-{OTHER}.log"

    @property
    def chosen(self) -> str:
        """The input Identity."""
        return "" if self.first == FIRST else self.first


def names(seed: int) -> Names:
    """With every fourth and the next seed an identity of the user's choice."""
    return Names(FIRST, OTHER) if seed % 4 < 2 else Names("desk", f"desk/{OTHER}")


def statements(source: random.Random, seed: int, ticks: int) -> Iterator[str]:
    """Statements of the script, at ticks drawn from all; files fail with every second seed."""
    held = seed % 2 == 0
    # Where its folder is held, OnInit waits and does not fail, whatever the inputs.
    reasons = [one for one in matrix.ALL if not held or one != "INITFAILED"]
    for reason in source.sample(reasons, _REASONS):
        what = matrix.change("Publisher", reason, _FAILING)
        yield f"at tick={source.randrange(1, ticks)} {what}"
    moments = sorted(source.sample(range(1, ticks), 2 * _VISITS))
    for at, tick in enumerate(moments):
        yield f"at tick={tick} {_TO_FIRST if at % 2 else TO_OTHER}"
    moments = sorted(source.sample(range(1, ticks), 2 * _HELD)) if held else []
    for at, tick in enumerate(moments):
        shares = _SHARES if at % 2 == 0 else (0, 0, 0, 0)
        faults = " ".join(f"{deed}={share}" for deed, share in zip(_FILES, shares, strict=True))
        yield f'at tick={tick} files="{faults}"'
