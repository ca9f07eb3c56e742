"""The C++ text: tokens at the lines and columns they have in the MQL5 sources."""

from __future__ import annotations

from collections.abc import Iterable

from mt5bridge.emulator.translate.errors import SourceFile
from mt5bridge.emulator.translate.tokens import Token, TokenKind

# By file and line of the sources: columns of the C++, and those of the MQL5 they stand for.
Columns = dict[tuple[str, int], list[tuple[int, int]]]
_NEAR = 6  # so many empty lines cost less than a mark of the line


class Writer:
    """Collects C++ so that the compiler's messages name the MQL5 line, and keeps the columns."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._file: SourceFile | None = None
        self._line = self._column = 0
        self.columns: Columns = {}

    def raw(self, text: str) -> None:
        """Lines that are in no MQL5 file."""
        self._mark(1, "generated", is_library=False)
        self._parts.append(f"{text}\n")
        self._file = None

    def tokens(self, tokens: Iterable[Token]) -> None:
        """Tokens, each at its place."""
        for token in tokens:
            self._move_to(token)
            text = f"{token.before}{token.text}{token.after}"
            known = self.columns.setdefault((token.file.name, token.line), [])
            known.append((self._column, token.column))
            self._parts.append(text)
            self._column += len(text)
            if token.kind is TokenKind.DIRECTIVE:
                self._parts.append("\n")
                self._line, self._column = self._line + 1, 1

    def text(self) -> str:
        """Everything so far."""
        return "".join(self._parts)

    def _mark(self, line: int, name: str, *, is_library: bool) -> None:
        """Where the next line stands; 3 keeps g++ from warning, until a mark without it."""
        self._parts.append(f'\n# {line} "{name}"{" 3" * is_library}\n')

    def _move_to(self, token: Token) -> None:
        ahead = token.line - self._line
        own_line = token.kind is TokenKind.DIRECTIVE and self._column > 1
        if token.file is not self._file or ahead < 0 or ahead > _NEAR or (own_line and not ahead):
            self._mark(token.line, token.file.name, is_library=token.file.is_library)
            self._column = 1
        elif ahead:
            self._parts.append("\n" * ahead)
            self._column = 1
        self._file, self._line = token.file, token.line
        gap = max(token.column - self._column, 0 if self._column == 1 else 1)
        self._parts.append(" " * gap)
        self._column += gap
