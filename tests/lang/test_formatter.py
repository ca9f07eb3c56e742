"""The standard layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings

from cep.lang import RuleError, format_rules, parse
from cep.lang.errors import Source
from cep.lang.lexer import tokenize
from tests.campaign import examples
from tests.lang.rules import rule_texts

FORMATTED = sorted((Path(__file__).parent / "formatted").glob("*.cep"))


@pytest.mark.parametrize("path", FORMATTED, ids=lambda path: path.stem)
def test_well_formed_text_stays_as_it_is(path: Path) -> None:
    text = path.read_text()
    assert format_rules(text) == text


def test_there_are_well_formed_texts() -> None:
    assert FORMATTED


@given(rule_texts())
@example("from S select a insert into T -- one\n; -- two\n\n\n-- three\n")
@example("/* a */ /* b */ define engine A; /* c */ define engine B /* d */ /* e\n */;")
@settings(max_examples=examples(300))
def test_formatting_keeps_the_meaning_and_settles(text: str) -> None:
    formatted = format_rules(text)
    assert parse(formatted) == parse(text)
    assert format_rules(formatted) == formatted


@given(rule_texts())
def test_formatting_keeps_every_comment(text: str) -> None:
    def comments(text: str) -> list[str]:
        return [comment.text for comment in tokenize(Source(text))[1]]

    assert comments(format_rules(text)) == comments(text)


@pytest.mark.parametrize(
    ("text", "formatted"),
    [
        ("", ""),
        ("-- only a comment", "-- only a comment\n"),
        ("define engine A", "define engine A;\n"),
        ("DEFINE Engine A(queue=5min)", "define engine A (queue = 5 min);\n"),
        ("from S[a>-1]select*insert into T", "from S[a > -1] select * insert into T;\n"),
        (
            "from S # [ a ] # window . time ( 1sec ) insert into T",
            "from S#[a]#window.time(1 sec) insert into T;\n",
        ),
        (
            "@info(name = 'q') from S insert into T",
            "@info(name='q')\nfrom S insert into T;\n",
        ),
        (
            "from S select f ( a,b ) as x insert into T",
            "from S select f(a, b) as x insert into T;\n",
        ),
        (
            "define complex C as A( 'k' )->[not B]A within 1 min",
            "define complex C as A('k') -> [not B] A within 1 min;\n",
        ),
        ("define engine A;\n\n\n\ndefine engine B;", "define engine A;\n\ndefine engine B;\n"),
        ("define engine A; -- why", "define engine A;  -- why\n"),
    ],
)
def test_layout(text: str, formatted: str) -> None:
    assert format_rules(text) == formatted


def test_long_statements_have_a_line_for_each_clause() -> None:
    columns = ", ".join(f"attribute{i}" for i in range(12))
    formatted = format_rules(f"from S select {columns} group by a insert into T")
    assert formatted.split("\n")[0] == "from S"
    assert formatted.split("\n")[-3:] == ["  group by a", "  insert into T;", ""]
    assert all(len(line) <= 100 for line in formatted.split("\n"))


def test_text_in_error_is_not_formatted() -> None:
    with pytest.raises(RuleError):
        format_rules("from S")
