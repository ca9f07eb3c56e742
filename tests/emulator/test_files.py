"""Files that a scanner holds for a moment, and a full disk: what programs see of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.emulator.script import ScriptError, parse_command
from mt5bridge.emulator.terminal import EmulatedTerminal
from tests.emulator.market import WITHIN_S, needs_compiler, terminal_with, texts
from tests.waiting import wait_until

pytestmark = needs_compiler


def last_outcome(terminal: EmulatedTerminal) -> str:
    """What the probe has said last."""
    said = (line.split("\t")[-1] for line in reversed(terminal.journal))
    return next((text for text in said if text.startswith("failed: ")), "")


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("open", "open 5004"),
        ("move", "move 5004"),
        ("delete", "delete 5006"),
        ("write", "write 5026"),
    ],
)
def test_a_fault_strikes_until_it_is_taken_back(fault: str, seen: str, tmp_path: Path) -> None:
    with terminal_with(tmp_path, "attach FaultProbe on EURUSD") as terminal:
        terminal.wait_journal("failed:  0", WITHIN_S)
        terminal.act(f"files='{fault}=1 name=*.BIN*'")
        terminal.wait_journal(f"failed: {seen}", WITHIN_S)
        terminal.act(f"files={fault}=0")
        wait_until(lambda: last_outcome(terminal) == "failed:  0")  # no file is left behind
        terminal.act("detach=FaultProbe")
        result = terminal.wait_end(WITHIN_S)
    assert any(text.startswith(f"script: no {fault} of probe.bin") for text in texts(result))
    assert not terminal.file("probe.bin.new").exists()


def test_a_fault_is_for_the_files_of_its_name(tmp_path: Path) -> None:
    lines = ("files move=1 name=*.journal", "attach FaultProbe on EURUSD")
    with terminal_with(tmp_path, *lines, "attach FaultProbe on GBPUSD Name=a.journal") as terminal:
        terminal.wait_journal("failed: move 5004", WITHIN_S)
        terminal.wait_journal("failed:  0", WITHIN_S)
        result = terminal.stop()
    assert {text for text in texts(result) if "no move" in text} == {"script: no move of a.journal"}


@pytest.mark.parametrize("text", ["files=lose=1", "files=open=2", "files=", "files=open"])
def test_faults_that_are_refused(text: str) -> None:
    with pytest.raises(ScriptError, match="at files: "):
        parse_command(text)
