"""Patterns and sequences: states, slots, and what references mean."""

from __future__ import annotations

import pytest

from cep.plan.expressions import Collected, Column, Comparison, Constant, Missing
from cep.plan.query import (
    PARTIALS_MAX,
    AbsentState,
    CountState,
    EveryState,
    GroupState,
    LogicalState,
    NextState,
    StreamState,
)
from cep.plan.types import Type
from tests.plan.rules import match, plan, query, refused


def price(slot: int, index: int = 0) -> Column:
    return Column(1, "price", Type.DOUBLE, slot, index)


def compared(text: str, slot: int) -> tuple[object, object]:
    """Both sides of the comparison in a state's filter."""
    (condition,) = match(text).states[slot].input.filters
    assert isinstance(condition, Comparison)
    return condition.left, condition.right


def selected(text: str, value: str) -> object:
    return query(f"from {text} select {value} as x insert into Out;").projection[0][1]


def test_slots_follow_the_text() -> None:
    found = match("every (e1=S -> not R for 2 sec) -> e2=S<2:> and e3=R within 3 sec".replace(
        "e2=S<2:> and e3=R", "(e2=S and e3=R)"))  # fmt: skip
    assert [state.reference for state in found.states] == ["e1", "R", "e2", "e3"]
    assert found.within_ms == 3000
    root = found.root
    assert isinstance(root, NextState)
    assert isinstance(root.left, EveryState)
    inner = root.left.state
    assert isinstance(inner, NextState)
    assert inner.left == found.states[0]
    assert inner.right == AbsentState(found.states[1], 2000)
    assert root.right == LogicalState("and", found.states[2], found.states[3])


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [("<2>", 2, 2), ("<2:>", 2, None), ("<:3>", 0, 3), ("<1:4>", 1, 4)],
)
def test_counts(text: str, least: int, most: int | None) -> None:
    root = match(f"e1=S{text} -> e2=R").root
    assert isinstance(root, NextState)
    assert isinstance(root.left, CountState)
    assert (root.left.least, root.left.most) == (least, most)


@pytest.mark.parametrize(("text", "bounds"), [("*", (0, None)), ("+", (1, None)), ("?", (0, 1))])
def test_sequences(text: str, bounds: tuple[int, int | None]) -> None:
    found = match(f"e1=S, e2=R{text}, e3=S")
    assert found.kind == "sequence"
    assert found.counted == {1}
    root = found.root
    assert isinstance(root, NextState)
    assert isinstance(root.right, NextState)
    counted = root.right.left
    assert isinstance(counted, CountState)
    assert (counted.least, counted.most) == bounds


def test_within_of_a_group() -> None:
    root = match("(every e1=S -> e2=R) within 5 sec -> e3=S").root
    assert isinstance(root, NextState)
    assert isinstance(root.left, GroupState)
    assert root.left.within_ms == 5000


def test_filters_see_the_candidate_under_bare_names() -> None:
    text = "e1=S -> e2=R[price > e1.price]"
    assert compared(text, 1) == (price(1), price(0))
    assert compared("e1=S -> e2=R[e2.price > e1.price]", 1) == (price(1), price(0))


def test_in_its_own_filter_the_candidate_is_the_last_of_a_counted_state() -> None:
    text = "e1=S[price > e1[{}].price]<2:> -> e2=R"
    assert compared(text.format("last"), 0) == (price(0, -1), price(0, -2))
    assert compared(text.format("last - 1"), 0) == (price(0, -1), price(0, -3))
    assert compared(text.format("0"), 0) == (price(0, -1), price(0, 0))


def test_later_filters_see_the_newest_of_a_counted_state() -> None:
    text = "e1=S<2:> -> e2=R[price > e1{}.price]"
    assert compared(text.format(""), 1)[1] == price(0, -1)
    assert compared(text.format("[last]"), 1)[1] == price(0, -1)
    assert compared(text.format("[last - 1]"), 1)[1] == price(0, -2)
    assert compared(text.format("[1]"), 1)[1] == price(0, 1)


def test_selected_references() -> None:
    counted = "e1=S<2:> -> e2=R"
    assert selected(counted, "e1.price") == Collected(1, "price", 0)
    assert selected(counted, "e1[last].price") == price(0, -1)
    assert selected(counted, "e1[1].price") == price(0, 1)
    assert selected(counted, "e2.price") == price(1)
    assert selected(counted, "e2[0].price") == price(1)
    assert selected(counted, "e2[last].price") == price(1)
    assert selected(counted, "e2[1].price") == Constant(None, Type.DOUBLE)


def test_events_that_may_be_missing() -> None:
    assert selected("e1=S or e2=R", "e1 is null") == Missing(0)
    assert selected("e1=S<2:> -> e2=R", "e1[3] is null") == Missing(0, 3)


def test_bounds() -> None:
    assert match("e1=S -> e2=R").partials_max == PARTIALS_MAX
    assert match("e1=S -> e2=R", before="@bound(partials='7')").partials_max == 7
    assert "whole number" in refused(
        "@bound(partials='many') from e1=S -> e2=R select e1.n insert into O;").message  # fmt: skip


def test_expired_partial_matches_have_a_stream() -> None:
    found = plan(
        """@expired(stream='Late') from every e1=S[ok]<1:2> -> not S for 1 sec -> e2=R within 1 sec
        select e2.n insert into Out; from Late select e1_price, e2_n insert into Seen;"""
    )
    late = found.stream("Late").schema
    assert late.names[:2] == ("e1_symbol", "e1_price")
    assert late.names[6:8] == ("e2_symbol", "e2_price")
    assert late.attributes[1].type is Type.OBJECT
    expired = found.queries[0].input.expired  # type: ignore[union-attr]
    assert expired is not None
    assert dict(expired.projection)["e2_price"] == price(2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("e1=S[e2.price > 1] -> e2=R", "`e2` is not read here"),
        ("e1=S -> e2=R[prize > 1]", "has no attribute `prize`"),
        ("e1=T -> e2=R", "is a table"),
    ],
)
def test_refused(text: str, message: str) -> None:
    error = refused(f"from {text} select e2.n insert into Out;")
    assert message in error.message
    assert error.hint


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("price", "attribute of `e1`, `e2`"),
        ("e3.price", "`e3` is not read here"),
        ("e1.price + 1", "needs numbers"),
    ],
)
def test_refused_in_select(value: str, message: str) -> None:
    error = refused(f"from e1=S<1:2> -> e2=R select {value} as x insert into Out;")
    assert message in error.message
    assert error.hint


def test_groups_are_of_single_events() -> None:
    error = refused("from e1=S<2> -> e2=R select e2.n group by e1.symbol insert into Out;")
    assert "e1[0].symbol" in error.hint


def test_states_of_one_stream() -> None:
    found = match("e1=S -> e2=S")
    assert all(isinstance(state, StreamState) for state in found.states)
    assert [state.input.stream for state in found.states] == ["S", "S"]
