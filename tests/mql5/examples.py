"""The examples for authors of Expert Advisors, on an emulated terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from mt5bridge.emulator.build import CompilerMissingError
from mt5bridge.emulator.script import parse_script
from mt5bridge.emulator.terminal import EmulatedTerminal, Result, write_tick_file
from mt5bridge.records import Records
from mt5bridge.terminal.sources import sources_folder
from tests.credentials import CREDENTIAL

SOURCES = sources_folder()
FOLDER = SOURCES / "Experts" / "Mt5Bridge" / "Examples"
SPY = SOURCES / "Indicators" / "Mt5Bridge" / "TickSpy.mq5"
OUTPUTS = Path(__file__).parent / "examples"
_SCRIPT = """
seed {seed}
account login=5001 server=Demo currency=EUR mode=hedging leverage=100 balance=100000
{symbols}
sockets allowed=127.0.0.1
{statements}
"""


def example(
    folder: Path,
    program: str,
    ticks: Mapping[str, Records],
    *statements: str,
    seed: int = 1,
    more: tuple[Path, ...] = (),
) -> EmulatedTerminal:
    """A terminal with an example; skips where there is no g++."""
    lines = []
    for name, records in ticks.items():
        path = write_tick_file(folder / f"{name}.bin", records)
        lines += [f"symbol {name} digits=5", f"ticks {name} path={path}"]
    text = _SCRIPT.format(seed=seed, symbols="\n".join(lines), statements="\n".join(statements))
    programs = (source(program), *more)
    try:
        return EmulatedTerminal(
            programs, parse_script(text), folder / "terminal", credential=CREDENTIAL
        )
    except CompilerMissingError as missing:
        pytest.skip(str(missing))


def source(program: str) -> Path:
    """The source of an example, or of a probe of these tests."""
    shipped = FOLDER / f"{program}.mq5"
    return shipped if shipped.exists() else Path(__file__).parent / shipped.name


def printed(result: Result, program: str) -> list[str]:
    """What an example has printed."""
    found = [line.split("\t") for line in result.journal]
    return [parts[-1] for parts in found if parts[1].startswith(program)]


def shown(program: str) -> list[str]:
    """Its output in the documentation."""
    return (OUTPUTS / f"{program}.txt").read_text(encoding="utf-8").splitlines()
