"""The queue of events: what coalesces, what is skipped, what never is."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.clock import monotonic_ms
from tests.emulator.market import (
    WITHIN_S,
    deinit,
    needs_compiler,
    numbered_ticks,
    run,
    terminal_with,
    texts,
)

pytestmark = needs_compiler
END = "end quiet_ms=30"


def test_ticks_of_one_step_make_one_event(tmp_path: Path) -> None:
    result = run(tmp_path, "pace step=5", "attach EventProbe on EURUSD", END)
    assert result.stats is not None
    counts = result.stats.program("EventProbe").events("OnTick")
    assert counts.queued + counts.coalesced == 1_000
    assert counts.queued == deinit(result)["ticks"]
    assert 190 <= counts.queued <= 200


def test_events_are_skipped_at_the_rate_of_the_script(tmp_path: Path) -> None:
    result = run(
        tmp_path, "pace step=1", "ontick skip=0.33", "attach EventProbe on EURUSD", END
    )  # fmt: skip
    assert result.stats is not None
    counts = result.stats.program("EventProbe").events("OnTick")
    assert 250 <= counts.skipped <= 420
    assert counts.queued == deinit(result)["ticks"] < 1_000


def test_only_ticks_of_the_own_symbol_are_told(tmp_path: Path) -> None:
    result = run(tmp_path, "attach EventProbe on GBPUSD", END)
    assert deinit(result)["ticks"] == 0


def test_book_events_are_never_skipped(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        "pace step=7",
        "events busy=0.5 limit=16",
        "attach EventProbe on GBPUSD BookSymbol=EURUSD",
        END,
    )
    assert deinit(result)["books"] == 1_000


def test_a_tick_that_comes_while_one_is_handled_makes_no_event(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        "pace step=1",
        "ticks_odd burst_in_handler=1",
        "attach EventProbe on EURUSD CopyInTick=true",
        END,
    )
    assert result.stats is not None
    counts = result.stats.program("EventProbe").events("OnTick")
    assert counts.coalesced >= 400
    seen = [int(text.split()[1]) for text in texts(result, "EventProbe") if "seen" in text]
    assert len(seen) == counts.queued


def test_a_timer_that_takes_longer_than_its_period_coalesces(tmp_path: Path) -> None:
    with terminal_with(
        tmp_path,
        "events timer_resolution_ms=1",
        "attach EventProbe on GBPUSD TimerMs=2 SleepMs=10",
    ) as terminal:
        terminal.wait(
            lambda stats: stats.program("EventProbe").events("OnTimer").coalesced > 10, WITHIN_S
        )
        result = terminal.stop()
    assert result.stats is not None
    counts = result.stats.program("EventProbe").events("OnTimer")
    assert counts.coalesced > counts.queued


def test_the_finest_timer_is_the_terminals(tmp_path: Path) -> None:
    begin_ms = monotonic_ms()
    with terminal_with(
        tmp_path, "events timer_resolution_ms=50", "attach EventProbe on GBPUSD TimerMs=1"
    ) as terminal:
        terminal.wait(lambda stats: stats.program("EventProbe").handler("OnTimer").calls > 2,
                      WITHIN_S)  # fmt: skip
        timers = deinit(terminal.stop())["timers"]
    assert 3 <= timers <= (monotonic_ms() - begin_ms) // 50


def test_ticks_come_as_fast_as_they_were_recorded(tmp_path: Path) -> None:
    ticks = numbered_ticks(300, same_ms=1)
    terminal = terminal_with(
        tmp_path, "pace speed=0.5", "attach EventProbe on EURUSD", ticks=ticks
    )  # fmt: skip
    begin_ms = monotonic_ms()
    with terminal:
        terminal.wait(lambda stats: stats.ticks_delivered == 300, WITHIN_S)
        assert monotonic_ms() - begin_ms >= 598, "299 ms at half the speed"
        assert deinit(terminal.stop())["ticks"] > 5


def test_events_before_the_end_of_oninit_are_dropped(tmp_path: Path) -> None:
    result = run(tmp_path, "pace step=1", "attach EventProbe on EURUSD SleepMs=40", END)
    assert result.stats is not None
    counts = result.stats.program("EventProbe").events("OnTick")
    assert counts.queued + counts.coalesced < 1_000


@pytest.mark.parametrize(("chart", "fewer"), [("coalesce", True), ("queue", False)])
def test_chart_events_of_a_spy(tmp_path: Path, chart: str, fewer: bool) -> None:
    result = run(
        tmp_path,
        "pace step=1",
        f"events chart={chart} busy=0.5",
        "attach EventProbe on GBPUSD SpySymbol=EURUSD",
        END,
    )
    assert result.stats is not None
    counts = result.stats.program("EventProbe").events("OnChartEvent")
    calculated = result.stats.program("SpyProbe").handler("OnCalculate").calls
    assert counts.queued + counts.coalesced == calculated > 0
    assert (counts.coalesced > 0) == fewer
    printed = texts(result, "EventProbe")
    assert any(text.startswith("chart event 7 ") and text.endswith("0.5 63") for text in printed)


def test_a_full_queue_drops_silently(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        "pace step=1",
        "events chart=queue limit=4 busy=0.5",
        "attach EventProbe on EURUSD BookSymbol=EURUSD",
        END,
    )
    assert result.stats is not None
    assert result.stats.program("EventProbe").events("OnTick").overflowed > 0
    assert deinit(result)["books"] == 1_000


def test_the_ring_of_transactions_overwrites_the_oldest(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        'at tick=500 broker="burst 1500 EURUSD 0.01"',
        "account balance=1000000000",
        "attach EventProbe on EURUSD",
        END,
    )
    assert result.stats is not None
    counts = result.stats.program("EventProbe").events("OnTradeTransaction")
    assert counts.overwritten > 400
    assert deinit(result)["transactions"] == counts.queued - counts.overwritten
    assert deinit(result)["trades"] < counts.queued / 100


def test_indicators_have_no_sockets(tmp_path: Path) -> None:
    result = run(tmp_path, "attach EventProbe on GBPUSD SpySymbol=EURUSD", END)
    assert texts(result, "SpyProbe") == ["socket -1 error 4014"]
