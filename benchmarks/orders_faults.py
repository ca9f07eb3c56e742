"""What else befalls a terminal of the crash proof: begun again, logged in elsewhere, files held."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.mql5 import matrix

ACCOUNTS = {
    "5001@Crash/trader": "login=5001 server=Crash",
    "5002@Other/trader": "login=5002 server=Other",
}
"""What each trader's terminal is logged in to; the first is the script's own."""
_WITHIN_MS = 400  # a life mostly ends soon after
_FAILING = "Symbols='NOPE'"
_CLOSED = "CLOSE"  # a moment of a script would come in each run again
_SWITCHES, _PAUSE_MS = 60, (150, 1_500)
_FILES = "files open=0.05 move=0.4 delete=0.2 write=0.05"


def life(source: random.Random, *, switches: bool, last: bool = False) -> Iterator[str]:
    """Statements for one life of a terminal; the last one, in which all ends, has no faults."""
    if switches:
        yield from _switches(source, 10 * _SWITCHES if last else _SWITCHES)
    if last:
        return
    held, late = source.random() < 0.3, source.random() < 0.2
    if held:
        yield _FILES
    if late:
        yield f"account login_ms={source.randint(20, 200)}"
    for reason in source.choices(matrix.ALL, k=source.randint(0, 2)):
        # With other inputs OnInit fails at once only where the account and its folder are known.
        if reason != _CLOSED and not (reason == "INITFAILED" and (held or late)):
            yield f"at ms={source.randint(0, _WITHIN_MS)} {again(reason)}"


def again(reason: str) -> str:
    """The trader ends for a reason and begins again."""
    return matrix.change("Trader", reason, _FAILING)


def closes(source: random.Random) -> str | None:
    """The command that closes the terminal and starts it again, in some lives."""
    return again(_CLOSED) if source.random() < 0.15 else None


def _switches(source: random.Random, count: int) -> Iterator[str]:
    """To and fro, so that each account gets its turn however long the life lasts."""
    at_ms, words = 0, list(ACCOUNTS.values())
    begin = source.randint(0, 1)
    for number in range(count):
        at_ms += source.randint(*_PAUSE_MS)
        yield f'at ms={at_ms} account="{words[(begin + number) % len(words)]}"'
