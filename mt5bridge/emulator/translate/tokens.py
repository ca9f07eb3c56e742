"""MQL5 as tokens, each with its place; comments are kept only where an input has one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

from mt5bridge.emulator.translate.errors import SourceFile, TranslationError


class TokenKind(Enum):
    """What a token is."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"
    CHARACTER = "character"
    DATE = "date"
    COLOR = "color"
    OPERATOR = "operator"
    DIRECTIVE = "directive"
    TYPE = "type"  # made by the translator: a C++ type


@dataclass(slots=True)
class Token:
    """A piece of source. `before` and `after` is C++ that the translator puts around it."""

    kind: TokenKind
    text: str
    file: SourceFile
    line: int
    column: int
    comment: str = ""
    before: str = ""
    after: str = ""
    head: str = ""  # of a #define: what stands before its body
    body: list[Token] = field(default_factory=list)

    def wrap(self, last: Token, function: str) -> None:
        """Put a call of `function` around this token up to `last`."""
        self.before = f"{function}({self.before}"
        last.after += ")"

    def error(self, problem: str, remedy: str) -> TranslationError:
        """The error that points at this token."""
        return TranslationError(self.file, self.line, self.column, problem, remedy)


_OPERATORS = (
    r"<<=|>>=|->\*?|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|::|\.\.\.|"
    r"[-+*/%&|^~!=<>?:;,.(){}\[\]]"
)
_PATTERN = re.compile(
    r"(?P<space>[ \t\r\f\ufeff]+)"
    r"|(?P<newline>\n)"
    r"|(?P<line_comment>//[^\n]*)"
    r"|(?P<comment>/\*.*?\*/)"
    r"|(?P<directive>\#(?:\\\r?\n|//[^\n]*|[^\n])*)"
    r"|(?P<date>D'[^'\n]*')"
    r"|(?P<color>C'[^'\n]*')"
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<character>'(?:\\x[0-9A-Fa-f]+|\\.|[^'\\\n])')"
    r"|(?P<number>0[xX][0-9A-Fa-f]+|0[bB][01]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fF]?)"
    r"|(?P<name>[A-Za-z_]\w*)"
    rf"|(?P<operator>{_OPERATORS})",
    re.DOTALL | re.ASCII,
)
_SKIPPED = {"space", "newline", "comment", "line_comment"}


def tokenize(file: SourceFile) -> list[Token]:
    """The tokens of a file; a comment behind a statement goes to the statement's last token."""
    return tokenize_text(file, file.text, 1, 1)


def tokenize_text(file: SourceFile, text: str, line: int, column: int) -> list[Token]:
    """The tokens of a piece of a file that begins at `line` and `column`."""
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        match = _PATTERN.match(text, at)
        if match is None:
            raise _strange(file, text[at], line, column)
        group, found = str(match.lastgroup), match.group()
        if group == "line_comment" and tokens and tokens[-1].line == line:
            tokens[-1].comment = found.lstrip("/").strip()
        if group not in _SKIPPED:
            tokens.append(Token(TokenKind(group), found, file, line, column))
        line, column = _behind(found, line, column)
        at = match.end()
    return tokens


def _behind(text: str, line: int, column: int) -> tuple[int, int]:
    breaks = text.count("\n")
    if not breaks:
        return line, column + len(text)
    return line + breaks, len(text) - text.rfind("\n")


def _strange(file: SourceFile, character: str, line: int, column: int) -> TranslationError:
    if character in "\"'":
        return TranslationError(
            file,
            line,
            column,
            "a text that is not closed in its line",
            f"close it with {character}",
        )
    return TranslationError(
        file, line, column, f"the character {character!r} is not MQL5", "remove it"
    )
