"""Runs the probe of a terminal in the emulated one.

`python -m tests.mql5.platform` keeps what it finds. What differs from
terminal to terminal is found with two seeds.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from mt5bridge.emulator.script import Script
from mt5bridge.emulator.terminal import EmulatedTerminal, write_tick_file
from mt5bridge.records import TICK, Records
from mt5bridge.terminal.assumptions import ASSUMPTIONS, RECORD, Value
from mt5bridge.terminal.probe import Probe, read_probe
from tests.credentials import CREDENTIAL
from tests.mql5.probing import letting_in, port_of, prepare
from tests.mql5.running import PROGRAMS
from tests.waiting import LONG_S

SEEDS = (1, 2)
_TICKS, _SAME_MS, _STEP_MS = 3_000, 3, 40
_BEGIN_MSC = 1_700_000_000_000


def quotes() -> Records:
    """Ticks, several to a millisecond."""
    ticks = np.zeros(_TICKS, TICK)
    ticks["time_msc"] = _BEGIN_MSC + np.arange(_TICKS) // _SAME_MS * _STEP_MS
    ticks["time"] = ticks["time_msc"] // 1000
    ticks["bid"] = 1.1 + np.arange(_TICKS) % 100 * 1e-5
    ticks["ask"] = ticks["bid"] + 1e-4
    ticks["flags"] = 6
    return ticks


def probed(folder: Path, seed: int, allowed: str = "127.0.0.1") -> Probe:
    """What the script finds in an emulated terminal that may connect to a ROUTER."""
    folder.mkdir(parents=True, exist_ok=True)
    ticks = write_tick_file(folder / "eurusd.bin", quotes())
    with letting_in(CREDENTIAL) as router:
        prepare(router)
        script = Script.of(
            f"seed {seed}", "clock mode=real", f"sockets allowed={allowed}",
            "symbol EURUSD digits=5", f"ticks EURUSD path={ticks}", f"offline_ticks first={_TICKS}",
            f"attach SelfTest on EURUSD ShowAlert=0 Port={port_of(router)}", "end quiet_ms=50",
        )  # fmt: skip
        with EmulatedTerminal(PROGRAMS, script, folder) as terminal:
            result = terminal.wait_end(LONG_S)
        assert result.exit_code == 0, "\n".join(result.journal[-30:])
    path = terminal.file("Mt5Bridge/probe.json")
    lived = life_probed(folder / "life", seed)
    lived.replace(path.with_name(lived.name))
    return read_probe(path)


def life_probed(folder: Path, seed: int, *statements: str, closes: bool = False) -> Path:
    """The file of the expert that changes its chart's period, while ticks come.

    `closes`: the terminal is closed at once and started again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ticks = write_tick_file(folder / "eurusd.bin", quotes())
    script = Script.of(
        f"seed {seed}", "clock mode=real", "pace rate=100", "symbol EURUSD digits=5",
        f"ticks EURUSD path={ticks}", "attach SelfTestLife on EURUSD", *statements,
    )  # fmt: skip
    with EmulatedTerminal(PROGRAMS, script, folder) as terminal:
        if closes:
            terminal.act("restart=terminal")
        result = terminal.wait_end(LONG_S)
    assert result.exit_code == 0, "\n".join(result.journal[-30:])
    return terminal.file("Mt5Bridge/probe-life.json")


def record(probes: Iterable[Probe]) -> dict[str, list[Value]]:
    """Each fact that does not depend on machine and hour, with all values that were found."""
    kept: dict[str, list[Value]] = {}
    for probe in probes:
        for name, value in probe.facts.items():
            if not ASSUMPTIONS[name].varies and value not in kept.setdefault(name, []):
                kept[name].append(value)
    return kept


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        found = record(probed(Path(scratch, str(seed)), seed) for seed in SEEDS)
    lines = (f"  {json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found))
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
