"""The queues of engines, from a stage of one compiled plan to that of another.

Events keep their place, time, sequence number and what they are bound to. A complex event that is
new sees only what enters from now on: what is queued counts as bound to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cep.engine.kernels import tables as col
from cep.engine.kernels.state import (
    BIND_FREE,
    BIND_TOP,
    ENTRY_LARGEST,
    ENTRY_TOP,
    KEYS,
    Ints,
    State,
)
from cep.engine.memory import FIRST_ENTRIES, with_limits
from cep.engine.stage_run import StageRun
from cep.engine.tables import Tables, entry_name
from cep.plan.change import Change, PartId
from cep.plan.nodes import Chained, Complex, Event, Plan

Places = NDArray[np.intp]


def carry_queues(change: Change, old: StageRun, new: StageRun) -> None:
    """Move what the engines that go on have in their queues."""
    engines = [
        engine.name
        for engine in new.compiled.stages.engines(new.compiled.stage)
        if ("engine", engine.name) in change.kept
    ]
    if not engines:
        return
    entries, queues = _entries(old, engines)
    moved = _Moved(change, old, new, entries)
    moved.place(engines, queues)
    new.state = with_limits(new.state, new.compiled.needs)


@dataclass(frozen=True, slots=True)
class _Queue:
    """A queue of an engine: its key row, its columns, where its block begins among the entries."""

    engine: str
    row: int
    columns: Ints
    base: int

    def places(self) -> Places:
        """Places of its entries from head to tail."""
        first, past = self.columns[col.QUEUE_HEAD], self.columns[col.QUEUE_TAIL]
        return self.base + (np.arange(first, past) & (self.columns[col.QUEUE_ROOM] - 1))


def _entries(old: StageRun, engines: list[str]) -> tuple[Ints, list[_Queue]]:
    """The blocks of these engines' queues, one behind the other."""
    blocks, queues, top = [old.state.qe[:0]], [], 0
    for engine in engines:
        for row in _rows(old, engine):
            columns = _columns(old.state, old.compiled.tables, old, engine, row).copy()
            base, room = columns[col.QUEUE_BASE], columns[col.QUEUE_ROOM]
            blocks.append(old.state.qe[base : base + room])
            queues.append(_Queue(engine, row, columns, top))
            top += int(room)
    return np.concatenate(blocks), queues


def _is_keyed(run: StageRun, engine: str) -> bool:
    return run.compiled.stages.by.is_engine_keyed(engine)


def _rows(run: StageRun, engine: str) -> range:
    return range(int(run.state.gi[0, KEYS]) + 1) if _is_keyed(run, engine) else range(1)


def _columns(state: State, tables: Tables, run: StageRun, engine: str, row: int) -> Ints:
    home = state.ki if _is_keyed(run, engine) else state.gi
    first = tables.queues[engine]
    return home[row, first : first + col.QUEUE_COLUMNS]


class _Moved:
    """Entries of the old queues on their way into the new stage."""

    def __init__(self, change: Change, old: StageRun, new: StageRun, entries: Ints) -> None:
        self.change = change
        self.old = old
        self.new = new
        self.before = entries
        self.alive = np.zeros(len(entries), np.bool_)
        self.definition = np.full(len(entries), -1, np.int64)
        width = new.state.qe.shape[1]
        self.after = np.zeros((max(FIRST_ENTRIES, 2 * len(entries)), width), np.int64)

    def place(self, engines: list[str], queues: list[_Queue]) -> None:
        """Put all that is alive into the new stage."""
        for queue in queues:
            places = queue.places()
            self.alive[places] = self.before[places, col.ENTRY_ALIVE] != 0
        self._define()
        self._bits()
        self._lists()
        for queue in queues:
            self._queue(queue)
            if queue.engine in self.new.compiled.tables.chains:
                self._chain(queue)
        self._engines(engines)
        header = self.new.state.gi[0]
        header[ENTRY_TOP] = len(self.before)
        rooms = [int(queue.columns[col.QUEUE_ROOM]) for queue in queues]
        header[ENTRY_LARGEST] = max([int(header[ENTRY_LARGEST]), *rooms])
        self.new.state = self.new.state._replace(qe=self.after)

    def _define(self) -> None:
        """New numbers of the definitions; events of others leave."""
        before = self.old.compiled.tables.definitions
        numbers = np.full(len(before) + 1, -1, np.int64)
        for name, number in self.new.compiled.tables.definitions.items():
            if name in before and _part_of(name) in self.change.kept:
                numbers[before[name]] = number
        known = numbers[self.before[:, col.ENTRY_DEF]]
        self.alive &= known >= 0
        self.definition[self.alive] = known[self.alive]
        after = self.after[: len(self.before)]
        after[:, : col.ENTRY_BITS] = self.before[:, : col.ENTRY_BITS]
        after[:, col.ENTRY_DEF] = np.maximum(self.definition, 0)
        after[:, col.ENTRY_ALIVE] = self.alive
        after[:, [col.ENTRY_BINDS, col.ENTRY_BINDS_LAST]] = 0

    def _bits(self) -> None:
        """What is bound to complex events that go on; to others, as if everything were."""
        before, after = self.old.compiled.tables, self.new.compiled.tables
        names = {number: name for name, number in after.definitions.items()}
        for (rule, number), (word, bit) in after.bits.items():
            places = np.flatnonzero(self.definition == number)
            if not bit or not len(places):
                continue
            if ("complex", rule) in self.change.kept:
                old_word, old_bit = before.bits[rule, before.definitions[names[number]]]
                bound = self.before[places, col.ENTRY_BITS + old_word] & old_bit
                places = places[bound != 0]
            self.after[places, col.ENTRY_BITS + word] |= bit

    def _lists(self) -> None:
        """The lists of complex events each entry is bound to, in order."""
        listed = [*self._listed(), *self._listed_anew()]
        places = np.concatenate([np.empty(0, np.intp), *(found for found, _ in listed)])
        numbers = np.concatenate([np.empty(0, np.int64), *(found for _, found in listed)])
        order = np.argsort(places, kind="stable")
        places, numbers, count = places[order], numbers[order], len(places)
        nodes = np.zeros((max(FIRST_ENTRIES, 2 * count), 2), np.int64)
        nodes[:count, 0] = numbers
        is_last = np.append(places[1:] != places[:-1], True)[:count]
        nodes[:count, 1] = np.where(is_last, 0, np.arange(2, count + 2))
        firsts, first_at = np.unique(places, return_index=True)
        self.after[firsts, col.ENTRY_BINDS] = first_at + 1
        self.after[places[is_last], col.ENTRY_BINDS_LAST] = np.flatnonzero(is_last) + 1
        header = self.new.state.gi[0]
        header[BIND_TOP], header[BIND_FREE] = count, 0
        self.new.state = self.new.state._replace(qb=nodes)

    def _listed(self) -> Iterator[tuple[Places, Ints]]:
        """What is listed now, the first of each list, then the second, ..; by new numbers."""
        old, new = self._numbers()
        places = np.flatnonzero(self.alive)
        nodes = self.before[places, col.ENTRY_BINDS]
        while len(places := places[nodes != 0]):
            nodes = nodes[nodes != 0]
            found = self.old.state.qb[nodes - 1]
            at = np.minimum(np.searchsorted(old, found[:, 0]), max(len(old) - 1, 0))
            known = old[at] == found[:, 0] if len(old) else np.zeros(len(found), np.bool_)
            yield places[known], new[at[known]]
            nodes = found[:, 1]

    def _numbers(self) -> tuple[Ints, Ints]:
        """Numbers of the complex events that go on, per key: old ones, ascending, and new ones."""
        keys = np.arange(max(int(self.old.state.gi[0, KEYS]), 1))
        pairs = [(np.empty(0, np.int64), np.empty(0, np.int64))]
        old, new = self.change.old, self.change.new
        before = {found.name: found for found in old.complexes}
        for found in new.complexes:
            if ("complex", found.name) in self.change.kept:
                was = _numbered(before[found.name], old, keys)
                pairs.append((was, _numbered(found, new, keys)))
        numbers = np.concatenate([one for one, _ in pairs])
        order = np.argsort(numbers, kind="stable")
        return numbers[order], np.concatenate([one for _, one in pairs])[order]

    def _listed_anew(self) -> Iterator[tuple[Places, Ints]]:
        """Entries in which new complex events are listed, for each key."""
        rules = {found.name: found for found in self.change.new.complexes}
        keys = np.arange(max(int(self.new.state.gi[0, KEYS]), 1))
        for (rule, number), (_, bit) in self.new.compiled.tables.bits.items():
            places = np.flatnonzero(self.definition == number)
            if not bit and len(places) and ("complex", rule) not in self.change.kept:
                numbers = _numbered(rules[rule], self.change.new, keys)
                yield np.repeat(places, len(numbers)), np.tile(numbers, len(places))

    def _queue(self, queue: _Queue) -> None:
        columns = _columns(
            self.new.state, self.new.compiled.tables, self.new, queue.engine, queue.row
        )
        columns[:] = queue.columns
        columns[col.QUEUE_BASE] = queue.base
        columns[col.QUEUE_ALIVE] = np.count_nonzero(self.alive[queue.places()])

    def _chain(self, queue: _Queue) -> None:
        """The chains of keys in a queue of all keys, of what is still in it."""
        first, past = queue.columns[col.QUEUE_HEAD], queue.columns[col.QUEUE_TAIL]
        places, positions = queue.places(), np.arange(first, past)
        places, positions = places[self.alive[places]], positions[self.alive[places]]
        chain = self.new.compiled.tables.chains[queue.engine]
        ki = self.new.state.ki
        for key in np.unique(self.after[places, col.ENTRY_KEY]):
            mine = self.after[places, col.ENTRY_KEY] == key
            at, position = places[mine], positions[mine] + 1
            self.after[at, col.ENTRY_OLDER] = np.append(0, position[:-1])
            self.after[at, col.ENTRY_NEWER] = np.append(position[1:], 0)
            ki[key, chain + col.CHAIN_OLDEST] = position[0]
            ki[key, chain + col.CHAIN_NEWEST] = position[-1]
            is_unsorted = bool((np.diff(self.after[at, col.ENTRY_TIME]) < 0).any())
            ki[key, chain + col.CHAIN_UNSORTED] = is_unsorted

    def _engines(self, engines: list[str]) -> None:
        """How many events entered the engines, and which entries each definition has."""
        before, after = self.old.compiled.tables, self.new.compiled.tables
        for engine in engines:
            entered = self.old.state.gi[0, before.entered[engine]]
            self.new.state.gi[0, after.entered[engine]] = entered
        rows = int(self.old.state.gi[0, KEYS]) + 1
        stages = self.new.compiled.stages
        stage = self.new.compiled.stage
        entries: list[Event | Chained] = [*stages.events(stage), *stages.chained(stage)]
        for entry in entries:
            name = entry_name(entry)
            if entry.engine in engines and _part_of(name) in self.change.kept:
                first, was = after.numbers[name], before.numbers[name]
                number = self.old.state.ki[:rows, was : was + col.NUMBER_COLUMNS]
                self.new.state.ki[:rows, first : first + col.NUMBER_COLUMNS] = number


def _numbered(found: Complex, plan: Plan, keys: Ints) -> Ints:
    """The numbers of a complex event on key slots."""
    if found.key is None:
        return np.array([found.number], np.int64)
    return found.number + keys * plan.number_stride


def _part_of(entry: str) -> PartId:
    """The part that an entry of a stage's tables is (`entry_name`)."""
    return ("chained", entry) if "@" in entry else ("event", entry)
