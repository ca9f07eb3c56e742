"""Judges what is installed and compiled in terminals' data folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from mt5bridge.terminal.findings import Finding, Level, finding
from mt5bridge.terminal.folders import DataFolder
from mt5bridge.terminal.install import Action, Step, plan_install
from mt5bridge.terminal.naming import PLACE, is_damaged
from mt5bridge.terminal.programs import NEEDED, TRADER, Program, State, programs, version_of
from mt5bridge.terminal.sources import sources_version


def subject_of(folder: DataFolder) -> str:
    """What findings call a terminal."""
    return f"{folder.name} {folder.path}"


def judge_folders(
    folders: Iterable[DataFolder], sources: Path, daemon: str = "", trades: bool = False
) -> Iterator[Finding]:
    """The sources in each folder against ours, and the compiled programs against both.

    `daemon` is the running daemon's version, empty without one; `trades` whether it sends signals
    or orders, for which the trader is needed, too.
    """
    for folder in folders:
        if sources_version(folder.mql5) is None:
            seen = "our sources are not there"
            yield finding("sources missing", subject_of(folder), seen)
            continue
        if is_damaged(folder):
            seen = f"{folder.mql5 / PLACE} is damaged"
            yield finding("name damaged", subject_of(folder), seen)
        yield from _sources(plan_install(folder, sources), folder, sources)
        yield from _programs(folder, daemon, trades)


def _sources(steps: list[Step], folder: DataFolder, sources: Path) -> Iterator[Finding]:
    edited = [step.path.as_posix() for step in steps if step.action is Action.KEEP]
    others = [step for step in steps if step.action not in (Action.KEEP, Action.SAME)]
    there, ours = sources_version(folder.mql5), sources_version(sources)
    subject = subject_of(folder)
    if others:
        seen = f"version {there}; files that differ from {ours}: {len(others)}"
        yield finding("sources old", subject, seen)
    if edited:
        yield finding("sources edited", subject, f"edited: {', '.join(edited)}")
    if not others and not edited:
        yield finding(
            "sources", subject, f"version {there}, all {len(steps)} files as they are here"
        )


def _programs(folder: DataFolder, daemon: str, trades: bool) -> Iterator[Finding]:
    """Programs one by one where something is wrong, else all in one line."""
    found = list(programs(folder))
    wrong = [one for program in found if (one := _program(program, folder, daemon, trades))]
    yield from wrong
    names = [one.path.stem for one in found if one.state is State.CURRENT]
    if names and not wrong:
        yield finding("programs", subject_of(folder), f"compiled: {', '.join(names)}")


def _program(program: Program, folder: DataFolder, daemon: str, trades: bool) -> Finding | None:
    """What is wrong with one. An example that nobody has compiled is no finding."""
    subject = subject_of(folder)
    seen = f"{program.compiled.as_posix()} is {program.state.value}"
    if program.state is State.MISSING:
        needed = program.path in NEEDED or (trades and program.path == TRADER)
        level = Level.WARNING if program.path == TRADER else None
        return finding("not compiled", subject, seen, level) if needed else None
    version = version_of(program, folder)
    if program.state is State.OLD:
        seen += f" (version {version})" if version else ""
        level = None if program.path in (*NEEDED, TRADER) else Level.WARNING
        return finding("program old", subject, seen, level)
    if daemon and version and version != daemon:
        seen = f"{program.compiled.as_posix()} is version {version}, the daemon {daemon}"
        return finding("program of another version", subject, seen)
    return None
