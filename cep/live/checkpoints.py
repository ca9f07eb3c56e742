"""Snapshots of the rules' state beside the spool: a restart continues from the newest that fits.

The thread that runs the rules takes them, the one that waits for the disk saves them, and not
before the last record in them is on disk: a snapshot never holds what a crash can undo.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from loguru import logger

from cep.engine.native import Compiled, Run, Seed
from cep.engine.snapshot import captured, restore, sealed, seed_of
from cep.live.quarantine import Complain, set_file_aside, warn
from mt5bridge.spool.disk import Disk, make_directories, replace_file
from mt5bridge.troubles import Effect, Troubles

SNAPSHOT = "snapshot"
"""The name of the trouble when one cannot be written."""
KEPT = 3
"""An older one is used when the newest is damaged."""


_MARK = b"MT5CEPE1"
_TAIL = struct.Struct("<QI8s")

RulesAt = Callable[[int, Seed], Compiled]
"""The rules that ran at a record, compiled with a seed; ValueError when they are wrong today."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A run, the last ingest number in it, and how much of the journal belongs to it.

    `events` is the state of the complex events; empty: there was none.
    """

    run: Run
    ingest: int
    journal_bytes: int
    events: bytes = b""


class Checkpoints:
    """Files `<spool>-<ingest>-<journal bytes>.state` in a folder; written whole or not at all."""

    def __init__(
        self,
        folder: Path,
        spool: str,
        troubles: Troubles | None = None,
        disk: Disk | None = None,
        complain: Complain = warn,
    ) -> None:
        self._troubles = troubles or Troubles()
        self._disk = disk or Disk()
        self.folder = folder
        self._complain = complain
        self.spool = spool
        self._waiting: deque[tuple[int, int, Callable[[], bytes]]] = deque()

    def take(self, run: Run, ingest: int, journal_bytes: int, events: bytes = b"") -> None:
        """Remember the state after record `ingest`, to be saved once that is durable.

        It is copied here, and becomes bytes where it is saved: the digest takes longest.
        """
        state = captured(run)
        made = (ingest, journal_bytes, lambda: joined(sealed(state), events))
        self._waiting.append(made)

    def hold(self, ingest: int, journal_bytes: int, data: bytes, events: bytes = b"") -> None:
        """As `take`, with the state as it was taken elsewhere."""
        self._waiting.append((ingest, journal_bytes, lambda: joined(data, events)))

    def save(self, durable_ingest: int, sync_journal: Callable[[], None]) -> None:
        """Write the states taken up to `durable_ingest`; without room for one, the next one counts.

        The journal goes to disk first, so that it is never shorter than a snapshot says.
        """
        while self._waiting and self._waiting[0][0] <= durable_ingest:
            ingest, journal_bytes, made = self._waiting.popleft()
            with self._troubles.attempt(SNAPSHOT, Effect.GOES_ON):
                sync_journal()
                self._write(f"{self.spool}-{ingest}-{journal_bytes}.state", made())

    def _write(self, name: str, data: bytes) -> None:
        make_directories(self.folder, self._disk)
        replace_file(self.folder / name, data, self._disk)
        for _, _, old in list(self._files())[KEPT:]:
            self._disk.remove(old)
        for draft in self.folder.glob(f"{self.spool}-*.state.part"):  # of a run that was killed
            self._disk.remove(draft)

    def load(self, rules: Compiled | RulesAt, durable_ingest: int) -> Restored | None:
        """The newest state that the stored records reach; None without any.

        It must be one of these rules, or of those that ran at its record.
        """
        rules_at = (lambda _ingest, _seed: rules) if isinstance(rules, Compiled) else rules
        for ingest, journal_bytes, path in self._proven(durable_ingest):
            try:
                data, events = parted(path.read_bytes())
                run = restore(rules_at(ingest, seed_of(data)), data)
                return Restored(run, ingest, journal_bytes, events)
            except (OSError, ValueError) as problem:
                logger.warning("{}: {}; trying an older one", path, problem)
            except MemoryError:
                raise
            except Exception as problem:  # noqa: BLE001 -- whatever its bytes do, an older one is there
                set_file_aside(path, problem, self._complain)
        return None

    def proven_bytes(self, durable_ingest: int) -> int | None:
        """How much of the journal belongs to the newest state that the stored records reach."""
        return next((size for _, size, _ in self._proven(durable_ingest)), None)

    def forget(self) -> None:
        """Remove all of this spool, durably, before their journal becomes another one: each says
        how much of it belongs to it.
        """
        for _, _, path in self._files():
            self._disk.remove(path)
        self._disk.sync_directory(self.folder)

    def newest(self, durable_ingest: int) -> int:
        """The record of the newest snapshot of what is on disk; 0 without any."""
        found = (ingest for ingest, _, _ in self._files())
        return max((ingest for ingest in found if ingest <= durable_ingest), default=0)

    @property
    def oldest(self) -> int:
        """The record of the oldest snapshot that is kept; 0 without any."""
        return min((ingest for ingest, _, _ in self._files()), default=0)

    def _proven(self, durable_ingest: int) -> Iterator[tuple[int, int, Path]]:
        """Those that the stored records reach, newest first; others are removed: their records are
        gone, whose numbers will be given to others.
        """
        for ingest, journal_bytes, path in self._files():
            if ingest <= durable_ingest:
                yield ingest, journal_bytes, path
                continue
            logger.error("{}: the spool ends at record {}", path, durable_ingest)
            self._disk.remove(path)
            self._disk.sync_directory(self.folder)

    def _files(self) -> Iterator[tuple[int, int, Path]]:
        """Snapshots of this spool, newest first."""
        found = []
        for path in self.folder.glob(f"{self.spool}-*-*.state"):
            ingest, _, journal_bytes = path.stem.removeprefix(f"{self.spool}-").partition("-")
            if ingest.isdigit() and journal_bytes.isdigit():
                found.append((int(ingest), int(journal_bytes), path))
        yield from sorted(found, reverse=True)


def joined(data: bytes, events: bytes) -> bytes:
    """A snapshot with the state of the complex events behind it."""
    return data + events + _TAIL.pack(len(events), crc32(events), _MARK)


def parted(whole: bytes) -> tuple[bytes, bytes]:
    """What was joined; ValueError when it is damaged."""
    if len(whole) < _TAIL.size or not whole.endswith(_MARK):
        raise ValueError("its end is missing, or of an earlier version")
    size, checksum, _ = _TAIL.unpack_from(whole, len(whole) - _TAIL.size)
    end = len(whole) - _TAIL.size
    events = whole[end - size : end] if size <= end else b""
    if len(events) != size or crc32(events) != checksum:
        raise ValueError("the state of the complex events is damaged")
    return whole[: end - size], events
