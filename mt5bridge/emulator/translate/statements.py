"""Statements and expressions that g++ takes and MQL5's reference does not have."""

from __future__ import annotations

import re

from mt5bridge.emulator.translate.scan import is_operator
from mt5bridge.emulator.translate.tokens import Token, TokenKind

_WITH_TWO_LINES = re.compile(
    r"__(?:FILE|LINE|PATH|FUNCTION|FUNCSIG|DATE|DATETIME|COUNTER|RANDOM|MQL|MQL4|MQL5|MQLBUILD|MQL4BUILD"
    r"|MQL5BUILD|CPU_ARCHITECTURE)__"
)
_OCTAL = re.compile(r"0\d+")
_BEFORE_VALUE = frozenset("( , = [ { ; ? : && || == != return".split())


def check_statement(tokens: list[Token], pairs: dict[int, int], index: int) -> None:
    """Raise TranslationError if something begins here that is C++ and not MQL5."""
    token, following = tokens[index], tokens[index + 1]
    if token.kind is TokenKind.NAME:
        _check_word(tokens, pairs, index)
    elif token.kind is TokenKind.NUMBER and _OCTAL.fullmatch(token.text):
        raise token.error("a number that begins with 0", "it would be octal; leave the 0 out")
    elif token.kind is TokenKind.OPERATOR:
        _check_operator(tokens[index - 1] if index else None, token, following)


def _check_word(tokens: list[Token], pairs: dict[int, int], index: int) -> None:
    token, following = tokens[index], tokens[index + 1]
    if token.text.startswith("__") and not _WITH_TWO_LINES.fullmatch(token.text):
        raise token.error(f"{token.text} belongs to the C++ compiler", "use another name")
    if token.text in ("__DATE__", "__DATETIME__"):
        raise token.error(f"{token.text} is no part of the emulated terminal", "write a constant")
    if token.text == "do" and not is_operator(following, "{"):
        raise token.error("do without braces", "write do { ... } while(...);")
    if token.text == "new" and is_operator(tokens[index + 2], "["):
        raise token.error("new of an array", "declare a dynamic array and call ArrayResize")
    if token.text in ("if", "while", "switch") and is_operator(following, "("):
        _check_condition(tokens, index + 1, pairs[index + 1])


def _check_condition(tokens: list[Token], start: int, end: int) -> None:
    """No declaration stands in the brackets of if, while and switch."""
    first, second, third = tokens[start + 1 : start + 4]
    words = first.kind is TokenKind.NAME and second.kind is TokenKind.NAME
    if (words and is_operator(third, "=")) or any(
        is_operator(one, ";") for one in tokens[start:end]
    ):
        raise first.error("a declaration in a condition", "declare it in a line before")


def _check_operator(before: Token | None, token: Token, following: Token) -> None:
    if token.text == "...":
        raise token.error("MQL5 has no ...", "write each case; overload the function")
    if token.text == "?" and is_operator(following, ":"):
        raise token.error("?: without its middle", "write condition ? value : value")
    if token.text == "(" and is_operator(following, "{"):
        raise token.error("statements as a value", "write a function")
    if token.text == "[" and (before is None or before.text in _BEFORE_VALUE):
        raise token.error("a function without a name", "write a function")
