"""Finds the data folders of MetaTrader 5 terminals, without registry and without asking Wine.

A data folder holds `MQL5`. It lies in the user's profile (`MetaQuotes/Terminal/<32 hex digits>`,
with an `origin.txt` that names the program's folder), or it is the program's folder itself when the
terminal is started with `/portable`, as MetaQuotes' own app for macOS does. A Wine prefix has both
places below its `drive_c`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

PROGRAMS = ("terminal64.exe", "terminal.exe")
HEX_NAME = re.compile(r"[0-9A-Fa-f]{32}")
PREFIXES = (
    ".wine",
    ".mt5",
    ".PlayOnLinux/wineprefix/*",
    ".cxoffice/*",
    ".local/share/bottles/bottles/*",
    ".local/share/wineprefixes/*",
    ".var/app/com.usebottles.bottles/data/bottles/bottles/*",
    "Games/*",
    "Library/Application Support/net.metaquotes.wine.metatrader5",
    "Library/Application Support/MetaTrader 5/Bottles/*",
    "Library/Application Support/CrossOver/Bottles/*",
    "Library/Containers/com.isaacmarovitz.Whisky/Bottles/*",
    "Library/PlayOnMac/wineprefix/*",
)
"""Where Wine prefixes usually lie, below the home folder."""
PROFILES = ("AppData/Roaming", "Application Data")


class FolderError(ValueError):
    """A folder that is no terminal's data folder; `hint` says which one would be."""

    hint = 'in MetaTrader, "File > Open Data Folder" shows it: it contains the folder MQL5'


@dataclass(frozen=True, slots=True)
class Machine:
    """What is looked at; passed in, so that any machine can be described in a test."""

    platform: str
    home: Path
    environment: Mapping[str, str]

    @classmethod
    def here(cls) -> Machine:
        """The machine this program runs on."""
        return cls(sys.platform, Path.home(), os.environ)


@dataclass(frozen=True, slots=True)
class DataFolder:
    """A terminal's data folder, and what is known of the terminal."""

    path: Path
    program: str = ""
    """The folder of the program as the terminal itself names it; empty when unknown."""
    portable: bool = False
    prefix: Path | None = None
    """The Wine prefix it lies in; None outside Wine."""

    @property
    def mql5(self) -> Path:
        """The folder that the sources are copied into."""
        return self.path / "MQL5"

    @property
    def name(self) -> str:
        """What a user knows the terminal by: the last part of its program's folder."""
        return PureWindowsPath(self.program).name if self.program else self.path.name

    @property
    def kind(self) -> str:
        """`portable`, `Wine`, or both; empty for an ordinary terminal on Windows."""
        return ", ".join(["portable"] * self.portable + ["Wine"] * (self.prefix is not None))


def find(machine: Machine) -> list[DataFolder]:
    """All data folders of a machine, each once, in the order of the places looked at."""
    if machine.platform == "win32":
        found = list(_windows(machine.environment))
    else:
        found = [folder for prefix in prefixes(machine) for folder in _wine(prefix)]
    return list({_real(folder.path): folder for folder in found}.values())


def given(path: Path) -> DataFolder:
    """The data folder that a user names, by itself or by its `MQL5`. FolderError for others."""
    folder = path.parent if path.name.upper() == "MQL5" else path
    if not _is_folder(folder / "MQL5"):
        raise FolderError(f"{path}: no terminal's data folder, it contains no folder MQL5")
    portable = any(_is_file(folder / name) for name in PROGRAMS)
    program = str(folder) if portable else _origin(folder)
    prefix = next((above.parent for above in folder.parents if above.name == "drive_c"), None)
    return DataFolder(folder, program, portable, prefix)


def named(paths: Iterable[Path], found: Iterable[DataFolder]) -> list[DataFolder]:
    """The data folders that a user names, each once; those that are `found` as they were found.

    FolderError for what is none.
    """
    known = {_real(one.path): one for one in found}
    folders = [given(path.absolute()) for path in paths]
    return list({_real(one.path): known.get(_real(one.path), one) for one in folders}.values())


def prefixes(machine: Machine) -> Iterator[Path]:
    """Wine prefixes: the one the environment names, then the usual places."""
    places = (
        [Path(machine.environment["WINEPREFIX"])] if "WINEPREFIX" in machine.environment else []
    )
    places += [path for pattern in PREFIXES for path in sorted(_glob(machine.home, pattern))]
    yield from (path for path in dict.fromkeys(places) if _is_folder(path / "drive_c"))


def _windows(environment: Mapping[str, str]) -> Iterator[DataFolder]:
    roaming = environment.get("APPDATA")
    installed = list(_installed(Path(roaming))) if roaming else []
    yield from installed
    keys = ("ProgramFiles", "ProgramFiles(x86)", "ProgramW6432")
    roots = dict.fromkeys(Path(environment[key]) for key in keys if environment.get(key))
    origins = {_comparable(folder.program) for folder in installed}
    yield from (
        DataFolder(path, str(path), portable=True)
        for root in roots
        for path in _with_program(root)
        if _comparable(str(path)) not in origins
    )


def _wine(prefix: Path) -> Iterator[DataFolder]:
    drive = prefix / "drive_c"
    installed = [
        DataFolder(folder.path, folder.program, prefix=prefix)
        for user in sorted(_glob(drive, "users/*"))
        for profile in PROFILES
        for folder in _installed(user / profile)
    ]
    yield from installed
    origins = {_comparable(folder.program) for folder in installed}
    for path in (found for root in sorted(_glob(drive, "Program Files*"))
                 for found in _with_program(root)):  # fmt: skip
        program = "C:\\" + str(PureWindowsPath(*path.relative_to(drive).parts))
        if _comparable(program) not in origins:
            yield DataFolder(path, program, portable=True, prefix=prefix)


def _installed(roaming: Path) -> Iterator[DataFolder]:
    """Data folders in a user's profile."""
    for path in sorted(_glob(roaming, "MetaQuotes/Terminal/*")):
        if HEX_NAME.fullmatch(path.name) and _is_folder(path / "MQL5"):
            yield DataFolder(path, _origin(path))


def _with_program(root: Path) -> Iterator[Path]:
    """Folders with a terminal and its `MQL5` side by side, at most two levels below `root`."""
    for pattern in ("*", "*/*"):
        for path in sorted(_glob(root, pattern)):
            if _is_folder(path / "MQL5") and any(_is_file(path / name) for name in PROGRAMS):
                yield path


def _origin(folder: Path) -> str:
    """What `origin.txt` says: the program's folder, in UTF-16 with a byte order mark."""
    try:
        raw = (folder / "origin.txt").read_bytes()
        text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""
    return text.strip().strip("\0")


def _comparable(program: str) -> str:
    """Windows paths differ by case and trailing separators only."""
    return program.replace("/", "\\").rstrip("\\").casefold()


def _glob(folder: Path, pattern: str) -> Iterable[Path]:
    """What matches; a folder that may not be read has nothing in it."""
    try:
        return list(folder.glob(pattern))
    except OSError:
        return []


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _real(path: Path) -> Path:
    """One name for a folder that links lead to: Wine's user folders point to each other."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
