"""Golden traces as text files: a case as in `tests/semantics`, then what its traces say.

Behind `title`, `why`, `rules` and `in` stand sections `trace KEY [RULE ..]:` with the lines that
`replay --trace KEY --rule RULE ..` prints for these rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.semantics.loader import Case, parse_case
from tests.trace.blocks import blocks

FOLDER = Path(__file__).parent / "golden"
SECTION = re.compile(r"^trace (.*):\n((?:(?: .*)?\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Golden:
    """One trace of a case."""

    case: Case
    key: str
    names: tuple[str, ...]
    expected: list[str]

    def __str__(self) -> str:
        return " ".join((self.case.name, self.key, *self.names))

    def trace(self) -> list[str]:
        """What the trace says now."""
        rows = list(self.case.rows_in)
        return [
            line for one in blocks(self.case.plan(), self.key, rows, self.names) for line in one
        ]


def goldens() -> list[Golden]:
    """All traces of all files."""
    return [one for path in sorted(FOLDER.glob("*.txt")) for one in _read(path)]


def _read(path: Path) -> list[Golden]:
    text = path.read_text(encoding="utf-8")
    case = parse_case(SECTION.sub("", text) + "out:\n", path.stem)
    found = []
    for heading, lines in SECTION.findall(text):
        key, *names = heading.split()
        expected = [line[4:] for line in lines.rstrip("\n").split("\n")]
        found.append(Golden(case, key, tuple(names), expected))
    return found
