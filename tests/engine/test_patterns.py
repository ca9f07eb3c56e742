"""A pattern as leaves and masks: what the tables are built from."""

from __future__ import annotations

from hypothesis import given, settings

from cep.engine.patterns import shape_of
from cep.plan.nodes import Leaf, Pattern, Ref, Sequence
from tests.plan.patterns import patterns
from tests.reference.arrangements import arrangements


def unique(pattern: Pattern, first: int = 0) -> tuple[Pattern, int]:
    """The pattern with every leaf a number of its own, counted from the left."""
    if isinstance(pattern, Leaf):
        return Leaf(Ref(f"e{first}")), first + 1
    left, following = unique(pattern.left, first)
    right, past = unique(pattern.right, following)
    absent = {"absent": ()} if isinstance(pattern, Sequence) else {}
    return type(pattern)(left, right, **absent), past


@settings(deadline=None)
@given(patterns(6))
def test_leaves_that_are_always_last_are_last_in_every_arrangement(pattern: Pattern) -> None:
    pattern, leaves = unique(pattern)
    shape = shape_of(pattern, lambda ref: (int(ref.event[1:]), 0))
    told = arrangements(pattern, lambda ref: (ref.event, None))
    rows = [[int(name[1:]) for name, _ in one.numbers] for one in told]
    for leaf in range(leaves):
        with_leaf = [row for row in rows if leaf in row]
        assert shape.is_always_last(leaf) == all(row[-1] == leaf for row in with_leaf)
