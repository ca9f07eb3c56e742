"""The recipes of CONTRIBUTING.md: what they change, and what is run then."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import FENCE, ROOT, Block

PAGE = ROOT / "CONTRIBUTING.md"
HUNKS = re.compile(r"^\.\.\.\n", re.MULTILINE)


@dataclass(frozen=True)
class Recipe:
    """A heading below "Recipes", and its blocks in order."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def changes(self) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.file)

    @property
    def commands(self) -> list[str]:
        texts = (block.text for block in self.blocks if block.language == "sh")
        return [line for text in texts for line in text.splitlines()]

    @property
    def checks(self) -> list[str]:
        """Programs that must end without an error."""
        return [block.text for block in self.blocks if block.info.strip() == "check"]


def recipes() -> list[Recipe]:
    text = PAGE.read_text(encoding="utf-8").partition("\n## Recipes\n")[2]
    parts = re.split(r"^### (.*)\n", text, flags=re.MULTILINE)[1:]
    return [
        Recipe(title, tuple(Block(m[1] or "", m[2], m[3], 0) for m in FENCE.finditer(body)))
        for title, body in zip(parts[::2], parts[1::2], strict=True)
    ]


def apply(block: Block, folder: Path) -> None:
    """Make the file, or change it; ValueError when the block does not fit what is there."""
    assert block.file is not None
    path = folder / block.file
    if block.language != "diff":
        if path.exists():
            raise ValueError(f"{block.file} is there already")
        path.write_text(block.text, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    for hunk in HUNKS.split(block.text):
        before, after = _side(hunk, "-"), _side(hunk, "+")
        if text.count(before) != 1:
            raise ValueError(f"{block.file} has {text.count(before)} times\n{before}")
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")


def _side(hunk: str, mark: str) -> str:
    """What a hunk looks like before (`-`) or after (`+`) it; a line without a mark is empty."""
    lines = (line for line in hunk.splitlines() if line[:1] in ("", " ", mark))
    return "".join(f"{line[1:]}\n" for line in lines)
