"""A place in the token list: looking, taking, expecting, and complaining."""

from __future__ import annotations

from cep.lang import habits
from cep.lang.ast import Duration, Literal, Name
from cep.lang.errors import RuleError, Source, Span, suggestion
from cep.lang.lexer import tokenize
from cep.lang.tokens import KEYWORDS, NAMES, NUMBERS, TIME_UNITS_MS, Role, Token, TokenKind

NESTING_MAX = 40
INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
CLOSINGS = {
    "/*": "close it with `*/`; what follows belongs to the comment until then",
    '"""': 'close it with `"""`',
    "'": 'close it with `\'` on the same line, or write it between `"""`',
    '"': 'close it with `"` on the same line, or write it between `"""`',
    "`": "close it with a backtick on the same line",
}
FLOAT_MAX = 3.4028234663852886e38


class Cursor:
    """Walks the tokens of one source and notes the role it took each of them for."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens, self.comments = tokenize(source)
        self.roles: dict[int, Role] = {}
        self.bound: dict[int, str] = {}
        """Parameters by the places at which their values stand for their names."""
        self.index = 0
        self.nesting = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    def peek(self, distance: int = 1) -> Token:
        """The token `distance` places ahead, or the last one."""
        return self.tokens[min(self.index + distance, len(self.tokens) - 1)]

    def advance(self, role: Role | None = None) -> Token:
        """Take the current token."""
        token = self.token
        if role is not None:
            self.roles[self.index] = role
        if token.kind is not TokenKind.END:
            self.index += 1
        return token

    def at(self, symbol: str) -> bool:
        return self.token.kind is TokenKind.SYMBOL and self.token.text == symbol

    def at_word(self, *words: str) -> bool:
        """Whether the keywords `words` stand here, in that order."""
        return all(self.peek(i).keyword == word for i, word in enumerate(words))

    def take(self, symbol: str, role: Role | None = None) -> bool:
        """Take the symbol if it stands here."""
        if not self.at(symbol):
            return False
        self.advance(role)
        return True

    def take_word(self, *words: str, role: Role = Role.KEYWORD) -> bool:
        """Take the keywords if they stand here; `role` is that of the first."""
        if not self.at_word(*words):
            return False
        self.advance(role)
        for _ in words[1:]:
            self.advance(Role.KEYWORD)
        return True

    def expect(self, symbol: str, role: Role | None = None, hint: str = "") -> Token:
        if not self.at(symbol):
            raise self.unexpected(f"`{symbol}`", hint)
        return self.advance(role)

    def expect_word(self, word: str, role: Role = Role.KEYWORD, hint: str = "") -> Token:
        if not self.at_word(word):
            raise self.unexpected(f"`{word}`", hint)
        return self.advance(role)

    def expect_name(self, what: str, hint: str = "") -> Name:
        """A name: any word, or anything in backticks."""
        if self.token.kind not in NAMES:
            raise self.unexpected(what, hint)
        token = self.advance()
        return Name(token.text, span=token.span)

    def expect_names(self, what: str) -> tuple[Name, ...]:
        """Names with commas between."""
        names = [self.expect_name(what)]
        while self.take(","):
            names.append(self.expect_name(what))
        return tuple(names)

    def expect_string(self, what: str, hint: str = "") -> Literal:
        if self.token.kind is not TokenKind.STRING:
            raise self.unexpected(what, hint)
        token = self.advance()
        return Literal(token.text, "string", span=token.span)

    def expect_number(self, what: str, hint: str = "") -> Literal:
        """A number without sign, checked against the range of its type."""
        if self.token.kind not in NUMBERS or self._is_negative():
            raise self.unexpected(what, hint)
        return self.number()

    def number(self) -> Literal:
        """The number that stands here, which parameters may have a sign of."""
        token = self.advance()
        return Literal(self._number(token), token.kind.name.lower(), span=token.span)

    def _is_negative(self) -> bool:
        return self.token.text.startswith("-")

    def expect_integer(self, what: str, hint: str = "") -> Literal:
        """A whole number without sign, as an int."""
        if self.token.kind is not TokenKind.INT:
            raise self.unexpected(what, hint)
        return self.expect_number(what)

    def expect_end(self, what: str) -> None:
        """Nothing may follow."""
        if self.token.kind is not TokenKind.END:
            raise self.unexpected(what)

    def at_duration(self) -> bool:
        if self.token.kind is TokenKind.TIME:
            return True
        is_count = self.token.kind is TokenKind.INT and not self._is_negative()
        return is_count and self.peek().keyword in TIME_UNITS_MS

    def expect_duration(self, what: str, example: str = "5 min") -> Duration:
        """A time literal: units from large to small, each at most once."""
        if not self.at_duration():
            self.refuse_unit()
            raise self.unexpected(what, f"write a time such as `{example}`")
        if self.token.kind is TokenKind.TIME:
            token = self.advance()
            return Duration(int(token.text), span=token.span)
        start = self.token.span.start
        total_ms, previous_ms = 0, LONG_MAX
        while self.at_duration() and self.token.kind is TokenKind.INT:
            count, unit = self.advance(), self.advance(Role.KEYWORD)
            unit_ms = TIME_UNITS_MS[unit.keyword]
            if unit_ms >= previous_ms:
                raise self.error(unit.span, "time units go from large to small, each once")
            total_ms, previous_ms = total_ms + self._integer(count) * unit_ms, unit_ms
        span = self.since(start)
        if total_ms > LONG_MAX:
            raise self.error(span, "this time is too long", "it must fit in 64 bits of ms")
        return Duration(total_ms, span=span)

    def refuse_unit(self) -> None:
        """Complain when a number stands here with a word that looks like a unit of time."""
        unit = self.peek()
        if self.token.kind is not TokenKind.INT or not unit.keyword or unit.keyword in KEYWORDS:
            return
        near = suggestion(unit.text, TIME_UNITS_MS)
        if unit.keyword in habits.UNITS:
            near = f"did you mean `{habits.UNITS[unit.keyword]}`?"
        if near.startswith("did"):
            raise self.error(unit.span, f"unknown unit of time `{unit.text}`", near)

    def since(self, start: int) -> Span:
        """From the offset `start` to the end of the last token taken."""
        return Span(start, self.tokens[max(0, self.index - 1)].span.end)

    def error(self, span: Span, message: str, hint: str = "") -> RuleError:
        return self.source.error(span, message, hint)

    def unexpected(self, expected: str, hint: str = "") -> RuleError:
        """The error for a token that is not what must stand here."""
        token = self.token
        if token.kind is TokenKind.BAD:
            return self.error(token.span, token.text, self._remedy() or hint)
        if not hint.startswith("write `"):  # what to write at this very place says it best
            hint = habits.remedy(self.tokens, self.index) or hint
        if self.index in self.bound:
            hint = self._about_parameter(self.bound[self.index])
        if token.kind is TokenKind.END:
            return self.error(self._end(), f"expected {expected}, found the end of the text", hint)
        written = self.source.text[token.span.start : token.span.end]
        shown = written if len(written) <= 40 else written[:37] + "..."
        return self.error(token.span, f"expected {expected}, found `{shown}`", hint)

    def _about_parameter(self, name: str) -> str:
        shown = self.token.kind.name.lower()
        shown = f"{'an' if shown == 'int' else 'a'} {shown}"
        value = f", here {self.token.text}" if self._is_negative() else ""
        return f"`{name}` is a parameter: {shown} stands here{value}; nothing else is called so"

    def _remedy(self) -> str:
        """What to do about what is never closed, or is a character of other languages only."""
        start = self.token.span.start
        for opening, remedy in CLOSINGS.items():
            if self.source.text.startswith(opening, start):
                return remedy
        return habits.character(self.source.text[start])

    def unsupported(self, span: Span, construct: str, hint: str) -> RuleError:
        """The error for SiddhiQL that is understood but has no place here."""
        return self.error(span, f"`{construct}` is not supported", hint)

    def enter(self) -> None:
        """Count one level of nesting; deep text must not exhaust the stack."""
        self.nesting += 1
        if self.nesting > NESTING_MAX:
            raise self.error(
                self.token.span,
                f"nested deeper than {NESTING_MAX} levels",
                "split the expression over several queries or events",
            )

    def leave(self) -> None:
        self.nesting -= 1

    def _end(self) -> Span:
        if not self.index:
            return self.token.span
        end = self.tokens[self.index - 1].span.end
        return Span(max(0, end - 1), end)

    def _integer(self, token: Token) -> int:
        if len(token.text) > 20:
            raise self.error(token.span, "this number is too large", f"the largest is {LONG_MAX}L")
        return int(token.text.rstrip("lL"))

    def _number(self, token: Token) -> int | float:
        if token.kind in (TokenKind.INT, TokenKind.LONG):
            return self._bounded_integer(token)
        value = float(token.text.rstrip("fFdD"))
        if value > (FLOAT_MAX if token.kind is TokenKind.FLOAT else 1.7976931348623157e308):
            kind = token.kind.name.lower()
            hint = "write it without the `f`" if kind == "float" else "the largest is about 1.8e308"
            raise self.error(token.span, f"`{token.text}` does not fit a {kind}", hint)
        return value

    def _bounded_integer(self, token: Token) -> int:
        value = self._integer(token)
        if token.kind is TokenKind.INT and value > INT_MAX:
            hint = (
                f"write `{token.text}L` for a long"
                if value <= LONG_MAX
                else f"the largest is {INT_MAX}, and of a long {LONG_MAX}L"
            )
            raise self.error(token.span, f"`{token.text}` does not fit an int", hint)
        if value > LONG_MAX:
            hint = "the largest is 9223372036854775807L; a number with a point may be larger"
            raise self.error(token.span, f"`{token.text}` does not fit a long", hint)
        return value
