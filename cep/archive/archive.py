"""The archive as its users see it: which files hold what, and their rows in order."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from cep.archive.errors import ArchiveError
from cep.archive.manifest import File, Manifest, load
from cep.archive.merge import merged
from cep.archive.parts import read_part, within
from cep.archive.paths import LOCK, MANIFEST, PARTS
from cep.archive.schema import SCHEMAS, TICKS
from cep.archive.store import Folder, store_at
from mt5bridge.local import PUBLISH, local
from mt5bridge.spool.disk import Disk, lock, make_directories

ALWAYS = ("ingest", "time_msc", "symbol")


class Archive:
    """A table of Parquet files at a place, a folder or an address, as its manifest was when this
    was made. AddressError for an address that cannot be used.
    """

    def __init__(self, place: Path | str) -> None:
        self.store = store_at(place)
        self.manifest: Manifest = load(self.store)

    @property
    def directory(self) -> Path:
        """The folder of one that can be written. AddressError for one in an object store."""
        return self.store.root if isinstance(self.store, Folder) else local(self.address, PUBLISH)

    def refresh(self) -> None:
        """Take the manifest as it is now."""
        self.manifest = load(self.store)

    def require(self) -> None:
        """ArchiveError when there is no archive at the place."""
        if self.manifest == Manifest():
            raise ArchiveError(f"{self.address}: {self.store.absence()}")

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the archive's write lock and see its newest manifest.

        A new archive needs a new or an empty directory. ArchiveError for another one. A directory
        that was made for what then failed is gone again.
        """
        is_new = not self.directory.exists()
        make_directories(self.directory)
        if stranger := _stranger(self.directory):
            raise ArchiveError(
                f"{self.directory}: no archive, and not empty ({stranger} is there); "
                "name an archive or a new folder"
            )
        held = lock(self.directory / LOCK)
        try:
            self.refresh()
            # What is about to be removed relies on it, and its own writer may not have come so far.
            Disk().sync_directory(self.directory)
            yield
        except OSError:
            raise  # the next attempt finds what is there: removing it would need the disk as well
        except (Exception, KeyboardInterrupt):
            if is_new and not (self.directory / MANIFEST).exists():
                self._remove_new()
            raise
        finally:
            os.close(held)

    def _remove_new(self) -> None:
        """Remove what this process has made; what somebody else put there stays."""
        for own in (*SCHEMAS, PARTS):
            shutil.rmtree(self.directory / own, ignore_errors=True)
        with contextlib.suppress(OSError):  # Windows keeps a file that is open
            Disk().remove(self.directory / LOCK)
            self.directory.rmdir()

    def files(
        self,
        stream: str = TICKS,
        symbols: Collection[str] | None = None,
        from_msc: int | None = None,
        to_msc: int | None = None,
    ) -> list[File]:
        """Files with rows in `from_msc` <= time_msc < `to_msc`, in order of first ingest."""
        return chosen(self.manifest.files, stream, symbols, from_msc, to_msc)

    @property
    def address(self) -> str:
        """What people call it."""
        return self.store.address("")

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
            table = within(read_part(self.store, file), from_msc, to_msc)
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
        for table in merged(self.store, files, wanted):
            kept = within(table, from_msc, to_msc)
            if kept.num_rows:
                yield from kept.combine_chunks().to_batches()


def chosen(
    files: Iterable[File],
    stream: str,
    symbols: Collection[str] | None = None,
    from_msc: int | None = None,
    to_msc: int | None = None,
) -> list[File]:
    """Those of `files` that `Archive.files` gives, in its order."""
    found = [
        file
        for file in files
        if file.stream == stream
        and (symbols is None or file.symbol in symbols)
        and (from_msc is None or file.last_msc >= from_msc)
        and (to_msc is None or file.first_msc < to_msc)
    ]
    return sorted(found, key=lambda file: (file.first_ingest, file.symbol, file.path))


def _stranger(directory: Path) -> str | None:
    """Something in a directory without a manifest that no archive has; hidden files do not count.

    The folders of an archive whose first run was killed may be there.
    """
    if (directory / MANIFEST).is_file():
        return None
    own = (*SCHEMAS, PARTS, "lost+found")
    names = sorted(path.name for path in directory.iterdir())
    return next(
        (n for n in names if n not in own and not n.startswith((".", f"{MANIFEST}."))), None
    )
