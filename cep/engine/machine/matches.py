"""Patterns and sequences as stages of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cep.dropped import Reason
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.dispatch import Word
from cep.engine.machine.expressions import Names, Unsupported, column_key, word_of
from cep.engine.machine.kernels import match_words as words
from cep.engine.machine.kernels.match_words import COLLECTED_ROWS, MATCH_STATE, NEVER, SLOT_VALUES
from cep.engine.machine.kernels.steps import MATCH, MATCH_PARTS, SPLIT
from cep.engine.machine.kernels.words import CURRENT, VALUES
from cep.engine.machine.program import Builder, StreamNode, widened
from cep.plan.expressions import (
    Collected,
    Column,
    Comparison,
    EventTime,
    Expression,
    Missing,
    walk,
)
from cep.plan.query import (
    AbsentState,
    CountState,
    EveryState,
    GroupState,
    LogicalState,
    Match,
    MatchState,
    NextState,
    Query,
    StreamState,
)
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.steps import Filter, Holder, Sort
from cep.plan.types import Schema, Type

if TYPE_CHECKING:
    from cep.engine.machine.queries import Place

NAN = 0x7FF8000000000000
"""The bits of a double that is null."""
LINK_SIZE, INDEX_SIZE = 8, 20
"""Words that a link takes, and at most its chain and its share of their index, as that grows."""
NAMED_MAX = 64
"""So many rows of a slot that collects may have to be at hand."""


def used_in(query: Query) -> list[Expression]:
    """All expressions that a query has behind its input."""
    sort = query.step(Sort)
    found: list[Expression] = [value for _, value in query.projection]
    found += query.group_by
    found += [one for aggregate in query.aggregates for one in aggregate.arguments]
    found += [] if query.having is None else [query.having]
    found += [] if sort is None else [key.value for key in sort.keys if key.value is not None]
    return found


@dataclass(slots=True)
class Slot:
    """Where the slot of a state lies in a partial match, from `at` on."""

    at: int
    schema: Schema
    is_counted: bool
    firsts: int = 0
    newest: int = 0

    @property
    def row(self) -> int:
        """Words of a row that is collected."""
        return 1 + len(self.schema)

    @property
    def words(self) -> int:
        if not self.is_counted:
            return SLOT_VALUES + len(self.schema)
        return COLLECTED_ROWS + (self.firsts + self.newest) * self.row

    def time(self, index: int) -> int:
        """The word of the time of a row; its values follow."""
        if not self.is_counted:
            return self.at + words.FIRST_MS
        place = index if index >= 0 else self.firsts - index - 1
        return self.at + COLLECTED_ROWS + place * self.row

    def need(self, index: int) -> None:
        """Have the row at an index at hand. When a row is taken back, the one that stood behind
        the newest ones is there again, so there is one more of them."""
        if index >= 0:
            self.firsts = max(self.firsts, index + 1)
        else:
            self.newest = max(self.newest, 1 - index)
        if self.firsts + self.newest > NAMED_MAX:
            raise Unsupported("an index that is far from either end")

    def empty(self) -> list[int]:
        """What its words are without a row."""
        row = [NULL, *(NAN if one.type.is_real else NULL for one in self.schema.attributes)]
        if not self.is_counted:
            return [words.NOTHING, *row]
        return [words.NOTHING, NULL, 0, *row * (self.firsts + self.newest)]


@dataclass(slots=True)
class Segment:
    """A part of the match: matches enter at `first` and leave at `last`; see `match.wiring`."""

    first: int
    last: int
    stages: tuple[int, ...]


class Matched:
    """A match as it is written down: the words of partial matches, then the stages."""

    def __init__(self, builder: Builder, match: Match, used: list[Expression]) -> None:
        self.builder = builder
        self.match = match
        reported = () if match.expired is None else match.expired.projection
        self._expressions = [*used, *self._conditions(), *(value for _, value in reported)]
        self.slots = self._slots()
        self.words = self.slots[-1].at + self.slots[-1].words
        self._stages: dict[int, int] = {}

    def _conditions(self) -> Iterable[Expression]:
        for state in self.match.states:
            source = state.input
            if source.holder is not Holder.STREAM:
                raise Unsupported(f"it reads a {source.holder}")
            for handler in source.before:
                if not isinstance(handler, Filter):
                    raise Unsupported(f"stream function `{handler.name}`")
                yield handler.condition

    def _slots(self) -> list[Slot]:
        counted = self.match.counted
        slots = [Slot(0, state.input.schema, state.slot in counted) for state in self.match.states]
        for node in (one for expression in self._expressions for one in walk(expression)):
            match node:
                case Collected():
                    raise Unsupported("all rows that a state has collected")
                case Column() | Missing() if slots[node.slot].is_counted:
                    slots[node.slot].need(node.index)
                case EventTime(int() as number) if slots[number].is_counted:
                    slots[number].need(-1)
        at = VALUES
        for slot in slots:
            if any(one.type in (Type.OBJECT, Type.LIST) for one in slot.schema.attributes):
                raise Unsupported("values that are objects")
            slot.at = at
            at += slot.words
        return slots

    @property
    def room(self) -> int:
        """The least words of the rows that it makes."""
        expired = self.match.expired
        return self.words + (0 if expired is None else len(expired.projection))

    def names(self) -> Names:
        """What expressions call the words of a partial match."""
        columns: dict[tuple[int, ...], tuple[Word, int]] = {}
        rows: dict[tuple[int, int], int] = {}
        times: dict[int | None, int] = {None: 0}
        for number, slot in enumerate(self.slots):
            if not slot.is_counted:
                times[number] = slot.time(0)
                for position, attribute in enumerate(slot.schema.attributes):
                    place = slot.time(0) + 1 + position
                    columns[number, position] = word_of(attribute.type), place
            elif slot.newest:
                times[number] = slot.time(-1)
        for node in (one for expression in self._expressions for one in walk(expression)):
            if isinstance(node, Column) and self.slots[node.slot].is_counted:
                place = self.slots[node.slot].time(node.index) + 1 + node.position
                columns[column_key(node)] = word_of(node.type), place
            elif isinstance(node, Missing) and self.slots[node.slot].is_counted:
                rows[node.slot, node.index] = self.slots[node.slot].time(node.index)
        return Names(columns, times, rows=rows)

    def lower(
        self, place: Place, wider: int, following: int, source: Callable[[str], StreamNode]
    ) -> None:
        """Write the stages, and have the match read its streams. What is complete goes to the node
        `following`, with `wider` words."""
        builder, rank = self.builder, place.rank
        reports = self._reports(place, wider)
        behind = builder.node(SPLIT, following, wider, wider, 0, rank)
        if reports:
            behind = builder.node(MATCH_PARTS, following, wider, wider, 0, rank, reports)
        self.block = builder.block([0] * words.MATCH)

        def node(width: int, *more: int) -> int:
            return builder.node(MATCH, behind, width, wider, 0, rank, self.block, *more)

        wiring = Wiring(self, place, node)
        segment = wiring.whole()
        self._write(place, segment, wiring, node(VALUES, 0, 0, 0) if reports else 0)
        by_stream: dict[str, list[int]] = {}
        for stage in segment.stages:
            stream = self.match.states[wiring.slots[stage]].input.stream
            by_stream.setdefault(stream, []).append(stage)
        for name, stages in by_stream.items():
            stream_node = source(name)
            readers = builder.block(stages[::-1])
            singly = int(len(stages) == 1)
            stream_node.readers.append(node(stream_node.width, len(stages), readers, singly))
        place.starts.append(node(VALUES, 0, 0, 0))

    def _reports(self, place: Place, wider: int) -> int:
        """The node of partial matches that ran out of time; 0 where nobody wants them."""
        builder, expired = self.builder, self.match.expired
        if expired is None:
            return 0
        target, writer = builder.streams[expired.stream], builder.writer(self.names())
        widens = widened(expired.projection, target.schema)
        codes = [builder.code(writer.value(value)) for _, value in expired.projection]
        leaves = place.leaves(expired.stream)
        insert = builder.insert(
            target, wider, place.rank, self.words, len(codes), leaves=leaves, widens=widens
        )
        return builder.project(insert, wider, 1 << CURRENT, self.words, codes)

    def _write(self, place: Place, segment: Segment, wiring: Wiring, expiry: int) -> None:
        builder, match, stages = self.builder, self.match, segment.stages
        empty = [NEVER, CURRENT, *(word for slot in self.slots for word in slot.empty())]
        assert len(empty) == self.words
        copies = 4 + sum(isinstance(one, CountState) for one in wiring.states)
        links = 4 * len(stages) + 8
        need = copies * (1 << max(2, self.words.bit_length())) + links * (LINK_SIZE + INDEX_SIZE)
        timers = 4 * wiring.timed + (expiry != 0)
        builder.patch(
            self.block, self.words, builder.block(empty), len(stages), builder.block(stages),
            int(match.kind == "sequence"), place.home.take(MATCH_STATE),
            builder.cell(match.partials_max), builder.counter(place.part, Reason.BOUND),
            need, timers, expiry,
        )  # fmt: skip


@dataclass(slots=True)
class Wiring:
    """Writes stages that know where their matches go; see `cep.interpreter.match.wiring`."""

    matched: Matched
    place: Place
    node: Callable[..., int]
    states: list[MatchState] = field(default_factory=list)
    slots: dict[int, int] = field(default_factory=dict)
    limits: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    timed: int = 0
    absent: set[int] = field(default_factory=set)

    def whole(self) -> Segment:
        match = self.matched.match
        segment = self._segment(match.root, True)
        self._limit(segment, match.root, match.within_ms)
        if self._get(segment.first, words.S_KIND) == words.ABSENT_SIDE:
            self._set(segment.first, words.S_IS_FIRST, 1)
        for stage in segment.stages:
            pairs = self.limits.get(stage, [])
            listed = self.matched.builder.block([word for pair in pairs for word in pair])
            self._set(stage, words.S_LIMITS, len(pairs), listed)
            self._set(stage, words.S_ONE_TIMER, int(self._has_one_timer(stage, segment.stages)))
        return segment

    def _has_one_timer(self, stage: int, stages: Sequence[int]) -> bool:
        """Whether nothing happens at the end of an absence that has been broken: partial matches
        only wait there, with a row, and go on after the same time.
        """
        again = (
            self._get(one, word) for one in stages for word in (words.S_AGAIN, words.S_RESTART)
        )
        return (
            self._get(stage, words.S_KIND) == words.ABSENT
            and self._get(stage, words.S_FOR) != 0
            and self._get(stage, words.S_LIMITS) == 0
            and self.matched.match.kind == "pattern"
            and self.matched.match.expired is None
            and self._get(stages[0], words.S_KIND) == words.PLAIN_STAGE
            and not any(isinstance(one, CountState | LogicalState) for one in self.states)
            and stage not in again
        )

    def _set(self, stage: int, word: int, *values: int) -> None:
        self.matched.builder.patch(stage + word, *values)

    def _get(self, stage: int, word: int) -> int:
        return self.matched.builder.word(stage + word)

    def _segment(self, state: MatchState, is_start: bool) -> Segment:
        self.states.append(state)
        match state:
            case StreamState():
                return self._single(self._stage(words.PLAIN_STAGE, state, is_start))
            case CountState():
                return self._single(self._counted(state, is_start))
            case AbsentState():
                return self._single(self._absent(words.ABSENT, state, is_start))
            case LogicalState():
                return self._logical(state, is_start)
            case NextState():
                left = self._segment(state.left, is_start)
                right = self._segment(state.right, False)
                self._follow(left.last, right.first)
                return Segment(left.first, right.last, left.stages + right.stages)
            case EveryState():
                segment = self._segment(state.state, is_start)
                for side in self._sides(segment.last):
                    self._set(side, words.S_AGAIN, segment.first)
                for stage in segment.stages:
                    self._set(stage, words.S_RESTART, segment.first)
                return segment
            case GroupState():
                segment = self._segment(state.state, is_start)
                self._limit(segment, state.state, state.within_ms)
                return segment

    def _single(self, stage: int) -> Segment:
        return Segment(stage, stage, (stage,))

    def _stage(self, kind: int, state: StreamState, is_start: bool) -> int:
        matched, builder = self.matched, self.matched.builder
        slot = matched.slots[state.slot]
        stage = builder.block([0] * words.STAGE)
        self.slots[stage] = state.slot
        writer = builder.writer(matched.names())
        code: list[int] | None = None
        for handler in state.input.before:
            assert isinstance(handler, Filter)
            one = writer.condition(handler.condition)
            code = one if code is None else writer.joined(code, one)
        self._set(
            stage, words.S_KIND, kind, matched.block, self.place.home.take(words.STAGE_STATE),
            slot.at, slot.words, len(slot.schema), builder.code(code), int(is_start),
        )  # fmt: skip
        self._set(stage, words.S_FIRST, slot.at)
        if kind in (words.PLAIN_STAGE, words.ABSENT) and matched.match.kind == "pattern":
            self._find_by_key(stage, state)
        return stage

    def _find_by_key(self, stage: int, state: StreamState) -> None:
        """Where a condition wants a value of the row to be that of an earlier one, those that wait
        are found by it: all others refuse the row, without any effect."""
        slots = self.matched.slots
        for one in (part for condition in state.input.filters for part in conjuncts(condition)):
            if not isinstance(one, Comparison) or one.op != "==":
                continue
            for own, other in ((one.left, one.right), (one.right, one.left)):
                if not (isinstance(own, Column) and isinstance(other, Column)):
                    continue
                if own.slot != state.slot or other.slot == state.slot:
                    continue
                if own.type.is_real or other.type.is_real or slots[other.slot].is_counted:
                    continue
                if other.slot in self.absent:
                    continue
                at = slots[other.slot].time(0) + 1 + other.position
                self._set(stage, words.S_KEY, at, VALUES + own.position)

    def _counted(self, state: CountState, is_start: bool) -> int:
        matched, number = self.matched, state.state.slot
        stage = self._stage(words.COUNTED, state.state, is_start)
        slot = matched.slots[number]
        behind = [one.at for one in matched.slots[number + 1 : number + 3]]
        most = -1 if state.most is None else state.most
        self._set(
            stage, words.S_LEAST, state.least, most, slot.firsts, slot.newest,
            len(behind), matched.builder.block(behind),
        )  # fmt: skip
        return stage

    def _absent(self, kind: int, state: AbsentState, is_start: bool) -> int:
        self.absent.add(state.state.slot)
        stage = self._stage(kind, state.state, is_start)
        if state.for_ms is not None:
            self.timed += 1
            self._set(stage, words.S_FOR, self.matched.builder.cell(state.for_ms))
            self._set(stage, words.S_NODE, self.node(VALUES, stage, 0, 1))
        return stage

    def _logical(self, state: LogicalState, is_start: bool) -> Segment:
        """What is absent stands first, however it is written; an event visits the first first."""
        left, right = state.left, state.right
        if isinstance(right, AbsentState) and not isinstance(left, AbsentState):
            left, right = right, left
        first, last = (self._side(state, side, is_start) for side in (left, right))
        start = min(self._get(first, words.S_SLOT), self._get(last, words.S_SLOT))
        for side, partner in ((first, last), (last, first)):
            self._set(side, words.S_PARTNER, partner)
            self._set(side, words.S_FIRST, start)
        return Segment(first, last, (last, first))

    def _side(self, state: LogicalState, side: StreamState | AbsentState, is_start: bool) -> int:
        if isinstance(side, AbsentState):
            stage = self._absent(words.ABSENT_SIDE, side, is_start)
        else:
            stage = self._stage(words.LOGICAL, side, is_start)
        self._set(stage, words.S_IS_OR, int(state.op == "or"))
        return stage

    def _sides(self, stage: int) -> list[int]:
        """A stage, with its partner if it has one."""
        partner = self._get(stage, words.S_PARTNER)
        return [stage, partner] if partner else [stage]

    def _follow(self, stage: int, following: int) -> None:
        for side in self._sides(stage):
            self._set(side, words.S_NEXT, following)
        self._set(following, words.S_IS_STEADY, int(not self.matched.match.counted))
        is_star = (
            self._get(stage, words.S_KIND) == words.COUNTED
            and self._get(stage, words.S_IS_START)
            and self.matched.match.kind == "sequence"
            and self._get(stage, words.S_LEAST) == 0
        )
        if is_star:
            self._set(following, words.S_STAR, stage)

    def _limit(self, segment: Segment, state: MatchState, within_ms: int | None) -> None:
        """Bound the age of partial matches that wait inside."""
        if within_ms is not None:
            cell = self.matched.builder.cell(within_ms)
            starts = [self.matched.slots[slot].at for slot in start_slots(state)]
            for stage in segment.stages:
                self.limits.setdefault(stage, []).extend((cell, at) for at in starts)


def start_slots(state: MatchState) -> tuple[int, ...]:
    """The slots in which a match of the state can begin."""
    match state:
        case StreamState():
            return (state.slot,)
        case CountState() | AbsentState():
            return (state.state.slot,)
        case LogicalState():
            return (*start_slots(state.left), *start_slots(state.right))
        case NextState():
            return start_slots(state.left)
        case EveryState() | GroupState():
            return start_slots(state.state)
