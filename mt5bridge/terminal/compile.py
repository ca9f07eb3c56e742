"""Compiles our programs in a data folder with the terminal's own compiler."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mt5bridge.terminal.folders import DataFolder
from mt5bridge.terminal.install import record_compiled
from mt5bridge.terminal.metaeditor import MetaEditor, Verdict
from mt5bridge.terminal.programs import State, programs


def to_compile(folder: DataFolder, everything: bool) -> list[Path]:
    """Programs by their sources, relative to `MQL5`: all, or those that are missing or old."""
    return [one.path for one in programs(folder) if everything or one.state is not State.CURRENT]


def compiled(editor: MetaEditor, todo: list[Path]) -> Iterator[Verdict]:
    """Compile one after the other; what one says keeps no other from its turn."""
    for path in todo:
        verdict = editor.compile(path)
        if verdict.is_good:
            record_compiled(editor.folder, [path.with_suffix(".ex5")])
        yield verdict
