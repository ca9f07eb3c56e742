"""The repository's MQL5 and C++ files, and what can be seen in them without a compiler."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.tidy.sources import ROOT, files

MQL5 = (".mq5", ".mqh")
SUFFIXES = (*MQL5, ".hpp", ".cpp")
_NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.[^\']*|[^\'\\\n])\'', re.DOTALL
)
# What may stand between a function's parameters and its body.
_BODY = re.compile(r"\)\s*(?:(?:const|override|final|noexcept|mutable)\s*|->\s*[\w:<>&*\s]+)*\Z")


@dataclass(frozen=True)
class Native:
    """One MQL5 or C++ file; `code` is its text with comments and literals blanked out."""

    path: Path
    text: str
    code: str

    @property
    def place(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def is_mql5(self) -> bool:
        return self.path.suffix in MQL5

    def functions(self) -> Iterator[tuple[int, int]]:
        """(first line, lines) of every function's body, and of every block with a condition."""
        return blocks(self.code)


def blanked(text: str) -> str:
    """The text with comments and literals as blanks; lines and columns stay."""
    return _NOISE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def blocks(code: str) -> Iterator[tuple[int, int]]:
    """(line, lines) of every `{ }` behind brackets, and of constructors' bodies."""
    open_: list[tuple[int, bool]] = []
    for found in re.finditer(r"[{}]", code):
        at = found.start()
        if found.group() == "{":
            open_.append((at, _BODY.search(code, max(0, at - 200), at) is not None))
        elif open_:
            start, counts = open_.pop()
            if counts:
                line = code.count("\n", 0, start) + 1
                yield line, code.count("\n", start, at) + 1


@functools.cache
def native_files() -> tuple[Native, ...]:
    """Every MQL5 and C++ file."""
    paths = (path for path in files() if path.suffix in SUFFIXES)
    texts = ((path, path.read_bytes().decode("utf-8")) for path in paths)
    return tuple(Native(path, text, blanked(text)) for path, text in texts)
