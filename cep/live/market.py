"""Stored groups as rows of a plan's source streams, those of several groups together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.engine.kernels.state import Ints
from cep.fragments.rows import StreamRows
from cep.market import (
    DEAL_STREAM,
    TICK_ATTRIBUTES,
    TICK_STREAM,
    deal_columns,
    fixed_texts,
    shown_deals,
    shown_ticks,
    source,
    tick_columns,
)
from cep.plan.nodes import Plan, Stream
from cep.plan.types import Type
from mt5bridge.records import TICK
from mt5bridge.spool import Group, RecordKind

Mask: TypeAlias = NDArray[np.bool_]


class Market:
    """The ticks and deals that the rules of a plan see."""

    def __init__(self, plan: Plan) -> None:
        self._ticks = source(plan, TICK_STREAM)
        self._deals = source(plan, DEAL_STREAM)

    def parts(self, groups: Sequence[Group]) -> list[StreamRows]:
        """A part for each stream that has rows in these groups, which are in order."""
        ticks = [group for group in groups if group.kind is RecordKind.TICKS]
        deals = [group for group in groups if group.kind is RecordKind.DEALS]
        found = [self._of_ticks(ticks), self._of_deals(deals)]
        return [part for part in found if part is not None and len(part.orders)]

    def publishers(self, groups: Sequence[Group]) -> Iterator[tuple[str, str]]:
        """Whose ticks of which symbol the rules are shown in these groups."""
        for group in groups:
            if self._ticks is not None and group.kind is RecordKind.TICKS and _shown(group).any():
                yield group.source, group.stream[1]

    def _of_ticks(self, groups: Sequence[Group]) -> StreamRows | None:
        if self._ticks is None or not groups:
            return None
        shown = [_shown(group) for group in groups]
        records = np.concatenate(
            [group.records[mask] for group, mask in zip(groups, shown, strict=True)]
        )
        symbols = [
            group.stream[1]
            for group, mask in zip(groups, shown, strict=True)
            for _ in range(int(mask.sum()))
        ]
        columns = tick_columns(self._ticks, lambda name: records[name], symbols)
        return StreamRows(TICK_STREAM, *_places(groups, shown), columns)

    def _of_deals(self, groups: Sequence[Group]) -> StreamRows | None:
        if self._deals is None or not groups:
            return None
        shown = [shown_deals(group.records.__getitem__, group.quality) for group in groups]
        records = np.concatenate(
            [group.records[mask] for group, mask in zip(groups, shown, strict=True)]
        )
        columns = deal_columns(
            self._deals,
            lambda name: records[name],
            lambda name: fixed_texts(records[name].tolist()),
        )
        return StreamRows(DEAL_STREAM, *_places(groups, shown), columns)


def record_values(plan: Plan, group: Group, ingest: int) -> dict[str, Any]:
    """The attributes of one record as the plan's source declares them; none if it is not there."""
    at, is_tick = ingest - group.ingest, group.kind is RecordKind.TICKS
    stream = source(plan, TICK_STREAM if is_tick else DEAL_STREAM)
    is_market = is_tick or group.kind is RecordKind.DEALS
    if stream is None or not is_market or not 0 <= at < group.width:
        return {}
    values = _tick_values(group, at) if is_tick else _deal_values(stream, group, at)
    return {one.name: _value(one.type, values[one.name]) for one in stream.schema.attributes}


def _tick_values(group: Group, at: int) -> dict[str, Any]:
    """Of one tick, without a column for each: what is bound is asked for tick by tick."""
    fields = dict(zip(TICK.names or (), group.records[at].tolist(), strict=True))
    values = {name: fields[field] for name, field in TICK_ATTRIBUTES.items()}
    return {"symbol": group.stream[1], **values}


def _deal_values(stream: Stream, group: Group, at: int) -> dict[str, Any]:
    records = group.records[at : at + 1]
    columns = deal_columns(
        stream, records.__getitem__, lambda name: fixed_texts(records[name].tolist())
    )
    return {name: column[0] for name, column in columns.items()}


def _value(type_: Type, cell: Any) -> Any:
    value = cell.as_py() if isinstance(cell, pa.Scalar) else cell
    if type_ in (Type.DOUBLE, Type.FLOAT):
        return float(value)
    return int(value) if type_ in (Type.INT, Type.LONG) else value


def _shown(group: Group) -> Mask:
    return shown_ticks(group.quality) if group.quality.any() else np.ones(group.width, np.bool_)


def _places(groups: Sequence[Group], shown: Sequence[Mask]) -> tuple[Ints, Ints]:
    """Ingest numbers and times of what is shown."""
    pairs = list(zip(groups, shown, strict=True))
    orders = [np.arange(group.ingest, group.ingest + group.width)[mask] for group, mask in pairs]
    times = [group.utc_msc[mask] for group, mask in pairs]
    return np.concatenate(orders), np.concatenate(times)
