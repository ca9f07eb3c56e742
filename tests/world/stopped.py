"""While which records rule files did not run: on those they never act, whatever comes later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cep.live.coming import Coming
from cep.live.config import MAIN
from cep.live.effects import Effects
from cep.live.rule_files import RuleFiles
from tests.world.record import Record


class Stopped:
    """Watches rule files being stopped by hand and loaded again, and each signal that is made."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._since: dict[str, int] = {}
        self.times: dict[str, list[range]] = {}
        """By the name of a rule file. Such records are on disk, and no crash gives their numbers to
        others: rules are loaded when what is stored before them is on disk.
        """

    @contextmanager
    def watching(self) -> Iterator[None]:
        """All daemons, until the end."""
        stop, begin, signal = RuleFiles._stop, RuleFiles._begin_loaded, Effects._signal

        def stopped(files: RuleFiles, name: str) -> str:
            found = stop(files, name)
            if not found:
                self._since[name] = files.spool.next_ingest
            return found

        def begun(files: RuleFiles, name: str, file: Any, coming: Coming) -> None:
            if not coming.is_first and name in self._since:
                self._record.counts["loaded"] += 1
                without = range(self._since.pop(name), coming._before)
                self.times.setdefault(name, []).append(without)
            begin(files, name, file, coming)

        def made(effects: Effects, row: Any, caused: Any, ingest: int, nth: int) -> Any:
            self._look(effects.scope.rstrip("/") or MAIN, ingest)
            return signal(effects, row, caused, ingest, nth)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RuleFiles, "_stop", stopped)
            patch.setattr(RuleFiles, "_begin_loaded", begun)
            patch.setattr(Effects, "_signal", made)
            yield

    def _look(self, name: str, ingest: int) -> None:
        if any(ingest in records for records in self.times.get(name, ())):
            self._record.problem(f"{name} acts on record {ingest}, stored while they were stopped")
