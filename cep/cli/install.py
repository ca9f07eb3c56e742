"""`mt5cep terminal install`: sources, credential and compiled programs for terminals."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from cep.cli.compiling import Choice, clicks, compile_in
from cep.cli.errors import INTERNAL, UserError, explain_error
from cep.cli.paths import FILE, FOLDER, PATH
from cep.cli.settings_file import CONFIG, found_settings, needed_settings
from cep.cli.text import aligned, counted, say
from mt5bridge.credential import USER, Credential, ensure_credential, read_copy, read_credential
from mt5bridge.escapes import one_line
from mt5bridge.terminal.folders import DataFolder, Machine, find, named
from mt5bridge.terminal.handover import PLACE, hand_over, plan_hand_over, take_back
from mt5bridge.terminal.install import (
    Action,
    InstallError,
    Step,
    install,
    left_behind,
    plan_install,
    plan_uninstall,
    uninstall,
)
from mt5bridge.terminal.naming import is_damaged, names, take_name, write_name
from mt5bridge.terminal.sources import sources_folder, sources_version

DONE = {
    Action.ADD: "added",
    Action.UPDATE: "updated",
    Action.SAME: "unchanged",
    Action.REMOVE: "removed",
}
UNKNOWN = (
    "no credential given, without which the daemon lets nobody in: no daemon.toml is here.\n"
    "  Run `mt5cep terminal install --config FILE` with the daemon's settings\n"
    "  (`mt5cep daemon --init` writes some)"
)


@click.command("install")
@click.option("--folder", "paths", multiple=True, type=FOLDER, help="A data folder; repeatable.")
@click.option("--all", "everywhere", is_flag=True, help="Every terminal that is found.")
@CONFIG
@click.option("--credential", type=FILE, help="An exported credential, or a copy of the daemon's.")
@click.option("--user", help="Whose credential instead of the daemon's: `mt5cep credential ls`.")
@click.option(
    "--compile/--no-compile",
    "everything",
    default=None,
    help="Compile all programs, or none; by default those that are missing or old, if "
    "MetaEditor is found.",
)
@click.option("--metaeditor", type=PATH, help="MetaEditor, or its folder, if it is not found.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--uninstall", "remove", is_flag=True, help="Take out what was installed.")
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    everywhere: bool,
    config: Path | None,
    credential: Path | None,
    user: str | None,
    everything: bool | None,
    metaeditor: Path | None,
    dry_run: bool,
    remove: bool,
) -> None:
    """Copy the MQL5 sources into terminals, compile them, and hand the credential over.

    Only the folders named Mt5Bridge are touched. Files that you have edited are kept and named. The
    exit code is 1 when a program does not compile, or one of several terminals could not be served.
    """
    if remove and (everything or metaeditor):
        raise UserError("--uninstall and compiling: which of both?", "leave one of them out")
    machine = Machine.here()
    folders = chosen(paths, everywhere, machine)
    given_on = None if remove else credential_of(config, credential, user, dry_run)
    called = {} if remove else names(folders, find(machine))
    failed, served = 0, list[DataFolder]()
    for folder in folders:
        say("\n".join(description(folder)))
        wishes = Choice(everything, metaeditor, dry_run)
        try:
            if remove:
                take_out(folder, given_on, dry_run)
            elif put_in(folder, machine, wishes, given_on, called[folder.path]):
                served.append(folder)
            else:
                failed += 1
        except (OSError, InstallError) as problem:
            if len(folders) == 1:
                raise
            failed += 1  # the others are none the worse for it
            say(f"  {explain_error(problem)[0]}", err=True)
    if served and not dry_run:
        say(clicks(served, config))
    if failed:
        say(f"\n{unfinished(failed)}", err=True)
    ctx.exit(INTERNAL if failed else 0)


def unfinished(failed: int) -> str:
    """How it ends where something has failed: no clicks lead on from there."""
    return f"{counted(failed, 'terminal')} not done: mend what is named above, and do this again"


def put_in(
    folder: DataFolder, machine: Machine, wishes: Choice, credential: Credential | None, name: str
) -> bool:
    """Name, sources, credential and programs; False when a program did not come about."""
    dry_run = wishes.dry_run
    if name:
        again = ", which could not be read any more" if is_damaged(folder) else ""
        say(f"  its publisher is ACCOUNT@SERVER/{name}{again}")
        if not dry_run:
            write_name(folder, name)
    steps = act(folder, dry_run, remove=False)
    say("\n".join(outcome(steps, dry_run)))
    if any(step.action is Action.KEEP for step in steps):
        say("  rename or delete what was kept and install again to have our version of it")
    say(f"  {hand(folder, credential, dry_run, remove=False)}")
    return compile_in(folder, machine, wishes)


def take_out(folder: DataFolder, credential: Credential | None, dry_run: bool) -> None:
    """All of ours; what is left is named."""
    say("\n".join(outcome(act(folder, dry_run, remove=True), dry_run)))
    say(f"  {hand(folder, credential, dry_run, remove=True)}")
    if not dry_run:
        take_name(folder)
        for path in left_behind(folder):
            say(f"  left: {path.as_posix()}")


def credential_of(
    config: Path | None, file: Path | None, user: str | None, dry_run: bool
) -> Credential | None:
    """The daemon's credential, made now if it has none yet; None without its settings.

    That of a file, or of a user among the daemon's, where one is named.
    """
    if user is not None:
        if file is not None:
            raise UserError("--credential and --user: which of both?", "leave one of them out")
        return kept_of(user, needed_settings(config))
    if file is not None:
        return read_copy(file)
    path = found_settings(config)
    if path is None:
        return None
    from cep.live.config import credential_path, read_config

    kept = credential_path(read_config(path))
    if dry_run and not kept.exists():
        return Credential(USER, "made when this is done")
    if ensure_credential(kept):
        say(f"made the daemon's credential, {kept}")
    return read_credential(kept)


def kept_of(user: str, path: Path) -> Credential:
    """A user's credential as the daemon keeps it. CredentialError: there is none."""
    from cep.live.config import read_config
    from cep.live.credentials import store_of

    settings = read_config(path)
    if user in settings.server.users:
        return Credential(user, settings.server.users[user])
    return store_of(settings).held(user).credential


def hand(folder: DataFolder, credential: Credential | None, dry_run: bool, remove: bool) -> str:
    """Give the credential, or take it back, or say what that would be; what was done."""
    would = "would be " if dry_run else ""
    if remove:
        there = (folder.mql5 / PLACE).exists() if dry_run else take_back(folder)
        return f"credential {would}removed" if there else "no credential is there"
    if credential is None:
        return UNKNOWN
    action = plan_hand_over(folder, credential) if dry_run else hand_over(folder, credential)
    if action is Action.SAME:
        return f"credential {DONE[action]}"
    return f"credential {would}{DONE[action]}: {PLACE.as_posix()}"


def chosen(paths: tuple[Path, ...], everywhere: bool, machine: Machine) -> list[DataFolder]:
    """The data folders that are meant. UserError when that is not clear."""
    if paths:
        if everywhere:
            raise UserError("--all and --folder: which of both?", "leave one of them out")
        return named(paths, find(machine))
    found = find(machine)
    if not found:
        raise UserError("no MetaTrader 5 terminal found", "name its data folder with --folder; in "
                        'MetaTrader, "File > Open Data Folder" shows it')  # fmt: skip
    if len(found) > 1 and not everywhere:
        say("\n".join(line for folder in found for line in description(folder)))
        raise UserError(f"{len(found)} terminals found", "choose with --folder, or take --all")
    return found


def description(folder: DataFolder) -> list[str]:
    """What a user knows the terminal by, and where its data folder is."""
    kind = f" ({folder.kind})" if folder.kind else ""
    return [one_line(f"{folder.name}{kind}"), f"  {one_line(str(folder.path))}"]


def act(folder: DataFolder, dry_run: bool, remove: bool) -> list[Step]:
    """Do what was asked for, or find out what that would be."""
    if remove:
        return plan_uninstall(folder) if dry_run else uninstall(folder)
    sources = sources_folder()
    return plan_install(folder, sources) if dry_run else install(folder, sources)


def outcome(steps: list[Step], dry_run: bool) -> list[str]:
    """The steps in short; what changed and what was kept is named."""
    counts = Counter(step.action for step in steps)
    would = "would be " if dry_run else ""
    parts = [f"{counted(counts[action], 'file')} {would}{done}" if action is not Action.SAME
             else f"{counts[action]} {done}"
             for action, done in DONE.items() if counts[action]]  # fmt: skip
    version = sources_version(sources_folder())
    lines = [f"  {', '.join(parts) or 'nothing is installed'}; version {version}"]
    named = [["", "", step.action.value, step.path.as_posix()] for step in steps
             if step.action in (Action.UPDATE, Action.REMOVE)]  # fmt: skip
    lines += aligned(named) if named else []
    kept = [step.path.as_posix() for step in steps if step.action is Action.KEEP]
    return lines + [f"  kept, as it was edited: {path}" for path in kept]
