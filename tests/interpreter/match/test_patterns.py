"""Patterns: gaps, `every`, counts, `and` and `or`, `within`, references, batches."""

from __future__ import annotations

from tests.interpreter.match.feed import Feed, batches, rows


def test_every_start_takes_the_first_event_that_fits() -> None:
    assert rows("every e1=A -> e2=B", "e1 e2", "A1 A2 B3 B4 A5 B6") == [[1, 3], [2, 3], [5, 6]]


def test_without_every_there_is_one_match() -> None:
    assert rows("e1=A -> e2=B", "e1 e2", "A1 B2 A3 B4") == [[1, 2]]


def test_a_group_starts_anew_when_it_is_complete() -> None:
    assert rows("every (e1=A -> e2=B)", "e1 e2", "A1 A2 B3 B4 A5 B6") == [[1, 3], [5, 6]]


def test_every_in_the_middle_repeats_the_rest() -> None:
    assert rows("e1=A -> every e2=B", "e1 e2", "A1 B2 B3 A9 B4") == [[1, 2], [1, 3], [1, 4]]
    text = "e1=A -> every (e2=B -> e3=C)"
    assert rows(text, "e1 e2 e3", "A1 B2 C3 B4 B5 C6") == [[1, 2, 3], [1, 4, 6]]


def test_one_event_does_not_fill_two_states_of_a_match() -> None:
    assert rows("every e1=A -> e2=A", "e1 e2", "A1 A2 A3") == [[1, 2], [2, 3]]


def test_filters_see_earlier_events() -> None:
    text = "every e1=A[p > 5] -> e2=B[p > e1.p]"
    assert rows(text, "e1 e2", "A6 A7 A8 B7 B9 A1 B9") == [[6, 7], [7, 9], [8, 9]]


def test_matches_of_one_event_are_batches_of_their_own() -> None:
    assert batches("every e1=A -> e2=B", "e1 e2", "A1 A2 B3") == [[[1, 3]], [[2, 3]]]


def test_a_stream_that_feeds_several_states_makes_one_batch() -> None:
    text = "every e1=A[p < 5] -> e2=A[p > 5]"
    assert batches(text, "e1 e2", "A1 A2 A9") == [[[1, 9], [2, 9]]]


def test_output_waits_for_the_whole_chunk() -> None:
    assert batches("every e1=A -> e2=A", "e1 e2", "A1,2,3") == [[[1, 2]], [[2, 3]]]


def test_a_count_goes_on_collecting_until_the_next_state_takes_over() -> None:
    select = "e1[0] e1[1] e1[last] e1[last-1] e2"
    assert rows("e1=A<2:4> -> e2=B", select, "A1 A2 A3 A4 A5 B6 B7") == [[1, 2, 4, 3, 6]]
    assert rows("e1=A<2:4> -> e2=B", select, "A1 B6 A2 B7") == [[1, 2, 2, 1, 7]]


def test_collections_of_every_share_events() -> None:
    select = "e1[0] e1[1] e1[last] e2"
    found = rows("every e1=A<2:> -> e2=B", select, "A1 A2 A3 B6 A4 A5 B7")
    assert found == [[1, 2, 3, 6], [3, 4, 5, 7]]


def test_matches_of_one_event_come_in_order_of_their_newest_rows() -> None:
    text = "every e1=A -> e2=B[p > e1.p]<1:3> -> e3=C"
    assert rows(text, "e1 e3", "A1 A5 +1 B3 +1 B6 +1 B4 +1 C9") == [[5, 9], [1, 9]]


def test_a_count_at_the_end_is_complete_at_its_least() -> None:
    select = "e1[0] e1[1] e1[2]"
    assert rows("every e1=A<2:>", select, "A1 A2 A3 A4 A5") == [[1, 2, None], [3, 4, None]]
    assert rows("every e1=A -> e2=B<1:>", "e1 e2[0]", "A1 B2 B3 A4 B5") == [[1, 2], [4, 5]]


def test_a_count_may_be_empty() -> None:
    assert rows("e1=A<0:2> -> e2=B", "e1[0] e2", "B6") == [[None, 6]]
    assert rows("e1=A -> e2=B<0:2> -> e3=C", "e1 e2[0] e3", "A1 C2") == [[1, None, 2]]


def test_a_collected_row_is_compared_with_the_one_before() -> None:
    text = "e1=A[e1[last].p is null or p > e1[last].p]<3> -> e2=B"
    assert rows(text, "e1[0] e1[1] e1[2] e2", "A1 A5 A3 A6 B9") == [[1, 5, 6, 9]]


def test_and_takes_either_order() -> None:
    text = "every (e1=A and e2=B) -> e3=C"
    assert rows(text, "e1 e2 e3", "B1 A2 C3 A4 A5 B6 C7") == [[2, 1, 3], [4, 6, 7]]


def test_one_event_may_be_both_sides_of_and() -> None:
    text = "every (e1=A[p > 0] and e2=A[p > 5])"
    assert rows(text, "e1 e2", "A7 A3 A9") == [[7, 7], [3, 9]]


def test_or_takes_the_first() -> None:
    text = "every (e1=A or e2=B) -> e3=C"
    assert rows(text, "e1 e2 e3", "B1 A2 C3") == [[None, 1, 3], [2, None, 3]]
    assert rows("e1=A or e2=B", "e1 e2", "A1 B2") == [[1, None]]


def test_within_counts_from_the_first_event_and_includes_its_end() -> None:
    text = "every e1=A -> e2=B -> e3=C within 1 sec"
    assert rows(text, "e1 e2 e3", "A1 +600 B2 +400 C3") == [[1, 2, 3]]
    assert rows(text, "e1 e2 e3", "A1 +600 B2 +401 C3") == []


def test_without_every_a_partial_match_that_is_too_old_was_the_only_one() -> None:
    assert rows("e1=A -> e2=B within 1 sec", "e1 e2", "A1 +2000 B2 A3 B4") == []


def test_a_group_that_is_too_old_starts_anew() -> None:
    text = "every (e1=A -> e2=B) within 1 sec"
    assert rows(text, "e1 e2", "A1 +500 A2 +1000 B3 A4 B5") == [[4, 5]]


def test_within_of_a_group_binds_its_states_only() -> None:
    text = "every e1=A -> (e2=B -> e3=C within 1 sec) -> e4=D"
    assert rows(text, "e1 e4", "A1 +5000 B2 +900 C3 +5000 D4") == [[1, 4]]
    assert rows(text, "e1 e4", "A1 +5000 B2 +1100 C3 +5000 D4") == []


def test_the_time_of_a_match_is_that_of_its_last_event() -> None:
    assert Feed("e1=A -> e2=B", "e1 e2").start().feed("A1 +500 B2").times == [500]
