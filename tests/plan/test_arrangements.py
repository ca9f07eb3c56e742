"""Arrangements against their definition, rule 6: concatenation, all interleavings, union."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cep.plan.arrangements import arrangements, count_arrangements
from cep.plan.nodes import Both, Either, Leaf, Pattern, Ref, Sequence, leaves
from tests.plan.patterns import patterns

Word = tuple[Ref, ...]


def naive(pattern: Pattern) -> set[Word]:
    """Every arrangement, by the words of rule 6."""
    if isinstance(pattern, Leaf):
        return {(pattern.ref,)}
    left, right = naive(pattern.left), naive(pattern.right)
    if isinstance(pattern, Either):
        return left | right
    if isinstance(pattern, Sequence):
        return {a + b for a in left for b in right}
    return {word for a in left for b in right for word in interleavings(a, b)}


def interleavings(a: Word, b: Word) -> set[Word]:
    if not a or not b:
        return {a + b}
    return {a[:1] + rest for rest in interleavings(a[1:], b)} | {
        b[:1] + rest for rest in interleavings(a, b[1:])
    }


def leaf(name: str) -> Leaf:
    return Leaf(Ref(name))


def names(pattern: Pattern, limit: int = 100) -> list[str]:
    return ["".join(ref.event for ref in word) for word in arrangements(pattern, limit)]


def conjunction(events: int, name: str = "") -> Pattern:
    pattern: Pattern = leaf(name or "e0")
    for i in range(1, events):
        pattern = Both(pattern, leaf(name or f"e{i}"))
    return pattern


def test_the_example_of_the_rule() -> None:
    """`10 followed by (11 or (12 and 13))` gives (10,11), (10,12,13), (10,13,12)."""
    pattern = Sequence(leaf("a"), Either(leaf("b"), Both(leaf("c"), leaf("d"))))
    assert names(pattern) == ["ab", "acd", "adc"]


def test_they_come_in_the_order_of_first_appearance_the_shorter_first() -> None:
    pattern = Either(Either(leaf("b"), leaf("a")), Sequence(leaf("b"), leaf("a")))
    assert names(pattern) == ["b", "ba", "a"]


@given(patterns(leaves_max=6))
def test_they_are_all_there_and_none_twice(pattern: Pattern) -> None:
    found = arrangements(pattern, 100_000)
    assert len(found) == len(set(found))
    assert set(found) == naive(pattern)


@given(patterns(leaves_max=6))
def test_order(pattern: Pattern) -> None:
    order = {ref: i for i, ref in enumerate(dict.fromkeys(leaves(pattern)))}
    found = [[order[ref] for ref in word] for word in arrangements(pattern, 1000)]
    assert found == sorted(found)


@given(patterns(leaves_max=6), st.integers(0, 5))
def test_a_limit_cuts_the_list(pattern: Pattern, limit: int) -> None:
    assert arrangements(pattern, limit) == arrangements(pattern, 1000)[:limit]


@given(patterns(leaves_max=6))
def test_count(pattern: Pattern) -> None:
    count = count_arrangements(pattern)
    assert (count.value, count.exact) == (len(naive(pattern)), True)


def test_counting_does_not_list() -> None:
    """60 events in any order: 60! arrangements."""
    count = count_arrangements(conjunction(60))
    assert count.exact
    assert len(str(count.value)) == 82
    assert len(arrangements(conjunction(60), 3)) == 3


def test_one_event_many_times_is_one_arrangement() -> None:
    assert count_arrangements(conjunction(60, "e")).value == 1
    assert len(arrangements(conjunction(60, "e"), 3)) == 1


def test_where_counting_is_too_costly_there_is_a_lower_bound() -> None:
    pairs: Pattern = Sequence(leaf("a"), leaf("b0"))
    for i in range(1, 20):
        pairs = Both(pairs, Sequence(leaf("a"), leaf(f"b{i}")))
    count = count_arrangements(pairs)
    assert not count.exact
    assert count.value >= 900
    assert str(count).startswith("more than ")
