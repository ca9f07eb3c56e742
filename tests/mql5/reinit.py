"""Changes at an expert that stays on its chart."""

from __future__ import annotations

from mt5bridge.emulator.terminal import EmulatedTerminal
from tests.bridge.live import wait_until

INPUTS, PERIOD = "reason=PARAMETERS", "reason=CHARTCHANGE period=PERIOD_H1"


def inputs(**changed: str) -> str:
    """The change that sets these inputs."""
    return f'{INPUTS} inputs="{" ".join(f"{name}={value!r}" for name, value in changed.items())}"'


def chart(symbol: str) -> str:
    """The change that shows another symbol on the chart."""
    return f"reason=CHARTCHANGE symbol={symbol}"


def begin_again(terminal: EmulatedTerminal, program: str, change: str) -> None:
    """Make a change; wait until the program has handled OnDeinit and OnInit."""
    before = _begun(terminal, program)
    terminal.act(f"reinit={program} {change}")
    wait_until(lambda: _begun(terminal, program) > before)


def _begun(terminal: EmulatedTerminal, program: str) -> int:
    """How often since the terminal's start."""
    lines = [line.split("\t")[-1] for line in terminal.journal]
    assert not any("has not begun again" in line for line in lines), lines[-10:]
    return sum(line.startswith(program) and line.endswith("has begun again") for line in lines)
