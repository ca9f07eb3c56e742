"""Joins as nodes: each side its way in, its window, and a node that looks what the other holds.

A row of a join has its time, its kind, the number of its chunk, then for each side the time of its
row (null where there is none) and its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cep.engine.machine.aggregates import _native as native_of
from cep.engine.machine.aggregations import view_of
from cep.engine.machine.dispatch import Word
from cep.engine.machine.expressions import Names, Unsupported
from cep.engine.machine.kernels.joins import CHUNK_OF, LEAVES, RESETS, SIDES, WAITING
from cep.engine.machine.kernels.searches import BY_NOTHING, FOUND, Q_RING, Q_VIEW, SEARCH
from cep.engine.machine.kernels.steps import APART, BOTH, DROP, JOIN
from cep.engine.machine.kernels.words import RING, TIME, VALUES
from cep.engine.machine.program import Held, HeldByKey, names_of
from cep.engine.machine.queries import Place, Selecting, lower_input, lower_selection
from cep.engine.machine.tables import (
    Asked,
    condition_of,
    lookups_of,
    lower_search,
    need_no_lookup,
    table_named,
    with_row,
)
from cep.engine.machine.views import ring_for, window_view
from cep.plan.expressions import Aggregate
from cep.plan.functions import aggregator_of
from cep.plan.functions.native import Extreme, WholeTotal
from cep.plan.joins import STATIC
from cep.plan.problems import with_article
from cep.plan.query import Join, Query, StreamInput
from cep.plan.steps import Holder

KINDS = ("left", "right")
"""What the kind of a join calls its sides."""


@dataclass(frozen=True, slots=True)
class JoinNodes:
    """Writes the nodes of one join."""

    place: Place
    query: Query
    join: Join

    def lower(self) -> None:
        """Write them, and have them read its streams."""
        builder, place = self.place.builder, self.place
        self._need_support()
        selecting = Selecting.of(builder, self.query, self._names(), self._at(2), CHUNK_OF)
        width = selecting.width
        following = lower_selection(place, selecting)
        if self.join.singly or self._is_self:
            apart = builder.node(APART, following, width, width, 0, place.rank)
            following = builder.want(apart, builder.wanted(following))
        waiting = place.home.take(WAITING) if self._is_self else 0
        calls = builder.calls
        searches = [self._search(1 - slot, selecting.names) for slot in (0, 1)]
        is_pure = builder.calls == calls
        entries: list[int] = []
        for slot in (0, 1):
            node = self._join(slot, searches[slot], following, width, waiting)
            if is_pure:  # else Python may count, or tell of, what is asked for a row that leaves
                builder.want(node, builder.wanted(following))
            entries.append(self._enter(slot, node, searches[1 - slot]))
        if self._is_self:
            stream = place.source(self.query, self.join.left.stream)
            stream.readers.append(
                builder.node(BOTH, following, stream.width, width, waiting, place.rank, *entries)
            )
            return
        left, right = self._inputs
        if (left.holder, left.stream) == (right.holder, right.stream):
            del entries[1:]  # a named window with itself: what comes out of it asks once
        for input_, entry in zip(self._inputs, entries, strict=False):
            if entry:
                place.source(self.query, input_.stream).readers.append(entry)

    @property
    def _inputs(self) -> tuple[StreamInput, StreamInput]:
        return self.join.left, self.join.right

    @property
    def _is_self(self) -> bool:
        """Whether both sides read one stream."""
        left, right = self._inputs
        return left.holder is right.holder is Holder.STREAM and left.stream == right.stream

    def _need_support(self) -> None:
        for input_ in self._inputs:
            if input_.holder in STATIC and (input_.after or input_.window is not None):
                raise Unsupported(f"a window on {with_article(input_.holder)}")
            if lookups_of((*input_.filters, *input_.window_filters)):
                raise Unsupported("`in` a table within a condition on one side of a join")
        need_no_lookup(self.join.on)
        if any(one.window is not None or one.holder is Holder.WINDOW for one in self._triggering):
            for aggregate in self.query.aggregates:
                if not stays_exact(aggregate):
                    raise Unsupported(f"`{aggregate.function}` of a join, whose rows may leave "
                                      "more often than they came")  # fmt: skip

    @property
    def _triggering(self) -> list[StreamInput]:
        """The sides whose rows cause output."""
        named = zip(KINDS, self._inputs, strict=True)
        return [one for kind, one in named if self.join.trigger in ("both", kind)]

    def _at(self, slot: int) -> int:
        """The word from which on the row of a slot stands."""
        return SIDES + sum(1 + len(one.schema) for one in self._inputs[:slot])

    def _names(self) -> Names:
        """Both sides."""
        names = Names({}, {None: TIME})
        for slot, input_ in enumerate(self._inputs):
            names = with_row(names, input_.schema, slot, self._at(slot))
        return names

    def _search(self, held: int, names: Names) -> int:
        """The search in what a side holds, by the other side; where a window lies comes later."""
        builder, input_, at = self.place.builder, self._inputs[held], self._at(held)
        if input_.holder is Holder.TABLE:
            asked = Asked(table_named(builder, input_.stream), self.join.on, held, names, at)
            return lower_search(self.place, asked, input_.filters)
        own, view = None, 0
        if input_.holder is Holder.WINDOW:
            own, view = self._named_window(input_)
        elif input_.holder is Holder.AGGREGATION:
            own, asked_for = view_of(self.place, self.join, input_.stream)
            view = builder.code(builder.writer(names).computed(asked_for))
        if input_.window is None and own is None:
            return builder.block(self._empty(len(input_.schema), at))
        filters = input_.window_filters if own is None else input_.filters
        on = condition_of(self.place, names, held, self.join.on, filters)
        words = [0] * SEARCH
        words[:8] = 0, self.place.home.take(FOUND), BY_NOTHING, 0, 0, at, len(input_.schema), on
        if own is not None:
            words[Q_RING : Q_VIEW + 1] = *ring_of(own), view
        return builder.block(words)

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

    def _join(self, slot: int, search: int, following: int, width: int, waiting: int) -> int:
        """The node of a side's rows; one that drops them where they cause nothing."""
        builder, join, input_ = self.place.builder, self.join, self._inputs[slot]
        narrow = VALUES + len(input_.schema)
        if join.trigger not in ("both", KINDS[slot]):
            return builder.node(DROP, 0, narrow, narrow, 0, self.place.rank)
        through = 0
        if input_.window is None and input_.holder is Holder.STREAM:
            through = LEAVES if self.query.output.events != "current" else 0
            through |= RESETS if self.query.aggregates else 0
        other = self._inputs[1 - slot].schema
        reals = builder.block(int(one.type.is_real) for one in other.attributes)
        return builder.node(
            JOIN, following, narrow, width, 0, self.place.rank,
            search, self._at(slot), len(input_.schema), int(join.kind in ("full", KINDS[slot])),
            through, int(join.singly), reals, waiting,
        )  # fmt: skip

    def _enter(self, slot: int, following: int, search: int) -> int:
        """The way into a side; its window is where the other side searches. 0 where none comes."""
        input_, builder = self._inputs[slot], self.place.builder
        if input_.holder in STATIC:
            return 0
        words = VALUES + len(input_.schema)
        names = names_of(input_.schema)
        columns: dict[tuple[int, ...], tuple[Word, int]] = {
            (one, key[1]): found for key, found in names.columns.items() for one in (0, 1)
        }
        names = Names(columns, {None: TIME, 0: TIME, 1: TIME})
        selecting = Selecting(self.query, names, words, words, words)
        node, window = lower_input(self.place, input_, selecting, following)
        if input_.window is not None:
            held, view = builder.held.get(window), 0
            if held is None:
                raise Unsupported(f"a join with what the window `{input_.window.name}` holds")
            if isinstance(held, HeldByKey):
                held, view = self._viewed(input_, held, is_named=False)
            builder.patch(search + Q_RING, *ring_of(held), view)
        return node


def ring_of(held: Held) -> tuple[int, int, int, int]:
    """Where the rows of a window lie, as a search has it from `Q_RING` on."""
    return held.state, held.width, held.offset, int(held.by_turn)


def stays_exact(aggregate: Aggregate) -> bool:
    """Whether a value is right even when a row leaves that had not come, as rows of windows that
    are joined may: what the other side holds has changed meanwhile. Sums of doubles are kept by
    their distance from the first one and need those that came.
    """
    definition = aggregator_of(aggregate.function)
    return definition.of_rows or isinstance(native_of(aggregate), WholeTotal | Extreme)
