"""State in columns, from a stage of one compiled plan to that of another: block by block.

The arenas move as they are, so that whatever points into them still does; what dropped parts held
there stays unused. Rows of groups keep their numbers.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cep.engine.kernels.state import (
    BIND_FREE,
    BIND_TOP,
    ENTRY_LARGEST,
    ENTRY_RINGS,
    ENTRY_TOP,
    HEADER,
    HELD_LIMIT,
    HELD_ROOM,
    KEYS,
    LISTS,
    MATCH_LIMIT,
    MATCH_ROOM,
    ROWS,
    STATUS,
    WF_LARGEST,
    WI_LARGEST,
    WINDOW_RINGS,
    Floats,
    Ints,
    State,
)
from cep.engine.layout import Block, Layout
from cep.engine.memory import hashed, with_limits
from cep.engine.stage_run import StageRun
from cep.plan.change import Change, PartId
from cep.plan.query import Query, StreamInput

OWN_HEADER = (
    STATUS, ROWS, LISTS, ENTRY_TOP, ENTRY_LARGEST, BIND_TOP, BIND_FREE, KEYS, ENTRY_RINGS,
    WINDOW_RINGS,
)  # fmt: skip
"""Columns of the header that belong to the new stage or to its queues."""
LARGEST = (WI_LARGEST, WF_LARGEST, MATCH_ROOM, MATCH_LIMIT, HELD_ROOM, HELD_LIMIT)
"""Columns of the header that tell how much one step may take."""
KIND_BITS = 16
"""The kind of a group: its query, and above that the row of the group it is part of, plus one."""
Form = tuple[str, str, bool, int]
D = TypeVar("D", bound=np.generic)


def drop_unknown(change: Change, old: StageRun, new: StageRun) -> None:
    """Reset parts whose columns lie otherwise in the new stage, or have no known owner."""
    before, after = _blocks(old.compiled.layout), _blocks(new.compiled.layout)
    stages = new.compiled.stages
    for query in stages.plan.queries:
        part = ("query", query.name)
        if stages.operator(query) == new.compiled.stage and part not in after and has_state(query):
            change.reset(part, "nothing is known of where its state lies")
    for part, blocks in after.items():
        previous = change.kept.get(part)
        if previous is not None and _forms(blocks) != _forms(before.get(previous, [])):
            change.reset(part, "it shares its state with other queries as it did not before")
    kept = -1
    while kept != len(change.kept):
        kept = len(change.kept)
        _drop_divided(change, before, new.compiled.layout)


def has_state(query: Query) -> bool:
    """Whether a compiled query remembers anything."""
    source = query.input
    return not isinstance(source, StreamInput) or bool(source.window or query.aggregates)


def _drop_divided(change: Change, before: dict[PartId, list[Block]], layout: Layout) -> None:
    """Reset what shared its columns with others than it does now."""
    numbers: defaultdict[PartId, int] = defaultdict(int)
    taken: set[Block] = set()
    for block in layout.blocks:
        source: Block | None = None
        for owner in block.owners:
            number = numbers[owner]
            numbers[owner] += 1
            previous = change.kept.get(owner)
            if previous is None:
                continue
            found = before[previous][number]
            source = source or found
            if found is not source or (len(found.owners) > 1 and found in taken):
                change.reset(owner, "it shares its state with other queries than before")
        if source is not None:
            taken.add(source)
            kept = tuple(change.kept.get(owner) for owner in block.owners)
            if block.indivisible and kept != source.owners:
                for owner in block.owners:
                    change.reset(owner, "a query it shares its state with came or went")


def carry_state(change: Change, old: StageRun, new: StageRun) -> None:
    """Move what the kept parts have in columns, arenas and groups."""
    layout, state = new.compiled.layout, old.state
    pairs = _pairs(change, old.compiled.layout, layout)
    own = new.state.gi[0, list(OWN_HEADER)]
    rows = max(len(state.ai), len(new.state.ai))
    new.state = new.state._replace(
        ai=_taller(new.state.ai, rows),
        af=_taller(new.state.af, rows),
    )
    if pairs:
        largest = new.state.gi[0, list(LARGEST)]
        new.state.gi[0, :HEADER] = state.gi[0, :HEADER]
        new.state.gi[0, list(OWN_HEADER)] = own
        new.state.gi[0, list(LARGEST)] = np.maximum(largest, state.gi[0, list(LARGEST)])
        new.state = new.state._replace(wi=state.wi, wf=state.wf)
    for source, target in pairs:
        _copy(old, new.state, source, target)
    for start in layout.starts:
        if start.owner not in change.kept:
            array = _array(new.state, start.home, is_float=False)
            array[:, start.column] = array[:, start.like]
    if pairs:
        table = _groups(change, old, new.compiled.layout)
        new.state = new.state._replace(ht=table)
    new.state = with_limits(new.state, new.compiled.needs)


def _blocks(layout: Layout) -> dict[PartId, list[Block]]:
    """The blocks of each part, in order."""
    found: defaultdict[PartId, list[Block]] = defaultdict(list)
    for block in layout.blocks:
        for owner in block.owners:
            found[owner].append(block)
    return dict(found)


def _forms(blocks: list[Block]) -> list[Form]:
    return [(block.form, block.home, block.is_float, block.count) for block in blocks]


def _pairs(change: Change, old: Layout, new: Layout) -> list[tuple[Block, Block]]:
    """Each block to be carried over, where it is and where it goes."""
    before, after = _blocks(old), _blocks(new)
    pairs = {
        target: source
        for part, targets in after.items()
        if part in change.kept
        for source, target in zip(before[change.kept[part]], targets, strict=True)
    }
    return [(source, target) for target, source in pairs.items()]


def _copy(old: StageRun, state: State, source: Block, target: Block) -> None:
    before = _array(old.state, source.home, source.is_float)
    after = _array(state, target.home, target.is_float)
    rows = min(len(before), len(after))
    here = slice(target.first, target.first + target.count)
    after[:rows, here] = before[:rows, source.first : source.first + source.count]


def _array(state: State, home: str, is_float: bool) -> Ints | Floats:
    arrays: dict[str, tuple[Ints, Floats]] = {
        "key": (state.ki, state.kf),
        "global": (state.gi, state.gf),
        "group": (state.ai, state.af),
    }
    ints, floats = arrays[home]
    return floats if is_float else ints


def _taller(array: NDArray[D], rows: int) -> NDArray[D]:
    taller: NDArray[D] = np.zeros((rows, array.shape[1]), array.dtype)
    taller[: len(array)] = array
    return taller


def _groups(change: Change, old: StageRun, layout: Layout) -> Ints:
    """The hash table with the groups of kept queries, whose kinds are other numbers now."""
    kinds = _kinds(change, old.compiled.layout, layout)
    found = old.state.ht[old.state.ht[:, 2] != 0]
    numbers = found[:, 0] & ((1 << KIND_BITS) - 1)
    now = np.zeros(1 << KIND_BITS, np.int64)
    now[list(kinds)] = list(kinds.values())
    found[:, 0] += now[numbers] - numbers
    return hashed(found[np.isin(numbers, list(kinds))], len(old.state.ht))


def _kinds(change: Change, old: Layout, new: Layout) -> dict[int, int]:
    """The new kind of each old kind of group that goes on."""
    before = {owner: kind for kind, owners in old.kinds.items() for owner in owners}
    return {
        before[change.kept[owner]]: kind
        for kind, owners in new.kinds.items()
        for owner in owners
        if owner in change.kept and change.kept[owner] in before
    }
