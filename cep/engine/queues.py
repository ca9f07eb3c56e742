"""The event queues of a run as tables: number, event, time, binds (rule 19 of the binder)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cep.engine.kernels import tables as col
from cep.engine.kernels.state import State
from cep.engine.native import Run
from cep.engine.stage_run import StageRun
from cep.plan.nodes import Chained, Event


@dataclass(frozen=True, slots=True)
class Queued:
    """An event in a queue; `binds` are the numbers of the complex events it is bound to."""

    seq: int
    number: int
    event: str
    key: str | None
    time_msc: int
    binds: tuple[int, ...]


def queue(run: Run, engine: str, key_row: int | None = None) -> list[Queued]:
    """What is queued in an engine of a module now, in order of entry.

    It is what all keys have, or one, where each key has a queue of its own and `key_row` is given.
    """
    stage = run.runner
    assert isinstance(stage, StageRun)
    column = stage.compiled.tables.queues[engine]
    keyed = run.rules.stages.by.is_engine_keyed(engine)
    home = stage.state.ki if keyed else stage.state.gi
    every = range(stage.keys + 1) if key_row is None else (key_row,)
    rows = every if keyed else range(1)
    number = stage.compiled.stage
    entries = definitions(run, number)
    found = [
        _queued(run, stage.state, at, entries)
        for row in rows
        for at in _alive(stage.state, home[row, column : column + col.QUEUE_COLUMNS].tolist())
    ]
    return sorted(found, key=lambda queued: queued.seq)


def definitions(run: Run, stage: int) -> list[Event | Chained]:
    """What enters the queues of a stage, by the numbers that its kernels have for it."""
    stages = run.rules.stages
    return [*stages.events(stage), *stages.chained(stage)]


def _alive(state: State, header: list[int]) -> Iterator[int]:
    """Places of a queue's alive entries, oldest first."""
    base, room, head, tail = header[: col.QUEUE_TAIL + 1]
    for position in range(head, tail):
        at = base + (position & (room - 1))
        if state.qe[at, col.ENTRY_ALIVE]:
            yield at


def _queued(run: Run, state: State, at: int, entries: list[Event | Chained]) -> Queued:
    cells = state.qe[at].tolist()
    entry = entries[cells[col.ENTRY_DEF]]
    key_row = cells[col.ENTRY_KEY]
    slot = max(0, key_row - 1)
    return Queued(
        seq=cells[col.ENTRY_SEQ],
        number=entry.number + slot * run.rules.plan.number_stride,
        event=entry.name if isinstance(entry, Event) else entry.complex,
        key=run.strings.text(int(state.ki[key_row, 0])),
        time_msc=cells[col.ENTRY_TIME],
        binds=tuple(_binds(state, cells[col.ENTRY_BINDS])),
    )


def _binds(state: State, node: int) -> Iterator[int]:
    while node:
        number, node = state.qb[node - 1].tolist()
        yield number
