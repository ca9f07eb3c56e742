"""A ROUTER that does everything wrong: the link recovers each time, and no call hangs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from mt5bridge.emulator.terminal import EmulatedTerminal, EmulatorError
from tests.mql5.misbehaviour import WRONG, takes_nothing
from tests.mql5.probing import libzmq_router, pass_time, port_of, probe, wait_for_echo
from tests.mql5.router import Behaviour, Router
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("scripts")

# connect_ms of the probe, or step_ms for each of Step and Flush, by the terminal's own clock.
_BOUND_US = 400_000


def test_recovers_from_everything(tmp_path: Path) -> None:
    """Each connection goes wrong in another way, is given up for the right reason, in order."""
    behaviours = [behaviour for behaviour, _ in WRONG.values()]
    journal = _survive(tmp_path, behaviours)
    told = [line.split("\t")[-1] for line in journal if "down:" in line]
    for (name, (_, expected)), line in zip(WRONG.items(), told, strict=False):
        assert line.removeprefix("down: ").startswith(expected), name
    assert len(told) >= len(WRONG)


def test_a_peer_that_takes_nothing(tmp_path: Path) -> None:
    """The queue stands still: given up within its bound, and what was queued is counted."""
    inputs = {"FloodFrames": 3_000, "FloodBytes": 1_000}
    faults = "sockets send_buffer=4096"
    journal = _survive(tmp_path, [takes_nothing], faults, buffer_bytes=4_096, **inputs)
    assert any("down: the other side takes nothing any more" in line for line in journal)
    (end,) = [line for line in journal if "dropped" in line]
    assert int(end.rpartition(" ")[2]) > 100


def test_one_byte_at_a_time(tmp_path: Path) -> None:
    """Slow, but right: nothing to recover from."""
    journal = _survive(tmp_path, [lambda peer: peer.pipe(step=1)])
    assert not [line for line in journal if "down:" in line]


def _survive(
    folder: Path,
    behaviours: list[Behaviour],
    *statements: str,
    buffer_bytes: int | None = None,
    **inputs: object,
) -> tuple[str, ...]:
    """Meet these and then a real ROUTER, which must be well served; the journal."""
    started: list[EmulatedTerminal] = []

    def let_time_pass() -> None:
        wait_until(lambda: bool(started))
        with suppress(EmulatorError):  # the client has got through, and the test is over
            pass_time(started[0])

    with (
        libzmq_router() as real,
        Router(behaviours, port_of(real), buffer_bytes, let_time_pass) as front,
        probe(folder, front.port, *statements, **inputs) as terminal,
    ):
        started.append(terminal)
        wait_for_echo(real, b"well served")
        result = terminal.stop()
    assert result.stats is not None
    assert result.stats.program("LinkProbe").handler("OnTimer").longest_us < _BOUND_US
    return result.journal
