"""The conditions of expression windows as nodes, with the running values in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from cep.engine.machine.aggregates import lower_group
from cep.engine.machine.dispatch import Word
from cep.engine.machine.expressions import Names, Unsupported, word_of
from cep.engine.machine.kernels.conditions import CONDITION_STATE, SENT
from cep.engine.machine.kernels.steps import EXPRESSION, EXPRESSION_BATCH
from cep.engine.machine.kernels.words import RING, TIME, VALUES
from cep.plan.expressions import Constant
from cep.plan.steps import GroupBy
from cep.plan.types import Schema
from cep.plan.window_conditions import WindowCondition, window_condition

if TYPE_CHECKING:
    from cep.engine.machine.windows import Making


@dataclass(frozen=True, slots=True)
class Judged:
    """The rows on which a condition is judged: the one that moves, the first, the last, values."""

    names: Names
    words: int
    width: int
    rows_leave: bool = True
    others_leave: bool = False


def lower_expression(make: Making) -> int:
    """`expression(condition)`."""
    state = make.take(RING)
    code, totals, width = _condition(make)
    node = make.node(EXPRESSION, state, code, totals, 0, 0, width, needs_leavers=True)
    return make.held(node, state, is_queue=True)


def lower_expression_batch(make: Making) -> int:
    """`expressionBatch(condition, include_trigger, stream_current)`."""
    state = make.take(CONDITION_STATE)
    code, totals, width = _condition(make)
    builder = make.place.builder
    includes = builder.code(builder.writer(make.rows.names).condition(make.window.arguments[1]))
    streams = int(bool(make.value(2)))
    came = make.rows.words - 1 if make.rows.carries_arrival else TIME
    node = make.node(
        EXPRESSION_BATCH, state, code, totals, includes, streams, width, came, splits=True
    )
    return make.held(node, state + SENT)


def _condition(make: Making) -> tuple[int, int, int]:
    """The places of the condition and of the node of its values (0: none), the words of a row."""
    text = make.window.arguments[0]
    if not isinstance(text, Constant) or make.window.digests:
        raise Unsupported("a condition of a window that is no constant")
    if make.schema is None:
        raise Unsupported(f"window `{make.window.name}` here")
    found = window_condition(str(text.value), make.schema)
    judged = _judged(make, make.schema, found)
    totals = 0
    if found.aggregates:
        step = GroupBy((), found.aggregates)
        totals = lower_group(cast(Any, make.place), cast(Any, judged), step, 0)
    writer = make.place.builder.writer(judged.names)
    return make.place.builder.code(writer.condition(found.condition)), totals, judged.width


def _judged(make: Making, schema: Schema, found: WindowCondition) -> Judged:
    """The row that moves is slot 0, the first of the window slot 1, the last slot 2."""
    words, first = make.rows.words, 3 * make.rows.words
    columns: dict[tuple[int, ...], tuple[Word, int]] = {
        (slot, position): (word_of(one.type), slot * words + VALUES + position)
        for slot in range(3)
        for position, one in enumerate(schema.attributes)
    }
    times = {None: 0, 0: 0, 1: words, 2: 2 * words}
    values = tuple((word_of(one.type), first + n) for n, one in enumerate(found.aggregates))
    return Judged(Names(columns, times, values), first, first + len(values))
