"""Patterns as text: symbols, `| * + ? {m,n}` and parentheses."""

from __future__ import annotations

from collections.abc import Sequence

from cep.lang.errors import RuleError, Source, Span, suggestion
from cep.plan.regex import Either, Regex, Repeated, Symbol, Then

_TIMES: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
REPEATS_MAX = 1_000
"""How often a part may be asked for: repeats are written out."""


def parse_pattern(text: str, symbols: Sequence[str], place: str = "<pattern>") -> Regex:
    """The expression of a pattern; RuleError, with its place, when it is none.

    Where all symbols are single characters they may stand without blanks between them.
    """
    parser = _Parser(Source(text, place), tuple(symbols))
    regex = parser.either()
    parser.end()
    return regex


class _Parser:
    def __init__(self, source: Source, symbols: tuple[str, ...]) -> None:
        self._source = source
        self._text = source.text
        self._symbols = symbols
        self._is_short = all(len(symbol) == 1 for symbol in symbols)
        self._at = 0

    def either(self) -> Regex:
        """`part | part ..`"""
        parts = [self._then()]
        while self._take("|"):
            parts.append(self._then())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def end(self) -> None:
        """Refuse what is left."""
        if self._peek():
            raise self._error(self._at, self._at + 1, "unexpected", "is a `(` missing?")

    def _then(self) -> Regex:
        parts: list[Regex] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated())
        if not parts:
            raise self._error(self._at, self._at + 1, "a symbol is missing here", self._known())
        return parts[0] if len(parts) == 1 else Then(tuple(parts))

    def _repeated(self) -> Regex:
        regex = self._single()
        while self._peek() in (*_TIMES, "{"):
            sign = self._peek()
            self._at += 1
            least, most = _TIMES[sign] if sign in _TIMES else self._bounds()
            regex = Repeated(regex, least, most)
        return regex

    def _bounds(self) -> tuple[int, int | None]:
        """What stands behind `{`: m}, m,}, m,n}."""
        start = self._at - 1
        close = self._text.find("}", self._at)
        inside = self._text[self._at : close] if close >= 0 else ""
        least, comma, most = (part.strip() for part in inside.partition(","))
        hint = "write {2}, {2,} or {2,5}"
        if not least.isdigit() or not (most.isdigit() or (most == "" and close >= 0)):
            raise self._error(start, len(self._text), "no number of times", hint)
        self._at = close + 1
        low = int(least)
        high = int(most) if most else (None if comma else low)
        if max(low, high or 0) > REPEATS_MAX or (high is not None and high < max(low, 1)):
            hint = f"the second number is at least the first, and none is above {REPEATS_MAX}"
            raise self._error(start, self._at, "no range", hint)
        return low, high

    def _single(self) -> Regex:
        if self._take("("):
            regex = self.either()
            if not self._take(")"):
                raise self._error(self._at, self._at + 1, "a `)` is missing here", "")
            return regex
        start = self._at
        name = self._name()
        if name not in self._symbols:
            hint = suggestion(name, self._symbols) or self._known()
            raise self._error(start, max(self._at, start + 1), f"no symbol `{name}`", hint)
        return Symbol(self._symbols.index(name))

    def _name(self) -> str:
        start = self._at
        while self._at < len(self._text) and (self._text[self._at].isalnum() or self._is_mark()):
            self._at += 1
            if self._is_short:
                break
        return self._text[start : self._at]

    def _is_mark(self) -> bool:
        return self._text[self._at] in "_$"

    def _peek(self) -> str:
        """The next character that is no blank; empty at the end."""
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _take(self, sign: str) -> bool:
        if self._peek() != sign:
            return False
        self._at += 1
        return True

    def _known(self) -> str:
        return f"symbols: {', '.join(self._symbols)}"

    def _error(self, start: int, end: int, message: str, hint: str) -> RuleError:
        return self._source.error(Span(start, end), message, hint)
