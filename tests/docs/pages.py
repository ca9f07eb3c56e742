"""The documentation's pages and their fenced blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "mt5bridge/PROTOCOL.md",
]
FENCE = re.compile(r"^```([\w-]+)?[ \t]*(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: language, the rest of its first line, text and line in the page."""

    language: str
    info: str
    text: str
    line: int

    @property
    def file(self) -> str | None:
        """The name a `file=NAME` block is saved under for the blocks after it."""
        found = re.search(r"\bfile=(\S+)", self.info)
        return found[1] if found else None


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[1] or "", match[2], match[3], text.count("\n", 0, match.start()) + 1)
        for match in FENCE.finditer(text)
    ]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()
