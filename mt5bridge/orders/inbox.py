"""Commands handed over as files: they reach a daemon that runs, and wait for one that does not."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TypeAlias

import msgspec
from loguru import logger

from mt5bridge.orders.request import OrderRequest


class SendOrder(msgspec.Struct, frozen=True, tag="order"):
    """Ask a terminal to do this; it is good from `asked_msc` on, not from when it is found."""

    order: OrderRequest
    asked_msc: int


class TurnHalt(msgspec.Struct, frozen=True, tag="halt"):
    """Turn the kill switch."""

    halted: bool
    reason: str


Command: TypeAlias = SendOrder | TurnHalt


class Inbox:
    """A folder of commands; a file appears whole or not at all, in the order of its name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, command: Command, now_msc: int) -> Path:
        """Hand a command over; it is on disk when this returns."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{now_msc:015d}-{secrets.token_hex(4)}.json"
        draft = path.with_suffix(".part")
        with draft.open("wb") as file:
            file.write(msgspec.json.encode(command))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        return path

    def take(self) -> list[tuple[Path, Command]]:
        """The commands that wait, oldest first; each stays until its file is removed."""
        found: list[tuple[Path, Command]] = []
        for path in sorted(self.folder.glob("*.json")):
            try:
                found.append((path, msgspec.json.decode(path.read_bytes(), type=Command)))
            except (OSError, msgspec.MsgspecError) as problem:
                logger.error("{}: {}; renamed to .bad", path, problem)
                path.replace(path.with_suffix(".bad"))
        return found
