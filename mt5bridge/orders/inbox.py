"""Commands handed over as files: they reach a daemon that runs, and wait for one that does not."""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from loguru import logger

from mt5bridge.orders.request import OrderRequest
from mt5bridge.spool.disk import Disk, make_directories, replace_file


class SendOrder(msgspec.Struct, frozen=True, tag="order"):
    """Ask a terminal to do this; it is good from `asked_msc` on, not from when it is found."""

    order: OrderRequest
    asked_msc: int


class TurnHalt(msgspec.Struct, frozen=True, tag="halt"):
    """Turn the kill switch."""

    halted: bool
    reason: str


class HaltRules(msgspec.Struct, frozen=True, tag="halt_rules"):
    """Turn the kill switch of one rule file."""

    name: str
    halted: bool
    reason: str


class TurnRules(msgspec.Struct, frozen=True, tag="turn_rules"):
    """Stop a rule file, or load it."""

    name: str
    action: Literal["stop", "load"]


class ForgetTerminal(msgspec.Struct, frozen=True, tag="forget"):
    """Let a terminal that is away go."""

    identity: str


class ConfirmAccount(msgspec.Struct, frozen=True, tag="confirm"):
    """Let a terminal trade on another account than before."""

    identity: str
    account: str


Command: TypeAlias = SendOrder | TurnHalt | HaltRules | TurnRules | ForgetTerminal | ConfirmAccount
COMMAND_BYTES_MAX = 65_536
"""Of a file in the inbox, many times what a command has."""
BAD = ".bad"
"""The suffix of a file that is no command, and stays."""


class Inbox:
    """A folder of commands; a file appears whole or not at all, in the order of its name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._unclear: list[Path] = []  # set aside, and perhaps a halt
        self._complained: set[Path] = set()
        self.has_set_aside = False
        """Since whoever looks here has set it back."""

    def put(self, command: Command, now_msc: int) -> Path:
        """Hand a command over; it is on disk when this returns."""
        make_directories(self.folder, mode=0o700)  # who can write here can trade
        path = self.folder / f"{now_msc:015d}-{secrets.token_hex(4)}.json"
        replace_file(path, msgspec.json.encode(command))
        return path

    def waiting(self) -> list[Command]:
        """Those that wait and can be read, for who does not obey them: nothing is set aside."""
        found: list[Command] = []
        for path in sorted(self.folder.glob("*.json")):
            with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
                found.append(msgspec.json.decode(_content(path), type=Command))
        return found

    def take(self) -> list[tuple[Path, Command]]:
        """The commands that wait, oldest first; each stays until its file is removed."""
        found: list[tuple[Path, Command]] = []
        for path in self._files():
            try:
                found.append((path, msgspec.json.decode(_content(path), type=Command)))
            except OSError as problem:  # it stays: a halt must not be lost to a disk that is busy
                self._complain(path, problem)
            except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
                self._set_aside(path, problem)
        return found

    def _files(self) -> list[Path]:
        try:
            return sorted(self.folder.glob("*.json"))
        except OSError as problem:  # too many files are open, say: they wait
            self._complain(self.folder, problem)
            return []

    def take_unclear(self) -> list[Path]:
        """Files set aside since the last call that nobody can read, and may have been halts."""
        unclear, self._unclear = self._unclear, []
        return unclear

    def remove(self, path: Path) -> bool:
        """A command has been obeyed; False when it cannot be removed now."""
        try:
            Disk().remove(path)
        except OSError as problem:
            self._complain(path, problem)
            return False
        return True

    def _set_aside(self, path: Path, why: Exception) -> None:
        aside = path.with_suffix(BAD)
        try:
            is_order = b'"order"' in _content(path)
            Disk().rename(path, aside)
            self.has_set_aside = True
            if not is_order:
                self._unclear.append(aside)
        except OSError as problem:
            self._complain(path, problem)
        else:
            logger.error("{}: {}; renamed to .bad", path, why)

    def _complain(self, path: Path, problem: OSError) -> None:
        """Once for each file: it is looked at several times a second."""
        if path not in self._complained:
            self._complained.add(path)
            logger.error("{}: {}", path, problem)


def _content(path: Path) -> bytes:
    """What a file holds; nothing of one that is too large for a command, so that it is none."""
    return path.read_bytes() if path.stat().st_size <= COMMAND_BYTES_MAX else b""
