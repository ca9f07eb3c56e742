"""`typedef R (*Name)(parameters);`: variables of it are `mql::function`, which can be NULL."""

from __future__ import annotations

from dataclasses import replace

from mt5bridge.emulator.translate.scan import is_operator, partners
from mt5bridge.emulator.translate.tokens import Token, TokenKind


def rewrite_function_types(tokens: list[Token]) -> list[Token]:
    """Each as `typedef mql::function<R (parameters)> Name;`."""
    pairs = partners(tokens)
    out: list[Token] = []
    index = 0
    while index < len(tokens):
        if tokens[index].text != "typedef" or tokens[index].kind is not TokenKind.NAME:
            out.append(tokens[index])
            index += 1
            continue
        star = index + 1
        while not is_operator(tokens[star], "*"):
            star += 1
        start, name = star - 1, tokens[star + 1]
        end = pairs[pairs[start] + 1]
        out += [
            tokens[index],
            replace(tokens[index], kind=TokenKind.TYPE, text="mql::function<"),
            *tokens[index + 1 : start],
            *tokens[pairs[start] + 1 : end + 1],
            replace(tokens[end], kind=TokenKind.TYPE, text=">"),
            name,
        ]
        index = end + 1
    return out
