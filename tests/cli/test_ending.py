"""What tells a command to end is not lost in the compiler, which C calls Python from."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.waiting import LONG_S

BEGIN = """
import ctypes, signal, sys
from contextlib import suppress
from cep.cli.ending import ended_by_signals

@ctypes.CFUNCTYPE(None)
def compiled():
    signal.raise_signal({number})
    print("never said")

def compile(fails):
    compiled()
    if fails:
        raise RuntimeError("no compiled object yet")

signal.signal(signal.SIGINT, signal.default_int_handler)
"""
ALONE = """
with suppress(KeyboardInterrupt), ended_by_signals():
    compile({fails})
    print("went on")
print("ended quietly")
"""
SWEPT = """
from types import SimpleNamespace as Any
from cep.cli.sweep import _swept
from cep.sweep.tried import failed

class Search:
    count = 2
    def rows(self, *given):
        yield [failed(0, {{}}, ValueError())]
        compile(True)

found = _swept(Any(asked=Any(selection=Any(rows=1))), Search(), None)
print(len(found.rows), "of", found.wanted)
"""


def said(code: str, **given: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", (BEGIN + code).format(**given)]
    return subprocess.run(command, capture_output=True, text=True, timeout=LONG_S, check=False)


@pytest.mark.parametrize(("fails", "text"), [(True, ""), (False, "went on\n")])
def test_what_was_lost_ends_the_command(fails: bool, text: str) -> None:
    """docs/operate.md: "exit code is 143"; Ctrl-C is KeyboardInterrupt, as anywhere."""
    ended = said(ALONE, number="signal.SIGTERM", fails=fails)
    assert (ended.returncode, ended.stdout, ended.stderr) == (143, text, "")
    ended = said(ALONE, number="signal.SIGINT", fails=fails)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"{text}ended quietly\n", "")


def test_errors_that_no_signal_made_stay() -> None:
    ended = said("with ended_by_signals():\n    1 / 0", number=0)
    assert ended.returncode == 1 and "ZeroDivisionError" in ended.stderr


@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT"])
def test_a_sweep_keeps_what_was_done(number: str) -> None:
    ended = said(SWEPT, number=f"signal.{number}")
    assert ended.stdout == "1 of 2\n" and "ended early: 1 of 2 variants are done" in ended.stderr
    assert "Error" not in ended.stderr
