"""Automata as tables of steps, and the words of finite ones."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.plan.regex import Either, Regex, Repeated, Symbol, Then, automaton
from cep.plan.words import steps_of, words_of

NAMES = ("a", "b", "c")
LENGTH_MAX, WORDS_MAX = 4, 50


def _parts(inner: st.SearchStrategy[Regex]) -> st.SearchStrategy[Regex]:
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    times = st.sampled_from([(0, 1), (0, None), (1, None), (1, 2), (2, 3)])
    repeated = st.builds(lambda part, of: Repeated(part, *of), inner, times)
    return st.one_of(st.builds(Then, several), st.builds(Either, several), repeated)


REGEXES = st.recursive(st.builds(Symbol, st.integers(0, 2)), _parts, max_leaves=5)


def _python(regex: Regex) -> str:
    """The expression as Python writes it."""
    match regex:
        case Symbol():
            return NAMES[regex.number]
        case Then():
            return f"(?:{''.join(map(_python, regex.parts))})"
        case Either():
            return f"(?:{'|'.join(map(_python, regex.parts))})"
        case Repeated():
            most = "" if regex.most is None else regex.most
            return f"(?:{_python(regex.part)}){{{regex.least},{most}}}"


def _matching(regex: Regex, length_max: int) -> list[tuple[int, ...]]:
    """All words up to a length, by Python's regular expressions."""
    pattern = re.compile(f"(?:{_python(regex)})")
    words = [word for n in range(1, length_max + 1) for word in product(range(3), repeat=n)]
    return sorted(word for word in words if pattern.fullmatch("".join(NAMES[at] for at in word)))


@given(REGEXES)
def test_words_are_those_that_match(regex: Regex) -> None:
    steps = steps_of(automaton(regex), 1_000)
    assert steps is not None
    words = words_of(steps, WORDS_MAX, LENGTH_MAX)
    if words is not None:
        assert list(words) == _matching(regex, LENGTH_MAX + 1)
    elif some := _matching(regex, 2 * LENGTH_MAX):  # else the shortest one is longer still
        assert len(some) > WORDS_MAX or max(map(len, some)) > LENGTH_MAX


@pytest.mark.parametrize(
    ("regex", "words"),
    [
        (Then((Symbol(0), Symbol(1))), ((0, 1),)),
        (Either((Then((Symbol(1), Symbol(0))), Symbol(1))), ((1,), (1, 0))),
        (Repeated(Symbol(0), 2, 3), ((0, 0), (0, 0, 0))),
        (Repeated(Symbol(0), 1, None), None),
        (Repeated(Symbol(0), 9, 9), None),
    ],
)
def test_words(regex: Regex, words: tuple[tuple[int, ...], ...] | None) -> None:
    steps = steps_of(automaton(regex), 100)
    assert steps is not None
    assert words_of(steps, 4, 8) == words


def test_words_that_share_no_beginning_are_counted_in_time() -> None:
    either = Either((Symbol(0), Symbol(1)))
    steps = steps_of(automaton(Repeated(either, 60, 60)), 1_000)
    assert steps is not None
    assert words_of(steps, 10, 100) is None


def test_too_many_steps_are_none() -> None:
    assert steps_of(automaton(Repeated(Symbol(0), 20, 20)), 10) is None
