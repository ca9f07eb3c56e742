"""Global variables, inputs and static members of classes: at a fixed place, by instance.

Each declaration becomes a structure of its variables in a `mql::slot`, and each name a reference to
its part of it. So functions and classes use the name as it is, and the terminal gives every program
that runs values of its own (`places.hpp`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from mt5bridge.emulator.translate.emit import Writer
from mt5bridge.emulator.translate.items import Item, ItemKind
from mt5bridge.emulator.translate.scan import CLOSING, PLAIN_TYPES, is_operator, partners
from mt5bridge.emulator.translate.tokens import Token, TokenKind

_DROPPED = frozenset(("input", "sinput", "static", "extern"))


@dataclass(frozen=True, slots=True)
class Variable:
    """A name of a declaration, and the class whose static member it is (else empty)."""

    name: str
    owner: str


def write_variables(writer: Writer, item: Item, number: int) -> list[Variable]:
    """The variables of one declaration; `number` is a number of its own."""
    tokens = [replace(token) for token in item.tokens if token.text not in _DROPPED]
    variables = _declared(tokens)
    is_input = item.part is ItemKind.INPUT
    const = "const " if is_input else ""
    writer.raw(f"struct mql_variables_{number} {{")
    writer.tokens(_without_owners(tokens))
    lines = [f"}};\nmql::slot<mql_variables_{number}> mql_slot_{number};"]
    for one in variables:
        value = f"mql_slot_{number}.value.{one.name}"
        if one.owner:
            type_ = f"decltype(mql_variables_{number}::{one.name})"
            lines.append(f"{type_}& {one.owner}::{one.name} = {value};")
        else:
            lines.append(f"[[maybe_unused]] {const}auto& {one.name} = {value};")
    added = f"mql_places.add(mql_slot_{number}, {'true' if is_input else 'false'})"
    lines.append(f"[[maybe_unused]] const bool mql_added_{number} = {added};")
    writer.raw("\n".join(lines))
    return variables


def is_computed(item: Item, changing: set[str], macros: set[str]) -> bool:
    """Whether the value of a constant is known only when the program runs."""
    if any(is_operator(token, ("::",)) for token in item.tokens):
        return False
    if not any(is_operator(token, "=") for token in item.tokens):
        return True  # an object
    for token, following in pairwise(item.tokens):
        if token.kind is not TokenKind.NAME:
            continue
        if token.text in changing or token.text.endswith("()"):
            return True
        if is_operator(following, "(") and token.text not in (PLAIN_TYPES | macros):
            return True
    return False


def _declared(tokens: list[Token]) -> list[Variable]:
    """The variables of a declaration; arguments of constructors get the class's name."""
    pairs = partners(tokens)
    found: list[Variable] = []
    at = _first_name(tokens)
    type_ = " ".join(token.text for token in tokens[:at] if token.text != "const")
    while True:
        owner = tokens[at - 2].text if is_operator(tokens[at - 1], ("::",)) else ""
        found.append(Variable(tokens[at].text, owner))
        at += 1
        if is_operator(tokens[at], "("):
            tokens[at].before = f" = {type_}{tokens[at].before}"
        while not is_operator(tokens[at], (",", ";")):
            at = pairs[at] + 1 if is_operator(tokens[at], CLOSING) else at + 1
        if is_operator(tokens[at], ";"):
            return found
        at += 1


def _first_name(tokens: list[Token]) -> int:
    """Where the first variable's name stands, behind the type."""
    depth = 0
    for at, (token, following) in enumerate(pairwise(tokens)):
        depth += is_operator(token, "<") - is_operator(token, ">")
        is_name = token.kind is TokenKind.NAME and not depth
        if is_name and is_operator(following, ("=", ",", ";", "(", "{")):
            return at
    raise tokens[0].error("no declaration", "write a type, a name, and ;")


def _without_owners(tokens: list[Token]) -> list[Token]:
    """Without the `Class ::` of a static member."""
    dropped = {
        at
        for index, token in enumerate(tokens)
        if is_operator(token, ("::",))
        and is_operator(tokens[index + 2], ("=", ",", ";", "("))
        and _is_in_head(tokens, index)
        for at in (index - 1, index)
    }
    return [token for index, token in enumerate(tokens) if index not in dropped]


def _is_in_head(tokens: list[Token], index: int) -> bool:
    return not any(is_operator(token, ("=", "(")) for token in tokens[:index])
