"""Broken lines: stop at the first one, or leave them out and count them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from mt5bridge.history.block import HistoryError

OnError = Literal["stop", "skip"]
KEPT = 20
SHOWN_CHARACTERS = 300
"""So much of a file is shown in a message: lines may have megabytes."""


@dataclass(slots=True)
class Broken:
    """Broken lines of one import; the first few are kept by name."""

    on_error: OnError = "stop"
    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, path: Path, line: int, what: str, remedy: str = "correct the line") -> None:
        """Note one broken line, or raise HistoryError when the import is to stop."""
        place = f"{path}:{line}: {clipped(what)}"
        if self.on_error == "stop":
            raise HistoryError(
                f"{place}; {remedy}, or skip broken lines (`archive import --skip-broken`)"
            )
        self.count += 1
        if len(self.examples) < KEPT:
            self.examples.append(place)


def clipped(text: str) -> str:
    """What a message shows of a text from a file: its beginning, and nothing unseen."""
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text[:SHOWN_CHARACTERS])
    return shown if len(text) <= SHOWN_CHARACTERS else f"{shown} ..."
