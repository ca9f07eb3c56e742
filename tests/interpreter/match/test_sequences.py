"""Sequences: what breaks them, `every`, counts."""

from __future__ import annotations

import pytest

from tests.interpreter.match.feed import batches, rows


def test_any_event_of_its_streams_breaks_a_sequence() -> None:
    text = "every e1=A, e2=B"
    assert rows(text, "e1 e2", "A1 A2 B3 B4 A5 B6") == [[2, 3], [5, 6]]


def test_events_of_other_streams_do_not_count() -> None:
    assert rows("every e1=A, e2=B", "e1 e2", "A1 C2 B3") == [[1, 3]]


def test_without_every_one_failed_attempt_is_the_end() -> None:
    text = "e1=A[p > 10], e2=B[p > 10]"
    assert rows(text, "e1 e2", "A11 B1 A12 B13") == []
    assert rows(text, "e1 e2", "A11 B12 A13 B14") == [[11, 12]]


def test_every_starts_with_each_event() -> None:
    assert batches("every e1=A, e2=A", "e1 e2", "A1 A2 A3") == [[[1, 2]], [[2, 3]]]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ("A1 C2", [[1, None, None, 2]]),
        ("A3 B4 B5 C6", [[3, 4, 5, 6]]),
        ("A1 B2 A3 C4", [[3, None, None, 4]]),
    ],
)
def test_star_collects_what_there_is(events: str, expected: list[list[int | None]]) -> None:
    assert rows("every e1=A, e2=B*, e3=C", "e1 e2[0] e2[last] e3", events) == expected


def test_a_question_mark_takes_one_at_most() -> None:
    text = "every e1=A, e2=B?, e3=C"
    assert rows(text, "e1 e2[0] e3", "A1 C2 A3 B4 C5 A6 B7 B8 C9") == [[1, None, 2], [3, 4, 5]]


def test_a_leading_plus_gives_the_longest_run_once() -> None:
    text = "every e1=A+, e2=B"
    assert rows(text, "e1[0] e1[last] e2", "A1 A2 A3 B4 A5 B6") == [[1, 3, 4], [5, 5, 6]]


def test_a_run_ends_when_a_later_state_takes_over() -> None:
    text = "every e1=A+, e2=B?, e3=A[p > 5]"
    assert rows(text, "e1[0] e1[last] e3", "A1 A9 A8") == [[1, 1, 9]]


def test_a_leading_star_may_be_empty() -> None:
    text = "every e1=A*, e2=B"
    assert rows(text, "e1[0] e1[last] e2", "A1 A2 B4 B6") == [[1, 2, 4], [None, None, 6]]


def test_a_rising_run() -> None:
    text = (
        "every e1=A, e2=A[(e2[last].p is null and p > e1.p) or p > e2[last].p]+, "
        "e3=A[p < e2[last].p]"
    )
    assert rows(text, "e1 e2[last] e3", "A1 A2 A3 A2 A5 A4") == [[1, 3, 2], [2, 5, 4]]


def test_a_star_at_the_end_is_complete_at_once() -> None:
    assert rows("every e1=A, e2=B*", "e1 e2[0]", "A1 B2 A3") == [[1, None], [3, None]]


def test_or_in_a_sequence() -> None:
    text = "every e1=A, e2=B or e3=C, e4=D"
    assert rows(text, "e1 e2 e3 e4", "A1 C2 D3 A4 B5 D6 A7 D8") == [
        [1, None, 2, 3],
        [4, 5, None, 6],
    ]


def test_within() -> None:
    text = "every e1=A, e2=A within 1 sec"
    assert rows(text, "e1 e2", "A1 +2000 A2 +500 A3") == [[2, 3]]
