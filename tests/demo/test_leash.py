"""What the demo starts ends with the demo, also where the demo is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.waiting import LONG_S

PATIENT = "simulate --random A --user nobody --connect tcp://127.0.0.1:9 --patience 86400".split()


def test_a_command_on_a_leash_ends_when_its_starter_is_gone(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "cep.demo.leash", *PATIENT],
        stdin=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "MT5CEP_PASSWORD": "any"},
    )
    assert process.stdin is not None
    process.stdin.close()  # as the system does where the starter has been killed
    assert process.wait(LONG_S) != 0


def test_a_command_on_a_leash_runs_to_its_own_end(tmp_path: Path) -> None:
    """With the starter there, it is the same command."""
    (tmp_path / "r.cep").write_text("define stream S (a int);", encoding="utf-8")
    call = [sys.executable, "-m", "cep.demo.leash", "check", str(tmp_path / "r.cep")]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert b": ok, 1 stream" in process.stdout.read()
        assert process.wait(LONG_S) == 0
