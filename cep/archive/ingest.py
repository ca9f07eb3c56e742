"""Spool segments -> archive files, each record once, however often it is started or killed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from pathlib import Path

import msgspec

from cep.archive.archive import Archive
from cep.archive.errors import ArchiveError
from cep.archive.manifest import Damaged, End, File, Lost, Manifest, Mode, Origin, save
from cep.archive.parts import write_part
from cep.archive.specifications import take_told
from cep.archive.store import Store
from cep.archive.tables import slices
from mt5bridge.spool import (
    Content,
    Group,
    RecordKind,
    Segment,
    SegmentState,
    StreamKey,
    list_segments,
    mark_archived,
    read_checkpoint,
    read_content,
)
from mt5bridge.spool.recovery import durable_part

INGEST_BITS = 20
"""Imported ticks have ingest numbers of time_msc << INGEST_BITS; spools are placed to match."""

SEQUENCED = (RecordKind.TICKS, RecordKind.DEALS)


class Converted(msgspec.Struct, frozen=True):
    """What archiving one segment adds to the manifest once its files are written."""

    segment: str
    last_ingest: int
    files: tuple[File, ...] = ()
    ends: tuple[End, ...] = ()
    lost: tuple[Lost, ...] = ()
    damaged: tuple[Damaged, ...] = ()
    duplicates: int = 0


class Ingested(msgspec.Struct, frozen=True):
    """Totals of one run; `duplicates` were archived before under the same sequence number."""

    segments: int = 0
    files: int = 0
    rows: int = 0
    duplicates: int = 0
    damaged: int = 0
    specifications: int = 0

    def plus(self, done: Converted) -> Ingested:
        return Ingested(
            self.segments + 1,
            self.files + len(done.files),
            self.rows + sum(file.rows for file in done.files),
            self.duplicates + done.duplicates,
            self.damaged + len(done.damaged),
            self.specifications,
        )


def ingest_spool(
    spool: Path | str,
    archive: Archive,
    *,
    include_open: bool = False,
    on_segment: Callable[[int, int], None] | None = None,
) -> Ingested:
    """Archive what is new in the sealed segments of `spool`; with `include_open` in all.

    What terminals told of their symbols and accounts comes first. `on_segment` is called with the
    number of segments done and their total. ArchiveError, when all else is done, for a line of what
    was told that is none.
    """
    with archive.writing():
        waiting = pending(Path(spool), include_open=include_open)
        told, problem = take_told(Path(spool), archive)
        total = Ingested(specifications=told)
        origin = origin_of(archive.manifest, waiting)
        for done, segment in enumerate(waiting, start=1):
            assert origin is not None, "segments have an origin"
            converted = convert(segment, archive.store, origin, archive.manifest.ends)
            origin = commit(archive, origin, [converted])
            mark_archived(segment)
            total = total.plus(converted)
            if on_segment:
                on_segment(done, len(waiting))
    if problem is not None:
        raise problem
    return total


def pending(spool: Path, *, include_open: bool = False) -> list[Segment]:
    """Segments that are not marked as archived, oldest first.

    None behind an open one: what is archived of a spool is known by its last number alone.
    """
    if not spool.is_dir():
        raise ArchiveError(f"{spool}: no such spool directory; check spool.folder")
    found = list_segments(spool)
    if not include_open:
        found = list(takewhile(lambda segment: segment.state is not SegmentState.OPEN, found))
    return [segment for segment in found if segment.state is not SegmentState.ARCHIVED]


def origin_of(manifest: Manifest, segments: Iterable[Segment]) -> Origin | None:
    """The manifest's entry of the spool that `segments` belong to, or a new one.

    A new spool is placed so that its numbers lie after all archived recordings and, as near as
    that allows, at the number its first record would have if it were imported history.
    """
    segments = list(segments)
    if not segments:
        return None
    spool = _spool_of(segments)
    for known in manifest.origins:
        if known.spool == spool:
            return known
    first = _first_record(segments)
    if first is None:
        return Origin(spool, 0, 0)
    free = max((origin.base + origin.last_ingest + 1 for origin in manifest.origins), default=0)
    place = _first_msc(segments) << INGEST_BITS
    return Origin(spool, max(place, free) - first.ingest, first.ingest - 1)


def _spool_of(segments: Sequence[Segment]) -> str:
    """Identity of the spool, from the first segment that can say it, archived or not."""
    for segment in (*segments, *list_segments(segments[0].path.parent)):
        checkpoint = read_checkpoint(segment.path)
        if checkpoint:
            return checkpoint.spool
    raise ArchiveError(
        f"{segments[0].path.parent}: no segment has a readable first block; copy the directory "
        "away and let the daemon start a new one"
    )


def _first_record(segments: Sequence[Segment]) -> Group | None:
    groups = (group for segment in segments for group in read_segment(segment).groups)
    return next((group for group in groups if group.width), None)


def _first_msc(segments: Sequence[Segment]) -> int:
    """The time of the first record that has a possible one; 0 when none has."""
    groups = (group for segment in segments for group in read_segment(segment).groups)
    times = (group.near_msc for group in groups if group.width)
    return next((int(found[0]) for found in times if len(found)), 0)


def read_segment(segment: Segment) -> Content:
    content = read_content(segment.path)
    return durable_part(content) if segment.state is SegmentState.OPEN else content


def convert(segment: Segment, store: Store, origin: Origin, ends: Iterable[End]) -> Converted:
    """Write the new records of `segment` as files; nothing refers to them before `commit`."""
    content = read_segment(segment)
    known = {(end.source, end.stream): end.sequence for end in ends}
    fresh, duplicates = _fresh(content.groups, origin.last_ingest, known)
    files = [
        msgspec.structs.replace(
            write_part(store, part.stream, part.symbol, part.date, part.table, Mode.LIVED),
            name=part.name,
        )
        for part in slices(fresh, origin.base)
    ]
    last = max([origin.last_ingest, *(group.last_ingest for group in content.groups)])
    return Converted(
        segment=segment.path.stem,
        last_ingest=last,
        files=tuple(files),
        ends=tuple(End(source, stream, seq) for (source, stream), seq in known.items()),
        lost=tuple(lost for group in content.groups for lost in _lost(group)),
        damaged=tuple(Damaged(segment.path.stem, d.offset, d.end) for d in content.damages),
        duplicates=duplicates,
    )


def _fresh(
    groups: Iterable[Group], watermark: int, known: dict[StreamKey, int]
) -> tuple[list[Group], int]:
    """Records after `watermark` and after the sequences in `known`, which is brought up to date."""
    fresh, duplicates = [], 0
    for group in groups:
        if group.kind is RecordKind.GAP:
            continue
        rest = _after(group, watermark - group.ingest + 1)
        if rest.kind in SEQUENCED and len(rest.records):
            end = known.get(rest.own_key, 0)
            new = _after(rest, end - rest.sequence + 1)
            duplicates += len(rest.records) - len(new.records)
            known[rest.own_key] = max(end, rest.last_sequence)
            rest = new
        if len(rest.records):
            fresh.append(rest)
    return fresh, duplicates


def _after(group: Group, count: int) -> Group:
    """`group` without its first `count` records."""
    if count <= 0:
        return group
    count = min(count, len(group.records))
    return msgspec.structs.replace(
        group,
        ingest=group.ingest + count,
        sequence=group.sequence + count,
        records=group.records[count:],
        quality=group.quality[count:],
    )


def _lost(group: Group) -> list[Lost]:
    if group.kind is not RecordKind.GAP:
        return []
    return [Lost(*group.own_key, int(first), int(last), group.note)
            for first, last in group.records.tolist()]  # fmt: skip


def commit(archive: Archive, origin: Origin, converted: Iterable[Converted]) -> Origin:
    """Make converted segments part of the archive in one step; the origin as it is now."""
    manifest = archive.manifest
    files = {file.path: file for file in manifest.files}
    ends = {(end.source, end.stream): end for end in manifest.ends}
    lost = dict.fromkeys(manifest.lost)
    damaged = dict.fromkeys(manifest.damaged)
    last = origin.last_ingest
    for done in converted:
        files |= {file.path: file for file in done.files}
        for end in done.ends:
            known = ends.get((end.source, end.stream), end)
            ends[end.source, end.stream] = max(known, end, key=lambda e: e.sequence)
        lost |= dict.fromkeys(done.lost)
        damaged |= dict.fromkeys(done.damaged)
        last = max(last, done.last_ingest)
    updated = msgspec.structs.replace(origin, last_ingest=last)
    others = tuple(known for known in manifest.origins if known.spool != origin.spool)
    archive.manifest = save(
        archive.store,
        msgspec.structs.replace(
            manifest,
            files=tuple(files.values()),
            origins=(*others, updated),
            ends=tuple(ends.values()),
            lost=tuple(lost),
            damaged=tuple(damaged),
        ),
    )
    return updated
