"""Compares an archive with the terminal's tick base and the broker's log, record by record."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cep.archive import Archive
from cep.archive.schema import SCHEMAS
from mt5bridge.records import DEAL, DealKind, Records, text_of

TICK_BYTES = ("raw_time_msc", "bid", "ask", "last", "volume", "flags", "volume_real")
DEAL_NUMBERS = ("order", "magic", "position_id", "volume", "price", "commission", "swap", "profit",
                "fee", "sl", "tp", "type", "entry", "reason")  # fmt: skip
DEAL_TEXTS = ("symbol", "comment", "external_id")


def tick_problems(archive: Archive, source: str, name: str, base: Records) -> Iterator[str]:
    """Whether a source's ticks are those of the tick base, each once, byte for byte, and in order.

    The base holds late ticks where their time belongs. So the archive is put in order of time,
    without changing the order within a millisecond.
    """
    table = whole(archive, source, "ticks", name)
    if not counts_on(table["seq"].to_numpy()):
        yield f"{name}: sequence numbers do not count from 1 without a hole"
    if len(table) != len(base):
        yield f"{name}: {len(table):,} ticks in the archive, {len(base):,} in the tick base"
        return
    order = np.argsort(table["raw_time_msc"].to_numpy(), kind="stable")
    for column in TICK_BYTES:
        there = base[column.removeprefix("raw_")]
        here = table[column].to_numpy()[order].astype(there.dtype)
        if here.tobytes() != np.ascontiguousarray(there).tobytes():
            yield f"{name}: {column} differs from the tick base"


def part_problems(
    archive: Archive, source: str, name: str, base: Records, come: Records
) -> Iterator[str]:
    """The same of a source that begins somewhere, where late ticks may be missing.

    `come` is the tick base in the order in which its ticks came. The ticks of a millisecond are
    told apart by what they hold.
    """
    table = whole(archive, source, "ticks", name)
    if not len(table):
        yield f"{source} {name}: no ticks"
        return
    if not counts_on(table["seq"].to_numpy()):
        yield f"{source} {name}: sequence numbers do not count from 1 without a hole"
    first_msc = table["raw_time_msc"][0].as_py()
    is_late = come["time_msc"] < np.maximum.accumulate(come["time_msc"])
    prompt = come[~is_late & (come["time_msc"] > first_msc)]
    there, wanted = contents(base), contents(prompt)
    here = Counter(zip(*(table[column].to_pylist() for column in TICK_BYTES), strict=True))
    if surplus := here - there:
        yield f"{source} {name}: {surplus.total():,} ticks are not in the tick base, or twice"
    if missing := wanted - here:
        yield f"{source} {name}: {missing.total():,} ticks are missing"


def contents(ticks: Records) -> Counter[tuple[Any, ...]]:
    """How many ticks hold the same."""
    columns = (ticks[column.removeprefix("raw_")].tolist() for column in TICK_BYTES)
    return Counter(zip(*columns, strict=True))


def late(archive: Archive, source: str, name: str) -> int:
    """Ticks that came after younger ones."""
    times = whole(archive, source, "ticks", name)["raw_time_msc"].to_numpy()
    return int(np.count_nonzero(times < np.maximum.accumulate(times))) if len(times) else 0


def deal_problems(archive: Archive, source: str, made: Records) -> Iterator[str]:
    """Whether the deals are those of the broker: each revision once, in order, none made up.

    `made` are the revisions in the order in which the broker made them. A revision that the broker
    has replaced before the terminal could be asked for it is in nobody's history, so what is here
    must be revisions of the broker's in their order, from the first to the newest.
    """
    table = whole(archive, source, "deals")
    if len(table) and not counts_on(table["seq"].to_numpy()):
        yield "deals: sequence numbers do not count from 1 without a hole"
    here, there = by_ticket(rows(table)), by_ticket(made)
    for ticket in sorted(here.keys() - there.keys()):
        yield f"deal {ticket}: the broker never made it"
    for ticket, revisions in there.items():
        yield from revision_problems(ticket, here.get(ticket, []), revisions)
    first = [row for row in rows(table) if row["revision"] == 0]
    places = [(int(row["time_msc"]), int(row["ticket"])) for row in first]
    if places != sorted(places):
        yield "deals: not in the order of time and ticket"


def revision_problems(ticket: int, here: list[Any], there: list[Any]) -> Iterator[str]:
    """Problems of one deal's revisions."""
    if not here:
        yield f"deal {ticket}: missing"
        return
    if [int(row["revision"]) for row in here] != list(range(len(here))):
        yield f"deal {ticket}: revisions are not numbered from 0"
    contents, rest = [content(row) for row in here], iter([content(row) for row in there])
    if len(set(contents)) != len(contents):
        yield f"deal {ticket}: a revision is there twice"
    if not all(one in rest for one in contents):
        yield f"deal {ticket}: a revision that the broker never made, or out of order"
    if content(there[-1]) != contents[-1]:
        yield f"deal {ticket}: the newest revision is missing"


def content(row: Any) -> tuple[Any, ...]:
    """What a revision says; a deleted deal says nothing else."""
    if int(row["kind"]) == DealKind.DELETE:
        return ("deleted",)
    numbers = (float(row[name]) for name in DEAL_NUMBERS)
    return (*numbers, *(text_of(bytes(row[name])) for name in DEAL_TEXTS))


def by_ticket(deals: Iterable[Any]) -> dict[int, list[Any]]:
    """Revisions of each deal, in order."""
    found: dict[int, list[Any]] = defaultdict(list)
    for row in deals:
        found[int(row["ticket"])].append(row)
    return found


def rows(table: pa.Table) -> Records:
    """Archived deals as DEAL records, in the server's time."""
    records = np.zeros(len(table), DEAL)
    for name in DEAL.names or ():
        if name in DEAL_TEXTS:
            texts = table[name].to_pylist()
            records[name] = [(text or "").encode() for text in texts]
        else:
            column = "raw_time_msc" if name == "time_msc" else name
            records[name] = table[column].to_numpy().astype(records[name].dtype)
    return records


def counts_on(sequences: np.ndarray[Any, np.dtype[np.int64]]) -> bool:
    return np.array_equal(sequences, np.arange(1, len(sequences) + 1))


def whole(archive: Archive, source: str, stream: str, name: str | None = None) -> pa.Table:
    """All rows that a source has told of a stream, in the one order."""
    batches = list(archive.read_batches(stream, None if name is None else [name]))
    if not batches:
        return SCHEMAS[stream].empty_table()
    table = pa.Table.from_batches(batches)
    return table.filter(pc.equal(table["source"].cast(pa.string()), source))
