"""Classes, structures and enumerations as C++ has them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from mt5bridge.emulator.translate.items import Item, ItemKind
from mt5bridge.emulator.translate.scan import CLOSING, is_operator, partners
from mt5bridge.emulator.translate.tokens import Token, TokenKind

_WITH_TEXTS = {"MqlTradeRequest", "MqlTradeResult", "MqlTradeCheckResult", "MqlTradeTransaction"}
STATIC = "static"  # the mark of a static member's name
_WITH_TEXTS |= {"MqlParam", "string"}


def rewrite_types(tokens: list[Token]) -> None:
    """Virtual destructors, packed structures, enumerations of four bytes, pure virtual methods."""
    pairs = partners(tokens)
    unpacked = set(_WITH_TEXTS)
    for index, token in enumerate(tokens):
        if token.kind is not TokenKind.NAME:
            continue
        body = _body(tokens, index)
        if body and token.text != "enum":
            _rewrite_statics(tokens, body, pairs)
        if token.text == "enum" and body:
            _rewrite_enum(tokens, index, body, pairs[body])
        elif token.text == "class" and body:
            unpacked.add(tokens[index + 1].text)
            _rewrite_class(tokens, index, body, pairs)
        elif token.text in ("struct", "union") and body:
            _rewrite_struct(tokens, index, body, pairs, unpacked)
        elif token.text == "mql::null" and is_operator(tokens[index + 1], ";"):
            _rewrite_pure(tokens, index)


def _body(tokens: list[Token], index: int) -> int:
    """Where the `{` of a class, structure or enumeration is; 0 if none is declared here."""
    if tokens[index].text not in ("class", "struct", "union", "enum"):
        return 0
    while not is_operator(tokens[index], ("{", ";", "(", ")", "=", ">", ",")):
        index += 1
    return index if is_operator(tokens[index], "{") else 0


def _rewrite_enum(tokens: list[Token], index: int, body: int, end: int) -> None:
    if body == index + 1:
        return
    tokens[body - 1].after += " : int"
    if any(is_operator(token, CLOSING) for token in tokens[body + 1 : end]):
        return
    names = [
        token.text
        for previous, token in zip(tokens[body:], tokens[body + 1 : end], strict=False)
        if token.kind is TokenKind.NAME and is_operator(previous, ("{", ","))
    ]
    tokens[end].comment = f"{tokens[index + 1].text} {' '.join(names)}"


def enum_names(tokens: list[Token]) -> str:
    """C++ that gives the names of an enumeration's values; empty if it is none."""
    end = next((token for token in tokens if is_operator(token, "}")), None)
    if end is None or tokens[0].text != "enum" or not end.comment:
        return ""
    name, *values = end.comment.split()
    listed = " ".join(f"MQL_ENUM_VALUE({value})" for value in values)
    return (
        f" inline mql::EnumNames names_of({name}) {{ static constexpr mql::EnumName list[] = "
        f"{{{listed}}}; return {{list, {len(values)}}}; }}"
    )


def _rewrite_class(tokens: list[Token], index: int, body: int, pairs: dict[int, int]) -> None:
    name = tokens[index + 1].text
    for at in _members(tokens, body, pairs):
        if is_operator(tokens[at], "~") and tokens[at + 1].text == name:
            if tokens[at - 1].text != "virtual":
                tokens[at].before = "virtual " + tokens[at].before
            return
    tokens[body].after += f" public: virtual ~{name}() = default; private:"


def _rewrite_struct(
    tokens: list[Token], index: int, body: int, pairs: dict[int, int], unpacked: set[str]
) -> None:
    members = [tokens[at] for at in _members(tokens, body, pairs)]
    bases = tokens[index + 2 : body]
    if any(_has_own_memory(token, unpacked) for token in (*members, *bases)):
        unpacked.add(tokens[index + 1].text)
        return
    tokens[index].before += '_Pragma("pack(push, 1)") '
    tokens[pairs[body] + 1].after += ' _Pragma("pack(pop)")'


def _has_own_memory(token: Token, unpacked: set[str]) -> bool:
    return token.text in unpacked or (
        token.kind is TokenKind.TYPE and token.text.startswith(("mql::ptr<", "mql::array<"))
    )


def _members(tokens: list[Token], body: int, pairs: dict[int, int]) -> Iterator[int]:
    """The tokens of a body that are in no inner bracket."""
    at = body + 1
    while at < pairs[body]:
        if is_operator(tokens[at], CLOSING):
            at = pairs[at]
        else:
            yield at
        at += 1


def _rewrite_pure(tokens: list[Token], index: int) -> None:
    before = tokens[index - 2]
    if is_operator(tokens[index - 1], "=") and (is_operator(before, ")") or before.text == "const"):
        tokens[index].text = "0"


def _rewrite_statics(tokens: list[Token], body: int, pairs: dict[int, int]) -> None:
    """`static T a, b;` as references to what each instance of the program has of them."""
    members = list(_members(tokens, body, pairs))
    for position, at in enumerate(members):
        if tokens[at].text != "static":
            continue
        statement = [tokens[one] for one in _statement(tokens, members[position:])]
        if any(is_operator(one, "({") or one.text == "const" for one in statement):
            continue
        for name, following in pairwise(statement):
            if name.kind is TokenKind.NAME and is_operator(following, ",;"):
                name.before = f"&{name.before}"
                name.comment = STATIC


def _statement(tokens: list[Token], members: list[int]) -> Iterator[int]:
    """The tokens up to the next semicolon, or to the bracket of a method's body."""
    for at, following in pairwise([*members, len(tokens)]):
        yield at
        if is_operator(tokens[at], ";"):
            return
        if following > at + 1:
            yield at + 1  # the bracket


def check_statics(items: list[Item]) -> None:
    """Raise TranslationError for a static member that is declared and has no definition."""
    defined = {
        (owner.text, name.text)
        for item in items
        if item.part is ItemKind.VARIABLE
        for owner, colons, name in zip(item.tokens, item.tokens[1:], item.tokens[2:], strict=False)
        if is_operator(colons, ("::",))
    }
    for item in items:
        type_ = item.tokens[1].text if len(item.tokens) > 1 else ""
        for token in item.tokens if item.part is ItemKind.TYPE else ():
            if token.comment == STATIC and (type_, token.text) not in defined:
                if item.first.text == "template":
                    raise token.error("a static member of a template", "use a class of one type")
                raise token.error(
                    f"unresolved static variable {type_}::{token.text}",
                    f"define it outside of the class: type {type_}::{token.text} = value;",
                )
