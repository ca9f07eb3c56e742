"""OnTick for any symbol: each tick once and in order, whatever becomes of the events."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from mt5bridge.emulator.terminal import EmulatedTerminal, Result
from mt5bridge.records import Records
from tests.mql5.examples import SPY, example, printed
from tests.mql5.publishing import market
from tests.mql5.reinit import INPUTS, PERIOD, begin_again
from tests.waiting import LONG_S

FIVE = "EURUSD GBPUSD USDJPY USDCHF AUDUSD"
PROBE = "TickEventsProbe"
END = "end quiet_ms=400"
Line = tuple[int, str, str]


def attach(symbols: str = FIVE, **inputs: object) -> str:
    given = {"Symbols": ",".join(symbols.split()), **inputs}
    return f"attach {PROBE} on EURUSD " + " ".join(
        f"{key}='{value}'" for key, value in given.items()
    )


def probe(
    folder: Path, ticks: Mapping[str, Records], *statements: str, seed: int = 1
) -> EmulatedTerminal:
    return example(folder, PROBE, ticks, *statements, seed=seed, more=(SPY,))


def told(result: Result, symbol: str) -> list[Line]:
    """What OnTick was given of a symbol: time, bid and ask."""
    found = (line.split() for line in printed(result, PROBE) if line.startswith(f"{symbol} "))
    return [(int(at), bid, ask) for _, at, bid, ask in found]


def base(terminal: EmulatedTerminal, symbol: str) -> list[Line]:
    """The same of the tick base."""
    return lines(terminal.tick_base(symbol))


def lines(ticks: Records) -> list[Line]:
    return [(int(one["time_msc"]), f"{one['bid']:.5f}", f"{one['ask']:.5f}") for one in ticks]


FAULTS = {
    "calm": "pace step=1",
    "merged": "pace step=1..40\nontick skip=0.5",
    "dropped": "pace step=1..40\nevents limit=1 busy=0.5",
    "queued": "pace step=1..9\nevents chart=queue limit=1000",
    "lagging": "pace step=1..6\nticks_odd lag=0.4 burst_in_handler=0.3",
    "failing": "pace step=1..6\ncopyticks timeout=0.3 block_ms=1 sync_failures=3 limit=700",
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_tick_once_and_in_order(tmp_path: Path, name: str) -> None:
    ticks = market(FIVE, 1_500)
    with probe(tmp_path, ticks, FAULTS[name], attach(), END) as terminal:
        result = terminal.wait_end(LONG_S)
    assert result.exit_code == 0 and result.stats is not None
    for symbol in ticks:
        found, whole = told(result, symbol), base(terminal, symbol)
        assert len(found) > 1_000
        assert found == whole[-len(found) :]
    events = result.stats.program(PROBE).events("OnChartEvent")
    if name == "merged":
        assert events.coalesced > 0
    if name == "dropped":
        assert events.overflowed > 0


def test_without_spies_the_timer_finds_them(tmp_path: Path) -> None:
    ticks = market("EURUSD GBPUSD", 800)
    statements = ("pace step=1..6", "offline_ticks first=20", attach("GBPUSD"), END)
    with example(tmp_path, PROBE, ticks, *statements) as terminal:  # no TickSpy is compiled
        result = terminal.wait_end(LONG_S)
    found = told(result, "GBPUSD")
    assert len(found) > 700
    assert found == base(terminal, "GBPUSD")[-len(found) :]
    assert any("no TickSpy on GBPUSD" in line for line in printed(result, PROBE))


def test_without_a_timer_spies_find_them(tmp_path: Path) -> None:
    ticks = market("EURUSD GBPUSD", 800)
    statements = ("pace step=1..6", attach("EURUSD GBPUSD", TimerMs=0), END)
    with probe(tmp_path, ticks, *statements) as terminal:
        result = terminal.wait_end(LONG_S)
    for symbol in ticks:
        found = told(result, symbol)
        assert len(found) > 700
        assert found == base(terminal, symbol)[-len(found) :]


def test_from_a_time_on(tmp_path: Path) -> None:
    ticks = market("EURUSD GBPUSD", 600)
    since = int(ticks["GBPUSD"]["time_msc"][200])
    offline = "offline_ticks first=400"
    statements = ("pace step=3", offline, attach("GBPUSD", Since=since), END)
    with probe(tmp_path, ticks, *statements) as terminal:
        result = terminal.wait_end(LONG_S)
    expected = [line for line in lines(ticks["GBPUSD"]) if line[0] >= since]
    assert told(result, "GBPUSD") == expected


def test_what_came_before_is_not_told(tmp_path: Path) -> None:
    ticks = market("EURUSD GBPUSD", 600)
    statements = ("pace step=3", "offline_ticks first=400", attach("GBPUSD"), END)
    with probe(tmp_path, ticks, *statements) as terminal:
        result = terminal.wait_end(LONG_S)
    found, whole = told(result, "GBPUSD"), lines(ticks["GBPUSD"])
    before = len(whole) - len(found)
    assert 100 < before < 400
    assert found == whole[before:]
    assert found[0][0] > whole[before - 1][0]


def test_right_after_a_login_each_tick_and_no_history_is_told(tmp_path: Path) -> None:
    ticks = market("EURUSD GBPUSD", 600)
    offline = "offline_ticks first=400 quoted=0"
    statements = ("pace step=3", offline, attach("EURUSD GBPUSD"), END)
    with probe(tmp_path, ticks, *statements) as terminal:
        result = terminal.wait_end(LONG_S)
    found = {name: told(result, name) for name in ticks}
    assert sum(map(len, found.values())) == 800
    for name, mine in found.items():
        assert mine == lines(ticks[name])[-len(mine) :]


@pytest.mark.parametrize("change", [INPUTS, PERIOD])
def test_a_change_begins_anew_and_leaves_no_spy(tmp_path: Path, change: str) -> None:
    ticks = market("EURUSD GBPUSD", 4_000)
    statements = ("pace rate=2000", attach("EURUSD GBPUSD"), "end quiet_ms=400")
    with probe(tmp_path, ticks, *statements) as terminal:
        for _ in range(3):
            begin_again(terminal, PROBE, change)
        result = terminal.wait_end(LONG_S)
    found = told(result, "GBPUSD")
    assert found[-1] == base(terminal, "GBPUSD")[-1]
    assert [at for at, *_ in found] == sorted(at for at, *_ in found)
    spies = [line for line in result.journal if line.endswith("TickSpy (GBPUSD) removed")]
    assert len(spies) == 4


def test_an_unknown_symbol_is_named(tmp_path: Path) -> None:
    statements = ("pace step=3", attach("EURUSD NONSUCH"), END)
    with probe(tmp_path, market("EURUSD", 50), *statements) as terminal:
        result = terminal.wait_end(LONG_S)
    assert any("this broker has no symbol NONSUCH" in line for line in result.journal)
