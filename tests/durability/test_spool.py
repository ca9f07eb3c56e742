"""The spool, whatever fails: what it has called durable is there, once, after any crash."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from mt5bridge.spool import Durable, Spool, SpoolError
from tests.durability.recording import RecordingDisk
from tests.durability.trials import play_all
from tests.spool.groups import START_MSC, tick_group

KEY = ("terminal", ("ticks", "EURUSD"))


class Recorder:
    """Ticks through a spool that seals early; it starts again when the disk has failed."""

    def __init__(self) -> None:
        self.promised = 0
        self.sequence = 1

    def play(self, folder: Path, disk: RecordingDisk) -> None:
        self.disk = disk
        for _ in range(3):
            try:
                self._run(folder)
            except (OSError, SpoolError):
                continue  # the process has ended, and is started again

    def _run(self, folder: Path) -> None:
        spool = Spool(folder / "spool", segment_bytes=900, on_durable=self._told)
        try:
            recovery = spool.recover()
            self._welcome(recovery.streams[KEY].sequence if KEY in recovery.streams else 0)
            for _ in range(3):
                self._append(spool)
                spool.commit()
                spool.commit()  # again, if there was no room
            spool.close()
        finally:
            if spool._lock is not None:
                os.close(spool._lock)

    def _welcome(self, sequence: int) -> None:
        """A start tells terminals what they need not send again."""
        assert sequence >= self.promised
        self._acknowledged(sequence)
        self.promised, self.sequence = sequence, sequence + 1

    def _append(self, spool: Spool) -> None:
        group = tick_group(spool, "EURUSD", self.sequence, START_MSC + np.arange(4))
        if spool.append(group):
            self.sequence += 4

    def _told(self, durable: Durable) -> None:
        self._acknowledged(durable.sequences[KEY])
        self.promised = durable.sequences[KEY]

    def _acknowledged(self, sequence: int) -> None:
        if sequence:  # segments name the spool from the first record on, and not that file
            name = self.disk.root / "spool" / "IDENTITY"
            self.disk.acknowledged(f"sequence {sequence}", but=[name])

    def check(self, folder: Path) -> None:
        spool = Spool(folder / "spool")
        spool.recover()
        found = [group.sequence for group in spool.read()]
        assert found == list(range(1, len(found) * 4, 4)), "each once, in order"
        assert 4 * len(found) >= self.promised
        spool.close()


def test_whatever_step_fails_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    assert play_all(Recorder, tmp_path) > 30
