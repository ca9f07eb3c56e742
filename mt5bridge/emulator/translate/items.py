"""A program's outermost parts: types, functions, variables, inputs, defines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from mt5bridge.emulator.translate.scan import CLOSING, PLAIN_TYPES, is_operator, partners
from mt5bridge.emulator.translate.tokens import Token, TokenKind


class ItemKind(Enum):
    """What an item is."""

    DEFINE = "define"
    TYPE = "type"
    FUNCTION = "function"
    METHOD = "method"
    PROTOTYPE = "prototype"
    CONSTANT = "constant"
    VARIABLE = "variable"
    INPUT = "input"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Item:
    """One outermost part and its tokens."""

    part: ItemKind
    tokens: list[Token]

    @property
    def first(self) -> Token:
        return self.tokens[0]

    def name(self) -> str:
        """A function's or variable's name; a type's name."""
        if self.part is ItemKind.TYPE:
            return self.tokens[1].text if len(self.tokens) > 1 else ""
        named = self.named()
        return named.text if named else ""

    def named(self) -> Token | None:
        """The token of a function's or variable's name."""
        for token, following in zip(self.tokens, self.tokens[1:], strict=False):
            if token.kind is TokenKind.NAME and is_operator(following, ("(", "=", ";")):
                return token
        return None


def split(tokens: list[Token]) -> list[Item]:
    """The outermost parts in their order."""
    return list(_Splitter(tokens).items())


class _Splitter:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens, self._pairs = tokens, partners(tokens)

    def items(self) -> list[Item]:
        found: list[Item] = []
        index = 0
        while index < len(self._tokens):
            if is_operator(self._tokens[index], ";"):
                index += 1
                continue
            part, end = self._part(index)
            found.append(Item(part, self._tokens[index : end + 1]))
            index = end + 1
        return found

    def _part(self, index: int) -> tuple[ItemKind, int]:
        word = self._tokens[index].text
        if self._tokens[index].kind is TokenKind.DIRECTIVE:
            return ItemKind.DEFINE, index
        if word in ("input", "sinput"):
            return self._input(index)
        if word == "template":
            return self._template(index)
        if word == "enum" or (word in ("class", "struct", "union") and self._declares(index)):
            return ItemKind.TYPE, self._semicolon(index)
        if word == "typedef":
            return ItemKind.TYPE, self._semicolon(index)
        return self._declaration(index)

    def _input(self, index: int) -> tuple[ItemKind, int]:
        if self._tokens[index + 1].text != "group":
            return ItemKind.INPUT, self._semicolon(index)
        return ItemKind.GROUP, index + 2

    def _declares(self, index: int) -> bool:
        while not is_operator(self._tokens[index], ("{", ";", "(", "=")):
            index += 1
        return is_operator(self._tokens[index], ("{", ";"))

    def _template(self, index: int) -> tuple[ItemKind, int]:
        at = index
        while not is_operator(self._tokens[at], ">"):
            at += 1
        part, end = self._part(at + 1)
        return (ItemKind.METHOD if part is ItemKind.FUNCTION else part), end

    def _semicolon(self, index: int) -> int:
        start = index
        while index < len(self._tokens):
            token = self._tokens[index]
            if is_operator(token, ";"):
                return index
            index = self._pairs[index] + 1 if is_operator(token, CLOSING) else index + 1
        raise self._tokens[start].error("a declaration without its end", "close it with ;")

    def _declaration(self, index: int) -> tuple[ItemKind, int]:
        at = index
        while at < len(self._tokens) and not is_operator(self._tokens[at], (";", "=", "(", "{")):
            at += 1
        if at == len(self._tokens) or is_operator(self._tokens[at], "{"):
            raise self._tokens[index].error("no declaration", "write a type, a name, and ; or {")
        head = self._tokens[index:at]
        if not is_operator(self._tokens[at], "("):
            constant = any(token.text == "const" for token in head)
            return ItemKind.CONSTANT if constant else ItemKind.VARIABLE, self._semicolon(index)
        return self._callable(index, at, any(is_operator(token, ("::",)) for token in head))

    def _callable(self, index: int, bracket: int, method: bool) -> tuple[ItemKind, int]:
        at = self._pairs[bracket] + 1
        while at < len(self._tokens) and not is_operator(self._tokens[at], ("{", ";")):
            at += 1
        if at == len(self._tokens):
            raise self._tokens[index].error("a function without its end", "write { } or ;")
        if is_operator(self._tokens[at], "{"):
            return ItemKind.METHOD if method else ItemKind.FUNCTION, self._pairs[at]
        parameters = self._tokens[bracket + 1 : self._pairs[bracket]]
        if not parameters or any(_is_type_word(token) for token in parameters):
            return ItemKind.PROTOTYPE, at
        return ItemKind.VARIABLE, at


def _is_type_word(token: Token) -> bool:
    return token.text in PLAIN_TYPES or token.text == "const" or is_operator(token, "&")
