"""A whole rule file in the interpreter: records in, the rows that they cause out, in order."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from cep.clocks import Mode
from cep.dropped import Dropped
from cep.interpreter.interpreter import Interpreter
from cep.interpreter.rows import Chunk
from cep.plan.nodes import Plan, Stream
from cep.plan.numbers import to_float
from cep.plan.types import Type

OutputRow = dict[str, Any]
"""`{"stream", "time_msc", "kind", ...attributes}`."""

NULL = -(2**63)
"""The long that stands for no value, as in files and in the native engine."""


class InterpretedRun:
    """Runs a plan record by record, as the native engine's run does, and puts out the same.

    `outputs` names the streams whose rows are returned (default: every derived stream).
    """

    def __init__(
        self, plan: Plan, outputs: Collection[str] | None = None, mode: Mode = "sorted"
    ) -> None:
        self.interpreter = Interpreter(plan, mode=mode)
        self._types = {s.name: [a.type for a in s.schema.attributes] for s in plan.streams}
        self._waits = any(stream.reorder is not None for stream in plan.streams)
        self._made: list[OutputRow] = []
        wanted = plan.derived if outputs is None else plan.made.intersection(outputs)
        for stream in plan.streams:
            if stream.name in wanted:
                self.interpreter.on_output(stream.name, partial(self._take, stream))

    def push(
        self, stream: str, time_ms: int, values: Sequence[Any], n: int | None = None
    ) -> list[OutputRow]:
        """Take a record of a source stream: its time in ms UTC, its values in order.

        `n` is its place among all records; by default they are counted.
        """
        types = self._types[stream]
        taken = [taken_in(type_, value) for type_, value in zip(types, values, strict=True)]
        if self._waits:  # what waits for order may go on by the time of any record
            self.interpreter.let_go(time_ms, n)
            n = self.interpreter.shared.cause.n
        self.interpreter.send(stream, [(time_ms, taken)], n)
        return self._taken()

    def push_row(self, stream: str, time_ms: int, row: Mapping[str, Any]) -> list[OutputRow]:
        """Take a record given as a dictionary; KeyError names what it lacks."""
        names = self.interpreter.plan.stream(stream).schema.names
        return self.push(stream, time_ms, [row[name] for name in names])

    def advance(self, time_ms: int, *, is_complete: bool = True) -> list[OutputRow]:
        """Take a watermark of all keys: what is due by then happens, and what comes is late.

        Without `is_complete` it is somebody's own clock, which makes nothing late.
        """
        self._start(time_ms)
        self.interpreter.advance(time_ms, is_complete=is_complete)
        return self._taken()

    def _start(self, time_ms: int) -> None:
        if self.interpreter.now_ms is None:
            self.interpreter.start(time_ms)  # told before the first record, it is the beginning

    def tell(
        self, keys: Collection[str], time_ms: int, common_ms: int | None, *, is_complete: bool
    ) -> list[OutputRow]:
        """Take a watermark of some keys; see `Interpreter.advance_keys`."""
        self._start(time_ms)
        self.interpreter.advance_keys(keys, time_ms, common_ms, is_complete=is_complete)
        return self._taken()

    def end(self, time_ms: int) -> list[OutputRow]:
        """The input ends at a time: what is due by then happens, and nothing waits any more."""
        self.interpreter.end(time_ms)
        return self._taken()

    def wall(self, time_ms: int) -> list[OutputRow]:
        """Say what the wall's clock shows; see `Interpreter.wall`."""
        self.interpreter.wall(time_ms)
        return self._taken()

    @property
    def dropped(self) -> Dropped:
        """What was dropped so far."""
        return self.interpreter.dropped

    def _take(self, stream: Stream, chunk: Chunk) -> None:
        types, names = self._types[stream.name], stream.schema.names
        for row in chunk:
            values = all_put_out(types, row.values)
            head = {"stream": stream.name, "time_msc": row.time, "kind": "current"}
            self._made.append(head | dict(zip(names, values, strict=True)))

    def _taken(self) -> list[OutputRow]:
        made, self._made = self._made, []
        return made


def taken_in(type_: Type, value: Any) -> Any:
    """A value of a record as the interpreter has it: what is no number is no value."""
    match type_:
        case _ if value is None:
            return None
        case Type.FLOAT | Type.DOUBLE:
            number = to_float(value) if type_ is Type.FLOAT else float(value)
            return number if math.isfinite(number) else None
        case Type.INT | Type.LONG:
            return None if value == NULL else int(value)
        case Type.BOOL:
            return bool(value)
        case _:
            return value


def all_put_out(types: Sequence[Type], values: Sequence[Any]) -> list[Any]:
    """The values of a row as it is put out."""
    return [put_out(type_, value) for type_, value in zip(types, values, strict=True)]


def put_out(type_: Type, value: Any) -> Any:
    """A value as rows show it: as its attribute's type says, None where it does not fit."""
    match type_:
        case Type.OBJECT | Type.LIST:
            return value
        case Type.STRING:
            return value if isinstance(value, str) else None
        case _ if not isinstance(value, int | float) or not math.isfinite(value):
            return None
        case Type.FLOAT | Type.DOUBLE:
            return float(value)
        case Type.BOOL:
            return bool(value)
        case _:
            return None if value == NULL else int(value)
