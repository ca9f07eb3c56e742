"""Never-matching patterns against all their arrangements."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cep.plan.arrangements import arrangements
from cep.plan.nodes import Both, Either, Leaf, Pattern, Ref
from cep.plan.possible import Possibility
from tests.plan.patterns import REFS, patterns

EVENTS = st.frozensets(st.sampled_from("abcd"))
PAIRS = st.lists(st.sampled_from([("a", "b"), ("b", "c"), ("c", "d")]), max_size=2)


def symmetric(pairs: list[tuple[str, str]]) -> dict[str, frozenset[str]]:
    both = pairs + [(b, a) for a, b in pairs]
    return {event: frozenset(b for a, b in both if a == event) for event in "abcd"}


def can_match(
    word: tuple[Ref, ...],
    forbidden: frozenset[Ref],
    single: frozenset[str],
    opposites: dict[str, frozenset[str]],
) -> bool:
    """Whether a queue can ever hold these events, in this order, at one time."""
    for i, ref in enumerate(word):
        if ref in forbidden:
            return False
        for earlier in word[:i]:
            if earlier == ref and ref.event in single:
                return False
            if earlier.key == ref.key and ref.event in opposites[earlier.event]:
                return False
    return True


@given(patterns(leaves_max=6), st.frozensets(st.sampled_from(REFS), max_size=3), EVENTS, PAIRS)
def test_refused_exactly_when_no_arrangement_can_match(
    pattern: Pattern,
    forbidden: frozenset[Ref],
    single: frozenset[str],
    pairs: list[tuple[str, str]],
) -> None:
    opposites = symmetric(pairs)
    reasons = Possibility(forbidden, single, opposites).reasons_against(pattern)
    words = arrangements(pattern, 100_000)
    possible = any(can_match(word, forbidden, single, opposites) for word in words)
    assert bool(reasons) == (not possible)


def test_too_many_alternatives_are_not_refused() -> None:
    choice: Pattern = Leaf(Ref("e"))
    for i in range(15):
        choice = Both(choice, Either(Leaf(Ref(f"a{i}")), Leaf(Ref(f"b{i}"))))
    assert not Possibility(frozenset(), frozenset(), {}).reasons_against(choice)


def test_an_impossible_part_is_found_beside_too_many_alternatives() -> None:
    choice: Pattern = Both(Leaf(Ref("e")), Leaf(Ref("e")))
    for i in range(15):
        choice = Both(choice, Either(Leaf(Ref(f"a{i}")), Leaf(Ref(f"b{i}"))))
    reasons = Possibility(frozenset(), frozenset("e"), {}).reasons_against(choice)
    assert reasons == ("`e` is needed twice, but the queue holds it only once",)
