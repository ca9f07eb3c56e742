"""Each reason for which a program is told to end, other accounts, a terminal not logged in yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.emulator.script import ScriptError, parse_command
from mt5bridge.emulator.terminal import Result
from tests.emulator.market import WITHIN_S, figures, needs_compiler, run, terminal_with, texts

ATTACH = "attach ReinitProbe on EURUSD Number=5"
END = "end quiet_ms=30"
CLOSED = 9  # REASON_CLOSE, of the end of each session
LOADED_ANEW = {"PROGRAM": 0, "REMOVE": 1, "RECOMPILE": 2, "CHARTCLOSE": 4, "TEMPLATE": 7}
STAYS = {"CHARTCHANGE period=PERIOD_H1": 3, "PARAMETERS": 5, "ACCOUNT": 6}
OWN, OTHER = 10000001, 5002


def _numbers(result: Result, word: str) -> list[dict[str, int]]:
    told = texts(result, "ReinitProbe")
    return [figures(text) for text in told if text.startswith(f"{word} ")]


def _values(result: Result, word: str, key: str) -> list[int]:
    return [numbers[key] for numbers in _numbers(result, word)]


@needs_compiler
def test_reasons_after_which_a_program_is_loaded_anew(tmp_path: Path) -> None:
    changes = [
        f"at tick={100 * at} reinit=ReinitProbe reason={reason}"
        for at, reason in enumerate(LOADED_ANEW, 1)
    ]
    result = run(tmp_path, "pace step=1", ATTACH, *changes, END)
    assert result.exit_code == 0
    assert _values(result, "deinit", "deinit") == [*LOADED_ANEW.values(), CLOSED]
    assert _values(result, "init", "init") == 6 * [1]  # its globals are new
    assert _values(result, "init", "reason") == 6 * [0]
    assert _values(result, "init", "number") == 6 * [5]
    charts = _values(result, "id", "id")
    assert charts[0] == charts[1] == charts[2] == charts[3] != charts[4] == charts[5]


@needs_compiler
def test_reasons_after_which_an_expert_stays(tmp_path: Path) -> None:
    changes = [
        f"at tick={100 * at} reinit=ReinitProbe reason={reason}"
        for at, reason in enumerate(STAYS, 1)
    ]
    result = run(tmp_path, "pace step=1", ATTACH, *changes, END)
    assert _values(result, "deinit", "deinit") == [*STAYS.values(), CLOSED]
    assert _values(result, "init", "init") == [1, 2, 3, 4]
    assert _values(result, "init", "reason") == [0, *STAYS.values()]
    assert len(set(_values(result, "id", "id"))) == 1


@needs_compiler
def test_oninit_that_fails_with_inputs_that_are_then_mended(tmp_path: Path) -> None:
    fail = "at tick=300 reinit=ReinitProbe reason=INITFAILED inputs='Fail=true Number=6'"
    result = run(tmp_path, "pace step=1", ATTACH, fail, END)
    assert result.exit_code == 0
    assert _values(result, "deinit", "deinit") == [5, 8, CLOSED]
    assert _values(result, "init", "init") == [1, 2, 1]
    assert _values(result, "init", "number") == [5, 6, 5]


@needs_compiler
def test_a_terminal_that_is_closed_and_started_again(tmp_path: Path) -> None:
    with terminal_with(tmp_path, ATTACH) as terminal:
        terminal.act("reinit=ReinitProbe reason=CLOSE")
        terminal.wait_journal("terminal started, run 2", WITHIN_S)
        result = terminal.stop()
    assert _values(result, "deinit", "deinit")[0] == CLOSED
    assert set(_values(result, "init", "init")) == {1}


@needs_compiler
def test_a_terminal_that_is_stopped_while_it_restarts(tmp_path: Path) -> None:
    with terminal_with(tmp_path, ATTACH) as terminal:
        terminal.act("restart=terminal")
        terminal.wait_journal("terminal restarts", WITHIN_S)
        assert terminal.stop(WITHIN_S).exit_code == 0


@needs_compiler
def test_another_account_has_its_own_positions(tmp_path: Path) -> None:
    result = run(
        tmp_path, "pace step=1", ATTACH, 'at tick=100 broker="trade buy EURUSD 0.1"',
        "at tick=300 account='login=5002 server=Other'",
        f"at tick=600 account='login={OWN}'", "at tick=800 restart=terminal", END,
    )  # fmt: skip
    assert _values(result, "deinit", "deinit") == [6, 6, CLOSED, CLOSED]
    assert _values(result, "init", "init") == [1, 2, 3, 1]
    assert _values(result, "account", "login") == [OWN, OTHER, OWN, OWN]
    assert _values(result, "account", "positions") == [0, 0, 1, 1]


@needs_compiler
def test_another_account_loads_the_indicators_of_charts_anew(tmp_path: Path) -> None:
    """Its own one as well as an expert's: SpyProbe says `socket` in its OnInit."""
    result = run(
        tmp_path, "pace step=1", f"{ATTACH} SpySymbol=EURUSD", "attach SpyProbe on EURUSD",
        "at tick=300 account='login=5002 server=Other'", END,
    )  # fmt: skip
    begun = [text for text in texts(result, "SpyProbe") if text.startswith("socket")]
    assert len(begun) == 3  # the expert's once, the chart's twice
    assert [text for text in texts(result) if text.startswith("SpyProbe")].count(
        "SpyProbe (EURUSD) removed"
    ) == 3


@needs_compiler
def test_the_account_of_the_last_run_is_that_of_the_next(tmp_path: Path) -> None:
    result = run(
        tmp_path, "pace step=1", ATTACH, "at tick=300 account='login=5002 server=Other'",
        "at tick=600 restart=terminal", END,
    )  # fmt: skip
    assert _values(result, "account", "login") == [OWN, OTHER, OTHER]


@needs_compiler
def test_a_terminal_that_is_not_logged_in_yet(tmp_path: Path) -> None:
    result = run(tmp_path, "pace step=1", "account login_ms=50", ATTACH, END)
    assert result.exit_code == 0
    assert _numbers(result, "account") == [{"login": 0, "positions": 0, "time": 0}]
    assert _numbers(result, "left") == [{"login": OWN, "positions": 0, "time": 1}]
    assert _values(result, "counts", "ticks")[0] > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("account='owner=me'", r"at account: 'owner=me' says nothing of an account; write login="),
        ("account='login=me'", r"at account: 'me' is no "),
        ("account=''", r"at account: '' says nothing of an account"),
        ("reinit=A reason=CLOSE symbol=B", r"does not change .* CLOSE; write the reason alone"),
    ],
)
def test_changes_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        parse_command(text)
