"""The archive as its users see it: which files hold what, and their rows in order."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from cep.archive.manifest import File, Manifest, load
from cep.archive.merge import merged
from cep.archive.parts import read_part, within
from cep.archive.paths import LOCK
from cep.archive.schema import SCHEMAS, TICKS
from mt5bridge.spool.disk import lock

ALWAYS = ("ingest", "time_msc", "symbol")


class Archive:
    """A table of Parquet files in `directory`, as its manifest was when this was made."""

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)
        self.manifest: Manifest = load(self.directory)

    def refresh(self) -> None:
        """Take the manifest as it is now."""
        self.manifest = load(self.directory)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the archive's write lock and see its newest manifest."""
        self.directory.mkdir(parents=True, exist_ok=True)
        held = lock(self.directory / LOCK)
        try:
            self.refresh()
            yield
        finally:
            os.close(held)

    def files(
        self,
        stream: str = TICKS,
        symbols: Collection[str] | None = None,
        from_msc: int | None = None,
        to_msc: int | None = None,
    ) -> list[File]:
        """Files with rows in `from_msc` <= time_msc < `to_msc`, in order of first ingest."""
        found = [
            file
            for file in self.manifest.files
            if file.stream == stream
            and (symbols is None or file.symbol in symbols)
            and (from_msc is None or file.last_msc >= from_msc)
            and (to_msc is None or file.first_msc < to_msc)
        ]
        return sorted(found, key=lambda file: (file.first_ingest, file.symbol, file.path))

    def path(self, file: File) -> Path:
        return self.directory / file.path

    def symbols(
        self, from_msc: int | None = None, to_msc: int | None = None, stream: str = TICKS
    ) -> dict[str, int]:
        """Symbols with rows in the range and the ingest number of their first one, in order."""
        first: dict[str, int] = {}
        for file in self.files(stream, None, from_msc, to_msc):
            if file.symbol in first and file.first_ingest > first[file.symbol]:
                continue
            table = within(read_part(self.directory, file), from_msc, to_msc)
            if table.num_rows:
                ingest = table["ingest"][0].as_py()
                first[file.symbol] = min(ingest, first.get(file.symbol, ingest))
        return dict(sorted(first.items(), key=lambda item: (item[1], item[0])))

    def read_batches(
        self,
        stream: str = TICKS,
        symbols: Collection[str] | None = None,
        from_msc: int | None = None,
        to_msc: int | None = None,
        columns: Sequence[str] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Rows of the range in the one order (ingest, symbol), across all files.

        `columns` None gives all; ingest, time_msc and symbol are always there.
        """
        wanted = [
            name for name in SCHEMAS[stream].names if columns is None or name in (*ALWAYS, *columns)
        ]
        files = self.files(stream, symbols, from_msc, to_msc)
        for table in merged(self.directory, files, wanted):
            kept = within(table, from_msc, to_msc)
            if kept.num_rows:
                yield from kept.combine_chunks().to_batches()
