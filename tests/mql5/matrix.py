"""Every reason for which a terminal ends a program, as lines of a script or as commands."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from _pytest.mark import ParameterSet

from mt5bridge.emulator.chart_script import REASONS
from mt5bridge.emulator.terminal import EmulatedTerminal, Result
from tests.campaign import only

ALL = tuple(REASONS)
"""The names of all reasons."""
CHAINS: tuple[ParameterSet, ...] = (
    pytest.param(ALL, id="all"),
    *(only((reason,), id=reason) for reason in ALL),
    only(ALL[::-1], id="backwards"),
)
"""All reasons one after another, and in a campaign each alone and in the other order."""
_TROUBLE = ("has left open", "undeleted objects", "stopped:", "has not failed", "longer than 2.5")


def change(program: str, reason: str, failing: str) -> str:
    """The command; `failing` are inputs with which the program's OnInit fails."""
    details = {"CHARTCHANGE": "period=PERIOD_H1", "INITFAILED": f'inputs="{failing}"'}
    return f"reinit={program} reason={reason} {details.get(reason, '')}".strip()


def lines(program: str, reasons: Sequence[str], failing: str, when: Sequence[str]) -> list[str]:
    """Lines of a script: each reason at its time, `tick=5` or `ms=20`."""
    pairs = zip(when, reasons, strict=True)
    return [f"at {at} {change(program, reason, failing)}" for at, reason in pairs]


def nothing_left(terminal: EmulatedTerminal, program: str, reasons: Sequence[str]) -> Result:
    """Stop the terminal: nothing failed, and no handle and no object was left."""
    result = terminal.stop()
    came = [line for line in result.journal if f"reinit {program}" in line]
    assert len(came) >= len(set(reasons) - {"INITFAILED"})
    assert not [line for line in result.journal if any(one in line for one in _TROUBLE)]
    assert result.exit_code == 0, result.journal[-20:]
    return result
