"""Windows as nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from cep.engine.machine.calendars import calendar
from cep.engine.machine.expressions import HostCall, Names, Unsupported
from cep.engine.machine.homes import Home
from cep.engine.machine.kernels import (
    batches,
    external,
    frequent,
    jumps,
    ordered,
    sessions,
    time_batches,
)
from cep.engine.machine.kernels.chunks import AS_REAL, AS_TEXT, AS_WHOLE
from cep.engine.machine.kernels.steps import (
    BATCH,
    CALENDAR,
    EXTERNAL_BATCH,
    EXTERNAL_TIME,
    FREQUENT,
    GROUP,
    HOPPING,
    JOIN,
    LENGTH,
    LENGTH_BATCH,
    LENGTH_JUMP,
    SESSION,
    SORT_WINDOW,
    SPLIT,
    TIME_BATCH,
    TIME_WINDOW,
)
from cep.engine.machine.kernels.windows import ANY_NEXT, GROUP_NEXT, HELD, JOIN_NEXT, TIME_STATE
from cep.engine.machine.kernels.words import EXPIRED, OP, RING
from cep.engine.machine.program import Builder, Held, HeldByKey
from cep.engine.machine.window_conditions import lower_expression, lower_expression_batch
from cep.interpreter.tables.hash_order import text_hash
from cep.plan.change import PartId
from cep.plan.expressions import Call, Column, Constant
from cep.plan.functions.convert import as_text
from cep.plan.steps import Window
from cep.plan.types import Schema, Type

NEXT_OF = {GROUP: GROUP_NEXT, JOIN: JOIN_NEXT}


class Stands(Protocol):
    """Where a window stands: in a query, or by itself."""

    @property
    def builder(self) -> Builder: ...

    @property
    def home(self) -> Home: ...

    @property
    def rank(self) -> int: ...

    @property
    def part(self) -> PartId: ...


class Carries(Protocol):
    """The rows that a window gets: `words` of their input, `width` in all."""

    @property
    def words(self) -> int: ...

    @property
    def width(self) -> int: ...

    @property
    def names(self) -> Names: ...

    @property
    def carries_arrival(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Making:
    """A window on its way to be a node. Each way to make one gives the node."""

    place: Stands
    window: Window
    rows: Carries
    following: int
    schema: Schema | None

    @property
    def next(self) -> int:
        """What comes next, if it need not go over `drain`."""
        builder = self.place.builder
        following = builder.word(self.following + OP) if self.following else 0
        return NEXT_OF.get(following, ANY_NEXT)

    def cell(self, position: int) -> int:
        """The cell of a whole number among the arguments."""
        return self.place.builder.cell(self.window.constant(position))

    def value(self, position: int) -> object:
        """An argument that is a constant; TypeError when it is none."""
        argument = self.window.arguments[position]
        if not isinstance(argument, Constant):
            raise TypeError(f"{self.window.name}: argument {position + 1} is no constant")
        return argument.value

    def cell_or_none(self, position: int) -> int:
        """The cell of a whole number that may be missing: 0 then."""
        return 0 if self.value(position) is None else self.cell(position)

    def word(self, position: int) -> int:
        """The word of an argument that is an attribute; 0 where it is none."""
        argument = self.window.arguments[position]
        if not isinstance(argument, Column):
            return 0
        return self.rows.names.columns[argument.slot, argument.position][1]

    def node(
        self, op: int, state: int, *more: int,
        splits: bool = False, resets: bool = False, needs_leavers: bool = False,
    ) -> int:  # fmt: skip
        """The node. It makes several chunks of one (`splits`), has a row that resets behind those
        that leave, before any comes (`resets`), or needs rows that leave itself.
        """
        place, width, following = self.place, self.rows.width, self.following
        wanted = place.builder.wanted(following, resets=resets)
        leavers = needs_leavers or wanted >> EXPIRED & 1
        if splits:
            following = place.builder.node(SPLIT, following, width, width, 0, place.rank)
        return place.builder.node(
            op, following, width, width, state, place.rank, self.rows.words, int(leavers), *more
        )

    def take(self, words: int) -> int:
        """The place of so many words of its state."""
        return self.place.home.take(words)

    def held(
        self, node: int, state: int, head: int = 0, *, by_turn: bool = False, is_queue: bool = False
    ) -> int:
        """Say where the rows lie that joins find in it, behind `head` words each; the node."""
        held = Held(state, head + self.rows.words, head, by_turn, is_queue)
        self.place.builder.held[node] = held
        return node

    def held_by_key(self, op: int, state: int, *more: int) -> int:
        """The node of a window that keeps its rows by key, which joins see by a view."""
        place, width = self.place, self.rows.width
        node = place.builder.node(op, self.following, width, width, state, place.rank, *more)
        place.builder.held[node] = HeldByKey(node, state)
        return node


def _length(make: Making) -> int:
    state = make.take(RING)
    node = make.node(LENGTH, state, 0, make.cell(0), 0, 0, make.next)
    return make.held(node, state, is_queue=True)


def _timed(make: Making, length: int = 0, jump: int = 0, *, is_delay: bool = False) -> int:
    state = make.take(TIME_STATE)
    node = make.node(
        TIME_WINDOW, state, make.cell(0), length, int(is_delay), jump, make.next,
        needs_leavers=is_delay,
    )  # fmt: skip
    return make.held(node, state, HELD, by_turn=True, is_queue=True)


def _length_batch(make: Making) -> int:
    state = make.take(batches.BATCH_STATE)
    streams = int(bool(make.value(1)))
    node = make.node(LENGTH_BATCH, state, make.cell(0), streams, splits=True, resets=True)
    return make.held(node, state + batches.SENT)


def _batch(make: Making) -> int:
    state = make.take(batches.RESET_ROW + make.rows.words)
    return make.held(make.node(BATCH, state, make.cell(0), splits=True, resets=True), state)


def _cron(make: Making) -> int:
    state = make.take(batches.BATCH_STATE)
    schedule = calendar(make.place.builder, str(make.value(0)))
    return make.held(make.node(CALENDAR, state, schedule), state + batches.SENT)


def _time_batch(make: Making) -> int:
    state = make.take(time_batches.RESET_ROW + make.rows.words)
    streams = int(bool(make.value(2)))
    node = make.node(TIME_BATCH, state, make.cell(0), make.cell_or_none(1), streams, resets=True)
    return make.held(node, state + batches.SENT)


def _hopping(make: Making) -> int:
    state = make.take(time_batches.RESET_ROW + make.rows.words)
    late = make.place.builder.counter(make.place.part)
    node = make.node(HOPPING, state, make.cell(0), make.cell(1), late, resets=True)
    return make.held(node, state + batches.SENT)


def _external_time(make: Making) -> int:
    state = make.take(RING)
    node = make.node(EXTERNAL_TIME, state, make.word(0), make.cell(1))
    return make.held(node, state, is_queue=True)


def _external_batch(make: Making) -> int:
    state = make.take(external.RESET_ROW + make.rows.words)
    column = make.word(2)
    timeout = make.cell_or_none(3) or make.place.builder.cell(0)
    node = make.node(
        EXTERNAL_BATCH, state, make.word(0), make.cell(1), column,
        0 if column else make.cell_or_none(2), timeout, int(bool(make.value(4))),
        splits=True, resets=True,
    )  # fmt: skip
    return make.held(node, state + external.SENT)


def _sort(make: Making) -> int:
    builder, keys = make.place.builder, list[int]()
    for position in range(1, len(make.window.arguments), 2):
        type_ = make.window.arguments[position].type
        if type_ in (Type.OBJECT, Type.LIST):
            raise Unsupported("values that are objects")
        is_text = type_ is Type.STRING
        if is_text:
            builder.order_texts(make.place.part)
        compared = AS_REAL if type_.is_real else AS_TEXT if is_text else AS_WHOLE
        keys += [make.word(position), compared, int(make.value(position + 1) == "desc")]
    state = make.take(ordered.SORT_STATE)
    node = make.node(SORT_WINDOW, state, make.cell(0), len(keys) // 3, builder.block(keys))
    return make.held(node, state)


def _length_jump(make: Making) -> int:
    columns = []
    for position, argument in enumerate(make.window.arguments[2:], 2):
        if argument.type in (Type.OBJECT, Type.LIST):
            raise Unsupported("values that are objects")
        at = make.word(position)
        columns.append(-at if argument.type.is_real else at)
    state = make.take(jumps.JUMP_STATE)
    return make.held_by_key(
        LENGTH_JUMP, state, len(columns), make.place.builder.block(columns),
        make.cell(0), make.cell(1), make.rows.words,
    )  # fmt: skip


def _session(make: Making) -> int:
    builder, key = make.place.builder, make.word(1)
    if key:
        builder.hash_texts(make.place.part)
    state = make.take(sessions.SESSION_STATE)
    return make.held_by_key(
        SESSION, state, int(key != 0), builder.block([key]), make.rows.words,
        make.cell(0), make.cell(2), builder.counter(make.place.part), builder.code_of("None"),
    )  # fmt: skip


def _frequent(make: Making) -> int:
    return _counted(make, 1, make.cell(0), 0)


def _lossy_frequent(make: Making) -> int:
    support, error = (float(str(make.value(position))) for position in (0, 1))
    if not error:
        raise Unsupported("values that are never forgotten")
    cell = make.place.builder.cell
    return _counted(make, 2, cell(support - error), cell(math.ceil(1 / error)))


def _counted(make: Making, first: int, *cells: int) -> int:
    """A window of values, made of the attributes from an argument on, of all if there are none."""
    builder = make.place.builder
    values = make.window.arguments[first:] or tuple(
        Column(place, one.name, one.type)
        for place, one in enumerate(() if make.schema is None else make.schema.attributes)
    )
    types = [value.type for value in values]
    columns = make.rows.names.group(value for value in values if isinstance(value, Column))
    placed = HostCall(
        Call(make.window.name, tuple(values), Type.LONG), "", lambda host: partial(_place, types)
    )
    code = builder.code(builder.writer(make.rows.names).computed(placed))
    state, more = make.take(frequent.COUNTED_STATE), (make.rows.words, code, *cells)
    return make.held_by_key(FREQUENT, state, len(columns), builder.block(columns), *more)


def _place(types: Sequence[Type], *values: Any) -> int:
    """Where Java's hash tables put the texts of values, one behind the other."""
    pairs = zip(values, types, strict=True)
    return text_hash(
        "".join("null" if one is None else as_text(one, type_) for one, type_ in pairs)
    )


WINDOWS: dict[str, Callable[[Making], int]] = {
    "batch": _batch,
    "cron": _cron,
    "delay": lambda make: _timed(make, is_delay=True),
    "expression": lower_expression,
    "expressionBatch": lower_expression_batch,
    "externalTime": _external_time,
    "externalTimeBatch": _external_batch,
    "frequent": _frequent,
    "hopping": _hopping,
    "length": _length,
    "lengthBatch": _length_batch,
    "time": _timed,
    "lengthJump": _length_jump,
    "lossyFrequent": _lossy_frequent,
    "session": _session,
    "sort": _sort,
    "timeBatch": _time_batch,
    "timeJump": lambda make: _timed(make, jump=make.cell(1)),
    "timeLength": lambda make: _timed(make, make.cell(1)),
}


def lower_window(
    place: Stands, window: Window, rows: Carries, following: int, schema: Schema | None = None
) -> int:
    """The node of a window; `builder.held` says by it where its rows lie.

    Conditions need the `schema` of the rows in front of it.
    """
    make = WINDOWS.get(window.name)
    if make is None:
        raise Unsupported(f"window `{window.name}`")
    return make(Making(place, window, rows, following, schema))
