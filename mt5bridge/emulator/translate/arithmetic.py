"""Division: the right operand is checked, as the terminal stops a program that divides by zero."""

from __future__ import annotations

from mt5bridge.emulator.translate.scan import CLOSING, is_operator, operand_end, partners
from mt5bridge.emulator.translate.tokens import Token, TokenKind


def rewrite_divisions(tokens: list[Token]) -> None:
    """Put `mql::divisor` around what is divided by."""
    pairs = partners(tokens)
    for index, token in enumerate(tokens):
        if is_operator(token, ("/", "%")):
            end = operand_end(tokens, pairs, index + 1)
        elif is_operator(token, ("/=", "%=")):
            end = _expression_end(tokens, pairs, index + 1)
        else:
            continue
        if end > index + 1 or tokens[end].kind is not TokenKind.NUMBER:
            tokens[index + 1].wrap(tokens[end], "mql::divisor")


def _expression_end(tokens: list[Token], pairs: dict[int, int], start: int) -> int:
    index = start
    while not is_operator(tokens[index], (";", ",", ")")):
        index = pairs[index] + 1 if is_operator(tokens[index], CLOSING) else index + 1
    return index - 1
