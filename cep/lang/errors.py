"""Errors in rule text: where, what and the remedy, shown under the line they speak of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

SHOWN_COLUMNS = 120
ERRORS_MAX = 20


class Span(NamedTuple):
    """Half-open range of character offsets in the text."""

    start: int
    end: int


class RuleError(ValueError):
    """A problem at one place of a rule file; `line` and `column` count from 1."""

    def __init__(
        self,
        message: str,
        *,
        source: str = "<rules>",
        line: int = 1,
        column: int = 1,
        length: int = 1,
        hint: str = "",
        line_text: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.line = line
        self.column = column
        self.length = length
        self.hint = hint
        self.line_text = line_text

    @property
    def errors(self) -> tuple[RuleError, ...]:
        """Every problem found, in the order of the text."""
        return (self,)

    def render(self) -> str:
        """`file:line:column: error: message`, the line, a caret underline and the remedy."""
        place = f"{self.source}:{self.line}:{self.column}: error: {self.message}"
        help_line = [f"help: {self.hint}"] if self.hint else []
        return "\n".join([place, *self._excerpt(), *help_line])

    def _excerpt(self) -> list[str]:
        if not self.line_text.strip():
            return []
        start = max(0, self.column - 1 - SHOWN_COLUMNS // 2)
        if len(self.line_text) <= SHOWN_COLUMNS:
            start = 0
        shown = self.line_text[start : start + SHOWN_COLUMNS]
        before = self.line_text[start : self.column - 1]
        pad = "".join("\t" if character == "\t" else " " for character in before)
        carets = "^" * max(1, min(self.length, len(shown) - len(before)))
        number = str(self.line)
        return [
            f"  {number} | {_printable(shown)}",
            f"  {' ' * len(number)} | {pad}{carets}",
        ]

    def __str__(self) -> str:
        return self.render()


class RuleErrors(RuleError):
    """Several problems of one rule text; it reads like the first, `errors` has them all."""

    def __init__(self, errors: Sequence[RuleError]) -> None:
        first = errors[0]
        super().__init__(
            first.message,
            source=first.source,
            line=first.line,
            column=first.column,
            length=first.length,
            hint=first.hint,
            line_text=first.line_text,
        )
        self._errors = tuple(errors)

    @property
    def errors(self) -> tuple[RuleError, ...]:
        return self._errors

    def render(self) -> str:
        shown = [error.render() for error in self._errors[:ERRORS_MAX]]
        more = len(self._errors) - ERRORS_MAX
        return "\n\n".join(shown + ([f"... and {more} more errors"] if more > 0 else []))


@dataclass(frozen=True, slots=True)
class Source:
    """A rule text and the name of its file, able to speak of places in it."""

    text: str
    file: str = "<rules>"

    def line_column(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of a character offset."""
        line = self.text.count("\n", 0, offset) + 1
        return line, offset - self.text.rfind("\n", 0, offset)

    def error(self, span: Span, message: str, hint: str = "") -> RuleError:
        """The error to raise for a problem at `span`; only its first line is underlined."""
        line, column = self.line_column(span.start)
        line_start = span.start - column + 1
        line_end = self.text.find("\n", span.start)
        line_end = len(self.text) if line_end < 0 else line_end
        return RuleError(
            message,
            source=self.file,
            line=line,
            column=column,
            length=max(1, min(span.end, line_end) - span.start),
            hint=hint,
            line_text=self.text[line_start:line_end].rstrip(),
        )


def raise_all(errors: Iterable[RuleError]) -> None:
    """Raise what was collected, in the order of the text; return when there is nothing."""
    found = sorted(errors, key=lambda error: (error.line, error.column))
    if len(found) == 1:
        raise found[0]
    if found:
        raise RuleErrors(found)


def suggestion(name: str, candidates: Iterable[str]) -> str:
    """A help text for an unknown name: the nearest known one, or the few that are known."""
    known = sorted(set(candidates))
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), by_lower, n=1)
    if close:
        return f"did you mean `{by_lower[close[0]]}`?"
    if not known:
        return ""
    return f"known here: {listing(known)}"


def listing(names: Sequence[str], names_max: int = 12) -> str:
    """Names in backticks, cut after `names_max`."""
    shown = ", ".join(f"`{name}`" for name in names[:names_max])
    return shown + (", ..." if len(names) > names_max else "")


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in text)
