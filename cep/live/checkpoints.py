"""Snapshots of the rules' state beside the spool: a restart continues from the newest that fits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loguru import logger

from cep.engine.native import Compiled, Run
from cep.engine.snapshot import SnapshotError, restore, take

KEPT = 3
"""The newest may be ahead of the disk after a power loss; then an older one is used."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A run, the last ingest number in it, and how much of the journal belongs to it."""

    run: Run
    ingest: int
    journal_bytes: int


class Checkpoints:
    """Files `<ingest>-<journal bytes>.npz` in a folder; written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, run: Run, ingest: int, journal_bytes: int) -> None:
        """Keep the state after record `ingest`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{ingest}-{journal_bytes}.npz"
        draft = path.with_suffix(".part")
        with draft.open("wb") as file:
            file.write(take(run))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        for _, _, old in list(self._files())[KEPT:]:
            old.unlink(missing_ok=True)

    def load(self, rules: Compiled, durable_ingest: int) -> Restored:
        """The newest state that the stored records reach; a fresh one when there is none."""
        for ingest, journal_bytes, path in self._files():
            if ingest > durable_ingest:
                continue
            try:
                return Restored(restore(rules, path.read_bytes()), ingest, journal_bytes)
            except (OSError, SnapshotError) as problem:
                logger.warning("{}: {}; trying an older one", path, problem)
        return Restored(rules.start(), 0, 0)

    def _files(self) -> Iterator[tuple[int, int, Path]]:
        """Snapshots, newest first."""
        found = []
        for path in self.folder.glob("*-*.npz"):
            ingest, _, journal_bytes = path.stem.partition("-")
            if ingest.isdigit() and journal_bytes.isdigit():
                found.append((int(ingest), int(journal_bytes), path))
        yield from sorted(found, reverse=True)
