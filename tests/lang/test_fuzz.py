"""Whatever the text, the answer is a tree, a plan, or a RuleError."""

from __future__ import annotations

import contextlib
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cep.lang import RuleError, format_rules, parse, parse_on_demand
from cep.lang.errors import Source
from cep.lang.lexer import tokenize
from cep.lang.tokens import KEYWORDS
from cep.plan import compile_rules
from tests.campaign import examples
from tests.lang.rules import BLANKS, NAMES, OPERATORS, on_demand_queries, rule_texts

PIECES = (
    *NAMES,
    *OPERATORS,
    *BLANKS,
    *sorted(KEYWORDS),
    *"( ) [ ] # . , ; : @ ! ? ' \" ` -> - -- /* */ { } 1 1.5 2L 9999999999 5e999 \\".split(),
    "\0",
    "\ufeff",
)

ROOT = Path(__file__).parents[2]
FILES = (*sorted(ROOT.glob("strategies/*/*.cep")), *sorted(ROOT.glob("tests/lang/formatted/*.cep")))


def tokens_of(path: Path) -> tuple[str, ...]:
    """The tokens of a rule file as they are written."""
    source = Source(path.read_text(encoding="utf-8"))
    spans = [token.span for token in tokenize(source)[0]]
    return tuple(source.text[start:end] for start, end in spans if start < end)


WRITTEN = [tokens_of(path) for path in FILES]


def accept_or_refuse(text: str) -> None:
    """Anything but a RuleError fails the test."""
    for reader in (parse, parse_on_demand, format_rules, compile_rules):
        with contextlib.suppress(RuleError):
            reader(text)


@given(st.text())
@settings(max_examples=examples(200))
def test_any_text(text: str) -> None:
    accept_or_refuse(text)


@given(st.lists(st.sampled_from(PIECES), max_size=40))
@settings(max_examples=examples(300))
def test_any_words(words: list[str]) -> None:
    accept_or_refuse(" ".join(words))
    accept_or_refuse("".join(words))


@given(rule_texts())
@settings(max_examples=examples(300))
def test_generated_rules_can_be_parsed(text: str) -> None:
    parse(text)


@given(on_demand_queries)
@settings(max_examples=examples(200))
def test_generated_on_demand_queries_can_be_parsed(words: list[str]) -> None:
    parse_on_demand(" ".join(words))
    accept_or_refuse(" ".join(words))


@given(rule_texts(), st.data())
@settings(max_examples=examples(200))
def test_damaged_rules(text: str, data: st.DataObject) -> None:
    """A valid text with a piece cut out, doubled or put in."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    middle = data.draw(st.sampled_from(["", text[start:end] * 2, *PIECES]))
    accept_or_refuse(text[:start] + middle + text[end:])


@given(st.sampled_from(WRITTEN), st.data())
@settings(max_examples=examples(100))
def test_written_rules_with_tokens_lost_put_in_or_exchanged(
    tokens: tuple[str, ...], data: st.DataObject
) -> None:
    """Rule files as people write them, one to three slips away from that."""
    damaged = list(tokens)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        match data.draw(st.sampled_from(["lose", "put in", "exchange"])):
            case "lose":
                del damaged[place]
            case "put in":
                damaged.insert(place, data.draw(st.sampled_from(PIECES)))
            case _:
                other = data.draw(st.integers(0, len(damaged) - 1))
                damaged[place], damaged[other] = damaged[other], damaged[place]
    accept_or_refuse(" ".join(damaged))


@given(rule_texts())
@settings(max_examples=examples(200))
def test_errors_lie_inside_the_text(text: str) -> None:
    """Most generated rules parse but make no sense: each complaint names a real place."""
    try:
        compile_rules(text, "rules.cep")
    except RuleError as raised:
        lines = text.split("\n")
        for error in raised.errors:
            assert error.column <= len(lines[error.line - 1]) + 1
            assert error.render().startswith(f"rules.cep:{error.line}:{error.column}: error: ")
