"""Compiles our programs in a data folder with the terminal's own compiler."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mt5bridge.terminal.folders import DataFolder
from mt5bridge.terminal.install import Action, plan_install, record_compiled
from mt5bridge.terminal.metaeditor import MetaEditor, Verdict
from mt5bridge.terminal.programs import State, closure, programs
from mt5bridge.terminal.sources import source_files


def to_compile(folder: DataFolder, everything: bool) -> list[Path]:
    """Programs by their sources, relative to `MQL5`: all, or those that are missing or old."""
    return [one.path for one in programs(folder) if everything or one.state is not State.CURRENT]


def would_compile(folder: DataFolder, sources: Path, everything: bool) -> list[Path]:
    """The same after an installation of `sources`, which is not done yet."""
    there = {one.path: one.state for one in programs(folder)}
    steps = plan_install(folder, sources)
    changes = (Action.ADD, Action.UPDATE)
    new = {(sources / one.path).resolve() for one in steps if one.action in changes}
    return [
        path
        for path in sorted(path for path in source_files(sources) if path.suffix == ".mq5")
        if everything
        or there.get(path) is not State.CURRENT
        or new & {one.resolve() for one in closure(sources.resolve(), path)}
    ]


def compiled(editor: MetaEditor, todo: list[Path]) -> Iterator[Verdict]:
    """Compile one after the other; what one says keeps no other from its turn."""
    for path in todo:
        verdict = editor.compile(path)
        if verdict.is_good:
            record_compiled(editor.folder, [path.with_suffix(".ex5")])
        yield verdict
