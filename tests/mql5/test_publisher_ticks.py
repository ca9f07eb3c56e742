"""Every tick of the terminal's tick base reaches the daemon once and in order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mt5bridge.records import TICK, Records
from mt5bridge.server import ticks_of
from tests.mql5.publishing import IDENTITY, comment, market, publishing
from tests.waiting import LONG_S

SKIPPED = "pace rate=8000\nontick skip=0.33"


def test_ticks_of_one_millisecond_and_skipped_wake_ups(tmp_path: Path) -> None:
    with publishing(tmp_path, market("EURUSD GBPUSD", 4_000), SKIPPED) as stage:
        stage.wait_ticks()
        stage.wait_agreed()
        stats = stage.terminal.stats
    stage.check_ticks()
    assert stats is not None
    assert stats.data["programs"][0]["events"]["OnTick"]["skipped"] > 500


def test_late_ticks_are_found_by_recount_and_sent(tmp_path: Path) -> None:
    statements = f"{SKIPPED}\nticks_odd late=0.02 late_by=1..50 lag=0.05 burst_in_handler=0.2"
    with publishing(tmp_path, market("EURUSD GBPUSD", 4_000), statements) as stage:
        stage.wait_ticks()
        stage.wait_agreed()
    stage.check_ticks()
    assert stage.counted("quality_late") > 20


def test_a_tick_that_slips_into_a_millisecond_already_taken(tmp_path: Path) -> None:
    """It comes late, among ticks of its own millisecond: neither it nor they are taken twice."""
    ticks = market("EURUSD", 3_000, same_ms=0.95)
    statements = "pace rate=4000\nticks_odd late=0.1 late_by=1..3 burst_in_handler=0.5"
    with publishing(tmp_path, ticks, statements) as stage:
        stage.wait_ticks()
        stage.wait_agreed()
    stage.check_ticks()


def test_a_tick_base_that_fails_and_comes_back_full(tmp_path: Path) -> None:
    statements = (
        f"{SKIPPED}\ncopyticks timeout=0.05 block_ms=1 limit=64 sync_failures=2 no_memory=0.02"
    )
    with publishing(tmp_path, market("EURUSD", 4_000), statements) as stage:
        stage.wait_ticks()
        stage.wait_agreed()
        stage.terminal.wait(lambda stats: "tick base errors 0" not in comment(stats), LONG_S)
    stage.check_ticks()


def test_a_bad_line_loses_and_doubles_nothing(tmp_path: Path) -> None:
    statements = (
        f"{SKIPPED}\nsockets short=0.3 refuse=0.1 dummy=0.5 cut_after=5000..100000"
        " cut_after_read=200..5000"
    )
    with publishing(tmp_path, market("EURUSD GBPUSD", 6_000), statements) as stage:
        stage.wait_ticks()
        stage.wait_agreed()
    stage.check_ticks()
    assert stage.counted("connections") > 3


@pytest.mark.parametrize("inputs", [{"UseTickSpy": "false"}, {"UseBookEvents": "true"}])
def test_other_symbols_woken_by_timer_or_by_book(tmp_path: Path, inputs: dict[str, str]) -> None:
    ticks = market("EURUSD GBPUSD USDJPY", 1_000)
    with publishing(tmp_path, ticks, "pace rate=4000\nevents book=0.5", inputs=inputs) as stage:
        stage.wait_ticks()
        stage.wait_agreed()
    stage.check_ticks()


def test_bounded_memory_takes_no_more_and_loses_nothing(tmp_path: Path) -> None:
    """While the daemon is away the outbox fills up; the rest waits in the tick base."""
    inputs = {"KeptTicks": "500", "PumpTicksMax": "100", "BatchTicks": "50"}
    with publishing(tmp_path, market("EURUSD", 5_000), SKIPPED, inputs=inputs) as stage:
        stage.wait_share(0.1)
        stage.daemon.stop()
        stage.terminal.wait(lambda stats: stats.ticks_delivered == 5_000, LONG_S)
        stage.daemon.start()
        stage.wait_ticks()
        stage.wait_agreed()
    stage.check_ticks()


def test_more_late_ticks_than_are_kept_come_bit_by_bit(tmp_path: Path) -> None:
    """A terminal that was cut off gets hours of ticks late, more than the outbox holds."""
    statements = "pace rate=400\nticks_odd late=0.5 late_by=5..50"
    inputs = {"KeptTicks": "100"}
    with publishing(tmp_path, market("EURUSD", 1_000), statements, inputs=inputs) as stage:
        stage.wait_ticks()
        stage.wait_agreed()
    stage.check_ticks()
    assert stage.counted("quality_late") > 100


def test_without_backfill_a_new_stream_begins_at_the_program_start(tmp_path: Path) -> None:
    statements = f"{SKIPPED}\noffline_ticks first=1000"
    ticks = market("EURUSD", 3_000, same_ms=0)
    with publishing(tmp_path, ticks, statements, inputs={"BackfillMinutes": "0"}) as stage:
        stage.wait_share(2_000 / 3_000)
    sent = stage.daemon.records(IDENTITY, ticks_of("EURUSD"))
    assert sent.tobytes() == ticks["EURUSD"][1_000:].tobytes()


def test_right_after_a_login_no_history_is_new(tmp_path: Path) -> None:
    """No quote is there yet: the stream begins with the first tick behind the base's newest."""
    statements = f"{SKIPPED}\noffline_ticks first=1000 quoted=0"
    ticks = market("EURUSD GBPUSD", 2_000)
    with publishing(tmp_path, ticks, statements, inputs={"BackfillMinutes": "0"}) as stage:
        stage.wait_share(3_000 / 4_000)
    sent = [stage.daemon.records(IDENTITY, ticks_of(name)).tobytes() for name in ticks]
    assert sum(map(len, sent)) == 3_000 * TICK.itemsize
    for name, found in zip(ticks, sent, strict=True):
        assert ticks[name].tobytes().endswith(found)


def test_the_first_quote_decides_while_the_base_cannot_be_asked(tmp_path: Path) -> None:
    """No first tick is lost, and of history no more than what a quote may be late."""
    statements = "pace speed=20\ncopyticks sync_failures=3\noffline_ticks first=1000 quoted=0"
    ticks = market("EURUSD", 1_500)
    with publishing(tmp_path, ticks, statements, inputs={"BackfillMinutes": "0"}) as stage:
        stage.wait_share(500 / 1_500)
        stage.wait_agreed()
    sent = stage.daemon.records(IDENTITY, ticks_of("EURUSD"))
    whole = ticks["EURUSD"]
    assert len(sent) >= 500 and whole.tobytes().endswith(sent.tobytes())
    assert sent["time_msc"][0] >= whole["time_msc"][1_000] - 3_000


def test_what_utc_offset_each_tick_was_taken_with(tmp_path: Path) -> None:
    """Summer time begins in the midst of the stream."""
    statements = "pace rate=4000\nat tick=2000 offset_ms=10800000"
    with publishing(tmp_path, market("EURUSD", 4_000), statements) as stage:
        stage.wait_ticks()
        batches = list(stage.daemon.stored[IDENTITY, ticks_of("EURUSD")])
    stage.check_ticks()
    offsets = [batch.utc_offset_ms for batch in batches for _ in range(len(batch.records))]
    assert set(offsets) == {7_200_000, 10_800_000}
    assert 1_900 <= offsets.index(10_800_000) <= 2_500
    assert _is_sorted(np.array(offsets))


def _is_sorted(values: Records) -> bool:
    return bool((np.diff(values) >= 0).all())
