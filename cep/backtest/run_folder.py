"""The folder of a run: everything about it, or nothing.

It is written to a draft beside it, which is renamed when it is whole. A process that is killed
leaves the draft, and the next run of that name removes it: a lock tells whether its writer lives.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from types import TracebackType

from cep.backtest.account_tables import account_tables
from cep.backtest.errors import BacktestError
from cep.backtest.manifest import MANIFEST, METRICS, as_json, manifest, metrics
from cep.backtest.tables import file_of, write_table
from cep.backtest.work import Finished
from mt5bridge.file_lock import lock

ROWS, REPORT = "rows", "report.html"
DRAFT, LOCK = ".part", ".lock"


class RunFolder:
    """Writes `directory`, which must not be there. BacktestError when it is, or another writes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._draft = directory.with_name(directory.name + DRAFT)
        self._lock = -1
        if directory.exists():
            raise BacktestError(
                f"{directory}: is there already, and a run is never overwritten",
                "name a new folder, or remove that one",
            )

    @property
    def rows(self) -> Path:
        """Where the rows of streams are written to meanwhile."""
        return self._draft / ROWS

    @property
    def has_leftover(self) -> bool:
        """Whether the draft of a run that was killed lies there; it is removed."""
        return (self._draft / LOCK).exists()

    def __enter__(self) -> RunFolder:
        if self._draft.exists() and not self.has_leftover:
            raise BacktestError(
                f"{self._draft}: is in the way, and no draft of a run", "move it, or name another"
            )
        self._draft.mkdir(parents=True, exist_ok=True)
        try:
            self._lock = lock(self._draft / LOCK)
        except BlockingIOError:
            raise BacktestError(
                f"{self.directory}: another run is writing it", "wait for it, or name another"
            ) from None
        for path in self._draft.iterdir():
            if path.name != LOCK:
                rmtree(path) if path.is_dir() else path.unlink()
        return self

    def finish(self, finished: Finished) -> None:
        """Write what came of the run, the manifest last, and give the folder its name."""
        draft = self._draft
        for name, table in account_tables(finished.outcome, finished.returns).items():
            write_table(file_of(draft, name), table)
        try:
            (draft / METRICS).write_bytes(as_json(metrics(finished)))
            (draft / REPORT).write_bytes(finished.page().encode())
            (draft / MANIFEST).write_bytes(as_json(manifest(finished, self._files)))
            self._release()
            (draft / LOCK).unlink()
            draft.rename(self.directory)
        except OSError as problem:
            raise BacktestError(
                f"{self.directory}: cannot be written ({problem})",
                "make room there, or name another folder",
            ) from problem

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._release()
        if error is not None:
            rmtree(self._draft, ignore_errors=True)

    @property
    def _files(self) -> dict[str, Path]:
        """What has been written, by its name in the folder."""
        draft = self._draft
        paths = [path for path in draft.rglob("*") if path.is_file() and path != draft / LOCK]
        return {path.relative_to(draft).as_posix(): path for path in paths}

    def _release(self) -> None:
        if self._lock >= 0:
            with suppress(OSError):
                os.close(self._lock)
            self._lock = -1
