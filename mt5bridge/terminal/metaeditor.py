"""MetaEditor's compiler: where it is, how it is started, and what it says.

Its exit code says nothing: builds return 1 for success and 0 for a file that is not there, and
under Wine come back before they are done. What counts is the log, and a new `.ex5`. Under Wine
neither blanks nor quotes survive on the way to its command line, so it is given paths without any,
through links.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import NamedTuple

from mt5bridge.clock import monotonic_ms
from mt5bridge.terminal.compiler_log import CompilerLog, read_log
from mt5bridge.terminal.folders import DataFolder, Machine
from mt5bridge.terminal.wine import ABSOLUTE, Wine, inside, unix_path, wine_of

EDITOR = "metaeditor64.exe"
PROGRAM_FILES = ("ProgramFiles", "ProgramW6432", "ProgramFiles(x86)")
RUN_MS_MAX, SETTLE_MS_MAX, POLL_S = 600_000, 10_000, 0.05
NAMES = "compile include log".split()
LINK = "mt5cep-"


class MetaEditorError(RuntimeError):
    """There is no compiler that could be run; the message says where it was looked for."""

    hint = (
        "name it with --metaeditor FILE, or compile in the terminal: F4, open the program, F7; "
        "under Wine the variable WINE names the wine to take"
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the compiler says of one program."""

    program: Path
    """Relative to `MQL5`."""
    log: CompilerLog
    trouble: str = ""
    """Why there is no new program, besides the errors in the log."""

    @property
    def is_good(self) -> bool:
        """Whether there is a new `.ex5`."""
        return not self.trouble and not self.log.errors


class Switches(NamedTuple):
    """The paths that a compilation is told, as the compiler itself sees them."""

    source: str
    mql5: str
    """The folder with `Include` in it."""
    told_in: str
    """The log."""
    portable: bool = False


@dataclass(frozen=True, slots=True)
class MetaEditor:
    """A compiler that can be run, for one data folder."""

    path: Path
    folder: DataFolder
    wine: Wine | None = None
    """None on Windows, where it runs by itself."""
    run_ms: int = RUN_MS_MAX
    settle_ms: int = SETTLE_MS_MAX
    """How long a log may take to be complete after the process has ended."""

    def compile(self, program: Path) -> Verdict:
        """Compile one program, its path relative to `MQL5`. Its log is removed again."""
        source = self.folder.mql5 / program
        log, made = source.with_suffix(".log"), source.with_suffix(".ex5")
        log.unlink(missing_ok=True)
        before = _written_ns(made)
        try:
            self._run(program)
            said = self._said(log)
        except subprocess.TimeoutExpired:
            said = read_log(_content(log))
            return Verdict(program, said, f"not done after {self.run_ms // 1000} s, ended")
        except OSError as error:
            return Verdict(program, read_log(b""), f"{self.path} does not start: {error}")
        finally:
            log.unlink(missing_ok=True)
        return Verdict(program, said, _trouble(said, _written_ns(made) != before))

    def _said(self, log: Path) -> CompilerLog:
        pause, end_ms = Event(), monotonic_ms() + self.settle_ms
        said = read_log(_content(log))
        while not said.is_complete and monotonic_ms() < end_ms:
            pause.wait(POLL_S)
            said = read_log(_content(log))
        return said

    def _run(self, program: Path) -> None:
        with self._names() as (editor, data):
            source = _joined(data, "MQL5", *program.parts)
            log = source.removesuffix(program.suffix) + ".log"
            said = Switches(source, _joined(data, "MQL5"), log, self.folder.portable)
            environment = {**os.environ, **(self.wine.environment if self.wine else {})}
            subprocess.run(
                command_line(self.wine.command if self.wine else [], editor, said, os.name),
                env=environment, timeout=self.run_ms / 1000, check=False, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip

    @contextmanager
    def _names(self) -> Iterator[tuple[str, str]]:
        """What the compiler calls itself and the data folder, while it runs."""
        if self.wine is None or self.folder.prefix is None:
            yield str(self.path), str(self.folder.path)
            return
        links = self.folder.prefix / "drive_c" / f"{LINK}{secrets.token_hex(4)}"
        links.mkdir()
        try:
            for name, target in (("program", self.path.parent), ("data", self.folder.path)):
                (links / name).symlink_to(target.resolve(), target_is_directory=True)
            root = f"C:\\{links.name}"
            yield f"{root}\\program\\{self.path.name}", f"{root}\\data"
        finally:
            for name in ("program", "data"):
                (links / name).unlink(missing_ok=True)
            links.rmdir()


def command_line(
    before: list[str], editor: str, switches: Switches, system: str
) -> list[str] | str:
    """What is started: on Windows, where programs split their line themselves, as documented."""
    quote = '"' if system == "nt" else ""
    paths = zip(NAMES, switches[:3], strict=True)
    said = [f"/{name}:{quote}{path}{quote}" for name, path in paths]
    said += ["/portable"] * switches.portable
    if system == "nt":
        return subprocess.list2cmdline([*before, editor]) + " " + " ".join(said)
    return [*before, editor, *said]


def find_metaeditor(
    folder: DataFolder,
    machine: Machine,
    named: Path | None = None,
    which: Callable[[str], str | None] = shutil.which,
) -> MetaEditor:
    """The compiler of a terminal. MetaEditorError when there is none, or no Wine to run it."""
    path = named if named and named.is_file() else next(_editors(folder, machine, named), None)
    if path is None:
        raise MetaEditorError(f"no {EDITOR} in {named or folder.program or 'the usual folders'}")
    if machine.platform == "win32":
        return MetaEditor(path, folder)
    if folder.prefix is None:
        raise MetaEditorError(f"{folder.path} lies in no Wine prefix, so that {path} cannot run")
    wine = wine_of(folder.prefix, machine, which)
    if wine is None:
        raise MetaEditorError(f"no wine in PATH to run {path}")
    return MetaEditor(path, folder, wine)


def _editors(folder: DataFolder, machine: Machine, named: Path | None) -> Iterator[Path]:
    """That of the terminal's own program, then any of the standard folders."""
    places = [named] if named else [_program(folder), *_standard(folder, machine)]
    found = (inside(place, EDITOR) for place in places if place is not None)
    yield from (path for path in found if path is not None and path.is_file())


def _program(folder: DataFolder) -> Path | None:
    """The terminal's program folder, from its `origin.txt` or because it is portable."""
    if folder.prefix is not None and ABSOLUTE.match(folder.program):
        return unix_path(folder.program, folder.prefix)
    return Path(folder.program) if folder.program else None


def _standard(folder: DataFolder, machine: Machine) -> Iterator[Path]:
    """Folders of programs, at most two levels below where Windows keeps programs."""
    keys = (machine.environment.get(key) for key in PROGRAM_FILES)
    roots = [Path(value) for value in keys if value] if machine.platform == "win32" else []
    if folder.prefix is not None:
        roots = sorted((folder.prefix / "drive_c").glob("Program Files*"))
    for root in dict.fromkeys(roots):
        yield from sorted(path for at in ("*", "*/*") for path in root.glob(at) if path.is_dir())


def _joined(folder: str, *parts: str) -> str:
    """A path below a folder of this machine, or of a prefix, in the folder's own spelling."""
    separator = "\\" if ABSOLUTE.match(folder) else os.sep
    return separator.join((folder, *parts))


def _trouble(said: CompilerLog, is_new: bool) -> str:
    if not said.is_complete:
        return "it has written no log, or no result into it"
    return "" if said.errors or is_new else "it reports success, but has written no .ex5"


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # not there yet, or still held by the compiler
        return b""


def _written_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
