"""Text to tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.lang.errors import Source
from cep.lang.lexer import tokenize
from cep.lang.tokens import Kind


def kinds(text: str) -> list[tuple[Kind, str]]:
    tokens, _ = tokenize(Source(text))
    return [(token.kind, token.text) for token in tokens[:-1]]


@pytest.mark.parametrize(
    ("text", "kind", "content"),
    [
        ("1", Kind.INT, "1"),
        ("1L", Kind.LONG, "1L"),
        ("1l", Kind.LONG, "1l"),
        ("1.0f", Kind.FLOAT, "1.0f"),
        ("1F", Kind.FLOAT, "1F"),
        ("1.5", Kind.DOUBLE, "1.5"),
        (".5", Kind.DOUBLE, ".5"),
        ("1d", Kind.DOUBLE, "1d"),
        ("1.0D", Kind.DOUBLE, "1.0D"),
        ("1e-3", Kind.DOUBLE, "1e-3"),
        ("1.e3", Kind.DOUBLE, "1.e3"),
        ("1E+3f", Kind.FLOAT, "1E+3f"),
        ("a_1", Kind.WORD, "a_1"),
        ("`two words`", Kind.QUOTED, "two words"),
        ("'one'", Kind.STRING, "one"),
        ('"it\'s"', Kind.STRING, "it's"),
        ("'back\\slash'", Kind.STRING, "back\\slash"),
        ("''", Kind.STRING, ""),
        ('""', Kind.STRING, ""),
        ('"""a "quoted"\nline"""', Kind.STRING, 'a "quoted"\nline'),
        ("->", Kind.SYMBOL, "->"),
        ("<=", Kind.SYMBOL, "<="),
        ("...", Kind.SYMBOL, "..."),
        ("{ a { b } c }", Kind.BAD, "a script cannot stand here"),
        ("'open", Kind.BAD, "the string is never closed"),
        ('"""open\n', Kind.BAD, "the string is never closed"),
        ("`open", Kind.BAD, "the quoted name is never closed"),
        ("~", Kind.BAD, "unexpected character '~'"),
    ],
)
def test_one_token(text: str, kind: Kind, content: str) -> None:
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
