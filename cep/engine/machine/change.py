"""A change of rules between two records: the memory of a program becomes that of another.

What goes on keeps its words (`homes`), so that rows and blocks stay where they are. What names
something of the program is written anew: timers name nodes, events of engines definitions, clocks
sources. Homes of keys to which queries were added move, being longer now. What dropped parts held
stays unused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from cep.engine.jit import plain
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.carried_queues import carry_queues
from cep.engine.machine.events import RUN
from cep.engine.machine.homes import Before
from cep.engine.machine.kernels.handed import WAITING_WIDTH
from cep.engine.machine.kernels.keyed import KEYED_KEYS, OF_HOME
from cep.engine.machine.kernels.memory import release
from cep.engine.machine.kernels.partitions import (
    HOMES,
    OPENED,
    ROUTE_FIRST_START,
    ROUTE_STARTS,
)
from cep.engine.machine.kernels.run import PROGRAM_FIRST_START, PROGRAM_STARTS
from cep.engine.machine.kernels.steps import BARS, BOLLINGER, MACD, OWN, POINT, ROUTE
from cep.engine.machine.kernels.words import (
    AT,
    CLOCK_NOW,
    CLOCK_WORDS,
    COMMON_CLOCKS,
    COMMON_PASSED,
    DUE_KEY,
    DUE_MS,
    DUE_NODE,
    DUE_PLACE,
    DUE_RANK,
    DUE_TURN,
    DUE_WORDS,
    FIRST_KEY,
    HEAP_AT,
    HEAP_COUNT,
    HEAP_IS_MIXED,
    HOME,
    INDEX_AT,
    INDEX_ROOM,
    KEY_BEFORE,
    KEY_CLOCKS,
    KEY_PASSED,
    LATE,
    NOW,
    OP,
    PASSED,
    RANK,
    RING,
    RING_AT,
    RING_HEAD,
    RING_ROOM,
    RING_TAIL,
    SHOWN,
    START,
    STARTED,
    STATE,
    TIMERS,
    WORK_TOP,
    Ints,
)
from cep.engine.machine.kernels.work import frame_room, push
from cep.engine.machine.memory import Memory
from cep.engine.machine.program import Program, ProgramParts
from cep.engine.machine.stage import MachineRun
from cep.plan.change import Change, PartId
from cep.plan.clocks import Sources

HAVE_NODES = ("query", "window", "aggregation", "trigger", "table")
"""The kinds of parts whose nodes follow from their definitions alone."""
UNLIKE = "it keeps its state in another way now"
REMEMBER_HOMES = (BARS, BOLLINGER, MACD, POINT, OWN)
"""Nodes whose groups know the home that they are in."""


def left_by(run: MachineRun, change: Change) -> Before:
    """What of a run's memory the parts are given that go on."""
    parts = run.program.parts
    names = {old: new for new, old in change.kept.items()} | {RUN: RUN}
    words = tuple(
        (*names[kind, name], home, first, count)
        for kind, name, home, first, count in parts.words
        if (kind, name) in names
    )
    kept = {name: count for name, count in parts.homes.items() if ("partition", name) in names}
    return Before(words, {**kept, "": run.memory.top - int(run.memory.i[0, HOME])})


def _reset_unlike(change: Change, old: ProgramParts, new: ProgramParts, before: Before) -> None:
    """Reset parts that have not been given what they had, or have other nodes than before."""
    given = {(kind, name) for kind, name, *_ in before.words}
    had = {(kind, name) for kind, name, *_ in old.words}
    counts = _counted(old), _counted(new)
    for part, previous in list(change.kept.items()):
        is_other = part[0] in HAVE_NODES and counts[0].get(previous) != counts[1].get(part)
        if is_other or (previous in had and part not in given):
            change.reset(part, UNLIKE)


def _counted(parts: ProgramParts) -> dict[PartId, int]:
    found: dict[PartId, int] = {}
    for part, _ in parts.nodes:
        found[part] = found.get(part, 0) + 1
    return found


def go_on(old: MachineRun, new: MachineRun, change: Change, before: Before, order: int) -> None:
    """Give a run just started the memory of one of other rules, given what these have left it.

    What is new begins, at a place among the records.
    """
    _reset_unlike(change, old.program.parts, new.program.parts, before)
    new.memory.go_on(old.memory)
    new.host.instances.go_on(old.host.instances, change.kept, new.owns)
    change_over = _ChangeOver(old.program, new, change)
    carry_queues(old.program, new.program, new.memory, change)
    for partition in new.program.parts.homes:
        change_over.lengthen(partition)
    change_over.begin_waiting()
    change_over.take_clocks()
    for heap in change_over.heaps():
        change_over.take_timers(heap)
    for part, reason, count in old.dropped().carried(change):
        change_over.count(part, reason, count)
    if new.memory.i[0, STARTED]:
        change_over.tell_new()
        new.begin(order)


class _ChangeOver:
    """The memory of a run, in which the words of what goes on are those of the old program."""

    def __init__(self, old: Program, new: MachineRun, change: Change) -> None:
        self._old, self._new, self._change = old, new.program, change
        self._memory: Memory = new.memory
        self._kept = {**change.kept, RUN: RUN}
        self._part_of = {node: part for part, node in self._new.parts.nodes}
        self._nodes = dict(self._pairs())
        self._moved: dict[int, int] = {}

    def _pairs(self) -> Iterator[tuple[int, int]]:
        before: dict[PartId, list[int]] = {}
        for part, node in self._old.parts.nodes:
            before.setdefault(part, []).append(node)
        after: dict[PartId, list[int]] = {}
        for part, node in self._new.parts.nodes:
            after.setdefault(part, []).append(node)
        for part, previous in self._kept.items():
            yield from zip(before.get(previous, ()), after.get(part, ()), strict=False)

    @property
    def _i(self) -> Ints:
        return self._memory.i[0]

    def _state_of(self, part: PartId) -> int:
        """Where the first words of a part are, in the home of what is in no partition."""
        for kind, name, home, first, _ in self._new.parts.words:
            if (kind, name) == part and not home:
                return int(self._i[HOME]) + first
        raise KeyError(part)

    def lengthen(self, partition: str) -> None:
        """Move the homes of keys that have more words now."""
        part = ("partition", partition)
        if part not in self._kept:
            return
        words, had = self._new.parts.homes[partition], self._old.parts.homes[partition]
        if words == had:
            return
        state = self._state_of(part)
        moved = {home: self._longer(home, had, words) for home in self._homes(state)}
        i = self._i
        for at in self._cells(state + OPENED):
            i[at] = moved[int(i[at])]
        for at in self._buckets(state + HOMES):
            i[at] = moved[int(i[at])]
        queries = self._change.new.queries
        inside = {("query", one.name) for one in queries if one.partition == partition}
        for node, name in self._part_of.items():
            if self._new.words[node + OP] in REMEMBER_HOMES and name in inside:
                self._tell_homes(node, moved.values())
        self._moved |= moved

    def _longer(self, home: int, had: int, words: int) -> int:
        at = self._memory.block(words)
        i = self._i
        i[at : at + had] = i[home : home + had]
        plain(release)(self._memory.i, home, had)
        return at

    def _tell_homes(self, node: int, homes: Iterable[int]) -> None:
        """The groups of a function know the homes that they are in."""
        i, words = self._i, self._new.words
        for home in homes:
            state = home + int(words[node + STATE])
            groups = [state] if words[node + KEYED_KEYS] == 0 else list(self._buckets(state))
            for at in groups:
                if i[at]:
                    i[i[at] + OF_HOME] = home

    def _homes(self, state: int) -> list[int]:
        return [int(self._i[at]) for at in self._cells(state + OPENED)]

    def _cells(self, ring: int) -> Iterator[int]:
        """The addresses of what is in a ring of single words."""
        words = (RING_AT, RING_ROOM, RING_HEAD, RING_TAIL)
        first, room, head, tail = (int(self._i[ring + word]) for word in words)
        for position in range(head, tail):
            yield first + (position & (room - 1))

    def _buckets(self, index: int) -> Iterator[int]:
        """The addresses of the buckets of an index that are taken."""
        first, room = int(self._i[index + INDEX_AT]), int(self._i[index + INDEX_ROOM])
        for at in range(first, first + room):
            if self._i[at]:
                yield at

    def begin_waiting(self) -> None:
        """What waits to be handed over takes other words where other values are kept; between
        records nothing does.
        """
        for before, node in self._nodes.items():
            is_other = self._part_of[node] == RUN and (
                self._old.words[before + WAITING_WIDTH] != self._new.words[node + WAITING_WIDTH]
            )
            if is_other:
                ring = int(self._i[HOME]) + int(self._new.words[node + STATE])
                self._i[ring : ring + RING] = 0

    def take_clocks(self) -> None:
        """Clocks of the same sources stay what they are; those of others stand where these have
        got to.
        """
        old, new = self._old.clocks, self._new.clocks
        if old is None or new is None:
            return
        before = {sources: place for place, sources in enumerate(old.common)}
        common = self._memory.block(len(new.common) * CLOCK_WORDS)
        i = self._i
        for place, sources in enumerate(new.common):
            at, had = common + place * CLOCK_WORDS, before.get(sources)
            if had is not None:
                first = int(i[COMMON_CLOCKS]) + had * CLOCK_WORDS
                i[at : at + CLOCK_WORDS] = i[first : first + CLOCK_WORDS]
            else:
                i[at + CLOCK_NOW] = max(int(i[COMMON_PASSED]), self._newest(sources))
        i[COMMON_CLOCKS] = common
        for key in self._keys():
            self._take_key(key)

    def _newest(self, sources: Sources) -> int:
        """The newest record of some sources, of any key, as the old program had them."""
        assert self._old.clocks is not None
        places = [n for n, name in enumerate(self._old.clocks.sources) if name in sources]
        clocks = (int(self._i[key + KEY_CLOCKS]) for key in self._keys())
        return max((int(self._i[own + n]) for own in clocks for n in places), default=NULL)

    def _take_key(self, key: int) -> None:
        old, new = self._old.clocks, self._new.clocks
        assert old is not None and new is not None
        had = int(self._i[key + KEY_CLOCKS])
        own = self._memory.block(len(new.sources) + len(new.of_key) * CLOCK_WORDS)
        i = self._i
        newest = {name: int(i[had + n]) for n, name in enumerate(old.sources)}
        clocks = {sources: n for n, sources in enumerate(old.of_key)}
        for place, name in enumerate(new.sources):
            i[own + place] = newest.get(name, NULL)
        passed = max(int(i[key + KEY_PASSED]), int(i[PASSED]))
        for place, sources in enumerate(new.of_key):
            at = own + len(new.sources) + place * CLOCK_WORDS
            if sources in clocks:
                first = had + len(old.sources) + clocks[sources] * CLOCK_WORDS
                i[at : at + CLOCK_WORDS] = i[first : first + CLOCK_WORDS]
            else:
                times = (newest.get(name, NULL) for name in sources)
                i[at + CLOCK_NOW] = max((passed, *times))
        i[key + KEY_CLOCKS] = own
        plain(release)(self._memory.i, had, len(old.sources) + len(old.of_key) * CLOCK_WORDS)

    def _keys(self) -> Iterator[int]:
        key = int(self._i[FIRST_KEY])
        while key:
            yield key
            key = int(self._i[key + KEY_BEFORE])

    def heaps(self) -> Iterator[int]:
        """All clocks, as the heaps of what is due on them."""
        clocks = self._new.clocks
        if clocks is None:
            yield TIMERS
            return
        for place in range(len(clocks.common)):
            yield int(self._i[COMMON_CLOCKS]) + place * CLOCK_WORDS
        for key in self._keys():
            first = int(self._i[key + KEY_CLOCKS]) + len(clocks.sources)
            for place in range(len(clocks.of_key)):
                yield first + place * CLOCK_WORDS

    def take_timers(self, heap: int) -> None:
        """What is due for parts that go on is due for their nodes of the new program."""
        i = self._i
        first, count = int(i[heap + HEAP_AT]), int(i[heap + HEAP_COUNT])
        due = i[first : first + count * DUE_WORDS].reshape(count, DUE_WORDS)
        due = due[[node in self._nodes for node in due[:, DUE_NODE].tolist()]].copy()
        due[:, DUE_NODE] = [self._nodes[node] for node in due[:, DUE_NODE].tolist()]
        due[:, DUE_RANK] = self._new.words[due[:, DUE_NODE] + RANK]
        due[:, DUE_PLACE] = [self._moved.get(at, at) for at in due[:, DUE_PLACE].tolist()]
        order = np.lexsort([due[:, word] for word in (DUE_TURN, DUE_KEY, DUE_RANK, DUE_MS)])
        i[first : first + due.size] = due[order].ravel()
        i[heap + HEAP_COUNT], i[heap + HEAP_IS_MIXED] = len(due), 0

    def count(self, part: PartId, reason: object, count: int) -> None:
        """What has been dropped so far."""
        for known, why, at in self._new.counters:
            if (known, why) == (part, reason):
                self._i[at] = count

    def tell_new(self) -> None:
        """Have the parts told that are new, the first one first."""
        i = self._i
        now_ms = int(i[NOW]) if self._new.clocks is None else int(i[SHOWN])
        i[AT], i[LATE] = now_ms, 0
        frames = [(node, place) for node, place in self._starts() if self._is_new(node)]
        for node, place in reversed(frames):
            while not plain(frame_room)(self._memory.i, 1):
                self._memory.grow()
            i = self._i
            plain(push)(self._memory.i, node, place, now_ms, START, int(i[WORK_TOP]))

    def _is_new(self, node: int) -> bool:
        return self._part_of[node] not in self._change.kept

    def _starts(self) -> Iterator[tuple[int, int]]:
        """The nodes that are told when the run begins or a home is opened, and the homes."""
        words, home = self._new.words, int(self._i[HOME])
        first = words[PROGRAM_FIRST_START]
        for node in words[first : first + words[PROGRAM_STARTS]].tolist():
            yield node, home
        seen = set()
        for route, (kind, partition) in self._part_of.items():
            is_first = (kind, partition) not in seen
            if kind != "partition" or words[route + OP] != ROUTE or not is_first:
                continue
            seen.add((kind, partition))
            at, count = words[route + ROUTE_FIRST_START], words[route + ROUTE_STARTS]
            for key_home in self._homes(self._state_of((kind, partition))):
                for node in words[at : at + count].tolist():
                    yield node, key_home
