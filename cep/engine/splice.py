"""The rows of two stages in one order: what a row leads to stands right behind it.

That is the order of one record at a time, depth first (meaning.md 4). The first stage hands a row
on by a row of its own, in the place where the later stage's operator stands among its readers
(`cep.engine.stages.Turn`); so the later stage takes its rows in order, and what it makes of each is
put behind that row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cep.engine.joined import Masks, joined
from cep.engine.kernels.state import OUT_ORDER, OUT_STREAM, Ints
from cep.engine.layout import StreamIds
from cep.engine.output_rows import OutputRows
from cep.engine.stages import CROSSING, Stages
from cep.plan.nodes import Plan

LEVELS = 256
"""More than engines can stand behind one another, with their signals."""


@dataclass(frozen=True, slots=True)
class Found:
    """By stream id: whether rows are raised events, and whether they hand on what was found."""

    raised: NDArray[np.bool_]
    handed: NDArray[np.bool_]


def found_by(plan: Plan, ids: StreamIds) -> Found:
    """That of a plan."""
    raised, handed = np.zeros((2, len(ids)), np.bool_)
    for event in plan.events:
        raised[[ids.of(event.name), ids.raised(event)]] = True
    for chained in plan.chained:
        handed[ids.handed(chained.complex)] = True
    return Found(raised, handed)


def passed_on(stages: Stages, ids: StreamIds) -> NDArray[np.bool_]:
    """By stream id: whether rows that the first stage makes on it go to the later one."""
    wanted = np.zeros(len(ids), np.bool_)
    for turn in stages.turns():
        wanted[ids.turn(turn.stream, turn.place)] = True
    for event in stages.plan.events:
        wanted[ids.raised(event)] = stages.engine(event.engine) == CROSSING
    for found in stages.plan.complexes:
        if stages.engine(found.engine) < CROSSING and stages.chained_from(found, CROSSING):
            wanted[ids.handed(found.name)] = True
    return wanted


def spliced(
    masks: Masks, found: Found, first: OutputRows, made: Sequence[OutputRows]
) -> OutputRows:
    """Rows of the first stage with those of the later one behind those that led to them.

    The orders of `made` are `LEVELS` times the places of these, and how often something was handed
    on for the row. Those above 0 that follow from what was found stand behind all that was found
    with it, the lower ones first: engines hand over first in, first out (`binder.md` 13), also from
    a stage to the next.
    """
    levels = [part.ints[:, OUT_ORDER] % LEVELS for part in made]
    is_handed_on = any(level.any() for level in levels)
    ends = _ends(found, first.ints) if is_handed_on else None
    keys = [np.arange(len(first.ints)) * LEVELS]
    for part, level in zip(made, levels, strict=True):
        causes = part.ints[:, OUT_ORDER] // LEVELS
        part.ints[:, OUT_ORDER] = first.ints[causes, OUT_ORDER]
        key = causes * LEVELS
        if ends is not None:
            later = (level > 0) & found.handed[first.ints[causes, OUT_STREAM]]
            key[later] = (ends[causes] * LEVELS + level)[later]
        keys.append(key)
    both = joined(masks, [first, *made])
    places = np.argsort(np.concatenate(keys), kind="stable")
    return OutputRows(both.ints[places], both.floats[places], both.lists)


def _ends(found: Found, ints: Ints) -> Ints:
    """For each row that hands on what was found the last one of the same event, else itself."""
    streams, orders = ints[:, OUT_STREAM], ints[:, OUT_ORDER]
    begins = found.raised[streams]
    begins[1:] |= orders[1:] != orders[:-1]
    events, ends = np.cumsum(begins), np.arange(len(begins))
    handed = np.flatnonzero(found.handed[streams])
    last = np.zeros(len(begins) + 1, np.int64)
    last[events[handed]] = handed  # of equal places the last is kept
    ends[handed] = last[events[handed]]
    return ends
