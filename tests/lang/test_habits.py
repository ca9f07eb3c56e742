"""Habits of other languages: what they advise exists, and they speak of nothing that is fine."""

from __future__ import annotations

import re

import pytest

from cep.lang import RuleError, habits, parse
from cep.lang.tokens import ATTRIBUTE_TYPES, KEYWORDS, TIME_UNITS_MS
from cep.plan import compile_rules, functions
from cep.plan import habits as plan_habits

ADVICE = (
    *habits.WORDS.values(),
    *habits.BEHIND.values(),
    *habits.PAIRS.values(),
    *habits.CHARACTERS.values(),
    *plan_habits.FUNCTIONS.values(),
)
CALLED = {name for text in ADVICE for name in re.findall(r"([\w:]+)\(", text)}
KNOWN = {name.lower() for name in functions.names()} | {"eventtimestamp", "length"}
STREAM = "define stream S (symbol string, x double, y double);\n"


def test_every_function_that_is_advised_exists() -> None:
    assert len(CALLED) > 10
    assert {name for name in CALLED if name.lower() not in KNOWN} == set()


def test_only_what_is_no_function_is_called_something_else() -> None:
    assert {name for name in plan_habits.FUNCTIONS if name in KNOWN - {"length"}} == set()


def test_types_and_units_that_are_meant_exist() -> None:
    assert set(habits.TYPES.values()) <= set(ATTRIBUTE_TYPES)
    assert set(habits.UNITS.values()) <= set(TIME_UNITS_MS)
    assert not set(habits.UNITS) & set(TIME_UNITS_MS)


@pytest.mark.parametrize("word", sorted((set(habits.WORDS) | set(habits.BEHIND)) - KEYWORDS))
def test_words_of_other_languages_may_be_names(word: str) -> None:
    text = f"define stream {word} ({word} double);\nfrom {word} select {word} insert into T;"
    assert compile_rules(text, "rules.cep").sources[0].name == word


@pytest.mark.parametrize("name", sorted(plan_habits.FUNCTIONS))
def test_a_function_of_other_languages_is_told_with_ours(name: str) -> None:
    with pytest.raises(RuleError) as caught:
        compile_rules(f"{STREAM}from S select {name}(x) as z insert into T;", "rules.cep")
    assert caught.value.hint == plan_habits.FUNCTIONS[name]


@pytest.mark.parametrize("character", sorted(habits.CHARACTERS))
def test_a_character_of_other_languages_is_told_with_ours(character: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse(f"{STREAM}from S[x {character} y] select x insert into T;")
    assert caught.value.hint == habits.CHARACTERS[character]


@pytest.mark.parametrize("unit", sorted(habits.UNITS))
def test_a_short_unit_is_the_one_that_is_meant(unit: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse(f"{STREAM}from S#window.time(5 {unit}) select x insert into T;")
    assert caught.value.hint == f"did you mean `{habits.UNITS[unit]}`?"
