"""Engines, simple and complex events as nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cep.dropped import Reason
from cep.engine.kernels.scalar import NULL
from cep.engine.layout import is_float
from cep.engine.machine.expressions import Unsupported
from cep.engine.machine.kernels.found import NEVER, OF_ANY_KEY, OF_ITS_KEY
from cep.engine.machine.kernels.handed import HAND_OVER_STATE, WAITING
from cep.engine.machine.kernels.queues import ALLOW, QUEUE, REFRESH, REJECT
from cep.engine.machine.kernels.search import NAMED_KEY, NO_KEY, OWN_KEY
from cep.engine.machine.kernels.slots import SLOTS
from cep.engine.machine.kernels.steps import BIND, CHAIN, EVENT, HAND_OVER
from cep.engine.machine.kernels.words import VALUES
from cep.engine.machine.limits import event_limit
from cep.engine.machine.program import Builder, names_of
from cep.engine.machine.readers import NOTHING_ASKED, asked
from cep.plan.change import PartId, chained_part, operator_part
from cep.plan.expressions import Column, Constant
from cep.plan.nodes import (
    Both,
    Bound,
    Chained,
    Complex,
    Either,
    Engine,
    Event,
    Leaf,
    Pattern,
    Plan,
    Ref,
    Repeat,
    Sequence,
    leaves,
)

RUN: PartId = ("run", "")
"""What all engines have together, which goes on whatever the rules say."""
REPEATS = {Repeat.ALLOW: ALLOW, Repeat.REJECT: REJECT, Repeat.REFRESH: REFRESH}
LEAVES_MAX = 62
"""So many events can one pattern name, as each is a bit of a word."""


@dataclass(slots=True)
class Leaves:
    """What a pattern says of its leaves, by masks of them: see `kernels.search`."""

    after: list[int] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    absences: list[tuple[int, int, tuple[Ref, ...]]] = field(default_factory=list)

    def add(self, pattern: Pattern) -> int:
        """The mask of a pattern's leaves."""
        if isinstance(pattern, Leaf):
            self.after.append(0)
            self.others.append(0)
            return 1 << (len(self.after) - 1)
        left, right = self.add(pattern.left), self.add(pattern.right)
        match pattern:
            case Sequence(absent=absent):
                self._note(self.after, left, right)
                if absent:
                    self.absences.append((left, right, absent))
            case Either():
                self._note(self.others, left, right)
                self._note(self.others, right, left)
            case Both():
                pass
        return left | right

    @staticmethod
    def _note(masks: list[int], of: int, mask: int) -> None:
        for leaf in range(len(masks)):
            if of >> leaf & 1:
                masks[leaf] |= mask


@dataclass(slots=True)
class EngineNode:
    """An engine: what it is called by, and its definitions in order."""

    plan: Engine
    block: int
    matches: int
    numbers: dict[str, int]


class EventNodes:
    """All that a plan has of the simple engine."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.plan: Plan = builder.plan
        self._is_keyed = {event.name: event.key is not None for event in self.plan.events}
        self._is_keyed |= {found.name: found.key is not None for found in self.plan.complexes}
        self._hands_over = 0
        self._engines: dict[str, EngineNode] = {}
        if self.plan.engines:
            self._begin()

    def _begin(self) -> None:
        builder, plan = self.builder, self.plan
        keys = [builder.code_of(key) for key in plan.keys]
        with builder.writing(RUN):
            slots = builder.home.take(SLOTS)
            builder.know_slots((slots, plan.number_stride, len(keys), *keys))
            state = builder.home.take(HAND_OVER_STATE)
            width = WAITING + max((len(found.bound) for found in plan.complexes), default=0)
            self._hands_over = builder.node(HAND_OVER, 0, 0, 0, state, 0, width)
        for engine in plan.engines:
            with builder.writing(("engine", engine.name)):
                self._engines[engine.name] = self._engine(engine)

    def _engine(self, engine: Engine) -> EngineNode:
        builder, plan = self.builder, self.plan
        what, complexes = definitions_in(plan, engine.name), complexes_in(plan, engine.name)
        numbers = {name_of(one): place for place, one in enumerate(what)}
        blocks = [self._complex(n, found, numbers) for n, found in enumerate(complexes)]
        listed = builder.block([self._definition(one, complexes, numbers) for one in what])
        block = builder.block((
            builder.home.take(QUEUE), builder.cell(engine.span_ms),
            int(engine.opposites == "validate"), int(engine.late == "drop"),
            builder.cell(engine.events_max), len(what), listed,
            len(complexes), builder.block(blocks),
        ))  # fmt: skip
        matches = builder.node(BIND, self._hands_over, 0, 0, 0, 0, block, self._hands_over)
        return EngineNode(engine, block, matches, numbers)

    def _definition(
        self, one: Event | Chained, complexes: list[Complex], numbers: dict[str, int]
    ) -> int:
        builder, name, part = self.builder, name_of(one), part_of(one)
        opposites = [numbers[other] for other in one.opposites] if isinstance(one, Event) else []
        reasons = (Reason.REPEAT, Reason.LATE, Reason.OPPOSITE, Reason.BOUND)
        ends = any(self._ends(found, name) != NEVER for found in complexes)
        listed = builder.block(opposites)
        counted = [builder.counter(part, reason) for reason in reasons]
        carried = builder.block(VALUES + column.position for column in one.carries)
        return builder.block((
            REPEATS[one.repeat], one.number, len(opposites), listed, *counted, int(ends),
            len(one.carries), carried,
        ))  # fmt: skip

    def _ends(self, found: Complex, name: str) -> int:
        """How an event of a definition may complete a complex event, whatever went before."""
        how = NEVER
        for ref in last_of(found.pattern):
            if ref.event == name:
                is_own = self._is_keyed[name] and ref.key is None
                how = max(how, OF_ITS_KEY if is_own else OF_ANY_KEY)
        return how

    def _complex(self, place: int, found: Complex, numbers: dict[str, int]) -> int:
        builder, pattern = self.builder, Leaves()
        full = pattern.add(found.pattern)
        if len(pattern.after) > LEAVES_MAX:
            raise Unsupported(f"{found.name}: it names more than {LEAVES_MAX} events")
        refs = [*leaves(found.pattern), *found.forbid]
        absences = []
        for left, right, absent in pattern.absences:
            absences += [left, right, len(refs), len(absent)]
            refs += absent
        named = [word for ref in refs for word in self._ref(ref, numbers)]
        masks = zip(pattern.after, pattern.others, strict=True)
        ends = [self._ends(found, name) for name in numbers]
        return builder.block((
            place, found.number, builder.streams[found.name].node, int(found.key is not None),
            builder.cell(found.within_ms), len(pattern.after),
            builder.block(word for both in masks for word in both),
            len(refs), builder.block(named), len(pattern.after), len(found.forbid),
            len(pattern.absences), builder.block(absences), full, builder.block(ends),
            len(found.bound),
            builder.block(word for one in found.bound for word in self._kept(found, one, numbers)),
        ))  # fmt: skip

    def _kept(
        self, found: Complex, bound: Bound, numbers: dict[str, int]
    ) -> tuple[int, int, int, int]:
        """A value that a complex event keeps; see `kernels.found`."""
        of = definitions_in(self.plan, found.engine)[numbers[bound.event]]
        null = float("nan") if is_float(bound.column.type) else NULL
        word = of.carries.index(bound.column)
        return numbers[bound.event], bound.place, word, self.builder.cell(null)

    def _ref(self, ref: Ref, numbers: dict[str, int]) -> tuple[int, int, int]:
        if not self._is_keyed[ref.event]:
            return numbers[ref.event], NO_KEY, NULL
        if ref.key is None:
            return numbers[ref.event], OWN_KEY, NULL
        return numbers[ref.event], NAMED_KEY, self.builder.code_of(ref.key)

    def watch(self, event: Event) -> None:
        """Let an event read its stream, behind those that do already."""
        builder, engine = self.builder, self._engines[event.engine]
        source = builder.streams[event.source]
        writer = builder.writer(names_of(source.schema))
        always = event.condition == Constant(True, event.condition.type)
        code = None if always else writer.condition(event.condition)
        key = 0 if event.key is None else VALUES + event.key.position
        node = builder.node(
            EVENT, 0, source.width, 0, 0, 0,
            engine.block, engine.numbers[event.name], builder.streams[event.name].node,
            self._hands_over, engine.matches, key, builder.code(code), int(event.every),
        )  # fmt: skip
        condition, schema = event.condition, len(source.schema)
        limit, asks = event_limit(condition, schema, event.key, every=event.every), NOTHING_ASKED
        if event.key is not None and self._is_key_of_records(event, event.key):
            # of other keys it is never true, and those are known without it; where the key is not
            # what is asked for, an event has to remember that it was false
            asks = asked(condition, schema, builder.code_of, event.key.position)
        builder.ask(node, asks, limit)
        source.readers.append(node)

    def _is_key_of_records(self, event: Event, key: Column) -> bool:
        """Whether the record that a row follows from has the same key, and is seen by itself."""
        if any(stream.elsewhere is not None for stream in self.plan.streams):
            return False
        return key.position in self.builder.clocks["event", event.name].key_positions

    def connect(self) -> None:
        """Let chained engines read complex events, behind all other readers."""
        for engine in self._engines.values():
            for one in self.plan.chained:
                if one.engine == engine.plan.name:
                    self._chain(one, engine)

    def _chain(self, chained: Chained, engine: EngineNode) -> None:
        builder = self.builder
        source = builder.streams[chained.complex]
        found = next(one for one in self.plan.complexes if one.name == chained.complex)
        with builder.writing(("engine", found.engine)):
            chain = builder.node(
                CHAIN, 0, source.width, 0, 0, 0,
                engine.block, engine.numbers[chained.complex], 0, self._hands_over, engine.matches,
            )  # fmt: skip
        source.readers.append(chain)


def definitions_in(plan: Plan, engine: str) -> list[Event | Chained]:
    """What enters the queue of an engine, by its numbers there."""
    events = [event for event in plan.events if event.engine == engine]
    return [*events, *(one for one in plan.chained if one.engine == engine)]


def complexes_in(plan: Plan, engine: str) -> list[Complex]:
    """What an engine binds, by its numbers there."""
    return [found for found in plan.complexes if found.engine == engine]


def part_of(one: Event | Chained) -> PartId:
    """A definition of an engine as a part of the plan."""
    return operator_part(one) if isinstance(one, Event) else chained_part(one)


def name_of(one: Event | Chained) -> str:
    """What a definition of an engine is called in patterns."""
    return one.name if isinstance(one, Event) else one.complex


def last_of(pattern: Pattern) -> Iterator[Ref]:
    """The events with which a pattern may end."""
    match pattern:
        case Leaf(ref=ref):
            yield ref
        case Sequence(right=right):
            yield from last_of(right)
        case _:
            yield from last_of(pattern.left)
            yield from last_of(pattern.right)
