"""SQL's tokens for those of the rule language, which has the same expressions otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cep.lang.errors import Span
from cep.lang.tokens import Token, TokenKind

TYPES = {
    "integer": "int", "int": "int",
    "bigint": "long", "long": "long",
    "real": "float", "float": "float",
    "double": "double",
    "varchar": "string", "string": "string", "text": "string",
    "boolean": "bool", "bool": "bool",
}  # fmt: skip
"""Types of SQL, in lower case, as types of rule files."""

CLAUSES = frozenset(
    "select from where group having window matching as define do measures within pattern by"
    " range rows slide partition with invisible gaps".split()
)
"""Words that are no alias."""


def as_rules(tokens: Sequence[Token]) -> list[Token]:
    """`=` becomes `==` and `<>` becomes `!=`; places in the text stay."""
    return list(_translated(tokens))


def _translated(tokens: Sequence[Token]) -> Iterator[Token]:
    skip = False
    for token, following in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
        if skip:
            skip = False
            continue
        adjacent = token.span.end == following.span.start
        if (
            token.kind is TokenKind.SYMBOL
            and (token.text, following.text) == ("<", ">")
            and adjacent
        ):
            skip = True
            yield Token(TokenKind.SYMBOL, "!=", Span(token.span.start, following.span.end))
        elif token.kind is TokenKind.SYMBOL and token.text == "=":
            yield token._replace(text="==")
        else:
            yield token
