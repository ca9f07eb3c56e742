"""Complex events as terminals get them: numbered, with the rows that raised their simple events.

Numbers are part of the state of the rules: a restart goes on with them, and finds those again that
it finds again. An event is let go only when the record that caused it is on disk, so that no crash
can give its number to another one.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import msgspec

from cep.engine.rows import Row
from cep.live.market import record_values
from cep.live.pipeline import Caused
from cep.live.quarantine import Complain, warn
from cep.market import DEAL_STREAM, TICK_STREAM
from cep.plan.nodes import Complex, Event, Plan
from mt5bridge.records import fixed_text
from mt5bridge.wire import (
    BODY_BYTES_MAX,
    BOUND_MAX,
    FIELDS_MAX,
    SEQUENCE_MAX,
    TIME_MSC_MAX,
    TIME_MSC_MIN,
    Bound,
    Field,
    FieldKind,
    Standing,
    WireError,
    encode,
)
from mt5bridge.wire import Event as Frame
from mt5bridge.wire.layout import TEXT_BYTES_MAX

_ROW = ("stream", "time_msc", "kind")
_FIELD_BYTES_MAX = 32 + 2 * TEXT_BYTES_MAX
_HEAD_BYTES_MAX = 64 + 3 * TEXT_BYTES_MAX
"""More than a field takes in a frame, and the head of the frame or of a simple event in it: most
frames need not be encoded to know that they fit.
"""
Values = Mapping[str, Any]
Place = tuple[str, int]  # engine and sequence
Key = tuple[str, str]  # engine and key


class Remembered(msgspec.Struct, frozen=True, array_like=True):
    """A simple event in a queue, and the attributes of the row that raised it."""

    engine: str
    sequence: int
    time_msc: int
    name: str
    stream: str
    key: str
    values: dict[str, Any]


class State(msgspec.Struct, frozen=True, array_like=True):
    """What a restart goes on with."""

    numbering: int
    numbers: dict[str, int]
    remembered: list[Remembered]


@dataclass(slots=True)
class _Record:
    """What one record has led to so far: the rows of streams that raise events."""

    ingest: int
    rows: dict[str, list[Row]]


class ComplexEvents:
    """Belongs to the server's thread.

    `waiting_max` complex events wait for the disk, or at a start for terminals: the newest, as
    numbers show. The rows of `remembered_max` simple events are remembered until they may be bound;
    what is forgotten before that, `complain` is told of.
    """

    def __init__(
        self, waiting_max: int = 10_000, remembered_max: int = 65_536, complain: Complain = warn
    ) -> None:
        self.scope = ""
        """Begins the names of complex events and engines, for those of several rule files."""
        self._remembered_max = remembered_max
        self._complain = complain
        self._plan: Plan | None = None
        self._events: dict[str, Event] = {}
        self._complexes: dict[str, Complex] = {}
        self._sources: frozenset[str] = frozenset()
        self._names: dict[int, str] = {}
        self._span_ms: dict[str, int] = {}
        self._remembered: dict[Place, Remembered] = {}
        self._of_key: dict[Key, deque[Place]] = {}
        self._waiting: deque[tuple[int, Frame]] = deque(maxlen=waiting_max)
        self._numbers: dict[str, int] = {}
        self._is_told = False
        self.numbering = 0
        self.begin()

    def begin(self, state: bytes = b"") -> None:
        """Go on with a state, or, without one, with a numbering of its own."""
        found = _decode(state) if state else State(secrets.randbits(63) or 1, {}, [])
        self.numbering, self._numbers = found.numbering, dict(found.numbers)
        self._remembered, self._of_key = {}, {}
        for one in found.remembered:
            self._keep(one)
        self._waiting.clear()
        self._is_told = False

    def state(self) -> bytes:
        """What `begin` goes on with, after the rows taken so far."""
        return _encode(State(self.numbering, self._numbers, list(self._remembered.values())))

    def go_on(self, plan: Plan) -> None:
        """The rules from now on; complex events that stay go on with their numbers."""
        self._plan = plan
        self._events = {one.name: one for one in plan.operators if isinstance(one, Event)}
        self._complexes = {one.name: one for one in plan.operators if isinstance(one, Complex)}
        self._sources = frozenset(one.source for one in self._events.values())
        self._names = {one.number: one.name for one in self._events.values()}
        self._names |= {one.number: one.complex for one in plan.chained}
        self._span_ms = {one.name: one.span_ms for one in plan.engines}
        self._is_told = False

    @property
    def is_told(self) -> bool:
        """Whether nothing has changed in the standings but numbers since the last call."""
        is_told, self._is_told = self._is_told, True
        return is_told

    def standings(self) -> list[Standing]:
        """The complex events of the rules, and how many there were of each and were let go."""
        waiting: dict[str, int] = {}
        for _, event in self._waiting:
            waiting[event.name] = waiting.get(event.name, 0) + 1
        return [
            self._standing(
                name, self._numbers.get(name, 0) - waiting.get(self.scope + name, 0), one
            )
            for name, one in self._complexes.items()
        ]

    def _standing(self, name: str, number: int, one: Complex) -> Standing:
        return Standing(number, self.scope + name, self.scope + one.engine)

    def take(self, rows: Sequence[Row], caused: Caused) -> None:
        """Rows that the rules have put out, in order, each once in the life of the rules."""
        if not self._complexes:
            return
        record = _Record(-1, {})
        events, complexes, sources = self._events, self._complexes, self._sources
        for row, ingest in zip(rows, caused.rows.orders.tolist(), strict=True):
            stream = row["stream"]
            if ingest != record.ingest:
                record = _Record(ingest, {})
            if stream in sources:
                record.rows.setdefault(stream, []).append(row)
            if stream in events:
                self._remember(events[stream], row, record, caused)
            elif stream in complexes:
                self._number(complexes[stream], row, ingest)

    def release(self, durable_ingest: int) -> Iterator[Frame]:
        """The events whose records are on disk, each once, in order."""
        while self._waiting and self._waiting[0][0] <= durable_ingest:
            yield self._waiting.popleft()[1]

    def _remember(self, event: Event, row: Row, record: _Record, caused: Caused) -> None:
        values = self._values(event, row, record, caused)
        key = row["key"] or ""
        self._keep_newest(
            Remembered(
                event.engine, row["seq"], row["time_msc"], event.name, event.source, key, values
            )
        )
        self._forget((event.engine, key), row["time_msc"] - 2 * self._span_ms[event.engine])

    def _keep_newest(self, one: Remembered) -> None:
        self._keep(one)
        if len(self._remembered) > self._remembered_max:
            oldest = next(iter(self._remembered.values()))
            most = f"more than {self._remembered_max:,} simple events may be bound"
            self._complain("bindings_forgotten", f"{oldest.name} in {oldest.engine}: {most}")
            self._drop(oldest)

    def _keep(self, one: Remembered) -> None:
        place = one.engine, one.sequence
        if place not in self._remembered:
            self._of_key.setdefault((one.engine, one.key), deque()).append(place)
        self._remembered[place] = one

    def _forget(self, key: Key, before_msc: int) -> None:
        """What cannot be bound any more: twice as old as the queue is long, for symbols whose
        times are apart may stand in one queue.
        """
        while (first := self._remembered[self._of_key[key][0]]).time_msc < before_msc:
            self._drop(first)

    def _drop(self, oldest: Remembered) -> None:
        """Forget the oldest one of its key."""
        places = self._of_key[oldest.engine, oldest.key]
        del self._remembered[places.popleft()]
        if not places:
            del self._of_key[oldest.engine, oldest.key]

    def _values(self, event: Event, row: Row, record: _Record, caused: Caused) -> dict[str, Any]:
        """The attributes of the row that raised an event, where it can be told."""
        if event.source in (TICK_STREAM, DEAL_STREAM):
            assert self._plan is not None
            return record_values(self._plan, caused.cause(record.ingest), record.ingest)
        found = record.rows.get(event.source, [])
        if event.key is not None:
            found = [one for one in found if one[event.key.name] == row["key"]]
        if len(found) != 1:
            return {}
        return {name: value for name, value in found[0].items() if name not in _ROW}

    def _number(self, complex_: Complex, row: Row, ingest: int) -> None:
        number = self._numbers[complex_.name] = self._numbers.get(complex_.name, 0) + 1
        places = zip(row["arrangement"], row["events"], strict=True)
        bound = tuple(self._bound(complex_.engine, *place) for place in places)
        frame = Frame(
            min(number, SEQUENCE_MAX),
            time_of(row["time_msc"]),
            time_of(row["first_msc"]),
            text_of(self.scope + complex_.name),
            text_of(self.scope + complex_.engine),
            text_of(row["key"] or ""),
            bound[:BOUND_MAX],
        )
        self._waiting.append((ingest, fitting(frame)))

    def _bound(self, engine: str, number: int, sequence: int) -> Bound:
        found = self._remembered.get((engine, sequence))
        if found is None:
            assert self._plan is not None
            name = self._names.get(number % self._plan.number_stride, "")
            return Bound(sequence, 0, text_of(name), "", "", ())
        fields = tuple(field_of(*item) for item in list(found.values.items())[:FIELDS_MAX])
        name, stream, key = map(text_of, (found.name, found.stream, found.key))
        return Bound(sequence, time_of(found.time_msc), name, stream, key, fields)


def fitting(frame: Frame) -> Frame:
    """The frame; without fields when it is too large with them."""
    fields, heads = sum(len(one.fields) for one in frame.bound), len(frame.bound) + 1
    if fields * _FIELD_BYTES_MAX + heads * _HEAD_BYTES_MAX <= BODY_BYTES_MAX:
        return frame  # whatever its texts are
    try:
        encode(frame)
    except WireError:
        return replace(frame, bound=tuple(replace(one, fields=()) for one in frame.bound))
    return frame


def time_of(time_msc: int) -> int:
    """As a frame can hold it."""
    return max(TIME_MSC_MIN, min(time_msc, TIME_MSC_MAX))


def text_of(text: str) -> str:
    """As every terminal can take it."""
    plain = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "?")
    return fixed_text(plain, TEXT_BYTES_MAX).decode()


def field_of(name: str, value: Any) -> Field:
    """An attribute as frames have it; what is neither truth, number nor text is null."""
    match value:
        case bool():
            return Field(FieldKind.BOOL, int(value), 0.0, text_of(name), "")
        case int() if -(2**63) <= value < 2**63:
            return Field(FieldKind.WHOLE, value, 0.0, text_of(name), "")
        case float() if isfinite(value):
            return Field(FieldKind.NUMBER, 0, value, text_of(name), "")
        case str():
            return Field(FieldKind.TEXT, 0, 0.0, text_of(name), text_of(value))
    return Field(FieldKind.NULL, 0, 0.0, text_of(name), "")


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(State).decode
