"""What the translator says when it cannot go on: place, line, caret, remedy."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class SourceFile:
    """One MQL5 file: where it lies, what messages call it, its text."""

    path: Path
    name: str
    text: str = field(repr=False)
    is_library: bool = False
    """Whether it is of others, whose warnings are none of the author's."""

    def line(self, number: int) -> str:
        """Line `number`, counted from 1; empty behind the end."""
        lines = self.text.splitlines()
        return lines[number - 1] if number <= len(lines) else ""


class TranslationError(Exception):
    """MQL5 that is not translated; the text names file, line, column, and what to write instead."""

    def __init__(self, file: SourceFile, line: int, column: int, problem: str, remedy: str) -> None:
        self.file, self.line, self.column = file, line, column
        self.problem, self.remedy = problem, remedy
        shown = file.line(line).replace("\t", " ")
        super().__init__(
            f"{file.name}({line},{column}): {problem}\n"
            f"  {shown}\n  {' ' * (column - 1)}^\n"
            f"  {remedy}"
        )
