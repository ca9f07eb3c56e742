"""Stream functions as nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from cep.dropped import Reason
from cep.engine.machine.by_key import key_word
from cep.engine.machine.expressions import HostCall, Unsupported
from cep.engine.machine.indicators import need_same_loss, own_call
from cep.engine.machine.kernels.bars import BAR_WORDS, BY_TICKS, BY_TIME, BY_VOLUME
from cep.engine.machine.kernels.host import ARITY_BITS
from cep.engine.machine.kernels.keyed import KEYED_STATE, OF_KEY
from cep.engine.machine.kernels.lines import BOLLINGER_STATE, MACD_STATE
from cep.engine.machine.kernels.steps import BARS, BOLLINGER, MACD, OWN, POINT, TELL
from cep.interpreter.rows import Row
from cep.interpreter.stream_functions import write_log
from cep.plan.expressions import Call, Column, Constant, EventTime, Expression
from cep.plan.steps import StreamFunction
from cep.plan.types import Type

if TYPE_CHECKING:
    from cep.engine.machine.queries import Place, Selecting

ENDED_BY = {"bars:time": BY_TIME, "bars:ticks": BY_TICKS, "bars:volume": BY_VOLUME}


def lower_function(
    place: Place, function: StreamFunction, selecting: Selecting, following: int, added: int
) -> int:
    """The node of a stream function; `added` is the first word that it adds to rows."""
    match function.name:
        case _ if function.digest:
            return _own(place, function, selecting, following, added)
        case "bars:time" | "bars:ticks" | "bars:volume":
            return _bars(place, function, selecting, following, added)
        case "bollinger":
            state, constants = BOLLINGER_STATE, [int(_constant(function, 1))]
            cells = [*constants, float(_constant(function, 2))]
            return _lines(BOLLINGER, place, function, selecting, following, added, state, cells)
        case "macd":
            rows = [int(_constant(function, one)) for one in (1, 2, 3)]
            return _lines(MACD, place, function, selecting, following, added, MACD_STATE, rows)
        case "log":
            return _log(place, function, selecting, following)
        case "pol2Cart":
            return _point(place, function, selecting, following, added)
        case _:
            raise Unsupported(f"stream function `{function.name}`")


def _constant(function: StreamFunction, position: int) -> int | float:
    argument = function.arguments[position]
    assert isinstance(argument, Constant)
    value = argument.value
    assert isinstance(value, int | float)
    return value


def _keyed(
    place: Place, function: StreamFunction, selecting: Selecting, added: int, state: int
) -> list[int]:
    """What all nodes with a block for each group say; see `kernels.keyed`."""
    builder, columns = place.builder, selecting.names.group(function.keys)
    words = OF_KEY + len(columns) + state
    return [len(columns), builder.block(columns), _clock(place, selecting), words, added]


def _clock(place: Place, selecting: Selecting) -> int:
    """The word of the key by which a group has a clock; see `Context.key_of`."""
    has_key = place.builder.clocks["query", selecting.query.name].key_positions
    return key_word(place, selecting.query) if has_key else -1


def _bars(
    place: Place, function: StreamFunction, selecting: Selecting, following: int, added: int
) -> int:
    builder, query = place.builder, selecting.query
    writer = builder.writer(selecting.names)
    price, volume, _ = function.arguments
    by = ENDED_BY[function.name]
    size = _constant(function, 2)
    cell = builder.cell(float(size) if by == BY_VOLUME else int(size))
    is_whole = volume.type is Type.LONG
    dropped = builder.counter(("query", query.name), Reason.LATE) if by == BY_TIME else 0
    return builder.node(
        BARS, following, selecting.width, selecting.width,
        place.home.take(KEYED_STATE), place.rank,
        *_keyed(place, function, selecting, added, BAR_WORDS + added),
        by, cell, builder.value(writer.double(price)),
        builder.value(writer.value(volume) if is_whole else writer.double(volume)),
        int(is_whole), dropped,
    )  # fmt: skip


def _lines(
    op: int, place: Place, function: StreamFunction, selecting: Selecting, following: int,
    added: int, state: int, constants: Sequence[float],
) -> int:  # fmt: skip
    builder = place.builder
    code = builder.value(builder.writer(selecting.names).double(function.arguments[0]))
    cells = [builder.cell(one) for one in constants]
    return builder.node(
        op, following, selecting.width, selecting.width,
        place.home.take(KEYED_STATE), place.rank,
        *_keyed(place, function, selecting, added, state), code, *cells,
    )  # fmt: skip


def _own(
    place: Place, function: StreamFunction, selecting: Selecting, following: int, added: int
) -> int:
    """An indicator of the user."""
    builder, query, count = place.builder, selecting.query, len(function.added)
    in_front = not any(function in one.after for one in query.inputs)
    need_same_loss(builder, query, function.name, in_front=in_front)
    call = own_call(builder, function, builder.writer(selecting.names, rows_fail=True))
    return builder.node(
        OWN, following, selecting.width, selecting.width,
        place.home.take(KEYED_STATE), place.rank,
        *_keyed(place, function, selecting, added, 1 + count), builder.code(call), count,
    )  # fmt: skip


def _log(place: Place, function: StreamFunction, selecting: Selecting, following: int) -> int:
    """Python writes each row to the log."""
    builder, (priority, *said) = place.builder, function.arguments
    columns = tuple(
        Column(position, one.name, one.type)
        for position, one in enumerate(selecting.query.input.schema.attributes)  # type: ignore[union-attr]
    )
    if len(columns) + 3 >= 1 << ARITY_BITS:
        raise Unsupported("a log of so many values")
    assert isinstance(priority, Constant)
    level = str(priority.value or "info").lower()
    call = Call("log", (*said, EventTime(None), *columns), Type.LONG)
    made = HostCall(call, "", lambda host: partial(_logged, level, selecting.query.name))
    code = builder.code(builder.writer(selecting.names).computed(made))
    return builder.node(TELL, following, selecting.width, selecting.width, 0, place.rank, code)


def _logged(
    level: str, place: str, message: str | None, has_row: bool | None, time_ms: int, *values: Any
) -> int:
    """As `cep.interpreter.stream_functions` does."""
    write_log(level, place, message, Row(time_ms, list(values)) if has_row else None)
    return 0


def _point(
    place: Place, function: StreamFunction, selecting: Selecting, following: int, added: int
) -> int:
    builder, count = place.builder, len(function.added)
    writer = builder.writer(selecting.names)
    values: tuple[Expression, ...] = function.arguments[:count]
    codes = [builder.code(writer.double(one)) for one in values]
    return builder.node(
        POINT, following, selecting.width, selecting.width, 0, place.rank, added, count, *codes
    )
