"""Joins the native engine compiles: two streams, each through a sliding window or none.

Joins with tables, named windows and aggregations run in the interpreter. A row of one side may meet
many of the other, and these go on as one chunk (unless `singly`): see `cep.engine.chunks`.
"""

from __future__ import annotations

from collections.abc import Iterator

from cep.engine.windows import is_shared
from cep.plan.expressions import EventTime, walk
from cep.plan.query import Join, Query, StreamInput
from cep.plan.steps import Filter, Holder


def why_not_native(query: Query) -> str | None:
    """Why a join is not compiled; None when it is."""
    assert isinstance(query.input, Join)
    return next(_reasons(query, query.input), None)


def _reasons(query: Query, join: Join) -> Iterator[str]:
    for side in (join.left, join.right):
        yield from _side_reasons(side)
    if query.aggregates or query.group_by:
        yield "it aggregates over what it joins"
    if join.on is not None and any(
        isinstance(node, EventTime) and node.slot is None for node in walk(join.on)
    ):
        yield "its condition asks for the time of the row that comes"


def _side_reasons(side: StreamInput) -> Iterator[str]:
    if side.holder is not Holder.STREAM:
        yield f"it joins the {side.holder} {side.stream}"
    if side.after or not all(isinstance(handler, Filter) for handler in side.before):
        yield f"{side.stream} has more than filters in front of its window"
    window = side.window
    if window is None:
        return
    if not is_shared(window):
        yield f"window `{window.name}` of a join is not compiled"
        return
    try:
        size = window.constant(0)
    except TypeError:
        yield f"the size of window `{window.name}` is no constant"
        return
    if size == 0:
        yield f"window `{window.name}` holds no row"
