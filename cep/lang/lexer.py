"""Text to tokens. Never raises: what is no token becomes a BAD token with the complaint."""

from __future__ import annotations

import re

from cep.lang.errors import Source, Span
from cep.lang.tokens import Comment, Token, TokenKind

# Editors on Windows put a byte order mark first; it counts as a blank.
# Suffixes and exponents count only when no letter follows, so that `5days` is `5 days`.
SCANNER = re.compile(
    r"""
      (?P<SPACE>[ \t\r\n\v\f\ufeff]+)
    | (?P<COMMENT>--[^\r\n]*|/\*(?s:.*?)\*/)
    | (?P<FLOAT>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?[fF](?!\w))
    | (?P<DOUBLE>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?[dD](?!\w)
                |(?:\d+(?:\.\d*)?|\.\d+)[eE][-+]?\d+
                |\d*\.\d+)
    | (?P<LONG>\d+[lL](?!\w))
    | (?P<INT>\d+)
    | (?P<WORD>[A-Za-z_]\w*)
    | (?P<QUOTED>`[^`\r\n]+`)
    | (?P<STRING>\"\"\"(?s:.*?)\"\"\"|\"(?!\"\")[^\"\r\n]*\"|'[^'\r\n]*')
    | (?P<OPEN>/\*(?s:.*)|\"\"\"(?s:.*)|[\"'`][^\r\n]*)
    | (?P<SCRIPT>\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})
    | (?P<SYMBOL>->|==|!=|<=|>=|\.\.\.|[-+*/%<>=()\[\],;:.@#!?])
    | (?P<BAD>.)
    """,
    re.VERBOSE | re.ASCII,
)


SWALLOWING = re.compile(r"/\*[^;]*;(?s:.*?)/\*")
"""A comment that another one begins in, behind a whole statement: its own end was forgotten."""


def tokenize(source: Source) -> tuple[list[Token], list[Comment]]:
    """All tokens, closed by one END token, and all comments, both in the order of the text."""
    tokens: list[Token] = []
    comments: list[Comment] = []
    for match in SCANNER.finditer(source.text):
        group = match.lastgroup or "BAD"
        if group == "COMMENT" and SWALLOWING.match(match.group()):
            tokens.append(_swallowing(source, match))
        elif group == "COMMENT":
            comments.append(_comment(source.text, match))
        elif group != "SPACE":
            tokens.append(_token(group, match.group(), Span(*match.span())))
    size = len(source.text)
    tokens.append(Token(TokenKind.END, "", Span(size, size)))
    return tokens, comments


def _comment(text: str, match: re.Match[str]) -> Comment:
    line_start = text.rfind("\n", 0, match.start()) + 1
    own_line = not text[line_start : match.start()].strip()
    return Comment(match.group().rstrip(), Span(*match.span()), own_line)


def _swallowing(source: Source, match: re.Match[str]) -> Token:
    inner = match.start() + match.group().rindex("/*")
    line, _ = source.line_column(inner)
    message = f"the comment is not closed before another one begins (line {line})"
    return Token(TokenKind.BAD, message, Span(*match.span()))


def _token(group: str, text: str, span: Span) -> Token:
    match group:
        case "STRING":
            quotes = 3 if text.startswith('"""') else 1
            return Token(TokenKind.STRING, text[quotes:-quotes], span)
        case "QUOTED":
            return Token(TokenKind.QUOTED, text[1:-1], span)
        case "OPEN":
            return Token(TokenKind.BAD, f"the {_quote_name(text)} is never closed", span)
        case "SCRIPT":
            return Token(TokenKind.BAD, "a script cannot stand here", span)
        case "BAD":
            return Token(TokenKind.BAD, f"unexpected character {text!r}", span)
        case _:
            return Token(TokenKind[group], text, span)


def _quote_name(text: str) -> str:
    if text.startswith("/*"):
        return "comment"
    return "quoted name" if text.startswith("`") else "string"
