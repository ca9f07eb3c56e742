"""The publisher behind a link that goes wrong in many ways: a part of the proof in benchmarks."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.misbehaving_router import outlive

_WAYS = (
    "garbage", "null", "publisher", "closes_half_frame", "resets_half_frame", "flags",
    "large_frame", "flood_unknown", "half_frame",
)  # fmt: skip
# BlockMs of the publisher is 50, and taking ticks has 10; the rest is for a busy machine.
_BOUND_US = 400_000


@pytest.mark.usefixtures("scripts")
def test_no_tick_is_lost_and_no_handler_hangs(tmp_path: Path) -> None:
    """Between two wrong connections a real one, which is cut; in the end one that stands."""
    found = outlive(tmp_path, seed=1, ticks=3_000, ways=_WAYS)
    assert found.connections > 2 * len(_WAYS)
    assert found.longest_us < _BOUND_US
