"""Experts that stay on their chart while the user changes inputs, symbol or period."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from mt5bridge.emulator.script import Script, ScriptError, parse_command
from mt5bridge.emulator.stats import Stats
from mt5bridge.emulator.terminal import EmulatorError, Result
from tests.emulator.market import (
    WITHIN_S,
    figures,
    needs_compiler,
    numbered_ticks,
    run,
    terminal_with,
    texts,
)
from tests.emulator.peer import peer

pytestmark = needs_compiler
END = "end quiet_ms=30"
REASON_PROGRAM, REASON_REMOVE, REASON_CHARTCHANGE, REASON_PARAMETERS = 0, 1, 3, 5
REASON_INITFAILED, REASON_CLOSE = 8, 9


def _lines(result: Result, word: str) -> list[str]:
    return [text for text in texts(result, "ReinitProbe") if text.startswith(f"{word} ")]


def _numbers(result: Result, word: str) -> list[dict[str, int]]:
    return [figures(text) for text in _lines(result, word)]


def _calls(stats: Stats, handler: str) -> int:
    return stats.program("ReinitProbe").handler(handler).calls


def _more_calls(handler: str, calls: int, stats: Stats) -> bool:
    return _calls(stats, handler) > calls


def test_changed_inputs_leave_the_globals_as_they_are(tmp_path: Path) -> None:
    result = run(
        tmp_path, "pace step=1", "attach ReinitProbe on EURUSD Number=5",
        "at tick=300 reinit=ReinitProbe reason=PARAMETERS inputs='Number=6'",
        "at tick=600 reinit=ReinitProbe reason=PARAMETERS", END,
    )  # fmt: skip
    assert result.exit_code == 0
    inits, deinits = _numbers(result, "init"), _numbers(result, "deinit")
    assert [init["init"] for init in inits] == [1, 2, 3]
    assert [init["number"] for init in inits] == [5, 6, 6]
    assert [init["reason"] for init in inits] == [REASON_PROGRAM] + 2 * [REASON_PARAMETERS]
    assert [deinit["number"] for deinit in deinits] == [5, 6, 6]
    assert [deinit["deinit"] for deinit in deinits] == 2 * [REASON_PARAMETERS] + [REASON_CLOSE]
    assert [init["file"] for init in inits] == [1, 1, 1]  # left open, it still is
    counts = [counted["ticks"] for counted in _numbers(result, "counts")]
    assert 0 < counts[0] < counts[1] < counts[2]
    assert result.stats is not None
    usage = result.stats.program("ReinitProbe").handler("OnInit")
    assert usage.calls == 3


def test_a_changed_chart_is_the_old_one_until_ondeinit_ends(tmp_path: Path) -> None:
    change = "reinit=ReinitProbe reason=CHARTCHANGE"
    result = run(
        tmp_path, "pace step=1", "attach ReinitProbe on EURUSD",
        f"at tick=300 {change} period=PERIOD_H1", f"at tick=600 {change} symbol=GBPUSD", END,
    )  # fmt: skip
    charts = ["EURUSD PERIOD_M1", "EURUSD PERIOD_H1", "GBPUSD PERIOD_H1"]
    assert [text.partition(" ")[2] for text in _lines(result, "chart")] == charts
    assert [text.partition(" on ")[2] for text in _lines(result, "deinit")] == charts
    assert [init["reason"] for init in _numbers(result, "init")][1:] == 2 * [REASON_CHARTCHANGE]
    counts = [counted["ticks"] for counted in _numbers(result, "counts")]
    assert counts[0] < counts[1] == counts[2]  # GBPUSD has no ticks
    assert result.stats is not None and result.stats.program("ReinitProbe", "GBPUSD")


def test_what_a_program_left_behind(tmp_path: Path) -> None:
    """The timer is gone; spy, book and socket are not."""
    with peer() as echo:
        attach = f"attach ReinitProbe on GBPUSD TimerMs=16 SpySymbol=EURUSD Port={echo.port}"
        ticks = numbered_ticks(20_000)
        with terminal_with(tmp_path, "pace rate=500", attach, ticks=ticks) as terminal:
            terminal.wait(lambda stats: _calls(stats, "OnTimer") > 0, WITHIN_S)
            terminal.act("reinit=ReinitProbe reason=PARAMETERS")
            terminal.wait_journal("has begun again", WITHIN_S)
            seen = terminal.wait(lambda stats: _calls(stats, "OnInit") == 2, WITHIN_S)
            for handler in ("OnChartEvent", "OnBookEvent"):
                before = _calls(seen, handler)
                terminal.wait(partial(_more_calls, handler, before), WITHIN_S)
            result = terminal.stop()
    left = "OnDeinit has left open: 1 files, 1 sockets, 1 indicators, 1 market books"
    assert left in texts(result, "ReinitProbe")
    before_it, after = _numbers(result, "counts")
    assert before_it["timers"] == after["timers"] > 0
    assert [init["socket"] for init in _numbers(result, "init")] == [1, 1]


def test_objects_that_a_program_did_not_delete(tmp_path: Path) -> None:
    """Told when it is unloaded; while it stays on its chart they are its own."""
    result = run(
        tmp_path, "pace step=1", "attach ReinitProbe on EURUSD Leak=3",
        "at tick=300 reinit=ReinitProbe reason=PARAMETERS", "at tick=600 restart=ReinitProbe", END,
    )  # fmt: skip
    told = [text for text in texts(result, "ReinitProbe") if "undeleted objects" in text]
    assert told == 2 * ["3 undeleted objects left"]


def test_events_that_came_before_oninit_are_skipped(tmp_path: Path) -> None:
    trades = [f'at tick={tick} broker="trade buy EURUSD 0.1"' for tick in (498, 499, 500)]
    result = run(
        tmp_path, "pace step=1", "events busy=1", *trades, "attach ReinitProbe on EURUSD",
        "at tick=500 reinit=ReinitProbe reason=PARAMETERS", "at tick=1000 detach=ReinitProbe",
    )  # fmt: skip
    before, after = _numbers(result, "counts")
    assert before["trades"] == after["trades"] == before["ticks"] == after["ticks"] == 0
    assert result.stats is not None
    events = result.stats.program("ReinitProbe").events("OnTick")
    assert events.queued == 2  # one before that was thrown away, one after


def test_oninit_that_fails_the_second_time(tmp_path: Path) -> None:
    result = run(
        tmp_path, "attach ReinitProbe on EURUSD",
        "at tick=300 reinit=ReinitProbe reason=PARAMETERS inputs='Fail=true'",
        "at tick=600 reinit=ReinitProbe reason=PARAMETERS inputs='Fail=false'",
    )  # fmt: skip
    assert result.exit_code == 1
    reasons = [deinit["deinit"] for deinit in _numbers(result, "deinit")]
    assert reasons == [REASON_PARAMETERS, REASON_INITFAILED]


def test_a_restarted_program_keeps_its_changes_and_no_globals(tmp_path: Path) -> None:
    result = run(
        tmp_path, "pace step=1", "attach ReinitProbe on EURUSD",
        "at tick=300 reinit=ReinitProbe reason=PARAMETERS inputs='Number=6'",
        "at tick=400 reinit=ReinitProbe reason=CHARTCHANGE symbol=GBPUSD period=PERIOD_H4",
        "at tick=500 restart=ReinitProbe", END,
    )  # fmt: skip
    last = _numbers(result, "init")[-1]
    assert (last["init"], last["number"], last["reason"]) == (1, 6, REASON_PROGRAM)
    assert _lines(result, "chart")[-1] == "chart GBPUSD PERIOD_H4"
    assert _numbers(result, "deinit")[2]["deinit"] == REASON_REMOVE


def test_commands_while_the_terminal_runs(tmp_path: Path) -> None:
    with terminal_with(tmp_path, "attach ReinitProbe on EURUSD") as terminal:
        for number in (2, 3):
            terminal.act(f"reinit=ReinitProbe reason=PARAMETERS inputs='Number={number}'")
            terminal.wait_journal(f"init {number} reason 5 5 number {number}", WITHIN_S)
        terminal.act("restart=terminal")
        terminal.act("reinit=ReinitProbe reason=PARAMETERS inputs='Number=9'")  # after the restart
        terminal.wait_journal("init 2 reason 5 5 number 9", WITHIN_S)
        terminal.act("reinit=Nobody reason=PARAMETERS")
        terminal.wait_journal("no program Nobody is running", WITHIN_S)
        with pytest.raises(ScriptError, match="leave out tick and ms"):
            terminal.act("tick=5 restart=ReinitProbe")
        terminal.stop()
        with pytest.raises(EmulatorError, match="takes no commands"):
            terminal.act("restart=ReinitProbe")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("reason=CHARTCHANGE symbol=XAUUSD", "ReinitProbe: no such symbol: XAUUSD"),
        ("reason=PARAMETERS inputs='Nothing=1'", "ReinitProbe has no input Nothing; it has"),
    ],
)
def test_a_change_that_makes_no_sense_is_named(tmp_path: Path, change: str, message: str) -> None:
    line = f"at tick=5 reinit=ReinitProbe {change}"
    result = run(tmp_path, "attach ReinitProbe on EURUSD", line)
    assert result.exit_code == 2
    assert message in result.journal[-1]


def test_inputs_are_spread_out_for_the_executable() -> None:
    line = "at ms=5 reinit=Trader reason=PARAMETERS inputs=\"Port=1 Symbols='A, B'\""
    assert Script.of(line).encoded() == (
        "at\tms=5\treinit=Trader\treason=PARAMETERS\tinput.Port=1\tinput.Symbols=A, B\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("reinit=Trader", r"at reinit needs reason=\.\.\.; write one of PARAMETERS, CHARTCHANGE"),
        ("reinit=Trader reason=BORED", r"at reason: 'BORED' is unknown; write one of PARAMETERS"),
        ("reinit=Trader reason=CHARTCHANGE", r"needs symbol=\.\.\. or period=\.\.\."),
        ("reinit=Trader reason=PARAMETERS symbol=A", r"at symbol does not change .* write inputs"),
        (
            "reinit=Trader reason=CHARTCHANGE period=PERIOD_M1 inputs='A=1'",
            r"at inputs does not change with the reason CHARTCHANGE; write symbol or period",
        ),
        (
            "reinit=Trader reason=CHARTCHANGE period=H1",
            r"'H1' is no period; write one of PERIOD_M1",
        ),
        ("reinit=Trader reason=PARAMETERS inputs=Port", r"'Port' is no setting; write name=value"),
        ("restart=Trader inputs='A=1'", r"at inputs belongs to reinit=PROGRAM; name the program"),
        ("restart=Trader\nseed 5", r"several lines; give one at a time"),
    ],
)
def test_changes_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        parse_command(text)
