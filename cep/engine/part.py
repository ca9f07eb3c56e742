"""One part: what the records of one key lead to, and what merging it with others takes.

A row of a program has the place in the order of what it follows from: a record or, of what was
lived, a watermark, which may be one of several keys. In sorted history time passes with the records
of all keys: what time alone makes tells when it was due, and gets its place where parts are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from cep.dropped import SavedCounts
from cep.engine.clock_cells import tell_clocks
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import OUT_ATTRIBUTES, OUT_ORDER, OUT_STREAM, Ints
from cep.engine.native import Compiled, Run
from cep.engine.output_rows import OutputRows
from cep.engine.splice import passed_on
from cep.engine.stages import KEYED
from cep.engine.watermarks import Placed
from cep.plan.nodes import Chained, Event

EVER = 2**63 - 1
"""Behind every place in the order."""


class End(NamedTuple):
    """How far a part goes: what is told before a place in the order belongs to it, and in sorted
    history time passes up to `time_msc`, whichever keys have records then.
    """

    order: int = EVER
    time_msc: int | None = None


WHOLE = End()


class Begun(NamedTuple):
    """How a run of parts began: as the how many-th of its key, 0 being the first, and behind how
    many events of each keyed engine, by name, which it only read to know what is remembered.
    """

    period: int = 0
    entered: Mapping[str, int] = MappingProxyType({})


AT_FIRST = Begun()


class KeysOutput(msgspec.Struct, frozen=True):
    """Output of stage 1 for some keys, as plain bytes: int64 and float64 in C order.

    `told` is for each row the time of the watermark by which time made it, `EVER` where none did;
    `number` that of the key in the order in which keys came. `dropped` is what was dropped
    meanwhile; `period` and `entered` are those of `Begun`.
    """

    ints: bytes
    floats: bytes
    lists: bytes
    told: bytes
    widths: tuple[int, int]
    strings: list[str]
    dropped: SavedCounts
    number: int
    period: int = 0
    entered: dict[str, int] = {}

    def rows(self) -> OutputRows:
        return OutputRows(
            np.frombuffer(self.ints, np.int64).reshape(-1, self.widths[0]).copy(),
            np.frombuffer(self.floats, np.float64).reshape(-1, self.widths[1]).copy(),
            np.frombuffer(self.lists, np.int64).copy(),
        )


def run_part(
    run: Run,
    batches: Iterable[InputRows],
    told: Callable[[int], Iterable[Placed]] = lambda order: (),
    end: End = WHOLE,
    number: int = 0,
    begun: Begun = AT_FIRST,
) -> bytes:
    """Run stage 1 over the records of some keys; `run` was started with all keys there are.

    It is one of `begun_apart`. `told` gives what is told of these keys before a place in the order,
    and was not given yet; `number` is that of the key in the order in which keys came. `begun` is
    of a run that began later, with `warmed`.
    """
    kept: list[OutputRows] = []
    times: list[Ints] = []
    needed = shipped(run.rules)
    offset = 0
    before = run.dropped
    for rows, told_msc, records in _made(run, batches, told, end):
        places = np.flatnonzero(needed[rows.ints[:, OUT_STREAM]])
        ints = rows.ints[places]
        tell_clocks(ints, run.rules.stages.clocks, records)
        move_lists(run, ints, offset)
        offset += len(rows.lists)
        kept.append(OutputRows(ints, rows.floats[places], rows.lists))
        times.append(np.full(len(places), told_msc))
    merged = concatenated(run, kept)
    part = KeysOutput(
        merged.ints.tobytes(),
        merged.floats.tobytes(),
        merged.lists.tobytes(),
        np.concatenate([np.empty(0, np.int64), *times]).tobytes(),
        (merged.ints.shape[1], merged.floats.shape[1]),
        run.strings.values,
        (run.dropped - before).state(),
        number,
        begun.period,
        dict(begun.entered),
    )
    return msgspec.msgpack.encode(part)


def warmed(
    run: Run,
    batches: Iterable[InputRows],
    told: Callable[[int], Iterable[Placed]] = lambda order: (),
    end: End = WHOLE,
) -> dict[str, int]:
    """Read what is in front of a part and nothing of which is put out: how many events have entered
    each keyed engine. As for `run_part`.
    """
    entered = entries(run.rules)
    counts = dict.fromkeys(entered, 0)
    for rows, _, _ in _made(run, batches, told, end):
        for engine, streams in entered.items():
            counts[engine] += int(np.isin(rows.ints[:, OUT_STREAM], streams).sum())
    return counts


Made = Iterator[tuple[OutputRows, int, Ints]]
"""Rows, the time of the watermark that they follow from, `EVER` where they follow from none, and
the records of which one has led to them.
"""


def _made(
    run: Run, batches: Iterable[InputRows], told: Callable[[int], Iterable[Placed]], end: End
) -> Made:
    """What records lead to, and what is told between them."""
    for batch in batches:
        passed = told(int(batch.ints[-1, OUT_ORDER])) if len(batch) else ()
        if run.has_clocks:  # to a module watermarks are clocks of records
            yield from ((rows, EVER, batch.ints) for rows in run.feed_raw(batch, passed))
        else:
            yield from _between(run, batch, passed)
    if not run.has_clocks:
        nothing = run.no_rows()
        yield from _between(run, InputRows(nothing.ints, nothing.floats), told(end.order))
        if end.time_msc is not None:
            yield run.advance(end.time_msc, run.next_order).raw, EVER, nothing.ints


def _between(run: Run, batch: InputRows, told: Iterable[Placed]) -> Made:
    """The same of a program, in which time that passes for a key may put rows out."""
    for order, found in told:
        upto = int(np.searchsorted(batch.ints[:, OUT_ORDER], order, side="right"))
        yield from _fed(run, batch.part(0, upto))
        yield run.tell(found, order).raw, found.time_msc, batch.ints
        batch = batch.part(upto, len(batch))
    yield from _fed(run, batch)


def _fed(run: Run, batch: InputRows) -> Made:
    """What records lead to between which nothing is told."""
    if len(batch):
        yield from ((rows, EVER, batch.ints) for rows in run.feed_raw(batch))


def shipped(rules: Compiled) -> NDArray[np.bool_]:
    """By stream id, what a merge needs of the first part: what is wanted, stage 2 takes, and `seq`
    counts.
    """
    needed = passed_on(rules.stages, rules.ids)
    for name in rules.outputs:
        needed[rules.ids.of(name)] = True
    for entered in entries(rules).values():
        needed[entered] = True
    return needed


def entries(rules: Compiled) -> dict[str, list[int]]:
    """Per keyed engine: the streams of events that enter its queue."""
    found: dict[str, list[int]] = {}
    entries: list[Event | Chained] = [*rules.stages.events(KEYED), *rules.stages.chained(KEYED)]
    for entry in entries:
        stream = rules.ids.of(entry.name) if isinstance(entry, Event) else rules.ids.entry(entry)
        found.setdefault(entry.engine, []).append(stream)
    return found


def move_lists(run: Run, ints: Ints, offset: int) -> None:
    """The lists of complex events begin so much later."""
    is_complex, _ = run.masks
    complexes = is_complex[ints[:, OUT_STREAM]]
    if complexes.any():  # else there may be no such column
        ints[complexes, OUT_ATTRIBUTES + 2] += offset


def concatenated(run: Run, parts: list[OutputRows]) -> OutputRows:
    if not parts:
        return run.no_rows()
    return OutputRows(
        np.concatenate([part.ints for part in parts]),
        np.concatenate([part.floats for part in parts]),
        np.concatenate([part.lists for part in parts]),
    )
