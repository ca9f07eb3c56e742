"""Rates of output as nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cep.engine.machine.expressions import word_of
from cep.engine.machine.kernels import rates, snapshots
from cep.engine.machine.kernels.steps import (
    ALL_EVENTS,
    ALL_TIMED,
    FIRST_ROWS,
    LAST_EVENTS,
    LAST_TIMED,
    SNAPSHOT,
)
from cep.engine.machine.kernels.words import RING
from cep.plan.expressions import Aggregated
from cep.plan.query import Join, StreamInput
from cep.plan.steps import GroupBy, Rate

if TYPE_CHECKING:
    from cep.engine.machine.queries import Place, Selecting

STATES = {
    ALL_EVENTS: RING,
    ALL_TIMED: rates.ALL_STATE,
    FIRST_ROWS: rates.LAST_STATE,
    LAST_EVENTS: rates.LAST_STATE,
    LAST_TIMED: rates.LAST_STATE,
    SNAPSHOT: snapshots.SNAPSHOT_STATE,
}
"""The words of state by operation."""


def lower_rate(place: Place, selecting: Selecting, rate: Rate, following: int) -> int:
    """The node of a rate; it is told when the run begins, where it follows the clock."""
    every = rate.every_ms if rate.events is None else rate.events
    if every is None:
        raise ValueError(f"a rate of neither rows nor time: {rate}")
    by_clock = rate.events is None
    more: tuple[int, ...] = ()
    match rate.kind:
        case "snapshot":
            op, more = SNAPSHOT, _shown(place, selecting)
        case "first":
            op, more = FIRST_ROWS, (int(by_clock),)
        case "last":
            op = LAST_TIMED if by_clock else LAST_EVENTS
        case _:
            op = ALL_TIMED if by_clock else ALL_EVENTS
    builder, width, groups = place.builder, selecting.width, _groups(selecting)
    node = builder.node(
        op, following, width, width, place.home.take(STATES[op]), place.rank,
        len(groups), builder.block(groups), builder.cell(every), *more,
    )  # fmt: skip
    if by_clock and rate.kind != "first":
        place.starts.append(node)
    return node


def _groups(selecting: Selecting) -> list[int]:
    """The words of the values that make a group, those of doubles negated."""
    step = selecting.query.step(GroupBy)
    return [] if step is None else selecting.names.group(step.columns)


def _shown(place: Place, selecting: Selecting) -> tuple[int, ...]:
    """What a snapshot holds, the words of aggregates, and of other values."""
    query, new, old = selecting.query, list[int](), list[int]()
    for position, (_, value) in enumerate(query.projection):
        word = selecting.outputs + position
        if isinstance(value, Aggregated):
            new.append(word)
        else:
            old.append(-word if word_of(value.type) == "f" else word)
    source = query.input
    has_window = isinstance(source, Join) or (
        isinstance(source, StreamInput) and source.window is not None
    )
    if not has_window:
        shows = snapshots.LAST_ROWS
    elif old:
        shows = snapshots.WINDOW_GROUPS if query.group_by and new else snapshots.WINDOW_ROWS
    else:
        shows = snapshots.NEWEST_OF_GROUPS if query.group_by else snapshots.NEWEST
    block = place.builder.block
    return shows, len(new), block(new), len(old), block(old)
