"""Broken lines: stop at the first one, or leave them out and count them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from mt5bridge.history.block import HistoryError

OnError = Literal["stop", "skip"]
KEPT = 20


@dataclass(slots=True)
class Broken:
    """Broken lines of one import; the first few are kept by name."""

    on_error: OnError = "stop"
    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, path: Path, line: int, what: str, remedy: str = "correct the line") -> None:
        """Note one broken line, or raise HistoryError when the import is to stop."""
        place = f"{path}:{line}: {what}"
        if self.on_error == "stop":
            raise HistoryError(
                f"{place}; {remedy}, or skip broken lines (`archive import --skip-broken`)"
            )
        self.count += 1
        if len(self.examples) < KEPT:
            self.examples.append(place)
