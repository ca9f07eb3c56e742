"""The steps that see what was selected together: `Last`, `Sort`, `Slice`.

Rows that reset aggregates pass them, but the last ones and those of groups leave them out.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.plan.steps import Last, Order, Slice, Sort, Step

ChunkStep = Callable[[Chunk], Chunk]


def make_chunk_step(step: Step) -> ChunkStep | None:
    """A step that sees chunks; None for one that does not."""
    match step:
        case Last(by_group=True):
            return last_of_groups
        case Last():
            return last
        case Sort():
            return lambda chunk: sort_runs(chunk, step.keys)
        case Slice(passes_expired=True):
            return lambda chunk: cut_current(chunk, step.limit, step.offset or 0)
        case Slice():
            return lambda chunk: chunk[step.offset :][: step.limit]
        case _:
            return None


def last(chunk: Chunk) -> Chunk:
    """The last row."""
    return _without_resets(chunk)[-1:]


def last_of_groups(chunk: Chunk) -> Chunk:
    """The last row of each group; a group stands where its first row did."""
    return list({row.group: row for row in _without_resets(chunk)}.values())


def sort_runs(chunk: Chunk, keys: tuple[Order, ...]) -> Chunk:
    """Each run of rows of one kind sorted on its own."""
    ordered: Chunk = []
    for kind, rows in groupby(chunk, key=lambda row: row.kind):
        run = list(rows)
        ordered += run if kind is RowKind.RESET else sort_rows(run, keys)
    return ordered


def sort_rows(rows: Chunk, keys: tuple[Order, ...]) -> Chunk:
    """Selected rows by the keys in their `output`, stable; null comes last in either direction."""
    for position, key in reversed(list(enumerate(keys))):
        rows = sorted(rows, key=_comparable(position, key.descending), reverse=key.descending)
    return rows


def _comparable(position: int, null_first: bool) -> Callable[[Row], tuple[bool, Any]]:
    def key(row: Row) -> tuple[bool, Any]:
        value = row.output[position]
        return (not null_first, 0) if value is None else (null_first, value)

    return key


def cut_current(chunk: Chunk, limit: int | None, offset: int) -> Chunk:
    """Leave out the first rows, then those beyond the limit, to which expired ones count."""
    kept: Chunk = []
    count = -offset
    for row in chunk:
        if row.kind is RowKind.RESET:
            kept.append(row)
            continue
        is_within = limit is None or count < limit or row.kind is RowKind.EXPIRED
        if count >= 0 and is_within:
            kept.append(row)
        if count < 0 or is_within:
            count += 1
    return kept


def _without_resets(chunk: Chunk) -> Chunk:
    return [row for row in chunk if row.kind is not RowKind.RESET]
