"""The manifest: the only truth about what an archive holds, replaced atomically as a whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

import msgspec

from cep.archive.errors import ArchiveError
from cep.archive.paths import MANIFEST
from cep.archive.schema import CLOCK, TICKS
from cep.archive.store import Store

FORMAT = "mt5cep-archive"
VERSION = 2
ALIASED_SINCE = 2
"""The first version that knows aliased symbols; a manifest without any is of the one before."""


class _Entry(msgspec.Struct, frozen=True, tag_field="entry"):
    """One line of the manifest."""


class SequenceRange(msgspec.Struct, frozen=True, array_like=True):
    """Smallest and largest sequence number of one source in a file."""

    source: str
    first: int
    last: int


class Mode(StrEnum):
    """How the records of a file came, which says how time passes when they are run again."""

    LIVED = "lived"  # one by one; watermarks between them say up to when they were complete
    SORTED = "sorted"  # as history in order of time: each is a watermark for all


class File(_Entry, frozen=True, tag="file"):
    """One Parquet file; times are UTC ms, `path` is relative to the archive.

    `mode` is None only in a manifest of before there were modes, until it is read.
    """

    stream: str
    symbol: str
    date: str
    path: str
    rows: int
    bytes: int
    checksum: str
    first_ingest: int
    last_ingest: int
    first_msc: int
    last_msc: int
    sequences: tuple[SequenceRange, ...]
    mode: Mode | None = None
    name: str = ""
    """What the source calls the symbol; empty: the same."""

    @property
    def own_stream(self) -> tuple[str, ...]:
        """What owns the sequence numbers in it, beside the source."""
        return (self.stream, self.name or self.symbol) if self.stream == TICKS else (self.stream,)


class Origin(_Entry, frozen=True, tag="origin"):
    """A spool that was archived up to its own `last_ingest`; `base` is added to its numbers."""

    spool: str
    base: int
    last_ingest: int


class End(_Entry, frozen=True, tag="end"):
    """Last archived sequence number of one source's stream, by the source's own names."""

    source: str
    stream: tuple[str, ...]
    sequence: int


class Lost(_Entry, frozen=True, tag="lost"):
    """An interval of sequence numbers that its source declared lost, by the source's own names."""

    source: str
    stream: tuple[str, ...]
    first: int
    last: int
    reason: str


class Damaged(_Entry, frozen=True, tag="damaged"):
    """Bytes of a spool segment that could not be read when it was archived."""

    segment: str
    offset: int
    end: int


Entry = File | Origin | End | Lost | Damaged


class _Head(msgspec.Struct, frozen=True):
    format: str
    version: int
    generation: int = 0
    entries: int = 0


class Manifest(msgspec.Struct, frozen=True):
    """Everything an archive holds; immutable, so that a reader keeps one consistent view."""

    generation: int = 0
    files: tuple[File, ...] = ()
    origins: tuple[Origin, ...] = ()
    ends: tuple[End, ...] = ()
    lost: tuple[Lost, ...] = ()
    damaged: tuple[Damaged, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        return (*self.files, *self.origins, *self.ends, *self.lost, *self.damaged)


def load(store: Store) -> Manifest:
    """The manifest of an archive; an empty one when there is none."""
    path = store.address(MANIFEST)
    try:
        lines = store.read(MANIFEST).splitlines()
    except FileNotFoundError:
        return Manifest()
    head = _head(path, lines)
    try:
        entries = [msgspec.json.decode(line, type=Entry) for line in lines[1:]]
    except msgspec.DecodeError as error:
        raise ArchiveError(f"{path}: a line cannot be read ({error}); {_REMEDY}") from error
    if len(entries) != head.entries:
        raise ArchiveError(
            f"{path}: {len(entries)} entries where {head.entries} were written; {_REMEDY}"
        )
    return _assemble(head.generation, entries)


_REMEDY = "restore the file from a copy, or rebuild the archive from its sources"


def _head(path: str, lines: Sequence[bytes]) -> _Head:
    try:
        head = msgspec.json.decode(lines[0], type=_Head)
    except (IndexError, msgspec.DecodeError) as error:
        raise ArchiveError(f"{path}: not the manifest of an archive; {_REMEDY}") from error
    if head.format != FORMAT:
        raise ArchiveError(f"{path}: format {head.format!r} is not {FORMAT!r}; {_REMEDY}")
    if head.version > VERSION:
        raise ArchiveError(
            f"{path}: written in version {head.version}, this program reads up to {VERSION}; "
            "install the newer release"
        )
    return head


def _assemble(generation: int, entries: Iterable[Entry]) -> Manifest:
    by_type: dict[type, list[Entry]] = {}
    for entry in entries:
        by_type.setdefault(type(entry), []).append(entry)
    lived = {entry.source for entry in by_type.get(End, ()) if isinstance(entry, End)}
    by_type[File] = [_with_mode(one, lived) for one in by_type.get(File, ()) if type(one) is File]
    lists = (tuple(by_type.get(type_, ())) for type_ in (File, Origin, End, Lost, Damaged))
    return Manifest(generation, *lists)  # type: ignore[arg-type]


def _with_mode(file: File, lived: Collection[str]) -> File:
    """The mode of a file of before there were modes: imports are no sources of a spool."""
    if file.mode is not None:
        return file
    is_lived = file.stream == CLOCK or any(one.source in lived for one in file.sequences)
    return msgspec.structs.replace(file, mode=Mode.LIVED if is_lived else Mode.SORTED)


def save(store: Store, manifest: Manifest) -> Manifest:
    """Write `manifest` durably under the next generation; before the rename nothing changed."""
    written = msgspec.structs.replace(manifest, generation=manifest.generation + 1)
    entries = written.entries
    version = ALIASED_SINCE if any(file.name for file in written.files) else ALIASED_SINCE - 1
    head = _Head(FORMAT, version, written.generation, len(entries))
    encoder = msgspec.json.Encoder()
    lines = [encoder.encode(head), *map(encoder.encode, entries)]
    store.write(MANIFEST, b"\n".join(lines) + b"\n")
    return written
