"""Members that a const method hands on: what they belong to is const there.

MetaEditor takes no member of a const object where a function wants a reference, for `const T &`
neither. In a const method that goes for the object's own members, too, which are written without
their object. Arrays may be handed on: MetaQuotes' own library does so.
"""

from __future__ import annotations

from collections.abc import Iterator

from mt5bridge.emulator.translate.references import is_argument
from mt5bridge.emulator.translate.scan import CLOSING, is_operator, is_word, partners
from mt5bridge.emulator.translate.tokens import Token, TokenKind

Names = frozenset[str]


def mark_own_members(tokens: list[Token]) -> None:
    """`mql::argument` around each argument of a const method that is a member of its object."""
    pairs = partners(tokens)
    fields = _fields(tokens, pairs)
    for owner, body in _const_methods(tokens, pairs, fields):
        names = fields[owner]
        for index in range(body, pairs[body]):
            token = tokens[index]
            is_own = token.kind is TokenKind.NAME and token.text in names
            if is_own and is_argument(tokens, pairs, index):
                token.before = f"mql::argument<void>({token.before}"
                token.after += ")"


def _fields(tokens: list[Token], pairs: dict[int, int]) -> dict[str, Names]:
    """By class: its members that are no arrays, and those of the classes it is derived from."""
    found: dict[str, Names] = {}
    for name, body in _bodies(tokens):
        bases = [one.text for one in tokens[name + 2 : body] if one.text in found]
        own = {tokens[at].text for at in _declared(tokens, pairs, body)}
        found[tokens[name].text] = frozenset(own).union(*(found[base] for base in bases))
    return found


def _bodies(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """Of each class or structure its name and its `{`."""
    for index, token in enumerate(tokens):
        if token.text not in ("class", "struct") or not is_word(tokens[index + 1]):
            continue
        at = index + 1
        while not is_operator(tokens[at], ("{", ";", "(", ")", ">", ",", "=")):
            at += 1
        if is_operator(tokens[at], "{"):
            yield index + 1, at


def _declared(tokens: list[Token], pairs: dict[int, int], body: int) -> Iterator[int]:
    """The names of members in a class's body that are neither methods nor arrays."""
    at, start = body + 1, body + 1
    while at < pairs[body]:
        token = tokens[at]
        if is_operator(token, CLOSING):
            at = pairs[at]
            start = at + 1 if is_operator(token, "{") else start
        elif is_operator(token, ";"):
            yield from _of_statement(tokens, start, at)
            start = at + 1
        at += 1


def _of_statement(tokens: list[Token], start: int, end: int) -> Iterator[int]:
    """The names in `Type a, b;`; none where it declares a method or an array."""
    statement = tokens[start:end]
    if any(is_operator(one, "([") or one.text.startswith("mql::array<") for one in statement):
        return
    for at in range(start, end):
        if tokens[at].kind is TokenKind.NAME and is_operator(tokens[at + 1], (";", ",")):
            yield at


def _const_methods(
    tokens: list[Token], pairs: dict[int, int], fields: dict[str, Names]
) -> Iterator[tuple[str, int]]:
    """Of each const method with a body its class and the `{`."""
    inside = {body: tokens[name].text for name, body in _bodies(tokens)}
    open_: list[str] = []
    for index, token in enumerate(tokens):
        if is_operator(token, "{"):
            if tokens[index - 1].text == "const" and is_operator(tokens[index - 2], ")"):
                owner = _owner(tokens, pairs, index) or next(filter(None, reversed(open_)), "")
                if owner in fields:
                    yield owner, index
            open_.append(inside.get(index, ""))
        elif is_operator(token, "}"):
            open_.pop()


def _owner(tokens: list[Token], pairs: dict[int, int], body: int) -> str:
    """The class that is written before a method's name."""
    name = pairs[body - 2] - 1
    return tokens[name - 2].text if is_operator(tokens[name - 1], ("::",)) else ""
