"""Finding one's way in a list of tokens: brackets, operands, types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mt5bridge.emulator.translate.tokens import Token, TokenKind

CLOSING = {"(": ")", "[": "]", "{": "}"}
OPENING = {close: open_ for open_, close in CLOSING.items()}
PLAIN_TYPES = frozenset(
    "void bool char uchar short ushort int uint long ulong float double string datetime "
    "color".split()
)
NOT_TYPES = frozenset(
    "return else new delete case goto do in const static virtual public private protected "
    "struct class union enum input sinput extern template typename override final typedef "
    "namespace".split()
)


def partners(tokens: list[Token]) -> dict[int, int]:
    """For each bracket the index of its other half."""
    found: dict[int, int] = {}
    open_: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind is not TokenKind.OPERATOR:
            continue
        if token.text in CLOSING:
            open_.append(index)
        elif token.text in OPENING:
            if not open_ or tokens[open_[-1]].text != OPENING[token.text]:
                raise token.error(f"{token.text} without its other half", "check the brackets")
            found[index] = open_[-1]
            found[open_.pop()] = index
    if open_:
        token = tokens[open_[-1]]
        raise token.error(f"{token.text} without its other half", "check the brackets")
    return found


def function_bodies(tokens: list[Token], pairs: dict[int, int]) -> Iterator[tuple[int, int]]:
    """The outer brackets of each function's and method's body."""
    index = 0
    while index < len(tokens):
        if is_operator(tokens[index], "{") and _has_parameters(tokens, index - 1):
            yield index, pairs[index]
            index = pairs[index]
        index += 1


def _has_parameters(tokens: list[Token], index: int) -> bool:
    while index > 0 and tokens[index].text in ("const", "override", "final"):
        index -= 1
    return index > 0 and is_operator(tokens[index], ")")


def is_operator(token: Token, texts: Iterable[str]) -> bool:
    """Whether it is one of these operators."""
    return token.kind is TokenKind.OPERATOR and token.text in texts


def is_word(token: Token) -> bool:
    """Whether it can begin an operand as a name does (C++ put in for a name too)."""
    return token.kind in (TokenKind.NAME, TokenKind.TYPE)


def operand_start(tokens: list[Token], pairs: dict[int, int], end: int) -> tuple[int, str]:
    """Where the operand that ends at `end` begins, and the name that gives its value.

    The name is empty for an expression in brackets.
    """
    index, name = end, ""
    while is_operator(tokens[index], ")]"):
        index = pairs[index]
        if index == 0 or not (is_word(tokens[index - 1]) or is_operator(tokens[index - 1], ")]")):
            return index, name
        if is_word(tokens[index - 1]) and tokens[index - 1].text in NOT_TYPES:
            return index, name
        index -= 1
    name = tokens[index].text
    while index >= 2 and is_operator(tokens[index - 1], (".", "::")):
        if not (is_word(tokens[index - 2]) or is_operator(tokens[index - 2], ")]")):
            break
        index = operand_start(tokens, pairs, index - 2)[0]
    return index, name


def operand_end(tokens: list[Token], pairs: dict[int, int], start: int) -> int:
    """The last token of the unary expression that begins at `start`."""
    index = start
    while is_operator(tokens[index], ("+", "-", "!", "~", "++", "--", "*", "&")):
        index += 1
    if is_operator(tokens[index], "("):
        close = pairs[index]
        inner = tokens[index + 1 : close]
        if is_cast(inner) and not is_operator(tokens[close + 1], (")", ";", ",", "]")):
            return operand_end(tokens, pairs, close + 1)
        index = close
    if tokens[index].text == "(int)sizeof" and is_operator(tokens[index + 1], "("):
        return pairs[index + 1]
    while index + 1 < len(tokens):
        following = tokens[index + 1]
        if is_operator(following, "(["):
            index = pairs[index + 1]
        elif is_operator(following, (".", "::")):
            index += 2
        elif is_operator(following, ("++", "--")):
            index += 1
        else:
            break
    return index


def is_cast(inner: list[Token]) -> bool:
    """Whether what stands in brackets is a type: `(double)`, `(ENUM_X)`, `(mql::ptr<X>)`."""
    words = [token for token in inner if token.text != "const"]
    if len(words) != 1:
        return False
    word = words[0]
    return word.kind is TokenKind.TYPE or word.text in PLAIN_TYPES or _looks_like_type(word)


def _looks_like_type(word: Token) -> bool:
    return word.kind is TokenKind.NAME and word.text.startswith("ENUM_")
