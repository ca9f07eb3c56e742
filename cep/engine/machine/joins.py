"""Joins and correlations as nodes: each side its way in, its window, and a node that looks what
the others hold. A correlation is an inner join of more than two, each row of which goes on alone.

A row of a join has its time, its kind, the number of its chunk, then for each side the time of its
row (null where there is none) and its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cep.engine.machine.aggregates import native_of
from cep.engine.machine.aggregations import view_of
from cep.engine.machine.arrivals import keeps_arrival
from cep.engine.machine.dispatch import Word
from cep.engine.machine.expressions import Names, Unsupported
from cep.engine.machine.kernels.joins import CHUNK_OF, LEAVES, RESETS, SIDES, WAITING
from cep.engine.machine.kernels.queues_by_value import INDEXED
from cep.engine.machine.kernels.searches import (
    BY_KEY,
    BY_NOTHING,
    FOUND,
    Q_BY,
    Q_CODES,
    Q_INDEXED,
    Q_KEYS,
    Q_REALS,
    Q_RING,
    SEARCH,
)
from cep.engine.machine.kernels.steps import APART, BOTH, DROP, EACH, JOIN, PROJECT
from cep.engine.machine.kernels.words import OP, RING, TIME, VALUES
from cep.engine.machine.program import Held, HeldByKey, names_of
from cep.engine.machine.queries import Place, Selecting, lower_input, lower_selection
from cep.engine.machine.tables import (
    Asked,
    column_of,
    condition_of,
    equalities,
    lookups_of,
    lower_search,
    need_no_lookup,
    table_named,
    with_row,
)
from cep.engine.machine.views import ring_for, window_view
from cep.plan.expressions import Aggregate, Column, EventTime, Expression, Logical, walk
from cep.plan.functions import aggregator_of
from cep.plan.functions.native import Extreme, Kept, WholeTotal
from cep.plan.joins import STATIC
from cep.plan.problems import with_article
from cep.plan.query import Correlation, Join, Query, StreamInput
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.steps import Holder, repeats_held

KINDS = ("left", "right")
"""What the kind of a join calls its sides."""
Searches = dict[tuple[int, int], int]
"""By the side that asks and the one that is asked."""


@dataclass(frozen=True, slots=True)
class JoinNodes:
    """Writes the nodes of one join or correlation."""

    place: Place
    query: Query
    join: Join | Correlation

    def lower(self) -> None:
        """Write them, and have them read its streams."""
        builder, place, count = self.place.builder, self.place, len(self._inputs)
        self._need_support()
        names, words = self._names(), self._at(count)
        if self._carries:
            names = replace(names, times={**names.times, None: words})
        selecting = Selecting.of(builder, self.query, names, words + int(self._carries), CHUNK_OF)
        selecting = replace(selecting, others_leave=self._others_leave)
        width = selecting.width
        following = lower_selection(place, selecting)
        if self._is_singly or self._is_self:
            apart = builder.node(APART, following, width, width, 0, place.rank)
            following = builder.want(apart, builder.wanted(following))
        waiting = place.home.take(WAITING) if self._is_self else 0
        calls = builder.calls
        searches = {
            (slot, held): self._search(held, self._seen(selecting.names), self._part(slot, held))
            for slot in range(count)
            for held in self._others(slot)
        }
        is_pure = builder.calls == calls
        entries: list[int] = []
        for slot in range(count):
            node = self._join(slot, searches, following, selecting, waiting)
            if is_pure:  # else Python may count, or tell of, what is asked for a row that leaves
                builder.want(node, builder.wanted(following))
            entries.append(self._enter(slot, node, searches))
        if self._is_self:
            stream = place.source(self.query, self._inputs[0].stream)
            stream.readers.append(
                builder.node(BOTH, following, stream.width, width, waiting, place.rank, *entries)
            )
            return
        left, right = self._inputs[:2]
        if left.holder is Holder.WINDOW and (left.holder, left.stream) == (
            right.holder, right.stream,
        ):  # fmt: skip
            del entries[1:]  # a named window with itself: what comes out of it asks once
        self._read(entries)

    def _read(self, entries: Sequence[int]) -> None:
        """Have the ways in read their streams. What is several inputs of a correlation enters them
        row by row, one after the other.
        """
        builder, place = self.place.builder, self.place
        by_stream: dict[str, list[int]] = {}
        for input_, entry in zip(self._inputs, entries, strict=False):
            if entry:
                by_stream.setdefault(input_.stream, []).append(entry)
        for name, found in by_stream.items():
            stream = place.source(self.query, name)
            if len(found) > 1:
                each, width = builder.inner_stream(stream.schema), stream.width
                each.readers += found
                found = [builder.node(EACH, each.node, width, width, 0, place.rank)]
            stream.readers += found

    @property
    def _carries(self) -> bool:
        """Whether pairs carry when they came."""
        return keeps_arrival(self.query)

    def _seen(self, names: Names) -> Names:
        """The names of a pair that the condition sees: that of a correlation knows no more of it
        than its time.
        """
        is_join = isinstance(self.join, Join)
        return names if is_join else replace(names, times={**names.times, None: TIME})

    @property
    def _inputs(self) -> tuple[StreamInput, ...]:
        return self.query.inputs

    def _others(self, slot: int) -> list[int]:
        """The sides that a row of one meets, in the order in which it does."""
        return [one for one in range(len(self._inputs)) if one != slot]

    def _part(self, slot: int, held: int) -> Expression | None:
        """The part of the condition that is looked at with the row of a side, when one of `slot`
        asks: what names no later one. With `held` the same, what names no other one.
        """
        if isinstance(self.join, Join):
            return None if slot == held else self.join.on
        whole: Expression | None = None
        for one in [] if self.join.on is None else conjuncts(self.join.on):
            named = [
                node.slot
                for node in walk(one)
                if isinstance(node, Column | EventTime) and node.slot not in (None, slot)
            ]
            if max((at for at in named if at is not None), default=slot) == held:
                whole = one if whole is None else Logical("and", whole, one)
        return whole

    @property
    def _is_singly(self) -> bool:
        """Whether each row goes on by itself."""
        return not isinstance(self.join, Join) or self.join.singly

    @property
    def _is_self(self) -> bool:
        """Whether both sides of a join read one stream, so that what is found waits for the end."""
        left, right = self._inputs[:2]
        is_one = left.holder is right.holder is Holder.STREAM and left.stream == right.stream
        return isinstance(self.join, Join) and is_one

    def _need_support(self) -> None:
        for input_ in self._inputs:
            if input_.holder in STATIC and (input_.after or input_.window is not None):
                raise Unsupported(f"a window on {with_article(input_.holder)}")
            if lookups_of((*input_.filters, *input_.window_filters)):
                raise Unsupported("`in` a table within a condition on one side of a join")
        need_no_lookup(self.join.on)
        for aggregate in self.query.aggregates:
            if self._others_leave and not stays_right(aggregate):
                raise Unsupported(
                    f"`{aggregate.function}` of a join, whose rows may leave that had not come"
                )

    def _triggers(self, slot: int) -> bool:
        """Whether the rows of a side cause output."""
        return not isinstance(self.join, Join) or self.join.trigger in ("both", KINDS[slot])

    @property
    def _others_leave(self) -> bool:
        """Whether rows may leave that had not come: what the others hold has changed meanwhile."""
        triggering = [one for slot, one in enumerate(self._inputs) if self._triggers(slot)]
        return any(one.window is not None or one.holder is Holder.WINDOW for one in triggering)

    def _at(self, slot: int) -> int:
        """The word from which on the row of a slot stands."""
        return SIDES + sum(1 + len(one.schema) for one in self._inputs[:slot])

    def _names(self) -> Names:
        """All sides."""
        names = Names({}, {None: TIME})
        for slot, input_ in enumerate(self._inputs):
            names = with_row(names, input_.schema, slot, self._at(slot))
        return names

    def _search(self, held: int, names: Names, on_this: Expression | None) -> int:
        """The search in what a side holds, by another side; where a window lies comes later."""
        builder, input_, at = self.place.builder, self._inputs[held], self._at(held)
        if input_.holder is Holder.TABLE:
            asked = Asked(table_named(builder, input_.stream), on_this, held, names, at)
            return lower_search(self.place, asked, input_.filters)
        own, view = None, 0
        if input_.holder is Holder.WINDOW:
            own, view = self._named_window(input_)
        elif input_.holder is Holder.AGGREGATION:
            assert isinstance(self.join, Join)
            own, asked_for = view_of(self.place, self.join, input_.stream)
            view = builder.code(builder.writer(names).computed(asked_for))
        if input_.window is None and own is None:
            return builder.block(self._empty(len(input_.schema), at))
        filters = input_.window_filters if own is None else input_.filters
        calls = builder.calls
        on = condition_of(self.place, names, held, on_this, filters)
        words = [0] * SEARCH
        words[:8] = 0, self.place.home.take(FOUND), BY_NOTHING, 0, 0, at, len(input_.schema), on
        if builder.calls == calls:  # else the condition may fail on any row, and is asked on each
            self._index(words, held, names, on_this)
        search = builder.block(words)
        if own is not None:
            self._patch(search, own, view)
        return search

    def _index(
        self, words: list[int], held: int, names: Names, condition: Expression | None
    ) -> None:
        """Say by which values the rows of a side can be found, if it is a queue."""
        given = equalities(condition, held) if isinstance(self.join, Join) else {}
        if not given:
            return
        builder = self.place.builder
        types = [attribute.type for attribute in self._inputs[held].schema.attributes]
        writer = builder.writer(names)
        words[Q_CODES] = builder.block(
            [builder.value(writer.value(value)) for value in given.values()]
        )
        words[Q_REALS] = builder.block(int(value.type.is_real) for value in given.values())
        columns = [column_of(types, place) for place in given]
        words[Q_KEYS] = builder.block([len(columns), *columns])
        words[Q_INDEXED] = self.place.home.take(INDEXED)

    def _patch(self, search: int, held: Held, view: int) -> None:
        """Say where the rows of a search lie, now that it is known."""
        builder = self.place.builder
        builder.patch(search + Q_RING, *ring_of(held), view)
        if held.is_queue and builder.word(search + Q_KEYS):
            builder.patch(search + Q_BY, BY_KEY)

    def _named_window(self, input_: StreamInput) -> tuple[Held, int]:
        """Where the rows lie of a named window, and the expression that puts them there: it is in
        no partition, in whose homes one looks.
        """
        held = self.place.builder.held_by_name[input_.stream]
        if isinstance(held, Held) and self.place.partition is None:
            return held, 0
        return self._viewed(input_, held, is_named=True)

    def _viewed(
        self, input_: StreamInput, held: Held | HeldByKey, *, is_named: bool
    ) -> tuple[Held, int]:
        """A ring, and the expression that puts there what a window holds."""
        builder, name = self.place.builder, input_.stream
        ring = ring_for(VALUES + len(input_.schema), self.place.home.take(RING))
        view = window_view(name, held, ring, is_named=is_named)
        return ring, builder.code(builder.writer(self._names()).computed(view))

    def _empty(self, count: int, at: int) -> Sequence[int]:
        """The search in what holds nothing: a ring that is never filled."""
        words = [0] * SEARCH
        words[:8] = 0, self.place.home.take(FOUND), BY_NOTHING, 0, 0, at, count, 0
        words[Q_RING] = self.place.home.take(4)
        words[Q_RING + 1] = 1
        return words

    def _join(
        self, slot: int, searches: Searches, following: int, selecting: Selecting, waiting: int
    ) -> int:
        """The node of a side's rows; one that drops them where they cause nothing."""
        builder, join, input_ = self.place.builder, self.join, self._inputs[slot]
        narrow, others = self._words_of(input_), self._others(slot)
        if not self._triggers(slot):
            return builder.node(DROP, 0, narrow, narrow, 0, self.place.rank)
        through = 0
        if input_.window is None and input_.holder is Holder.STREAM:
            through = LEAVES if self.query.output.events != "current" else 0
            through |= RESETS if self.query.aggregates or repeats_held(self.query.rate) else 0
        own = self._part(slot, slot)
        writer = builder.writer(self._seen(selecting.names))
        condition = None if own is None else writer.condition(own)
        is_outer = isinstance(join, Join) and join.kind in ("full", KINDS[slot])
        other = self._inputs[others[0]].schema
        alone = builder.alone(following)
        return builder.node(
            JOIN, following, narrow, selecting.width, 0, self.place.rank,
            len(others), builder.block(searches[slot, one] for one in others),
            self._at(slot), len(input_.schema), builder.code(condition), int(is_outer), through,
            builder.block(int(one.type.is_real) for one in other.attributes), waiting,
            int(self._is_singly), selecting.words - 1 if self._carries else 0,
            alone, int(builder.word(alone + OP) == PROJECT),
        )  # fmt: skip

    def _words_of(self, input_: StreamInput) -> int:
        """The words of a row of a side, the last of which may be when it came."""
        return VALUES + len(input_.schema) + int(self._carries)

    def _enter(self, slot: int, following: int, searches: Searches) -> int:
        """The way into a side; its window is where the others search. 0 where none comes."""
        input_, builder = self._inputs[slot], self.place.builder
        if input_.holder in STATIC:
            return 0
        words = self._words_of(input_)
        names, slots = names_of(input_.schema), range(len(self._inputs))
        columns: dict[tuple[int, ...], tuple[Word, int]] = {
            (one, key[1]): found for key, found in names.columns.items() for one in slots
        }
        time = words - 1 if self._carries else TIME
        names = Names(columns, {None: time, **dict.fromkeys(slots, time)})
        selecting = Selecting(self.query, names, words, words, words, carries_arrival=self._carries)
        node, window = lower_input(self.place, input_, selecting, following)
        for (_, asked), search in searches.items():
            if asked == slot and input_.window is not None:
                self._look_into(input_, builder.held.get(window), search)
        return node

    def _look_into(self, input_: StreamInput, held: Held | HeldByKey | None, search: int) -> None:
        """Have a search look into a side's own window."""
        view = 0
        assert held is not None  # each kind of window says where its rows lie
        if isinstance(held, HeldByKey):
            held, view = self._viewed(input_, held, is_named=False)
        self._patch(search, held, view)


def ring_of(held: Held) -> tuple[int, int, int, int]:
    """Where the rows of a window lie, as a search has it from `Q_RING` on."""
    return held.state, held.width, held.offset, int(held.by_turn)


def stays_right(aggregate: Aggregate) -> bool:
    """Whether a value is right even when a row leaves that had not come. `correlation` is not, with
    which the interpreter fails then.
    """
    if aggregate.digest:
        return True  # nothing that leaves changes an indicator of the user
    definition, native = aggregator_of(aggregate.function), native_of(aggregate)
    is_counted = definition.of_rows or isinstance(native, WholeTotal | Extreme | Kept)
    return is_counted or definition.remembers != "window" or definition.native_left is not None
