"""The rows of several stages in one order: what a row leads to stands right behind it.

That is the order of one record at a time, depth first (meaning.md 4). A stage hands a row to a
later one by a row of its own, in the place where the later stage's operator stands among its
readers (`cep.engine.stages.Turn`); so the later stage takes its rows in order, and what it makes of
each is put behind that row.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cep.engine.kernels.state import OUT_ATTRIBUTES, OUT_ORDER, OUT_STREAM, Floats, Ints
from cep.engine.layout import StreamIds
from cep.engine.placement import TIMED
from cep.engine.stage_run import OutputRows
from cep.plan.nodes import Plan

LEVELS = 256
"""More than engines can stand behind one another, with their signals."""
AWAITED = -1
"""The stage of source rows that a later stage gets first: no output."""
StageRows: TypeAlias = tuple[OutputRows, int | Ints]
"""Raw output, and the stage that it is of, or that of each row."""
Masks = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""By stream id: whether rows are complex events, and whether they are wide ones."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """Rows in order, with the stage of each; `lists` is that of all."""

    kinds: Masks
    ints: Ints
    floats: Floats
    lists: Ints
    stages: Ints

    @classmethod
    def of(cls, kinds: Masks, parts: Many[StageRows]) -> Sequence:
        """Rows of some stages, by the records that caused them; at least one part."""
        if len(parts) == 1:  # the usual case: nothing is copied
            ((part, stage),) = parts
            stages = np.full(len(part.ints), stage)  # a broadcast takes ten times as long
            return cls(kinds, part.ints, part.floats, part.lists, stages)
        found = _joined(kinds, parts)
        return found.at(np.argsort(found.ints[:, OUT_ORDER], kind="stable"))

    def made(self) -> StageRows:
        """The rows as output of several stages."""
        return OutputRows(self.ints, self.floats, self.lists), self.stages

    def at(self, places: NDArray[np.intp]) -> Sequence:
        """The rows at these places."""
        ints, floats, stages = self.ints[places], self.floats[places], self.stages[places]
        return Sequence(self.kinds, ints, floats, self.lists, stages)

    def taken(self, passed: NDArray[np.bool_], direct: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The places of rows that go to a stage: what others make of those streams, or sources."""
        streams, is_awaited = self.ints[:, OUT_STREAM], self.stages == AWAITED
        return np.flatnonzero(np.where(is_awaited, direct[streams], passed[streams]))

    def spliced(
        self,
        made: Many[OutputRows],
        stage: int,
        levels: Many[Ints] = (),
        found: Found | None = None,
    ) -> Sequence:
        """With rows behind those that led to them, whose places stand for their order.

        What follows from what time made is made by time, too. Given `levels`, how often something
        was handed on for each row, and which rows are `found`, those above 0 that follow from what
        was found stand behind all that was found with it, the lower ones first: engines hand over
        first in, first out (`binder.md` 13), also from a stage to the next.
        """
        parts: list[StageRows] = []
        keys = [np.arange(len(self.ints)) * LEVELS]
        is_handed_on = any(level.any() for level in levels)
        ends = self._ends(found) if found is not None and is_handed_on else None
        for number, part in enumerate(made):
            causes = part.ints[:, OUT_ORDER].copy()
            part.ints[:, OUT_ORDER] = self.ints[causes, OUT_ORDER]
            parts.append((part, np.where(self.stages[causes] == TIMED, TIMED, stage)))
            key = causes * LEVELS
            if found is not None and ends is not None:
                later = (levels[number] > 0) & found.handed[self.ints[causes, OUT_STREAM]]
                key[later] = (ends[causes] * LEVELS + levels[number])[later]
            keys.append(key)
        return self._with(parts, np.concatenate(keys))

    def _ends(self, found: Found) -> Ints:
        """For each row that hands on what was found the last one of the same event, else itself."""
        streams, orders = self.ints[:, OUT_STREAM], self.ints[:, OUT_ORDER]
        begins = found.raised[streams]
        begins[1:] |= orders[1:] != orders[:-1]
        events, ends = np.cumsum(begins), np.arange(len(begins))
        handed = np.flatnonzero(found.handed[streams])
        last = np.zeros(len(begins) + 1, np.int64)
        last[events[handed]] = handed  # of equal places the last is kept
        ends[handed] = last[events[handed]]
        return ends

    def preceded(self, made: OutputRows, stage: int) -> Sequence:
        """With rows in front of all others of their records."""
        before = np.searchsorted(self.ints[:, OUT_ORDER], made.ints[:, OUT_ORDER], side="left")
        keys = np.concatenate([2 * np.arange(len(self.ints)) + 1, 2 * before])
        return self._with([(made, stage)], keys)

    def _with(self, parts: list[StageRows], keys: Ints) -> Sequence:
        found = _joined(self.kinds, [self.made(), *parts])
        return found.at(np.argsort(keys, kind="stable"))


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


def kinds(plan: Plan, ids: StreamIds) -> Masks:
    """Which rows have a place in the lists among their attributes."""
    complex_, wide = np.zeros((2, len(ids)), np.bool_)
    complexes = {found.name for found in plan.complexes}
    for number, name in ids.names(turns=True).items():
        complex_[number] = name in complexes
    wide[list(ids.wide)] = True
    return complex_, wide


def _joined(kinds: Masks, parts: Many[StageRows]) -> Sequence:
    """Parts one behind the other; places in the lists are those in the lists of all."""
    offset, moved = 0, []
    for part, _ in parts:
        ints = part.ints
        if offset and len(ints):
            ints = ints.copy()
            for kind, column in zip(kinds, (OUT_ATTRIBUTES + 2, OUT_ATTRIBUTES), strict=True):
                rows = kind[ints[:, OUT_STREAM]]
                if rows.any():  # else there may be no such column
                    ints[rows, column] += offset
        moved.append(ints)
        offset += len(part.lists)
    return Sequence(
        kinds,
        np.concatenate(moved),
        np.concatenate([part.floats for part, _ in parts]),
        np.concatenate([part.lists for part, _ in parts]),
        np.concatenate([np.full(len(part.ints), stage) for part, stage in parts]),
    )
