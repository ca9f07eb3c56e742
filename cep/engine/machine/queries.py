"""Queries as nodes: the way in, handlers, the window, what is selected, the way out.

Inside a query a row has the words of its input, then those of running values, then what is
selected: each step fills in its own. Nodes are written from the end to the beginning, as each names
the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cep.engine.machine.aggregates import Aggregates, lower_group
from cep.engine.machine.arrivals import as_they_come, keeps_arrival, stamp, with_arrival
from cep.engine.machine.by_key import has_one_per_key, lower_window_by_key
from cep.engine.machine.dispatch import CELL, END
from cep.engine.machine.expressions import Names, Unsupported, can_fail, word_of
from cep.engine.machine.functions import lower_function
from cep.engine.machine.homes import Home
from cep.engine.machine.kernels.chunks import AS_REAL, AS_TEXT, AS_WHOLE
from cep.engine.machine.kernels.steps import DROP, ENTER, FILTER, LAST, SLICE, SORT
from cep.engine.machine.kernels.words import VALUES
from cep.engine.machine.limits import limit_of
from cep.engine.machine.matches import Matched, used_in
from cep.engine.machine.partitions import PartitionNode
from cep.engine.machine.program import Builder, StreamNode, names_of, widened
from cep.engine.machine.rates import lower_rate
from cep.engine.machine.readers import asked
from cep.engine.machine.tables import asked_by, lookups_of, lower_lookups, lower_write, widest_table
from cep.engine.machine.told import lower_teller
from cep.engine.machine.windows import lower_window
from cep.plan.change import PartId
from cep.plan.expressions import Call, Column, Expression, InTable, walk
from cep.plan.functions.scalars.records import UNSTEADY
from cep.plan.nodes import Origin
from cep.plan.query import Correlation, Join, Match, Matching, Query, StreamInput
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.steps import (
    Delete,
    Filter,
    GroupBy,
    Holder,
    Last,
    Project,
    Rate,
    Return,
    Slice,
    Sort,
    StreamFunction,
    Update,
)
from cep.plan.types import Schema, Type
from cep.plan.windows import kind_of

KINDS = {"current": 1, "expired": 2, "all": 3}
"""Which kinds of rows a query puts out, as bits."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a query stands: its state and its place in the file."""

    builder: Builder
    rank: int
    partition: PartitionNode | None = None
    part: PartId = ("", "")
    """Under which what is dropped is counted."""

    @property
    def home(self) -> Home:
        """Where it has its state."""
        return self.builder.home if self.partition is None else self.partition.home

    @property
    def starts(self) -> list[int]:
        """The nodes that are told when the run begins, or the home of a key."""
        return self.builder.starts if self.partition is None else self.partition.starts

    def source(self, query: Query, name: str) -> StreamNode:
        """The stream of that name as a query reads it."""
        if self.partition is None:
            return self.builder.streams[name]
        return self.partition.source(query, name)

    def leaves(self, target: str) -> bool:
        """Whether a stream that a query writes is outside of its partition."""
        return self.partition is not None and not self.partition.is_inner(target)


@dataclass(frozen=True, slots=True)
class Selecting:
    """The words of the rows of a query: of its input `words`, and all of them `width`."""

    query: Query
    names: Names
    words: int
    width: int
    outputs: int
    pair: int = 0
    """The word from which on a row of a table stands that is looked at."""
    chunk: int = 0
    """The word with the number of the chunk that a row is selected with; 0: they come as chunks."""
    carries_arrival: bool = False
    """Whether the last word of its input is when a row came."""
    others_leave: bool = False
    """Whether rows may leave that had not come."""

    @property
    def rows_leave(self) -> bool:
        """Whether rows may leave what they entered."""
        source = self.query.input
        if not isinstance(source, StreamInput):
            return True
        return source.window is not None or source.holder is Holder.WINDOW

    @classmethod
    def of(
        cls, builder: Builder, query: Query, names: Names, words: int, chunk: int = 0
    ) -> Selecting:
        """`names` are those of the input's words."""
        aggregates = query.aggregates
        outputs = words + len(aggregates)
        values = tuple((word_of(one.type), words + n) for n, one in enumerate(aggregates))
        selected = tuple(
            (word_of(value.type), outputs + n) for n, (_, value) in enumerate(query.projection)
        )
        looked = outputs + len(selected) + len(sorted_by(query))
        lookups = {one: looked + n for n, one in enumerate(asked_by(query))}
        names = replace(names, aggregates=values, outputs=selected, lookups=lookups)
        pair = looked + len(lookups)
        width = pair + widest_table(builder, query)
        return cls(query, names, words, width, outputs, pair, chunk)


def lower_query(place: Place, query: Query) -> None:
    """Write a query, and have it read its streams."""
    source = query.input
    carries = keeps_arrival(query)
    match source:
        case StreamInput():
            if source.holder not in (Holder.STREAM, Holder.WINDOW):
                raise Unsupported(f"it reads a {source.holder}")
            words = VALUES + len(source.schema)
            names = names_of(source.schema)
            if carries:
                names, words = with_arrival(names, words), words + 1
            selecting = replace(
                Selecting.of(place.builder, query, names, words), carries_arrival=carries,
                others_leave=may_look_different(query, source),
            )  # fmt: skip
            following = lower_selection(place, selecting)
            node = lower_input(place, source, selecting, following)[0]
            place.source(query, source.stream).readers.append(node)
        case Join() | Correlation():
            from cep.engine.machine.joins import JoinNodes  # which lowers inputs as is done here

            JoinNodes(place, query, source).lower()
        case Match():
            lower_match(place, query, source)
        case Matching():
            from cep.engine.machine.matchings import lower_matching  # which lowers inputs, too

            lower_matching(place, query, source)


def lower_input(
    place: Place, source: StreamInput, selecting: Selecting, following: int
) -> tuple[int, int]:
    """The way in, handlers and the window of an input; the first node, and that of the window."""
    builder, window = place.builder, 0
    stream = place.source(selecting.query, source.stream)
    added = VALUES + len(stream.schema)
    behind = added + words_added(source.before)
    following = lower_handlers(place, apart(source.after), selecting, following, behind)
    if source.window is not None:
        in_front = len(source.schema) - words_added(source.after)
        schema = Schema(source.schema.attributes[:in_front])
        if has_one_per_key(place, selecting.query, source.window):
            following = lower_window_by_key(place, source.window, selecting, following, schema)
        else:
            following = window = lower_window(place, source.window, selecting, following, schema)
    if selecting.carries_arrival and not stream.has_arrival:
        following, selecting = stamp(place, selecting, following), as_they_come(selecting)
    before = apart(source.before)
    first = next((n for n, one in enumerate(before) if not is_plain(one, n)), len(before))
    following = lower_handlers(place, before[first:], selecting, following, added)
    taken = added
    if selecting.carries_arrival and stream.has_arrival:
        taken, came = stream.width, stream.width - 1
        if came != selecting.words - 1:  # functions add words in front of it
            following = stamp(place, selecting, following, came)
        selecting = as_they_come(selecting, came)
    conditions = [one.condition for one in before[:first] if isinstance(one, Filter)]
    node = builder.node(
        ENTER, following, stream.width, selecting.width, 0, place.rank,
        builder.code(condition(place, selecting.names, conditions)), taken,
    )  # fmt: skip
    found: dict[int, int] = {}
    for one in conditions:
        found |= asked(one, len(stream.schema), builder.code_of)
    limits = (limit_of(one, len(stream.schema)) for one in conditions)
    limit = next((one for one in limits if one is not None), None)
    return builder.ask(node, found, limit), window


def may_look_different(query: Query, source: StreamInput) -> bool:
    """Whether a row that leaves may have other values than when it came, or get through where it
    did not: what looks at it behind the window asks a table, the clock, a function of the user, or
    a stream function, which has seen more since.
    """
    behind = (*(source.before if source.holder is Holder.WINDOW else ()), *source.after)
    if any(isinstance(one, StreamFunction) and one.added for one in behind):
        return True
    looks = [one.condition for one in behind if isinstance(one, Filter)]
    looks += [argument for one in query.aggregates for argument in one.arguments]
    nodes = [node for one in looks for node in walk(one)]
    calls = [node for node in nodes if isinstance(node, Call)]
    asks = any(isinstance(node, InTable) for node in nodes)
    return asks or any(one.digest or one.function in UNSTEADY for one in calls)


def is_plain(handler: Filter | StreamFunction, number: int) -> bool:
    """Whether it is a condition that the way in can look at: one on the row alone, and of those
    behind the first one that can't fail, as it looks at all of them on every row.
    """
    if not isinstance(handler, Filter) or lookups_of([handler.condition]):
        return False
    return number == 0 or not some_call_fails(handler.condition)


def some_call_fails(condition: Expression) -> bool:
    return any(can_fail(one) for one in walk(condition) if isinstance(one, Call))


def apart(handlers: Sequence[Filter | StreamFunction]) -> list[Filter | StreamFunction]:
    """The handlers; where a call may fail that stands behind an `and`, a filter for each side, as
    it must not be made where the first is not true.
    """
    found: list[Filter | StreamFunction] = []
    for one in handlers:
        if isinstance(one, Filter) and some_call_fails(one.condition):
            found += [Filter(side) for side in conjuncts(one.condition)]
        else:
            found.append(one)
    return found


def condition(place: Place, names: Names, conditions: Sequence[Expression]) -> list[int] | None:
    """The steps of conditions that all must be true; None without any."""
    if not conditions:
        return None
    writer = place.builder.writer(names, rows_fail=True)
    whole = writer.condition(conditions[0])
    for one in conditions[1:]:
        whole = writer.joined(whole, writer.condition(one))
    return whole


def words_added(handlers: Sequence[Filter | StreamFunction]) -> int:
    """How many words stream functions add to rows."""
    return sum(len(one.added) for one in handlers if isinstance(one, StreamFunction))


def lower_handlers(
    place: Place,
    handlers: Sequence[Filter | StreamFunction],
    selecting: Selecting,
    following: int,
    added: int,
) -> int:
    """Filters and stream functions, one behind the other; `added` is the first word to be added."""
    builder, width = place.builder, selecting.width
    for number, handler in reversed(list(enumerate(handlers))):
        if isinstance(handler, StreamFunction):
            first = added + words_added(handlers[:number])
            following = lower_function(place, handler, selecting, following, first)
            continue
        steps = builder.writer(selecting.names, rows_fail=True).condition(handler.condition)
        following = builder.node(
            FILTER, following, width, width, 0, place.rank, builder.code(steps)
        )
        following = lower_lookups(place, selecting, [handler.condition], following)
    return following


def lower_match(place: Place, query: Query, match: Match) -> None:
    """Write a pattern or sequence."""
    matched = Matched(place.builder, match, used_in(query))
    selecting = Selecting.of(place.builder, query, matched.names(), matched.words)
    selecting = replace(selecting, width=max(selecting.width, matched.room))
    following = lower_selection(place, selecting, singly=True)
    matched.lower(place, selecting.width, following, lambda slot: place.source(query, slot))


def lower_selection(place: Place, selecting: Selecting, *, singly: bool = False) -> int:
    """What a query selects and where it goes: the first node of that. `singly`: each row is a chunk
    of its own until it has been selected.
    """
    query = selecting.query
    following = lower_output(place, selecting)
    if query.name in place.builder.told:
        following = lower_teller(place, selecting, following)
    steps = list(query.steps)
    for step in reversed(steps):
        match step:
            case Project():
                following = lower_project(place, selecting, following)
            case GroupBy():
                following = lower_group(place, selecting, step, following)
                taken = [one for aggregate in step.aggregates for one in aggregate.arguments]
                following = lower_lookups(place, selecting, taken, following)
            case Filter():
                pass  # of `having`: a part of the projection
            case Last() | Sort() if singly:
                pass
            case Slice() if singly:
                following = lower_only(place, selecting, step, following)
            case Last():
                following = lower_last(place, selecting, step, following)
            case Sort():
                following = lower_sort(place, selecting, step, following)
            case Slice():
                following = lower_slice(place, selecting, step, following)
            case Rate():
                following = lower_rate(place, selecting, step, following)
            case _:
                raise Unsupported(f"the step {type(step).__name__}")
    return following


def lower_last(place: Place, selecting: Selecting, step: Last, following: int) -> int:
    builder, width = place.builder, selecting.width
    found = (selecting.names.of(one) for one in selecting.query.group_by)
    columns = [-at if word == "f" else at for word, at in found] if step.by_group else []
    return builder.node(
        LAST, following, width, width, 0, place.rank,
        int(step.by_group), len(columns), builder.block(columns), selecting.chunk,
    )  # fmt: skip


def lower_sort(place: Place, selecting: Selecting, step: Sort, following: int) -> int:
    """What is selected has its key in its word, other values theirs behind what is selected."""
    builder, keys = place.builder, []
    extra = selecting.outputs + len(selecting.query.projection)
    for key in step.keys:
        value = selecting.query.projection[key.position][1] if key.value is None else key.value
        word = selecting.outputs + key.position
        if key.value is not None:
            word, extra = extra, extra + 1
        if value.type in (Type.OBJECT, Type.LIST):
            raise Unsupported("values that are objects")
        is_text = value.type is Type.STRING
        if is_text:  # what is no attribute may be a text that was just made
            builder.order_texts(place.part if isinstance(value, Column) else ("", ""))
        type_ = AS_REAL if value.type.is_real else AS_TEXT if is_text else AS_WHOLE
        keys += [word, type_, int(key.descending)]
    width = selecting.width
    return builder.node(
        SORT, following, width, width, 0, place.rank,
        len(step.keys), builder.block(keys), selecting.chunk,
    )  # fmt: skip


def lower_slice(place: Place, selecting: Selecting, step: Slice, following: int) -> int:
    builder, width = place.builder, selecting.width
    limit = 0 if step.limit is None else builder.cell(step.limit)
    return builder.node(
        SLICE, following, width, width, 0, place.rank,
        limit, builder.cell(step.offset or 0), int(step.passes_expired), selecting.chunk,
    )  # fmt: skip


def lower_only(place: Place, selecting: Selecting, step: Slice, following: int) -> int:
    """Of one row alone either it or none is left."""
    stays = not step.offset and step.limit != 0
    code = [CELL, place.builder.cell(int(stays)), END]
    width = selecting.width
    return place.builder.node(
        FILTER, following, width, width, 0, place.rank, place.builder.code(code)
    )


def sorted_by(query: Query) -> list[Expression]:
    """The values that rows are sorted by and that are not selected."""
    sort = query.step(Sort)
    return [] if sort is None else [key.value for key in sort.keys if key.value is not None]


def lower_project(place: Place, selecting: Selecting, following: int) -> int:
    """What is selected, then the condition on it, if that has to ask a table by itself."""
    builder, query = place.builder, selecting.query
    writer, fails = builder.writer(selecting.names), rows_fail(builder, query)
    owner = builder.uuid_names[query.name]
    writers = [
        builder.writer(
            selecting.names,
            None if place.partition is not None else f"{owner}.{name} ",
            rows_fail=fails,
        )
        for name, _ in query.projection
    ] + [writer] * len(sorted_by(query))
    selected = [*(value for _, value in query.projection), *sorted_by(query)]
    if any(value.type in (Type.OBJECT, Type.LIST) for value in selected):
        raise Unsupported("values that are objects")
    codes = [builder.value(one.value(value)) for one, value in zip(writers, selected, strict=True)]
    having = 0 if query.having is None else builder.code(writer.condition(query.having))

    def project(following: int, having: int, codes: Sequence[int]) -> int:
        kinds, first = KINDS[query.output.events], selecting.outputs
        resets = not query.group_by
        return builder.project(
            following, selecting.width, kinds, first, codes, having, resets=resets
        )

    if query.having is not None and lookups_of([query.having]):
        following = project(following, having, ())
        following = lower_lookups(place, selecting, [query.having], following)
        having = 0
    following = project(following, having, codes)
    return lower_lookups(place, selecting, selected, following)


def rows_fail(builder: Builder, query: Query) -> bool:
    """Whether no more is lost than in the interpreter where a selected value fails: rows are
    selected one at a time, or nothing runs on from row to row.
    """
    source = query.input
    if not isinstance(source, StreamInput) or source.holder is not Holder.STREAM:
        return False
    if source.window is not None and not kind_of(source.window).leaves_singly:
        return False
    comes_alone = builder.plan.stream(source.stream).origin is Origin.SOURCE
    return query.output.events == "current" and (comes_alone or not query.aggregates)


def lower_output(place: Place, selecting: Selecting) -> int:
    builder, output = place.builder, selecting.query.output
    if isinstance(output, Return):
        return builder.node(DROP, 0, selecting.width, selecting.width, 0, place.rank)
    if isinstance(output, Update | Delete) or output.holder is Holder.TABLE:
        return lower_write(place, selecting, output)
    held_by = builder.windows if output.holder is Holder.WINDOW else builder.streams
    target = held_by[output.target]
    count = len(selecting.query.projection)
    widens = widened(selecting.query.projection, target.schema)
    return builder.insert(
        target, selecting.width, place.rank, selecting.outputs, count,
        leaves=place.leaves(output.target), widens=widens,
    )  # fmt: skip


__all__ = ["Aggregates", "Place", "Selecting", "lower_query"]
