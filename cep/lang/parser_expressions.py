"""Expressions: operator precedence, calls, references and literals."""

from __future__ import annotations

from dataclasses import replace

from cep.lang.ast import (
    Binary,
    Call,
    EventReference,
    Expression,
    In,
    Index,
    IsNull,
    Literal,
    Name,
    Reference,
    Unary,
)
from cep.lang.cursor import Cursor
from cep.lang.errors import Source, Span
from cep.lang.tokens import NAMES, NUMBERS, Role, TokenKind

# Tightest last, as in SiddhiQL; `not` and the sign bind tighter than all of them.
PRECEDENCE = (
    ("or",),
    ("and",),
    ("in",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("+", "-"),
    ("*", "/", "%"),
)
LEVELS = {op: level for level, ops in enumerate(PRECEDENCE) for op in ops}
OPERATORS_MAX = 150


class ExpressionParser(Cursor):
    """Recursive descent below, precedence climbing across the binary operators.

    `events` are the streams and event references the query has named so far: a bare one of them
    before `is null` asks for the event, not for an attribute.
    """

    operators = 0

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.events: set[str] = set()

    def expression(self) -> Expression:
        """One whole expression."""
        if not self.nesting:
            self.operators = 0
        self.enter()
        result = self._binary(0)
        self.leave()
        if self.at("="):
            raise self.error(self.token.span, "unexpected `=`", "equality is written `==`")
        return result

    def _binary(self, level_min: int) -> Expression:
        left = self._unary()
        while (level := self._level()) >= level_min:
            operator = self._operator()
            if operator == "in":
                table = self.expect_name("a table")
                left = In(left, table, span=Span(left.span.start, table.span.end))
                continue
            right = self._binary(level + 1)
            left = Binary(operator, left, right, span=Span(left.span.start, right.span.end))
        return left

    def _level(self) -> int:
        token = self.token
        if token.kind is TokenKind.SYMBOL:
            return LEVELS.get(token.text, -1)
        return LEVELS.get(token.keyword, -1) if token.kind is TokenKind.WORD else -1

    def _operator(self) -> str:
        self.operators += 1
        if self.operators > OPERATORS_MAX:
            raise self.error(
                self.token.span,
                f"more than {OPERATORS_MAX} operators in one expression",
                "split it over several queries or events",
            )
        token = self.token
        self.advance(Role.KEYWORD if token.kind is TokenKind.WORD else None)
        return token.keyword or token.text

    def _unary(self) -> Expression:
        start = self.token.span.start
        if self.at_word("not"):
            self.advance(Role.KEYWORD)
            return Unary("not", self._operand(), span=self.since(start))
        if self.at("-") or self.at("+"):
            return self._signed()
        return self._postfix()

    def _operand(self) -> Expression:
        self.enter()
        operand = self._unary()
        self.leave()
        return operand

    def _signed(self) -> Expression:
        sign = self.advance()
        if not self.at("-"):  # two signs side by side would become a comment
            self.roles[self.index] = Role.TIGHT
        operand = self._operand()
        span = Span(sign.span.start, operand.span.end)
        if isinstance(operand, Literal) and not isinstance(operand.value, str | bool):
            value = -operand.value if sign.text == "-" else operand.value
            return replace(operand, value=value, span=span)
        if sign.text == "+":
            raise self.error(sign.span, "a leading `+` must stand before a number")
        return Unary("-", operand, span=span)

    def _postfix(self) -> Expression:
        operand = self._primary()
        if not self.take_word("is"):
            return operand
        self.expect_word("null", hint="the opposite is `not x is null`")
        return IsNull(operand, span=self.since(operand.span.start))

    def _primary(self) -> Expression:
        token = self.token
        if self.at("("):
            return self._parenthesised()
        if token.kind is TokenKind.STRING:
            return self.expect_string("a string")
        if self.at_duration():
            return self.expect_duration("a time")
        if token.kind in NUMBERS:
            self.refuse_unit()
            return self.number()
        if token.kind is TokenKind.BOOL:
            self.advance()
            return Literal(token.text == "true", "bool", span=token.span)
        if token.keyword in ("true", "false") and not self._is_call():
            self.advance(Role.KEYWORD)
            return Literal(token.keyword == "true", "bool", span=token.span)
        if token.kind in NAMES:
            return self._call() if self._is_call() else self._reference()
        if self._at_marker():
            return self._reference()
        if self.at("!"):
            raise self.error(token.span, "unexpected `!`", "negation is written `not`")
        raise self.unexpected("an expression")

    def _at_marker(self) -> bool:
        """Whether `#stream.` or `!stream.` (or its index) stands here."""
        marked = self.at("#") or self.at("!")
        following = self.peek(2)
        return marked and self.peek().kind in NAMES and following.text in (".", "[")

    def _parenthesised(self) -> Expression:
        opened = self.advance()
        inner = self.expression()
        self.expect(")", hint=f"to close the `(` of column {self._column(opened.span)}")
        return replace(inner, span=self.since(opened.span.start))

    def _column(self, span: Span) -> int:
        return self.source.line_column(span.start)[1]

    def _is_call(self) -> bool:
        """Whether `name(` or `namespace:name(` stands here."""
        if self.token.keyword == "not" or self.token.kind not in NAMES:
            return False
        if self._symbol(1) == ":":
            return self.peek(2).kind in NAMES and self._symbol(3) == "("
        return self._symbol(1) == "("

    def _symbol(self, distance: int) -> str:
        token = self.peek(distance)
        return token.text if token.kind is TokenKind.SYMBOL else ""

    def _call(self) -> Call:
        start = self.token.span.start
        namespace, function = self.qualified_name("a function")
        arguments = self.arguments()
        return Call(function, arguments, namespace, span=self.since(start))

    def qualified_name(self, what: str) -> tuple[Name | None, Name]:
        """`name` or `namespace:name`: the namespace, if any, and the name."""
        name = self.expect_name(what)
        if not self.take(":", Role.TIGHT):
            return None, name
        self.roles[self.index] = Role.TIGHT
        return name, self.expect_name(what)

    def arguments(self, hint: str = "") -> tuple[Expression, ...] | None:
        """`(a, b, ..)`; None for `(*)`, all attributes."""
        self.expect("(", Role.TIGHT, hint)
        if self.at("*") and self._symbol(1) == ")":
            self.advance()
            self.advance()
            return None
        arguments: list[Expression] = []
        while not self.at(")"):
            arguments.append(self.expression())
            if not self.take(","):
                break
        self.expect(")", hint="close the arguments")
        return tuple(arguments)

    def _reference(self) -> Reference | EventReference:
        start = self.token.span.start
        marker = self.advance().text if self._at_marker() else ""
        if marker:
            self.roles[self.index] = Role.TIGHT
        name = self.expect_name("an attribute")
        index = self._index() if self.at("[") else None
        if self.at_word("is") and (marker or index or name.text in self.events):
            return EventReference(name, index, marker, span=self.since(start))
        if self.take("."):
            attribute = self.expect_name("an attribute")
            return Reference(attribute, name, index, marker, span=self.since(start))
        if index is not None:
            message = "an event is no value"
            hint = f"name one of its attributes: `{self._written(start)}.ATTRIBUTE`"
            raise self.error(self.since(start), message, hint)
        return Reference(name, span=name.span)

    def _written(self, start: int) -> str:
        span = self.since(start)
        return self.source.text[span.start : span.end]

    def _index(self) -> Index:
        """`[3]`, `[last]`, `[last - 1]`."""
        start = self.expect("[", Role.TIGHT).span.start
        hint = "an index is a number from 0, `last`, or `last - 1`"
        from_last: int | None = None
        number = 0
        if self.take_word("last"):
            from_last = self._whole("a number", hint) if self.take("-") else 0
        else:
            number = self._whole("an index", hint)
        self.expect("]", hint=hint)
        return Index(number, from_last, span=self.since(start))

    def _whole(self, what: str, hint: str) -> int:
        return int(self.expect_integer(what, hint).value)

    def reference(self, hint: str = "") -> Reference:
        """An attribute, where no other expression may stand."""
        if self.token.kind not in NAMES and not self._at_marker():
            raise self.unexpected("an attribute", hint)
        if self._is_call():
            raise self.error(self.token.span, "only an attribute can stand here", hint)
        found = self._reference()
        if isinstance(found, EventReference):
            raise self.error(found.span, "only an attribute can stand here", hint)
        return found
