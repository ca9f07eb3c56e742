"""Text to tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.lang.errors import Source
from cep.lang.lexer import tokenize
from cep.lang.tokens import TokenKind


def kinds(text: str) -> list[tuple[TokenKind, str]]:
    tokens, _ = tokenize(Source(text))
    return [(token.kind, token.text) for token in tokens[:-1]]


@pytest.mark.parametrize(
    ("text", "kind", "content"),
    [
        ("1", TokenKind.INT, "1"),
        ("1L", TokenKind.LONG, "1L"),
        ("1l", TokenKind.LONG, "1l"),
        ("1.0f", TokenKind.FLOAT, "1.0f"),
        ("1F", TokenKind.FLOAT, "1F"),
        ("1.5", TokenKind.DOUBLE, "1.5"),
        (".5", TokenKind.DOUBLE, ".5"),
        ("1d", TokenKind.DOUBLE, "1d"),
        ("1.0D", TokenKind.DOUBLE, "1.0D"),
        ("1e-3", TokenKind.DOUBLE, "1e-3"),
        ("1.e3", TokenKind.DOUBLE, "1.e3"),
        ("1E+3f", TokenKind.FLOAT, "1E+3f"),
        ("a_1", TokenKind.WORD, "a_1"),
        ("`two words`", TokenKind.QUOTED, "two words"),
        ("'one'", TokenKind.STRING, "one"),
        ('"it\'s"', TokenKind.STRING, "it's"),
        ("'back\\slash'", TokenKind.STRING, "back\\slash"),
        ("''", TokenKind.STRING, ""),
        ('""', TokenKind.STRING, ""),
        ('"""a "quoted"\nline"""', TokenKind.STRING, 'a "quoted"\nline'),
        ("->", TokenKind.SYMBOL, "->"),
        ("<=", TokenKind.SYMBOL, "<="),
        ("...", TokenKind.SYMBOL, "..."),
        ("{ a { b } c }", TokenKind.BAD, "a script cannot stand here"),
        ("'open", TokenKind.BAD, "the string is never closed"),
        ('"""open\n', TokenKind.BAD, "the string is never closed"),
        ("`open", TokenKind.BAD, "the quoted name is never closed"),
        ("~", TokenKind.BAD, "unexpected character '~'"),
    ],
)
def test_one_token(text: str, kind: TokenKind, content: str) -> None:
    assert kinds(text) == [(kind, content)]


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("5min", ["5", "min"]),
        ("5days", ["5", "days"]),
        ("5f", ["5f"]),
        ("5feet", ["5", "feet"]),
        ("a.b", ["a", ".", "b"]),
        ("a<-1", ["a", "<", "-", "1"]),
        ("a->b", ["a", "->", "b"]),
        ("a==b", ["a", "==", "b"]),
        ("a--b\nc", ["a", "c"]),
        ("a/* b\n c */d", ["a", "d"]),
        ("a /* never closed", ["a", "the comment is never closed"]),
        ("a /*/ b", ["a", "the comment is never closed"]),
        ("a /**/ b", ["a", "b"]),
        ("a -- at the end", ["a"]),
        ("a -- '", ["a"]),
        ("a -- /*\nb", ["a", "b"]),
        ("a /* '\n\" */ b", ["a", "b"]),
        ("'/*' b", ["/*", "b"]),
        ("a /* see /data/*.csv */ b", ["a", "b"]),
        (
            "a; /* one\nb;\n/* two */ c",
            ["a", ";", "the comment is not closed before another one begins (line 3)", "c"],
        ),
    ],
)
def test_several_tokens(text: str, texts: list[str]) -> None:
    assert [content for _, content in kinds(text)] == texts


def test_comments_know_whether_they_stand_alone() -> None:
    _, comments = tokenize(Source("-- one\na -- two\n  /* three */ b"))
    assert [(c.text, c.own_line) for c in comments] == [
        ("-- one", True),
        ("-- two", False),
        ("/* three */", True),
    ]


@given(st.text())
def test_tokens_and_comments_cover_the_text(text: str) -> None:
    """Nothing is lost: what no token and no comment covers is blank."""
    tokens, comments = tokenize(Source(text))
    covered = sorted([token.span for token in tokens] + [comment.span for comment in comments])
    position = 0
    for span in covered:
        assert not text[position : span.start].strip(" \t\r\n\v\f\ufeff")
        position = max(position, span.end)
    assert position == len(text)
