"""Ticks in the order of their places, whatever tables they come in and however they are asked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cep.backtest.tick_queue import TickQueue
from cep.backtest.ticks import Ticks

BEHIND_ALL = 1_000


def ticks_at(places: list[int], first: int = 0) -> Ticks:
    """Ticks whose bids count them."""
    count = np.arange(first, first + len(places))
    order = np.array(places, np.int64)
    bids = count.astype(np.float64)
    return Ticks(np.zeros(len(places), np.int64), order, order, bids, bids)


def as_tables(places: list[int], edges: list[int]) -> Iterator[Ticks]:
    cut = [0, *sorted(min(edge, len(places)) for edge in edges), len(places)]
    return (ticks_at(places[a:b], a) for a, b in pairwise(cut))


@given(
    st.lists(st.integers(0, 40), max_size=30).map(sorted),
    st.lists(st.integers(0, 30), max_size=4),
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 6), st.booleans()), max_size=12),
)
def test_what_is_asked_for_comes_once_and_in_order(
    places: list[int], edges: list[int], asked: list[tuple[int, int, bool]]
) -> None:
    """`most` may cut anywhere but between ticks at one place."""
    queue, after = TickQueue(as_tables(places, edges)), -1
    for step, most, forgets in asked:
        until = after + step
        wanted = [n for n, place in enumerate(places) if after < place <= until]
        assert queue.between(after, until).bid.tolist() == wanted
        some = queue.between(after, until, most)
        expected = wanted[:most]
        if expected:
            expected = [n for n in wanted if places[n] <= places[expected[-1]]]
        assert some.bid.tolist() == expected
        if forgets:
            queue.forget(until)
            after = until
    rest = [n for n, place in enumerate(places) if place > after]
    assert queue.between(after, BEHIND_ALL).bid.tolist() == rest
