"""The self-test script carries the golden frames of the protocol and passes in a terminal."""

from __future__ import annotations

from pathlib import Path

from tests.mql5 import golden
from tests.mql5.running import Scripts
from tests.wire import golden as frames


def test_include_file_is_that_of_the_golden_frames() -> None:
    found = golden.PATH.read_text(encoding="utf-8")
    assert found == golden.include_file(), "run python -m tests.mql5.golden"


def test_self_test_passes(scripts: Scripts, tmp_path: Path) -> None:
    """Every golden frame, and the terminal's own ways with bytes."""
    journal = scripts.run("SelfTest", tmp_path)
    assert not [line for line in journal if line.startswith("FAILED")]
    told = [line for line in journal if line.startswith("passed  golden frame")]
    assert len(told) == len(list(frames.FOLDER.glob("*.hex")))
    verdict = [line for line in journal if "SELF-TEST" in line]
    assert len(verdict) == 2, "in the journal and in a window"
    assert all("SELF-TEST PASSED" in line for line in verdict)


def test_self_test_can_fail(scripts: Scripts, tmp_path: Path) -> None:
    """It names a frame that a terminal would decode differently."""
    journal = scripts.run("SelfTestFails", tmp_path)
    assert "FAILED  golden frame ack: frame, but found bad_checksum" in journal
    assert "SELF-TEST FAILED: 1 checks passed, 1 failed" in journal
