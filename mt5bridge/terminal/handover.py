"""Gives the daemon's credential to terminals: a file in the sandbox of their programs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from mt5bridge.credential import (
    FILE,
    Credential,
    CredentialError,
    CredentialMissingError,
    read_credential,
    write_credential,
)
from mt5bridge.terminal.findings import Finding, finding
from mt5bridge.terminal.folders import DataFolder
from mt5bridge.terminal.inspection import subject_of
from mt5bridge.terminal.install import Action, remove
from mt5bridge.terminal.sources import OWN, sources_version

PLACE = Path("Files", OWN, FILE)
"""Relative to `MQL5`."""


def plan_hand_over(folder: DataFolder, credential: Credential) -> Action:
    """What giving the credential would do to the terminal's file."""
    path = folder.mql5 / PLACE
    if not path.exists():
        return Action.ADD
    with suppress(CredentialError):
        if read_credential(path) == credential:
            return Action.SAME
    return Action.UPDATE


def hand_over(folder: DataFolder, credential: Credential) -> Action:
    """Give the credential; its programs take it at their next attempt to connect."""
    action = plan_hand_over(folder, credential)
    if action is not Action.SAME:
        write_credential(folder.mql5 / PLACE, credential)
    return action


def take_back(folder: DataFolder) -> bool:
    """Remove the credential, and its folder if nothing else is in it; whether there was one."""
    return remove(folder.mql5, PLACE)


def judge_credentials(
    folders: Iterable[DataFolder], daemons: Collection[Credential]
) -> Iterator[Finding]:
    """Whether each terminal that has our sources has one of the daemon's credentials."""
    for folder in folders:
        if sources_version(folder.mql5) is None:
            continue
        subject, path = subject_of(folder), folder.mql5 / PLACE
        try:
            found = read_credential(path)
            same = found in daemons
        except CredentialMissingError:
            yield finding("credential missing", subject, f"{path} is not there")
        except CredentialError as problem:
            yield finding("credential other", subject, str(problem))
        else:
            seen = f"is the daemon's, of {found.user}" if same else "is not one of the daemon's"
            yield finding("credential" if same else "credential other", subject, f"{path} {seen}")
