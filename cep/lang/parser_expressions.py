"""Expressions: operator precedence, calls, references and literals."""

from __future__ import annotations

from dataclasses import replace

from cep.lang.ast import (
    Binary,
    Call,
    Expression,
    IsNull,
    Literal,
    Name,
    Reference,
    Unary,
)
from cep.lang.cursor import Cursor
from cep.lang.errors import Span
from cep.lang.tokens import NAMES, NUMBERS, Kind, Role

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
    """Recursive descent below, precedence climbing across the binary operators."""

    operators = 0

    def expression(self) -> Expression:
        """One whole expression."""
        if not self.nesting:
            self.operators = 0
        self.enter()
        result = self._binary(0)
        self.leave()
        return result

    def _binary(self, level_min: int) -> Expression:
        left = self._unary()
        while (level := self._level()) >= level_min:
            operator = self._operator()
            right = self._binary(level + 1)
            span = Span(left.span.start, right.span.end)
            left = Binary(operator, left, right, span=span)
        return left

    def _level(self) -> int:
        token = self.token
        if token.kind is Kind.SYMBOL:
            return LEVELS.get(token.text, -1)
        return LEVELS.get(token.keyword, -1) if token.kind is Kind.WORD else -1

    def _operator(self) -> str:
        self.operators += 1
        if self.operators > OPERATORS_MAX:
            raise self.error(
                self.token.span,
                f"more than {OPERATORS_MAX} operators in one expression",
                "split it over several queries or events",
            )
        token = self.token
        if token.keyword == "in":
            hint = "tables are not built; compare with `==` and `or`"
            raise self.unsupported(token.span, "in", hint)
        self.advance(Role.KEYWORD if token.kind is Kind.WORD else None)
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
        if token.kind is Kind.STRING:
            return self.expect_string("a string")
        if self.at_duration():
            return self.expect_duration("a time")
        if token.kind in NUMBERS:
            return self.expect_number("a number")
        if token.keyword in ("true", "false") and not self._is_call():
            self.advance(Role.KEYWORD)
            return Literal(token.keyword == "true", "bool", span=token.span)
        if token.kind in NAMES:
            return self._call() if self._is_call() else self._reference()
        if self.at("!"):
            raise self.error(token.span, "unexpected `!`", "negation is written `not`")
        if self.at("#"):
            raise self.unsupported(token.span, "#", "name the stream without a prefix")
        raise self.unexpected("an expression")

    def _parenthesised(self) -> Expression:
        opened = self.advance()
        inner = self.expression()
        self.expect(")", hint=f"to close the `(` of column {self._column(opened.span)}")
        return replace(inner, span=self.since(opened.span.start))

    def _column(self, span: Span) -> int:
        return self.source.line_column(span.start)[1]

    def _is_call(self) -> bool:
        following = self.peek()
        opens = following.kind is Kind.SYMBOL and following.text == "("
        return opens and self.token.keyword != "not"

    def _call(self) -> Expression:
        function = self.expect_name("a function")
        self.expect("(", Role.TIGHT)
        if self.at("*") and self.peek().text == ")":
            hint = "name the attributes; to count rows write `count()`"
            raise self.unsupported(self.token.span, f"{function.text}(*)", hint)
        arguments: list[Expression] = []
        while not self.at(")"):
            arguments.append(self.expression())
            if not self.take(","):
                break
        self.expect(")", hint="close the arguments")
        return Call(function, tuple(arguments), span=self.since(function.span.start))

    def _reference(self) -> Reference:
        name = self.expect_name("an attribute")
        if self.at(":"):
            raise self.unsupported(
                Span(name.span.start, self.peek().span.end),
                f"{name.text}:{self.peek().text}",
                "extension functions do not exist here; use the core functions",
            )
        if self.at("["):
            raise self.unsupported(
                self.token.span, f"{name.text}[index]", "only `stream.attribute` can be read"
            )
        if not self.take("."):
            return Reference(name, span=name.span)
        attribute = self.expect_name("an attribute")
        return Reference(
            attribute, Name(name.text, span=name.span), span=self.since(name.span.start)
        )
