"""Judges what is installed and compiled in terminals' data folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from mt5bridge.terminal.findings import Finding, finding
from mt5bridge.terminal.folders import DataFolder
from mt5bridge.terminal.install import Action, Step, plan_install
from mt5bridge.terminal.sources import OWN, sources_version

PROGRAMS = (Path("Experts", OWN, "Publisher.mq5"), Path("Indicators", OWN, "TickSpy.mq5"))
"""What every user of the publisher compiles."""


def judge_folders(folders: Iterable[DataFolder], sources: Path) -> Iterator[Finding]:
    """The sources in each folder against ours, and whether they are compiled."""
    for folder in folders:
        steps = plan_install(folder, sources)
        subject = f"{folder.name} {folder.path}"
        if sources_version(folder.mql5) is None:
            yield finding("sources missing", subject, "our sources are not there")
            continue
        yield from _sources(steps, subject, folder, sources)
        yield from _compiled(folder, subject)


def _sources(
    steps: list[Step], subject: str, folder: DataFolder, sources: Path
) -> Iterator[Finding]:
    edited = [step.path.as_posix() for step in steps if step.action is Action.KEEP]
    others = [step for step in steps if step.action not in (Action.KEEP, Action.SAME)]
    there, ours = sources_version(folder.mql5), sources_version(sources)
    if others:
        seen = f"version {there}; files that differ from {ours}: {len(others)}"
        yield finding("sources old", subject, seen)
    if edited:
        yield finding("sources edited", subject, f"edited: {', '.join(edited)}")
    if not others and not edited:
        yield finding(
            "sources", subject, f"version {there}, all {len(steps)} files as they are here"
        )


def _compiled(folder: DataFolder, subject: str) -> Iterator[Finding]:
    """A program must be younger than every source; MetaEditor writes it beside its .mq5."""
    ours = [path for path in folder.mql5.glob(f"*/{OWN}/**/*.mq[5h]") if path.is_file()]
    newest = max((path.stat().st_mtime_ns for path in ours), default=0)
    for program in PROGRAMS:
        compiled = (folder.mql5 / program).with_suffix(".ex5")
        if not compiled.is_file():
            yield finding("not compiled", subject, f"{compiled.name} is not there")
        elif compiled.stat().st_mtime_ns < newest:
            yield finding("not compiled", subject, f"{compiled.name} is older than its sources")
