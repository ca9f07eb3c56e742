"""A copy of an archive in an object store, for readers there.

Files are never changed, so what is there already is not copied again. The manifest's head comes
last: until then readers find the archive as it was, and a run that was killed can be repeated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol

import msgspec

from cep.archive.archive import Archive
from cep.archive.errors import ArchiveError
from cep.archive.manifest import File, Manifest, Part, checked, load
from cep.archive.paths import MANIFEST, PARTS
from cep.archive.schema import SCHEMAS
from cep.archive.store import Store

JOBS = 4
_OWN = re.compile(
    rf"({'|'.join(SCHEMAS)})/date=[^/]+/symbol=[^/]+/[^/]+\.parquet|{PARTS}/[^/]+\.jsonl"
)
"""What an archive writes, but for its manifest's head."""


class Target(Store, Protocol):
    """Where an archive is published to."""

    def sizes(self) -> dict[str, int]:
        """All files there and their bytes, by path. ArchiveError."""


class Published(msgspec.Struct, frozen=True):
    """Totals of one run, without what is the manifest's; `bytes` are those copied."""

    copied: int
    bytes: int
    there: int
    removed: int


def publish(
    archive: Archive,
    target: Target,
    *,
    jobs: int = JOBS,
    on_bytes: Callable[[int, int], None] | None = None,
) -> Published:
    """Copy `archive` to `target`, by `jobs` threads. ArchiveError, OSError.

    Files that the archive has no more go with the run after the one that names them no more:
    readers that came before that read on. `on_bytes` is told how many are copied, and of how many.
    ArchiveError where another archive or somebody's files are.
    """
    archive.require()
    ours, head = _as_now(archive.store)
    theirs, sizes = load(target), target.sizes()
    _check(ours, theirs, target, sizes)
    wanted: list[File | Part] = [*ours.files, *(part for part, _ in ours.parts)]
    new = [one for one in wanted if sizes.get(one.path) != one.bytes]
    named = ours.paths | theirs.paths
    old = [path for path in sizes if _OWN.fullmatch(path) and path not in named]
    total, done = sum(one.bytes for one in new), 0
    # All that writes is in these threads, which Ctrl-C does not cut short.
    pool = ThreadPoolExecutor(jobs)
    try:
        for copied in pool.map(partial(_copy, archive.store, target), new):
            done += copied
            if on_bytes:
                on_bytes(done, total)
        if ours != theirs:
            pool.submit(target.write, MANIFEST, head).result()
        list(pool.map(target.remove, old))
    finally:
        pool.shutdown(cancel_futures=True)
    files = [one for one in new if isinstance(one, File)]
    size = sum(file.bytes for file in files)
    return Published(len(files), size, len(ours.files) - len(files), len(old))


def _as_now(store: Store) -> tuple[Manifest, bytes]:
    """The manifest and its head, both of one moment: others may write the archive meanwhile."""
    while True:
        head, manifest = store.read(MANIFEST), load(store)
        if store.read(MANIFEST) == head:
            return manifest, head


def _copy(store: Store, target: Store, file: File | Part) -> int:
    """Copy one file; its bytes. What is damaged here is not spread."""
    gone = "gone; where others write the archive, run the same again, else restore it"
    target.write(file.path, checked(store, file, gone=gone))
    return file.bytes


def _check(ours: Manifest, theirs: Manifest, target: Target, sizes: Mapping[str, int]) -> None:
    """ArchiveError where another archive is, or what nobody knows: nothing of it is replaced."""
    named = {file.path: file for file in theirs.files}
    if theirs == Manifest():
        strange = [path for path in sizes if not (_OWN.fullmatch(path) or path.startswith("."))]
    elif not _is_earlier(theirs, ours):
        raise ArchiveError(
            f"{target.address('')}: another archive is there, or this one as it was later; name "
            "another place"
        )
    else:
        strange = []
    strange += [
        file.path
        for file in ours.files
        if file.path not in named and sizes.get(file.path, file.bytes) != file.bytes
    ]
    if strange:
        raise ArchiveError(
            f"{target.address(strange[0])}: is there, and no archive there names it; remove it, or "
            "name another place"
        )


def _is_earlier(there: Manifest, here: Manifest) -> bool:
    """Whether an archive may have been there as it is here: it only grows."""
    if there.generation >= here.generation:
        return there == here
    named = {file.path: file.checksum for file in here.files}
    is_same = all(named.get(file.path, file.checksum) == file.checksum for file in there.files)
    rows = Counter[tuple[str, str, str]]()
    for manifest, sign in ((here, 1), (there, -1)):
        for file in manifest.files:
            rows[file.stream, file.date, file.symbol] += sign * file.rows
    return is_same and min(rows.values(), default=0) >= 0
