"""The manifest: the only truth about what an archive holds, replaced atomically as a whole.

The list of a large archive's files is cut by stream and month into parts, files of their own that
are never changed: a commit writes the parts that are others now, then the head, which names them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum

import msgspec

from cep.account.specifications import Version
from cep.archive.errors import ArchiveError
from cep.archive.paths import MANIFEST, PARTS
from cep.archive.schema import CLOCK, TICKS
from cep.archive.store import Store, checksum

FORMAT = "mt5cep-archive"
VERSION = 4
ALIASED_SINCE, PARTED_SINCE, SPECIFIED_SINCE = 2, 3, 4
"""The first versions that know aliased symbols, parts and specifications; a manifest without any
is of the one before, which earlier releases read."""
FILES_IN_HEAD = 2_000
"""So many files at most stand in the head itself."""


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


class Part(_Entry, frozen=True, tag="part"):
    """A file that lists the files of one stream and month, a line each."""

    path: str
    files: int
    bytes: int
    checksum: str


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


Entry = File | Part | Origin | End | Lost | Damaged | Version


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
    specifications: tuple[Version, ...] = ()
    """What was told of symbols and accounts, as it came."""
    parts: tuple[tuple[Part, tuple[File, ...]], ...] = ()
    """As they were read or written, and what they list."""

    @property
    def paths(self) -> set[str]:
        """All files that belong to the archive, but for the head."""
        return {file.path for file in self.files} | {part.path for part, _ in self.parts}


def load(store: Store) -> Manifest:
    """The manifest of an archive; an empty one when there is none."""
    path = store.address(MANIFEST)
    try:
        lines = store.read(MANIFEST).splitlines()
    except FileNotFoundError:
        return Manifest()
    head = _head(path, lines)
    entries = _decoded(path, lines[1:])
    if len(entries) != head.entries:
        raise ArchiveError(
            f"{path}: {len(entries)} entries where {head.entries} were written; {_REMEDY}"
        )
    return _assemble(store, head.generation, entries)


def _decoded(path: str, lines: Iterable[bytes]) -> list[Entry]:
    try:
        return [msgspec.json.decode(line, type=Entry) for line in lines]
    except msgspec.DecodeError as error:
        raise ArchiveError(f"{path}: a line cannot be read ({error}); {_REMEDY}") from error


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


def _assemble(store: Store, generation: int, entries: Iterable[Entry]) -> Manifest:
    by_type: dict[type, list[Entry]] = {}
    for entry in entries:
        by_type.setdefault(type(entry), []).append(entry)
    lived = {entry.source for entry in by_type.get(End, ()) if isinstance(entry, End)}
    parts = [(one, _listed(store, one)) for one in by_type.get(Part, ()) if type(one) is Part]
    listed = [file for _, files in parts for file in files]
    files = [one for one in by_type.get(File, ()) if type(one) is File] + listed
    moded = tuple(_with_mode(one, lived) for one in files)
    lists = (tuple(by_type.get(type_, ())) for type_ in (Origin, End, Lost, Damaged, Version))
    return Manifest(generation, moded, *lists, tuple(parts))  # type: ignore[arg-type, call-arg]


def _listed(store: Store, part: Part) -> tuple[File, ...]:
    """What a part of a manifest lists."""
    lines = checked(store, part, gone=f"missing; {_REMEDY}", remedy=_REMEDY).splitlines()
    entries = _decoded(store.address(part.path), lines)
    return tuple(one for one in entries if isinstance(one, File))


def checked(
    store: Store, one: File | Part, *, gone: str, remedy: str = "restore it from a copy"
) -> bytes:
    """The bytes of a file that a manifest lists: neither Parquet nor Arrow notices every flipped
    bit. ArchiveError, which tells `gone` where it is not there, and `remedy` where it is not what
    was listed.
    """
    try:
        data = store.read(one.path)
    except FileNotFoundError as error:
        raise ArchiveError(f"{store.address(one.path)}: {gone}") from error
    if len(data) != one.bytes or checksum(data) != one.checksum:
        raise ArchiveError(f"{store.address(one.path)}: its checksum is wrong; {remedy}")
    return data


def _with_mode(file: File, lived: Collection[str]) -> File:
    """The mode of a file of before there were modes: imports are no sources of a spool."""
    if file.mode is not None:
        return file
    is_lived = file.stream == CLOCK or any(one.source in lived for one in file.sequences)
    return msgspec.structs.replace(file, mode=Mode.LIVED if is_lived else Mode.SORTED)


def save(store: Store, manifest: Manifest) -> Manifest:
    """Write `manifest` durably under the next generation; before its head is there nothing changed.

    O(files) comparisons, and what is written are the parts with others in them than before.
    """
    parts = tuple(_parted(store, manifest)) if len(manifest.files) > FILES_IN_HEAD else ()
    written = msgspec.structs.replace(manifest, generation=manifest.generation + 1, parts=parts)
    store.write(MANIFEST, _lines([_head_of(written), *_in_head(written)]))
    if gone := {part.path for part, _ in manifest.parts} - {part.path for part, _ in parts}:
        store.retire(gone)
    return written


def _in_head(manifest: Manifest) -> tuple[Entry, ...]:
    files = [part for part, _ in manifest.parts] or manifest.files
    noted = (*manifest.lost, *manifest.damaged, *manifest.specifications)
    return (*files, *manifest.origins, *manifest.ends, *noted)


def _head_of(manifest: Manifest) -> _Head:
    """Of the oldest version that can say it."""
    version = ALIASED_SINCE if any(file.name for file in manifest.files) else ALIASED_SINCE - 1
    version = PARTED_SINCE if manifest.parts else version
    version = SPECIFIED_SINCE if manifest.specifications else version
    return _Head(FORMAT, version, manifest.generation, len(_in_head(manifest)))


def _parted(store: Store, manifest: Manifest) -> Iterator[tuple[Part, tuple[File, ...]]]:
    """The parts of a manifest; those that are new are written."""
    groups: dict[str, list[File]] = {}
    for file in manifest.files:
        groups.setdefault(f"{file.stream}-{file.date[: -len('-dd')]}", []).append(file)
    known = {part.path.rpartition("-")[0]: (part, files) for part, files in manifest.parts}
    for name, files in groups.items():
        before = known.get(f"{PARTS}/{name}")
        if before is not None and before[1] == tuple(files):
            yield before
            continue
        data = _lines(files)
        digest = checksum(data)
        part = Part(f"{PARTS}/{name}-{digest}.jsonl", len(files), len(data), digest)
        store.write(part.path, data)
        yield part, tuple(files)


def _lines(entries: Iterable[msgspec.Struct]) -> bytes:
    return b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
