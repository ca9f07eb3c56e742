"""What `mt5cep terminal install` compiles, and the clicks that are left then."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cep.cli.settings_file import found_settings
from cep.cli.text import counted, say
from mt5bridge.terminal.compile import compiled, to_compile, would_compile
from mt5bridge.terminal.folders import DataFolder, Machine
from mt5bridge.terminal.metaeditor import (
    MetaEditor,
    MetaEditorError,
    Verdict,
    find_metaeditor,
)
from mt5bridge.terminal.sources import sources_folder

LOCAL = "127.0.0.1"


class Choice(NamedTuple):
    """What the user wants compiled."""

    everything: bool | None
    """All, none, or (None) what is missing or old, if there is a compiler."""
    metaeditor: Path | None
    dry_run: bool


def compile_in(folder: DataFolder, machine: Machine, choice: Choice) -> bool:
    """Compile what is chosen and say how it went; False when a program did not come about."""
    if choice.everything is False:
        return True
    try:
        editor = find_metaeditor(folder, machine, choice.metaeditor)
    except MetaEditorError as problem:
        if choice.everything is None and choice.metaeditor is None:
            say(f"  not compiled: {problem}")
            return True
        say(f"  not compiled: {problem}\n  help: {problem.hint}", err=True)
        return False
    if choice.dry_run:
        todo = would_compile(folder, sources_folder(), bool(choice.everything))
        names = ", ".join(path.stem for path in todo) or "nothing"
        say(f"  would be compiled: {names}; with {editor.path}")
        return True
    return run(editor, to_compile(folder, bool(choice.everything)))


def run(editor: MetaEditor, todo: list[Path]) -> bool:
    """Compile, each program's verdict as it comes."""
    if not todo:
        say("  all programs are compiled")
        return True
    say(f"  compiling {counted(len(todo), 'program')} with {editor.path}")
    verdicts = []
    for verdict in compiled(editor, todo):
        say("\n".join(verdict_lines(verdict)))
        verdicts.append(verdict)
    return all(verdict.is_good for verdict in verdicts)


def verdict_lines(verdict: Verdict) -> list[str]:
    """One line for the program, one for each message of the compiler."""
    head = "compiled" if verdict.is_good else "NOT COMPILED"
    log = verdict.log
    counts = f"{counted(log.errors, 'error')}, {counted(log.warnings, 'warning')}"
    trouble = f": {verdict.trouble}" if verdict.trouble else ""
    lines = [f"  {head}  {verdict.program.as_posix()}: {counts}{trouble}"]
    return lines + [f"    {message}" for message in log.messages]


def clicks(folders: list[DataFolder], config: Path | None) -> str:
    """What only the user can do, in the order in which it is done."""
    missing = dict.fromkeys(path for folder in folders for path in to_compile(folder, False))
    steps = [
        'Tools > Options > Expert Advisors: tick "Allow WebRequest for listed URL", double-click\n'
        f'"add new URL" and type exactly  {_host(config)}'
    ]
    if missing:
        names = "".join(f"\n  {' > '.join((*path.parts[:-1], path.name))}" for path in missing)
        steps.append(
            "Tools > MetaQuotes Language Editor (F4): open these in its Navigator and press\n"
            "Compile (F7), Publisher and TickSpy for ticks, Trader for orders, others as you use\n"
            f"them:{names}"
        )
    steps += [
        "drag Expert Advisors > Mt5Bridge > Publisher from the Navigator onto any chart; for\n"
        'orders Trader onto another, with "Allow Algo Trading" ticked in its tab Common',
        'switch "Algo Trading" on in the toolbar; the trader needs it',
    ]
    numbered = [f"  {n}. " + step.replace("\n", "\n     ") for n, step in enumerate(steps, 1)]
    where = "in the terminal" if len(folders) == 1 else "in each terminal"
    return "\n".join((
        "", f"{counted(len(steps), 'click')} remain, which only you can do {where}:", *numbered,
        "Then start the daemon, and see what `mt5cep terminal doctor --config FILE` says.",
        "docs/terminal.md tells more.",
    ))  # fmt: skip


def _host(config: Path | None) -> str:
    """What is typed into the list of allowed addresses."""
    path = found_settings(config)
    if path is None:
        return f"{LOCAL}  (or the host of your daemon)"
    # Imported here: ZeroMQ costs half a second that other commands need not wait.
    from cep.live.config import read_config
    from mt5bridge.terminal.doctor import host_to_allow

    return host_to_allow(read_config(path).server.bind)
