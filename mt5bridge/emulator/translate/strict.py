"""What g++ would take after the translation but MetaEditor does not: refused here already."""

from __future__ import annotations

import re

from mt5bridge.emulator.translate.declarations import Declarations
from mt5bridge.emulator.translate.scan import (
    CLOSING,
    NOT_TYPES,
    OPENING,
    function_bodies,
    is_operator,
    partners,
)
from mt5bridge.emulator.translate.statements import check_statement
from mt5bridge.emulator.translate.tokens import Token, TokenKind

_IDENTIFIER_MAX = 63
_NAMES_OF_C = re.compile(
    r"std|u?int(?:8|16|32|64|ptr)_t|s?size_t|ptrdiff_t|U?INT(?:8|16|32|64)_MAX|SIZE_MAX|U?LLONG_MAX"
    r"|NAN|INFINITY|EOF|errno|mem(?:cpy|move|set|cmp)|str(?:len|cmp|cpy|cat)|s(?:n)?printf"
    r"|[mc]alloc|realloc|assert|static_assert|noexcept|thread_local|alignas|co_\w+"
)
_BEGINS = frozenset(("{", "}", ";", ":"))
_TWO_WORDS = {("long", "long"), ("long", "double"), ("long", "int"), ("short", "int")}


def check(tokens: list[Token]) -> None:
    """Raise TranslationError at the first thing that is C++ and not MQL5."""
    pairs = partners(tokens)
    inside = _brackets(tokens)
    ahead = [*tokens, *_semicolons(tokens)]
    declarations = Declarations(ahead, pairs)
    for index, token in enumerate(tokens):
        check_statement(ahead, pairs, index)
        declarations.check(index, inside[index])
        if token.kind is TokenKind.NAME:
            _check_name(tokens, index)
            _check_loop(tokens, pairs, index)
            _check_class(tokens, pairs, index)
            if inside[index] != "(":
                _check_statement(tokens, index)
        elif is_operator(token, "=") and index + 1 < len(tokens):
            _check_value(tokens, index)
    for start, end in function_bodies(tokens, pairs):
        _check_local_types(tokens[start:end])


def _semicolons(tokens: list[Token]) -> list[Token]:
    """What may stand behind the last token, so that rules can look ahead."""
    last = tokens[-1:]
    return [Token(TokenKind.OPERATOR, ";", one.file, one.line, one.column) for one in last * 6]


def _brackets(tokens: list[Token]) -> list[str]:
    """For each token the innermost bracket it stands in; empty outside of all."""
    found: list[str] = []
    open_: list[str] = []
    for token in tokens:
        if is_operator(token, OPENING):
            open_.pop()
        found.append(open_[-1] if open_ else "")
        if is_operator(token, CLOSING):
            open_.append(token.text)
    return found


def _check_name(tokens: list[Token], index: int) -> None:
    token = tokens[index]
    if len(token.text) > _IDENTIFIER_MAX:
        raise token.error(f"a name of {len(token.text)} characters", "MQL5 allows 63")
    if _NAMES_OF_C.fullmatch(token.text):
        raise token.error(f"{token.text} belongs to C or C++", "use what MQL5 has for it")
    following = tokens[index + 1].text if index + 1 < len(tokens) else ""
    if (token.text, following) in _TWO_WORDS:
        raise token.error(f"{token.text} {following} is not MQL5", "write long, int or short")
    if token.text == "enum" and following in ("class", "struct"):
        raise token.error(f"enum {following} is not MQL5", "write enum")


def _check_loop(tokens: list[Token], pairs: dict[int, int], index: int) -> None:
    if tokens[index].text != "for" or not is_operator(tokens[index + 1], "("):
        return
    if not any(is_operator(token, ";") for token in tokens[index + 1 : pairs[index + 1]]):
        raise tokens[index].error("a loop over a range", "count with an index")


def _check_statement(tokens: list[Token], index: int) -> None:
    """References that are no parameters, and `T name{...}`."""
    before = tokens[index - 1] if index else None
    starts = before is None or is_operator(before, _BEGINS) or before.text in ("const", "static")
    if not starts or tokens[index].text in NOT_TYPES or index + 3 >= len(tokens):
        return
    second, third, fourth = tokens[index + 1 : index + 4]
    if (
        is_operator(second, "&")
        and third.kind is TokenKind.NAME
        and is_operator(fourth, ("=", ";", "("))
    ):
        raise second.error("a reference that is no parameter", "use a pointer, or copy")
    if second.kind is TokenKind.NAME and second.text not in NOT_TYPES and is_operator(third, "{"):
        raise third.error("an initial value in braces without =", "write = before it")


def _check_class(tokens: list[Token], pairs: dict[int, int], index: int) -> None:
    """Members with an initial value."""
    if tokens[index].text not in ("class", "struct", "union"):
        return
    at = index
    while not is_operator(tokens[at], ("{", ";", "(", ")", ">", ",", "=")):
        at += 1
    if not is_operator(tokens[at], "{"):
        return
    end, at = pairs[at], at + 1
    while at < end:
        if is_operator(tokens[at], "="):
            _check_member(tokens, at)
        at = pairs[at] + 1 if is_operator(tokens[at], CLOSING) else at + 1


def _check_local_types(body: list[Token]) -> None:
    for word, name, following in zip(body, body[1:], body[2:], strict=False):
        declares = name.kind is TokenKind.NAME and is_operator(following, "{:")
        if word.text in ("class", "struct", "union") and declares:
            raise word.error(f"a {word.text} inside of a function", "declare it outside of it")


def _check_member(tokens: list[Token], equals: int) -> None:
    before = tokens[equals - 1]
    pure = is_operator(before, ")") or before.text in ("const", "override")
    if not pure:
        raise tokens[equals].error("a member with an initial value", "set it in the constructor")


def _check_value(tokens: list[Token], equals: int) -> None:
    following = tokens[equals + 1]
    if following.text in ("default", "delete") and following.kind is TokenKind.NAME:
        raise following.error(f"= {following.text} is not MQL5", "write the method or leave it out")
    if not is_operator(following, "{") or equals < 2:
        return
    name, before = tokens[equals - 1], tokens[equals - 2]
    if name.kind is TokenKind.NAME and is_operator(before, (*_BEGINS, ".", ")")):
        raise following.error("braces assigned to a variable", "set each member, or ZeroMemory")
