"""How long variables live, and whose they are: globals, static members, statics of functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.emulator.terminal import Result
from tests.emulator.market import WITHIN_S, figures, needs_compiler, run, terminal_with, texts

pytestmark = needs_compiler
ATTACH = "attach VariablesProbe on EURUSD"
END = "end quiet_ms=30"


def told(result: Result, word: str, step: int = 1) -> list[dict[str, int]]:
    """The figures of its lines that begin with a word, of the program with this step."""
    lines = texts(result, "VariablesProbe")
    assert "mixed up" not in lines
    found = [figures(text) for text in lines if text.startswith(f"{word} ")]
    assert all(one["agree"] == 1 for one in found)
    return [one for one in found if one["step"] == step]


def test_statics_and_globals_stay_while_an_expert_stays(tmp_path: Path) -> None:
    """\"globals and static variables keep their values\" when inputs, symbol or period change."""
    result = run(
        tmp_path, "pace step=1", ATTACH,
        "at tick=300 reinit=VariablesProbe reason=CHARTCHANGE period=PERIOD_H1",
        "at tick=600 reinit=VariablesProbe reason=PARAMETERS", END,
    )  # fmt: skip
    inits, ends = told(result, "init"), told(result, "deinit")
    assert [one["init"] for one in inits] == [1, 2, 3]
    assert [one["ticks"] for one in inits[1:]] == [one["ticks"] for one in ends[:2]]
    assert 0 < ends[0]["ticks"] < ends[1]["ticks"] < ends[2]["ticks"]


@pytest.mark.parametrize("reason", ["REMOVE", "CLOSE"])
def test_statics_and_globals_begin_anew_with_a_program(tmp_path: Path, reason: str) -> None:
    """\"the program is loaded anew on its chart, with new globals\", and with a new terminal."""
    with terminal_with(tmp_path, "pace rate=2000", ATTACH) as terminal:
        terminal.wait(lambda stats: stats.ticks_delivered > 100, WITHIN_S)
        terminal.act(f"reinit=VariablesProbe reason={reason}")
        terminal.wait(lambda stats: stats.ticks_delivered >= 1_000, WITHIN_S)
        result = terminal.stop()
    inits = told(result, "init")
    assert len(inits) == 2
    assert {(one["init"], one["ticks"]) for one in inits} == {(1, 0)}
    assert told(result, "deinit")[0]["ticks"] > 0


def test_programs_that_run_beside_each_other_share_no_variable(tmp_path: Path) -> None:
    """Twice the same program on two charts, tick by tick in turns, and one that goes and comes."""
    result = run(
        tmp_path, "pace step=1", ATTACH, f"{ATTACH} Step=100",
        "at tick=500 restart=VariablesProbe", END,
    )  # fmt: skip
    assert result.exit_code == 0
    alone, hundreds = told(result, "deinit"), told(result, "deinit", 100)
    assert alone and hundreds
    assert all(one["ticks"] % 100 == 0 and one["ticks"] > 0 for one in hundreds)
    assert max(one["ticks"] for one in alone) > 400


def test_programs_that_share_places_end_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one left behind when it ended is not touched by those that end after it."""
    monkeypatch.setenv("MALLOC_PERTURB_", "165")  # freed memory holds nonsense at once
    result = run(
        tmp_path, "pace step=1", ATTACH, f"{ATTACH} Step=100", f"{ATTACH} Step=10000",
        "at tick=500 detach=VariablesProbe", END,
    )  # fmt: skip
    assert result.exit_code == 0
    assert [len(told(result, "deinit", step)) for step in (1, 100, 10_000)] == [1, 1, 1]
