"""Stage 1 elsewhere, one key or some keys at a time, and its results put together again.

A keyed stage gives the same rows for a key whether it sees that key alone or among others; only
`seq` counts over all keys of an engine. So the parts are merged in the one order of the records,
`seq` is counted anew, and stage 2 runs on the merged rows: the sequential answer, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from cep.engine.encode import InputRows
from cep.engine.kernels.state import (
    OUT_ATTRIBUTES,
    OUT_ORDER,
    OUT_STREAM,
    Ints,
)
from cep.engine.layout import has_cells, row_cells
from cep.engine.native import Compiled, Run
from cep.engine.rows import Rows
from cep.engine.stage_run import OutputRows, crossing_streams
from cep.engine.stages import CROSSING, KEYED
from cep.plan.nodes import Event
from cep.plan.types import Type


class Part(msgspec.Struct, frozen=True):
    """Output of stage 1 for some keys, as plain bytes: int64 and float64 in C order."""

    ints: bytes
    floats: bytes
    lists: bytes
    widths: tuple[int, int]
    strings: list[str]

    def rows(self) -> OutputRows:
        return OutputRows(
            np.frombuffer(self.ints, np.int64).reshape(-1, self.widths[0]).copy(),
            np.frombuffer(self.floats, np.float64).reshape(-1, self.widths[1]).copy(),
            np.frombuffer(self.lists, np.int64).copy(),
        )


def is_distributable(rules: Compiled) -> str | None:
    """None when stage 1 can run elsewhere; otherwise the reason why it cannot."""
    if KEYED not in rules.compiled:
        return "nothing in the rules works per key"
    for stream in rules.plan.sources:
        readers = rules.stages.readers(stream.name, CROSSING)
        if readers:
            return f"{readers[0].name} reads {stream.name} across all keys"
    return None


def run_part(run: Run, batches: Iterable[InputRows]) -> bytes:
    """Run stage 1 over the records of some keys; `run` was started with all keys there are."""
    kept: list[OutputRows] = []
    shipped = _shipped(run.rules)
    offset = 0
    for batch in batches:
        for rows in run.feed_keyed(batch):
            places = np.flatnonzero(shipped[rows.ints[:, OUT_STREAM]])
            ints = rows.ints[places]
            ints[run.is_complex(ints[:, OUT_STREAM]), OUT_ATTRIBUTES + 2] += offset
            offset += len(rows.lists)
            kept.append(OutputRows(ints, rows.floats[places], rows.lists))
    merged = _concatenated(run, kept)
    part = Part(
        merged.ints.tobytes(),
        merged.floats.tobytes(),
        merged.lists.tobytes(),
        (merged.ints.shape[1], merged.floats.shape[1]),
        run.strings.values,
    )
    return msgspec.msgpack.encode(part)


def merge_parts(rules: Compiled, keys: Sequence[str], parts: Iterable[bytes]) -> Rows:
    """Put the parts of a run together, count `seq` anew and run stage 2: the whole run's rows."""
    run = rules.start(keys)
    moved: list[OutputRows] = []
    origins: list[Ints] = []
    offset = 0
    for index, encoded in enumerate(parts):
        part = msgspec.msgpack.decode(encoded, type=Part)
        rows = part.rows()
        rows.ints[run.is_complex(rows.ints[:, OUT_STREAM]), OUT_ATTRIBUTES + 2] += offset
        offset += len(rows.lists)
        _translate(run, rows.ints, part.strings)
        moved.append(rows)
        origins.append(np.full(len(rows.ints), index, np.int64))
    merged = _concatenated(run, moved)
    places = np.argsort(merged.ints[:, OUT_ORDER], kind="stable")
    first = OutputRows(merged.ints[places], merged.floats[places], merged.lists)
    if len(places):
        _count_anew(rules, run, first, np.concatenate(origins)[places])
    return run.finish([first])


def _shipped(rules: Compiled) -> NDArray[np.bool_]:
    """Streams whose rows the merge needs: wanted ones, what stage 2 takes, and what `seq` counts."""
    needed = crossing_streams(rules.stages, rules.ids)
    for name in rules.outputs:
        needed[rules.ids.of(name)] = True
    for entered in _entries(rules).values():
        needed[entered] = True
    return needed


def _entries(rules: Compiled) -> dict[str, list[int]]:
    """Per keyed engine: the streams of events that enter its queue."""
    found: dict[str, list[int]] = {}
    for entry in [*rules.stages.events(KEYED), *rules.stages.chained(KEYED)]:
        stream = rules.ids.of(entry.name) if isinstance(entry, Event) else rules.ids.entry(entry)
        found.setdefault(entry.engine, []).append(stream)
    return found


def _concatenated(run: Run, parts: list[OutputRows]) -> OutputRows:
    if not parts:
        return run.no_rows()
    return OutputRows(
        np.concatenate([part.ints for part in parts]),
        np.concatenate([part.floats for part in parts]),
        np.concatenate([part.lists for part in parts]),
    )


def _translate(run: Run, ints: Ints, strings: list[str]) -> None:
    """Replace a part's string codes by those of the whole run."""
    if not strings:
        return
    codes = np.array([run.strings.code(text) for text in strings], np.int64)
    for stream in run.rules.plan.streams:
        if not has_cells(stream):
            continue
        places = np.flatnonzero(ints[:, OUT_STREAM] == run.rules.ids.of(stream.name))
        for attribute, cell in zip(
            stream.schema.attributes, row_cells(stream.schema), strict=True
        ):
            if attribute.type is Type.STRING and len(places):
                own = ints[places, cell.column]
                ints[places, cell.column] = np.where(own >= 0, codes[np.maximum(own, 0)], own)


def _count_anew(rules: Compiled, run: Run, rows: OutputRows, origins: Ints) -> None:
    """Count `seq` per engine over all parts, and put the new numbers into bound events' lists."""
    ints, lists = rows.ints, rows.lists
    for engine, streams in _entries(rules).items():
        entered = np.flatnonzero(np.isin(ints[:, OUT_STREAM], streams))
        old = ints[entered, OUT_ATTRIBUTES + 1]
        new = np.arange(1, len(entered) + 1)
        ints[entered, OUT_ATTRIBUTES + 1] = new
        # a part counted its own events from 1 in this very order, so (part, seq) is a dense key
        sizes = np.zeros(int(origins.max()) + 2, np.int64)
        np.maximum.at(sizes, origins[entered] + 1, old)
        starts = np.cumsum(sizes)
        numbers = np.zeros(int(starts[-1]) + 1, np.int64)
        numbers[starts[origins[entered]] + old] = new
        _renumber(rules, engine, ints, lists, origins, starts, numbers)


def _renumber(
    rules: Compiled,
    engine: str,
    ints: Ints,
    lists: Ints,
    origins: Ints,
    starts: Ints,
    numbers: Ints,
) -> None:
    """Translate the `events` lists of an engine's complex events, all at once."""
    ids = [rules.ids.of(c.name) for c in rules.plan.complexes if c.engine == engine]
    found = np.flatnonzero(np.isin(ints[:, OUT_STREAM], ids))
    if not len(found):
        return
    at, n = ints[found, OUT_ATTRIBUTES + 2], ints[found, OUT_ATTRIBUTES + 3]
    within = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
    cells = np.repeat(at + n, n) + within
    lists[cells] = numbers[np.repeat(starts[origins[found]], n) + lists[cells]]

