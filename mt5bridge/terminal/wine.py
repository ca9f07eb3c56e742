"""Paths and programs of Windows in a Wine prefix, without asking Wine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PureWindowsPath
from typing import NamedTuple

from mt5bridge.terminal.folders import Machine

ABSOLUTE = re.compile(r"^[A-Za-z]:[\\/]")
BOTTLES = ("Bottles", ".cxoffice")
"""Folders whose prefixes CrossOver runs, by name."""
APPLICATIONS = (
    "MetaTrader 5.app/Contents/SharedSupport/wine/bin/wine64",
    "Wine Stable.app/Contents/Resources/wine/bin/wine",
)
CROSSOVER = "CrossOver.app/Contents/SharedSupport/CrossOver/bin/wine"


class Wine(NamedTuple):
    """How programs of a prefix are started."""

    command: list[str]
    """What goes before the program's path."""
    environment: dict[str, str]
    """Variables besides those of this process."""


def unix_path(windows: str, prefix: Path) -> Path | None:
    """Where a Windows path lies in a prefix, whatever the case of its letters; None if nowhere."""
    path = PureWindowsPath(windows)
    if not ABSOLUTE.match(windows):
        return None
    letter = path.drive[0].lower()
    drive = prefix / "dosdevices" / f"{letter}:"
    here: Path | None = drive if drive.exists() else prefix / f"drive_{letter}"
    for part in path.parts[1:]:
        here = inside(here, part) if here else None
    return here


def inside(folder: Path, name: str) -> Path | None:
    """What a folder holds by that name, in any case, as Windows finds it."""
    exact = folder / name
    if exact.exists():
        return exact
    try:
        return next((p for p in folder.iterdir() if p.name.casefold() == name.casefold()), None)
    except OSError:
        return None


def wine_of(prefix: Path, machine: Machine, which: Callable[[str], str | None]) -> Wine | None:
    """The Wine that runs a prefix; None if there is none. `which` looks a program up in PATH."""
    environment = {"WINEPREFIX": str(prefix), "WINEDEBUG": "-all"}
    if "WINE" in machine.environment:
        return Wine([machine.environment["WINE"]], environment)
    if prefix.parent.name in BOTTLES and "bottles" not in prefix.parent.parent.parts:
        found = next(filter(Path.is_file, _crossover(machine)), None)
        if found is not None:
            return Wine([str(found), "--bottle", prefix.name, "--cx-app"], {})
    in_path = which("wine") or which("wine64")
    if in_path:
        return Wine([in_path], environment)
    places = (root / name for root in _applications(machine) for name in APPLICATIONS)
    found = next(filter(Path.is_file, places), None)
    return Wine([str(found)], environment) if found else None


def _crossover(machine: Machine) -> Iterator[Path]:
    yield from (root / CROSSOVER for root in _applications(machine))
    roots = (machine.home / "cxoffice", Path("/opt/cxoffice"))
    yield from (root / "bin" / "wine" for root in roots)


def _applications(machine: Machine) -> tuple[Path, Path]:
    return machine.home / "Applications", Path("/Applications")
