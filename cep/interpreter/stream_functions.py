"""Stream functions: chunk in, chunk out, with attributes added to each row."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from loguru import logger

from cep.dropped import Reason
from cep.interpreter.bars import TickBars, TimeBars, VolumeBars
from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.indicators import Bollinger, Constants, Indicator, Macd
from cep.interpreter.own import own_indicator
from cep.interpreter.rows import Chunk, Emit, Evaluator, Row
from cep.plan.expressions import Constant
from cep.plan.groups import Group, group_of
from cep.plan.steps import StreamFunction

Apply = Callable[[Chunk], Chunk]
MakeIndicator = Callable[[list[Evaluator], Constants], Indicator]
Make = Callable[[StreamFunction, list[Evaluator], Context, Emit | None], Apply]
LEVELS = {"fatal": "critical", "warn": "warning"}
"""Log levels of Siddhi that are called otherwise here; `off` writes nothing."""


def _log(
    function: StreamFunction, arguments: list[Evaluator], context: Context, emit: Emit | None
) -> Apply:
    """Writes each row, behind the query's place and the message, and lets it pass."""
    priority, message, has_row = arguments
    place = context.path

    def process(chunk: Chunk) -> Chunk:
        for row in chunk:
            level = str(priority(row) or "info").lower()
            write_log(level, place, message(row), row if has_row(row) is True else None)
        return chunk

    return process


def write_log(level: str, place: str, message: str | None, row: Row | None) -> None:
    """Write a row that came to a place, a message, or both."""
    parts = [one for one in (message, row) if one is not None] or ["a row came"]
    if level != "off":
        level = LEVELS.get(level, level).upper()
        logger.log(level, "{}: {}", place, ", ".join(map(str, parts)))


def _pol2cart(
    function: StreamFunction, arguments: list[Evaluator], context: Context, emit: Emit | None
) -> Apply:
    """Degrees and a radius to the coordinates of the point; a third is passed on."""
    theta, rho, height = arguments
    added = len(function.added)

    def point(row: Row) -> list[Any]:
        angle, radius = theta(row), rho(row)
        if angle is None or radius is None:
            return [None, None, height(row)][:added]
        radians = math.radians(angle)
        return [radius * math.cos(radians), radius * math.sin(radians), height(row)][:added]

    def process(chunk: Chunk) -> Chunk:
        return [row.with_values([*row.values, *point(row)]) for row in chunk]

    return process


class KeyedIndicator:
    """An indicator for each group of rows (`group by`, `keys`).

    Rows that are not current pass with what was added last. A bar ends when its time is over by the
    clock of its group, which is that of its key where the query works by the key.
    """

    def __init__(
        self,
        function: StreamFunction,
        make: MakeIndicator,
        arguments: list[Evaluator],
        context: Context,
        emit: Emit | None,
    ) -> None:
        self._context, self._emit = context, emit
        values = [item.value if isinstance(item, Constant) else None for item in function.arguments]
        self._make: Callable[[], Indicator] = lambda: make(arguments, values)
        self._keys = [evaluator(key, context) for key in function.keys]
        self._groups: dict[Group, IndicatorOfGroup] = {}

    def process(self, chunk: Chunk) -> Chunk:
        """The rows that come out."""
        return [out for row in chunk for out in self._group(row).take(row)]

    def _group(self, row: Row) -> IndicatorOfGroup:
        group = group_of([read(row) for read in self._keys])
        return self._groups.get(group) or self._begin(group, self._context.key_of(row))

    def _begin(self, group: Group, key: str | None) -> IndicatorOfGroup:
        place = self._context.of_group(len(self._groups), key)
        found = self._groups[group] = IndicatorOfGroup(self._make(), key, place, self._emit)
        return found

    def state(self) -> Any:
        return [[list(group), one.key, one.item.state()] for group, one in self._groups.items()]

    def restore(self, state: Any) -> None:
        for group, key, saved in state:
            self._begin(group_of(group), key).item.restore(saved)


class IndicatorOfGroup:
    """The indicator of one group, and the timer that ends what is under way there.

    `key` is that by which it has a clock, if it has.
    """

    def __init__(
        self, item: Indicator, key: str | None, context: Context, emit: Emit | None
    ) -> None:
        self.item = item
        self.key = key
        self._context, self._emit = context, emit
        self._timer = None if emit is None else context.timer("bars", self._due)

    def take(self, row: Row) -> Chunk:
        """The rows that come out of one; late ones do not reopen what time has closed."""
        if self._timer is None:
            return self.item.take(row)
        if self._context.shared.cause.is_late:
            ends_ms = self.item.ends_ms(row)
            if ends_ms is not None and ends_ms <= self._context.now_ms:
                self._context.drop_for(Reason.LATE)
                return []
        before = self.item.due_ms
        out = self.item.take(row)
        due_ms = self.item.due_ms
        if due_ms is not None and due_ms != before:
            self._timer.at(due_ms)
        return out

    def _due(self, due_ms: int) -> None:
        """Time ends what is due."""
        if self._emit is not None and self.item.due_ms is not None and self.item.due_ms <= due_ms:
            self._emit(self.item.end())


def _keyed(make: MakeIndicator) -> Make:
    """An indicator for each group, what they remember kept for snapshots."""

    def made(
        function: StreamFunction, arguments: list[Evaluator], context: Context, emit: Emit | None
    ) -> Apply:
        part = KeyedIndicator(function, make, arguments, context, emit)
        context.keep(part, "function")
        return part.process

    return made


_FUNCTIONS: dict[str, Make] = {
    "bars:ticks": _keyed(TickBars),
    "bars:time": _keyed(TimeBars),
    "bars:volume": _keyed(VolumeBars),
    "bollinger": _keyed(Bollinger),
    "log": _log,
    "macd": _keyed(Macd),
    "pol2Cart": _pol2cart,
}


def make_stream_function(
    function: StreamFunction, context: Context, emit: Emit | None = None
) -> Apply:
    """A stream function; any other is an indicator of the user, by its digest.

    What time makes of it goes to `emit`; without one time makes nothing.
    """
    arguments = [evaluator(argument, context) for argument in function.arguments]
    make = _FUNCTIONS.get(function.name) or _keyed(own_indicator(function))
    return make(function, arguments, context, emit)
