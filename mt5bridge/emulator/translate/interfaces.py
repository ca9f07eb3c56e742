"""`interface`: a class whose methods are public, virtual and without a body."""

from __future__ import annotations

from mt5bridge.emulator.translate.scan import CLOSING, is_operator, partners
from mt5bridge.emulator.translate.tokens import Token, TokenKind

_REMEDY = "declare methods alone: type Name(parameters);"


def rewrite_interfaces(tokens: list[Token]) -> None:
    """As classes, in place."""
    pairs = partners(tokens)
    for index, token in enumerate(tokens):
        if token.text != "interface" or token.kind is not TokenKind.NAME:
            continue
        token.text = "class"
        body = index
        while not is_operator(tokens[body], "{;"):
            body += 1
        if is_operator(tokens[body], "{"):
            _rewrite_body(tokens, pairs, body)


def _rewrite_body(tokens: list[Token], pairs: dict[int, int], body: int) -> None:
    start = body + 1
    while start < pairs[body]:
        end, brackets = start, 0
        while end < pairs[body] and not is_operator(tokens[end], ";:{"):
            brackets += is_operator(tokens[end], "(")
            end = pairs[end] + 1 if is_operator(tokens[end], CLOSING) else end + 1
        if is_operator(tokens[end], ":") and tokens[start].text == "public":
            start = end + 1
            continue
        if not brackets or not is_operator(tokens[end], ";"):
            raise tokens[start].error("what an interface cannot have", _REMEDY)
        is_virtual = tokens[start].text == "virtual"
        tokens[start].before = "public: " if is_virtual else "public: virtual "
        if not any(is_operator(token, "=") for token in tokens[end - 2 : end]):
            tokens[end].before = " = 0"
        start = end + 1
