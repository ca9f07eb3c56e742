"""Snapshots: the clock, the keys of partitions and the state of every part, in MessagePack."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from cep.interpreter.clock import Due, Timer
from cep.interpreter.codec import pack
from cep.interpreter.context import Stateful
from cep.plan.nodes import Plan

FORMAT = 4
SIDDHI_FORMAT = 2
"""The form of what parts keep in Siddhi's mode alone; a snapshot of another one is refused."""

Timers = list[tuple[int, int, str]]
"""What is due: time in ms UTC, sequence, name of the timer."""


class SnapshotError(ValueError):
    """A snapshot of other rules, another version, or damaged; or state that cannot be saved."""


class SavedWall(msgspec.Struct, frozen=True):
    """What is saved of the wall's clock: the time, timers as in `Saved`, the heartbeat."""

    now_ms: int | None
    timers: Timers
    heartbeat: tuple[int | None, int | None]


class Saved(msgspec.Struct, frozen=True):
    """What is saved. `plan` and `fingerprint` say of which rules."""

    format: int
    plan: str
    fingerprint: str
    started: bool
    now_ms: int | None
    timers: Timers
    wall: SavedWall
    partitions: dict[str, list[list[Any]]]
    parts: dict[str, bytes]


def timers_of(due: Iterable[Due]) -> Timers:
    """What is due, by the names of the timers."""
    return [(entry.due_ms, entry.turn, entry.timer.name) for entry in due]


def due_of(saved: Timers, timers: Mapping[str, Timer]) -> list[Due]:
    """What `timers_of` gave, of the timers there are now."""
    found = ((due_ms, turn, timers[name]) for due_ms, turn, name in saved)
    return [Due(due_ms, timer.site.rank, turn, timer) for due_ms, turn, timer in found]


def fingerprint(plan: Plan) -> str:
    """Equal for plans that mean the same."""
    shown = repr(
        (plan.streams, plan.operators, plan.tables, plan.windows, plan.triggers,
         plan.aggregations, plan.partitions, plan.compat and (plan.compat, SIDDHI_FORMAT),
         plan.playback)
    )  # fmt: skip
    if plan.engines:
        shown += repr((plan.engines, plan.chained, plan.number_stride, plan.keys))
    return hashlib.sha256(shown.encode()).hexdigest()[:32]


def encode(saved: Saved) -> bytes:
    """A snapshot as bytes."""
    return msgspec.msgpack.encode(saved)


def decode(data: bytes, plan: Plan) -> Saved:
    """A snapshot of this plan from bytes; SnapshotError says what is wrong with it."""
    try:
        saved = msgspec.msgpack.decode(data, type=Saved)
    except msgspec.DecodeError as error:
        raise SnapshotError(f"the snapshot is damaged: {error}") from error
    if saved.format != FORMAT:
        raise SnapshotError(f"the snapshot has format {saved.format}, this version reads {FORMAT}")
    if saved.fingerprint != fingerprint(plan):
        raise SnapshotError(
            f"the snapshot is of other rules ('{saved.plan}'), not of '{plan.name}' as it is now"
        )
    return saved


def packed(parts: dict[str, Stateful]) -> dict[str, bytes]:
    """The states of parts by path; SnapshotError when one holds what cannot be saved."""
    states = {}
    for path, part in sorted(parts.items()):
        try:
            states[path] = pack(part.state())
        except TypeError as error:
            raise SnapshotError(f"{path}: {error}") from error
    return states
