"""What worlds have come to is kept, and work in several processes is told as it comes."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from benchmarks.processes import side_by_side
from benchmarks.world import table
from benchmarks.world_kept import Outcome, digest_of, keep, kept

GOOD = Outcome(1, {"ticks": 5}, [], [], 0.5)
BAD = Outcome(2, {"ticks": 1_200, "lives": 2}, ["lost"], ["an event"], 1.5)


def test_outcomes_are_kept_for_the_code_that_they_are_of(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "world.jsonl"
    keep(path, "this", GOOD)
    keep(path, "that", BAD)
    assert kept(path, "this") == {1: GOOD}
    assert kept(path, "that") == {2: BAD}
    assert kept(tmp_path / "none", "this") == {}


def test_a_torn_line_is_no_outcome_and_the_next_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "world.jsonl"
    keep(path, "this", BAD)
    path.write_bytes(path.read_bytes()[:-20])
    keep(path, "this", GOOD)
    assert kept(path, "this") == {1: GOOD}


def test_the_digest_changes_with_the_code(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("a = 1")
    other.write_text("b = 1")
    before = digest_of([one, other])
    other.write_text("b = 2")
    assert digest_of([one, other]) != before
    assert digest_of([one]) != digest_of([other])


def test_outcomes_are_summed_up() -> None:
    text = table([GOOD, BAD])
    assert "| ticks taken | 1,205 |" in text
    assert "| worlds with problems | 1 |" in text
    assert "| seconds of a processor | 2 |" in text


def test_work_is_done_side_by_side() -> None:
    assert dict(side_by_side(math.isqrt, range(9), 2)) == {i: math.isqrt(i) for i in range(9)}


def test_what_ends_a_process_is_named() -> None:
    with pytest.raises(ChildProcessError, match=r"one of .*'7'"):
        list(side_by_side(os._exit, [7], 1))
