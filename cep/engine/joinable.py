"""Joins the native engine compiles: two streams, each through a sliding window or none.

Joins with tables, named windows and aggregations run in the interpreter, and so do joins whose
rows are looked at together: a row of one side may meet many of the other, and these go on as one
batch (unless `singly`), which what follows would see row by row if it were compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cep.engine.linear import may_follow
from cep.plan.expressions import EventTime, walk
from cep.plan.query import Filter, Holder, Join, Query, StreamInput

WINDOWS = ("time", "length")


def readers(queries: Sequence[Query]) -> dict[str, list[Query]]:
    """The queries that read each stream."""
    found: dict[str, list[Query]] = {}
    for query in queries:
        for stream in dict.fromkeys(one.stream for one in query.inputs):
            found.setdefault(stream, []).append(query)
    return found


def why_not_native(query: Query, compat: str, reading: Mapping[str, Sequence[Query]]) -> str | None:
    """Why a join is not compiled; None when it is. `reading` are the readers of each stream."""
    assert isinstance(query.input, Join)
    return next(_reasons(query, query.input, compat, reading), None)


def _reasons(
    query: Query, join: Join, compat: str, reading: Mapping[str, Sequence[Query]]
) -> Iterator[str]:
    if compat:
        yield "the reference's defects are the interpreter's (`@app:compat`)"
    for side in (join.left, join.right):
        yield from _side_reasons(side)
    if query.aggregates or query.group_by:
        yield "it aggregates over what it joins"
    if join.on is not None and any(
        isinstance(node, EventTime) and node.slot is None for node in walk(join.on)
    ):
        yield "its condition asks for the time of the row that comes"
    if not join.singly:
        yield from _reader_reasons(query, reading)


def _side_reasons(side: StreamInput) -> Iterator[str]:
    if side.holder is not Holder.STREAM:
        yield f"it joins the {side.holder} {side.stream}"
    if side.after or not all(isinstance(handler, Filter) for handler in side.before):
        yield f"{side.stream} has more than filters in front of its window"
    window = side.window
    if window is None:
        return
    if window.name not in WINDOWS:
        yield f"window `{window.name}` of a join is not compiled"
        return
    try:
        size = window.constant(0)
    except TypeError:
        yield f"the size of window `{window.name}` is no constant"
        return
    if size == 0:
        yield f"window `{window.name}` holds no row"


def _reader_reasons(query: Query, reading: Mapping[str, Sequence[Query]]) -> Iterator[str]:
    """What follows must not be able to tell a batch from its rows."""
    target = query.target
    while target is not None:
        following = reading.get(target, ())
        if not following:
            return
        reader = following[0]
        if len(following) > 1:
            yield f"several queries read {target}, to which it puts many rows at once"
        if not may_follow(reader) or reader.limit is not None or reader.order_by:
            yield f"{reader.name} looks at what it puts out as a whole"
        target = reader.target
