"""Functions that are used before they stand in the source: MQL5 needs no prototypes, C++ does.

Each is declared before the first part of the program that names it. Values of parameters that may
be left out stand in the first declaration alone, and so do the overloads that refuse values.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from mt5bridge.emulator.translate.emit import Writer
from mt5bridge.emulator.translate.items import Item, ItemKind
from mt5bridge.emulator.translate.scan import CLOSING, is_operator, partners
from mt5bridge.emulator.translate.tokens import Token, TokenKind


class Prototypes:
    """What is declared of the program's functions so far."""

    def __init__(self, items: list[Item]) -> None:
        self._pending: dict[str, list[Item]] = defaultdict(list)
        self._declared: set[int] = set()
        for item in items:
            if item.part is ItemKind.FUNCTION:
                self._pending[item.name()].append(item)

    def declare_for(self, writer: Writer, item: Item) -> None:
        """Declare the functions that this part names and that stand behind it."""
        own = item.name() if item.part in (ItemKind.FUNCTION, ItemKind.PROTOTYPE) else ""
        for token in item.tokens:
            if token.kind is not TokenKind.NAME or token.text not in self._pending:
                continue
            for function in self._pending.pop(token.text) if token.text != own else ():
                self._declare(writer, function)

    def prototype(self, writer: Writer, item: Item) -> None:
        """One that the author has written: its function is declared here."""
        tokens = item.tokens
        found = [one for one in self._pending[item.name()] if _count(one) == _count(item)]
        if not found:
            if not self._is_known(item):
                writer.tokens(tokens)
            return
        for function in found:
            self._pending[item.name()].remove(function)
            if len(_without_defaults(tokens)) == len(tokens):
                self._declare(writer, function)
                continue
            writer.tokens(tokens)
            writer.tokens([_semicolon(tokens[-1], function.tokens[-1].after)])
            self._declared.add(id(function))

    def definition(self, item: Item) -> list[Token]:
        """The function as it is to be written where it stands."""
        if item in self._pending.get(item.name(), ()):
            self._pending[item.name()].remove(item)
        if id(item) not in self._declared:
            self._declared.add(id(item))
            return item.tokens
        head = _head(item.tokens)
        rest = item.tokens[len(head) :]
        return [*_without_defaults(head), *rest[:-1], replace(rest[-1], after="")]

    def _declare(self, writer: Writer, function: Item) -> None:
        head = [replace(token) for token in _head(function.tokens)]
        writer.tokens([*head, _semicolon(head[-1], function.tokens[-1].after)])
        self._declared.add(id(function))

    def _is_known(self, item: Item) -> bool:
        return item.name() in self._pending and bool(self._declared)


def method_definition(item: Item) -> list[Token]:
    """A method outside of its class: what stands for missing arguments may be repeated in MQL5."""
    head = _head(item.tokens)
    if not any(is_operator(token, ("::",)) for token in head):
        return item.tokens  # of a template: a function
    return [*_without_defaults(head), *item.tokens[len(head) :]]


def _semicolon(like: Token, after: str) -> Token:
    return Token(TokenKind.OPERATOR, ";", like.file, like.line, like.column + 1, after=after)


def _head(tokens: list[Token]) -> list[Token]:
    """What stands before the body."""
    at = next(index for index, token in enumerate(tokens) if is_operator(token, "{"))
    return tokens[:at]


def _count(item: Item) -> int:
    """How many parameters there are."""
    tokens = item.tokens
    start = next(index for index, token in enumerate(tokens) if is_operator(token, "("))
    end = partners(tokens)[start]
    inner = _without_defaults(tokens[start : end + 1])[1:-1]
    is_none = not inner or [token.text for token in inner] == ["void"]
    return 0 if is_none else 1 + sum(is_operator(token, ",") for token in inner)


def _without_defaults(tokens: list[Token]) -> list[Token]:
    """A head of a function without the values of its parameters."""
    pairs = partners(tokens)
    out: list[Token] = []
    index = 0
    while index < len(tokens):
        if is_operator(tokens[index], "="):
            while not is_operator(tokens[index], (",", ")")):
                index = pairs[index] + 1 if is_operator(tokens[index], CLOSING) else index + 1
        out.append(tokens[index])
        index += 1
    return out
