"""The queues of engines when rules change: events of definitions that go on stay.

They keep their place, time and number in the queue, and what they are bound to. To complex events
that are new they count as bound: these see only what enters from now on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cep.engine.jit import plain
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.events import complexes_in, definitions_in, part_of
from cep.engine.machine.kernels.found import MATCH_ENGINE
from cep.engine.machine.kernels.memory import index_add, release
from cep.engine.machine.kernels.queues import (
    ANY_KEY,
    BOUND,
    BOUND_KEY,
    BOUND_NEXT,
    BOUND_TO,
    ENGINE_STATE,
    EVENT_BOUND,
    EVENT_NEXT,
    EVENT_NUMBER,
    KEY_ADDS,
    KEY_CODE,
    KEY_NUMBERS,
    KEYS,
    NUMBER,
    NUMBER_DEF,
    NUMBER_KEY,
    OLDEST,
    number_cleared,
)
from cep.engine.machine.kernels.slots import PROGRAM_SLOTS, SLOTS_STRIDE, slot_of
from cep.engine.machine.kernels.steps import BIND
from cep.engine.machine.kernels.words import (
    HOME,
    INDEX_AT,
    INDEX_COUNT,
    INDEX_ROOM,
    OP,
    Ints,
)
from cep.engine.machine.memory import Memory
from cep.engine.machine.program import Program
from cep.plan.change import Change


def carry_queues(old: Program, new: Program, memory: Memory, change: Change) -> None:
    """Write the queues of the engines that go on as the new program has them; O(events)."""
    for engine in change.new.engines:
        if ("engine", engine.name) in change.kept:
            _Queue.of(old, new, memory, change, engine.name).carry()


@dataclass(frozen=True, slots=True)
class _Queue:
    """An engine of two programs; its definitions and complex events that go on, from the number
    in the old one to that in the new one, and the numbers of complex events that are new.
    """

    old: Program
    new: Program
    memory: Memory
    engines: tuple[int, int]
    definitions: dict[int, int]
    counts: tuple[int, int]
    complexes: dict[int, int]
    begun: list[int]

    @classmethod
    def of(cls, old: Program, new: Program, memory: Memory, change: Change, name: str) -> _Queue:
        before = [part_of(one) for one in definitions_in(change.old, name)]
        after = [part_of(one) for one in definitions_in(change.new, name)]
        kept = {change.kept[part]: n for n, part in enumerate(after) if part in change.kept}
        definitions = {n: kept[part] for n, part in enumerate(before) if part in kept}
        had = {("complex", one.name): n for n, one in enumerate(complexes_in(change.old, name))}
        complexes, begun = dict[int, int](), list[int]()
        for number, one in enumerate(complexes_in(change.new, name)):
            previous = change.kept.get(("complex", one.name))
            if previous is None:
                begun.append(number)
            else:
                complexes[had[previous]] = number
        engines = _engine(old, name), _engine(new, name)
        counts = len(before), len(after)
        return cls(old, new, memory, engines, definitions, counts, complexes, begun)

    def carry(self) -> None:
        """Each key gets a block that has the numbers of the new definitions."""
        state = int(self._i[HOME] + self.new.words[self.engines[1] + ENGINE_STATE])
        for key in self._keys(state + KEYS):
            self._drop(key)
        moved = [self._moved(key) for key in self._keys(state + KEYS)]
        i = self._i
        first, room = (int(i[state + KEYS + word]) for word in (INDEX_AT, INDEX_ROOM))
        i[first : first + room] = 0
        i[state + KEYS + INDEX_COUNT] = 0
        for key in moved:
            plain(index_add)(self.memory.i, state + KEYS, key, 1, KEY_CODE)

    @property
    def _i(self) -> Ints:
        return self.memory.i[0]

    def _keys(self, index: int) -> list[int]:
        first, room = (int(self._i[index + word]) for word in (INDEX_AT, INDEX_ROOM))
        return [key for key in self._i[first : first + room].tolist() if key]

    def _drop(self, key: int) -> None:
        """The events of definitions that are gone, or begin now, leave."""
        for number in set(range(self.counts[0])) - self.definitions.keys():
            at = key + KEY_NUMBERS + number * NUMBER
            plain(number_cleared)(self.memory.i, self.old.words, self.engines[0], at)

    def _moved(self, key: int) -> int:
        at = self.memory.block(KEY_NUMBERS + self.counts[1] * NUMBER)
        i = self._i
        i[at : at + KEY_NUMBERS] = i[key : key + KEY_NUMBERS]
        code, words = int(i[key + KEY_CODE]), self.new.words
        slot = 0 if code == NULL else plain(slot_of)(self.memory.i, words, code)
        i[at + KEY_ADDS] = slot * words[words[PROGRAM_SLOTS] + SLOTS_STRIDE]
        for before, after in self.definitions.items():
            source, target = (
                block + KEY_NUMBERS + number * NUMBER
                for block, number in ((key, before), (at, after))
            )
            i[target : target + NUMBER] = i[source : source + NUMBER]
            i[target + NUMBER_KEY], i[target + NUMBER_DEF] = at, after
            for event in self._events(target):
                self._i[event + EVENT_NUMBER] = target
                self._bind(event)
            i = self._i
        plain(release)(self.memory.i, key, KEY_NUMBERS + self.counts[0] * NUMBER)
        return at

    def _events(self, number: int) -> Iterator[int]:
        event = int(self._i[number + OLDEST])
        while event:
            yield event
            event = int(self._i[event + EVENT_NEXT])

    def _bind(self, event: int) -> None:
        """What an event is part of, or counts as if it were; the last one bound is the first."""
        found = [(place, ANY_KEY) for place in self.begun]
        bound = int(self._i[event + EVENT_BOUND])
        had = []
        while bound:
            to, key, behind = (int(self._i[bound + w]) for w in (BOUND_TO, BOUND_KEY, BOUND_NEXT))
            if to in self.complexes:
                had.append((self.complexes[to], key))
            plain(release)(self.memory.i, bound, BOUND)
            bound = behind
        self._i[event + EVENT_BOUND] = 0
        for to, key in reversed([*found, *had]):
            at = self.memory.block(BOUND)
            i = self._i
            i[at + BOUND_TO], i[at + BOUND_KEY] = to, key
            i[at + BOUND_NEXT] = i[event + EVENT_BOUND]
            i[event + EVENT_BOUND] = at


def _engine(program: Program, name: str) -> int:
    """What a program says of an engine."""
    words = program.words
    return next(
        int(words[node + MATCH_ENGINE])
        for part, node in program.parts.nodes
        if part == ("engine", name) and words[node + OP] == BIND
    )
