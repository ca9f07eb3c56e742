"""Bounds on partial matches, and partial matches that run out of time, seen on a stream."""

from __future__ import annotations

from typing import Any

import pytest
from loguru import logger

from cep.dropped import Dropped, Reason
from cep.interpreter.rows import Chunk
from tests.interpreter.match.feed import START_MS, Feed


class Sink:
    """Stands for a stream; keeps what is sent to it."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, list[Any]]] = []

    def send(self, chunk: Chunk) -> None:
        self.rows += [(row.time - START_MS, row.values) for row in chunk]


def expiring(text: str, select: str) -> tuple[Feed, Sink]:
    feed = Feed(text, select, notes="@expired(stream='Late')")
    sink = Sink()
    feed.shared.streams["Late"] = sink  # type: ignore[assignment]
    return feed.start(), sink


def test_the_oldest_gives_way() -> None:
    feed = Feed("every e1=A -> e2=B", "e1 e2", notes="@bound(partials='2')").start()
    warnings: list[str] = []
    handler = logger.add(lambda message: warnings.append(str(message)), level="WARNING")
    feed.feed("A1 A2 A3 A4")
    logger.remove(handler)
    assert (feed.part.partials, len(warnings)) == (2, 1)
    assert feed.shared.dropped == Dropped([(("query", "q"), Reason.BOUND, 2)])
    assert feed.feed("B9").batches == [[[3, 9]], [[4, 9]]]


def test_the_bound_counts_all_states() -> None:
    text = "every e1=A -> e2=B[p > e1.p] -> e3=C"
    feed = Feed(text, "e1 e3", notes="@bound(partials='2')").start()
    assert feed.feed("A1 +1 B2 +1 A5 +1 A6 B9 C9").batches == [[[5, 9]], [[6, 9]]]


def test_what_has_begun_with_an_absence_gives_way_too() -> None:
    text = "every not A for 1 sec -> e2=B[p > 5]"
    feed = Feed(text, "e2", notes="@bound(partials='2')").start().feed("+5500 B1")
    assert feed.part.partials == 0  # none has a row
    assert feed.shared.dropped == Dropped([(("query", "q"), Reason.BOUND, 3)])
    assert feed.feed("B9").batches == [[[9]], [[9]]]


def test_the_reference_has_no_bound() -> None:
    notes = "@bound(partials='2')"
    feed = Feed("every e1=A -> e2=B", "e1 e2", compat=True, notes=notes).start()
    assert feed.feed("A1 A2 A3").part.partials == 3
    assert not feed.shared.dropped


def test_what_expires_is_seen_when_it_expires() -> None:
    feed, sink = expiring("every e1=A -> e2=B -> e3=C within 1 sec", "e1 e3")
    feed.feed("A1 +500 B2 +501")
    assert sink.rows == [(1001, [1, 2, None])]
    assert feed.part.partials == 0


def test_what_has_matched_does_not_expire() -> None:
    feed, sink = expiring("every e1=A<1:3> -> e2=B within 1 sec", "e2")
    feed.feed("A1 B2 +5000 A3 +2000")
    assert [values[-1] for _, values in sink.rows] == [None]
    assert sink.rows[0][0] == 6001


@pytest.mark.parametrize("events", ["A1 +500 A2 +2000", "A1 +500 A2 +600 D1 +1400"])
def test_each_expires_once_in_its_time(events: str) -> None:
    feed, sink = expiring("every e1=A -> (e2=B and e3=C) within 1 sec", "e1")
    feed.feed(events)
    assert [(time, values[0]) for time, values in sink.rows] == [(1001, 1), (1501, 2)]
