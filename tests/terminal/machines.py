"""Made-up machines with terminals on them."""

from __future__ import annotations

from pathlib import Path

from mt5bridge.terminal.folders import Machine

HEX = "D0E8209F77C8CF37AD8BF550E51FF075"
OTHER_HEX = "0123456789abcdef0123456789ABCDEF"


def data_folder(path: Path, origin: str = "") -> Path:
    """A data folder as a terminal makes it, with its origin in UTF-16."""
    for name in ("Experts", "Indicators", "Include", "Scripts"):
        (path / "MQL5" / name).mkdir(parents=True)
    if origin:
        (path / "origin.txt").write_bytes(b"\xff\xfe" + origin.encode("utf-16-le"))
    return path


def program_folder(path: Path, name: str = "terminal64.exe") -> Path:
    """A program's folder; it has an `MQL5` of its own whether portable or not."""
    data_folder(path)
    (path / name).write_bytes(b"MZ")
    return path


def windows(tmp_path: Path) -> Machine:
    """Windows with folders to put terminals into."""
    roaming = tmp_path / "AppData" / "Roaming"
    programs = tmp_path / "Program Files"
    for folder in (roaming, programs):
        folder.mkdir(parents=True)
    environment = {"APPDATA": str(roaming), "ProgramFiles": str(programs)}
    return Machine("win32", tmp_path, environment)


def terminals(machine: Machine) -> Path:
    """Where Windows keeps the data folders of terminals."""
    return Path(machine.environment["APPDATA"]) / "MetaQuotes" / "Terminal"
