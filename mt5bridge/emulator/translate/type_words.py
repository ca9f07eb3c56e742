"""`typename(x)`: the name of a type, or of a value's type."""

from __future__ import annotations

from mt5bridge.emulator.translate.scan import PLAIN_TYPES, is_operator, partners
from mt5bridge.emulator.translate.tokens import Token, TokenKind


def rewrite_typenames(tokens: list[Token], types: set[str]) -> None:
    """As calls of `mql::type_name`; `types` are the names of the program's types and templates'."""
    pairs = partners(tokens)
    for index, token in enumerate(tokens[:-1]):
        is_asked = token.text == "typename" and token.kind is TokenKind.NAME
        if not is_asked or not is_operator(tokens[index + 1], "("):
            continue
        inner = tokens[index + 2 : pairs[index + 1]]
        is_type = len(inner) == 1 and inner[0].text in (types | PLAIN_TYPES)
        token.text = "mql::type_name<" if is_type else "mql::type_name<decltype("
        tokens[index + 1].text = ""
        tokens[pairs[index + 1]].text = ">()" if is_type else ")>()"
        for bracket in (index + 1, pairs[index + 1]):
            tokens[bracket].kind = TokenKind.TYPE
