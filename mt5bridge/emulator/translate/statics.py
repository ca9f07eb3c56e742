"""Static variables of functions: each program that runs has its own.

They live as long as the globals of the program: through changes of inputs, symbol and period, and
not when it is loaded anew. So they belong to the program's instance, not to the C++ function.
"""

from __future__ import annotations

from mt5bridge.emulator.translate.scan import CLOSING, function_bodies, is_operator, partners
from mt5bridge.emulator.translate.tokens import Token


def keep_statics(tokens: list[Token]) -> list[Token]:
    """`static T name = value;` as a reference to what the instance keeps (`mql::kept`)."""
    pairs = partners(tokens)
    dropped: set[int] = set()
    for start, end in function_bodies(tokens, pairs):
        for index in range(start, end):
            if tokens[index].text == "static" and _rewrite(tokens, pairs, index):
                dropped.add(index)
    return [token for index, token in enumerate(tokens) if index not in dropped]


def _rewrite(tokens: list[Token], pairs: dict[int, int], index: int) -> bool:
    """Rewrites one declaration; false if it is one of constants."""
    at = index + 1
    while not is_operator(tokens[at], ("=", ",", ";", "(")):
        at += 1
    type_tokens = tokens[index + 1 : at - 1]
    if any(token.text == "const" for token in type_tokens):
        return False
    type_ = "".join(token.text for token in type_tokens)
    type_tokens[-1].after += " &"
    while True:
        at = _declarator(tokens, pairs, at, type_)
        if is_operator(tokens[at], ";"):
            return True
        tokens[at].text, tokens[at].after = ";", f" {type_} &"
        at += 2


def _declarator(tokens: list[Token], pairs: dict[int, int], at: int, type_: str) -> int:
    """Rewrites the variable whose name ends before `at`; where the comma or semicolon is."""
    name = tokens[at - 1]
    if is_operator(tokens[at], (",", ";")):
        name.after += f" = mql::kept<{type_}>([] {{ return {type_}{{}}; }})"
        return at
    if not is_operator(tokens[at], ("=",)):
        raise name.error("a static variable with arguments", "give it a value by =")
    name.after += f" = mql::kept<{type_}>([] {{ {type_} mql_value"
    while not is_operator(tokens[at], (",", ";")):
        at = pairs[at] + 1 if is_operator(tokens[at], CLOSING) else at + 1
    tokens[at].before += "; return mql_value; })"
    return at
