"""`not S`, with and without a time, alone and beside `and` and `or`."""

from __future__ import annotations

from tests.interpreter.match.feed import Feed, rows


def test_absence_after_an_event() -> None:
    text = "every e1=A -> not B for 1 sec"
    feed = Feed(text, "e1").start().feed("A1 +1000 A2 +999 B3 +2000")
    assert (feed.batches, feed.times) == ([[[1]]], [1000])


def test_what_is_absent_may_be_compared_with_earlier_events() -> None:
    text = "every e1=A -> not B[p > e1.p] for 1 sec"
    assert rows(text, "e1", "A5 B3 +1000 A5 B7 +1000") == [[5]]


def test_absence_in_the_middle() -> None:
    text = "every e1=A -> not B for 1 sec -> e2=C"
    assert rows(text, "e1 e2", "A1 C2 +1000 C3 C4") == [[1, 3]]
    assert rows(text, "e1 e2", "A1 +500 B2 +1000 C3") == []


def test_absence_at_the_start_counts_from_the_start() -> None:
    text = "not B for 1 sec -> e2=C"
    assert rows(text, "e2", "+999 C1 +1 C2 C3") == [[2]]
    assert rows(text, "e2", "+500 B1 +999 C2 +1 C3") == [[3]]


def test_every_absence_comes_again_until_the_event() -> None:
    feed = Feed("e1=A -> every not B for 1 sec", "e1").start().feed("A1 +3500 B2 +1400")
    assert feed.times == [1000, 2000, 3000]


def test_an_event_before_the_other_side_forbids() -> None:
    text = "every e1=A -> not B and e2=C"
    assert rows(text, "e1 e2", "A1 B2 C3 A4 C5 B6") == [[4, 5]]
    assert rows("every (not B and e1=A) -> e2=C", "e1 e2", "B1 A2 C3 A4 C5") == [[4, 5]]


def test_and_waits_for_the_time_and_the_event() -> None:
    text = "e1=A -> not B for 1 sec and e2=C"
    early = Feed(text, "e1 e2").start().feed("A1 +500 C2 +1000")
    late = Feed(text, "e1 e2").start().feed("A1 +1500 C2")
    assert (early.batches, early.times) == ([[[1, 2]]], [1000])
    assert (late.batches, late.times) == ([[[1, 2]]], [1500])
    assert rows(text, "e1 e2", "A1 +500 B3 C2 +2000") == []


def test_an_event_ends_the_wait_and_starts_it_anew_only_at_the_start() -> None:
    text = "every e1=A -> not B for 1 sec and e2=C"
    assert rows(text, "e1 e2", "A1 +100 B2 +900 A3 +1000 C4") == [[3, 4]]
    text = "not B for 1 sec and e2=C -> e3=D"
    assert rows(text, "e2 e3", "+500 B1 +1000 C2 D3") == [[2, 3]]


def test_the_order_of_the_sides_does_not_matter() -> None:
    text = "e1=A -> e2=C and not B for 1 sec"
    assert rows(text, "e1 e2", "A1 +500 C2 +1000") == [[1, 2]]


def test_or_takes_the_event_or_the_silence() -> None:
    text = "e1=A -> not B for 1 sec or e2=C"
    assert rows(text, "e1 e2", "A1 +500 C2 +1000") == [[1, 2]]
    assert rows(text, "e1 e2", "A1 +1000 C2") == [[1, None]]
    assert rows(text, "e1 e2", "A1 +500 B3 +1000") == []


def test_absence_in_a_sequence() -> None:
    text = "every e1=A, not B for 1 sec"
    assert rows(text, "e1", "A1 +1000 A2 +500 B3 +1000") == [[1]]


def test_within_ends_the_wait() -> None:
    text = "e1=A -> every not B for 900 milliseconds within 2 sec"
    assert Feed(text, "e1").start().feed("A1 +5000").times == [900, 1800]
