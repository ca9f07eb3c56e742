"""What a row is given: a name, the clock, its time."""

from __future__ import annotations

import uuid
from typing import Any

from cep.plan.expressions import Call
from cep.plan.functions.base import Evaluate, Scalar, Setting
from cep.plan.functions.sql import Never
from cep.plan.signatures import Signature
from cep.plan.types import Type


def _uuid(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
    """Another for each call, and the same whenever the same records come again."""
    cause, place = setting.cause, setting.calls_of

    def made(row: Any) -> str:
        call = cause.call(place)
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{cause.n} {cause.at_ms} {call} {place}"))

    return made


def _clock(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
    """The time of what is under way; in Siddhi's mode what the clock shows."""
    if setting.compat:
        return lambda row: setting.now_ms
    return lambda row: setting.cause.at_ms


def _event_time(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
    return lambda row: row.time


UUID = Scalar(
    Signature("UUID", (), "a name of its own, the same in each replay", Type.STRING),
    _uuid,
    sql=Never("it counts the calls of each record, as no database does"),
)
CURRENT_TIME = Scalar(
    Signature("currentTimeMillis", (), "when what is under way happens, in ms UTC", Type.LONG),
    _clock,
    sql=Never("rows have times, databases no clock of ours"),
)
EVENT_TIME = Scalar(
    Signature(
        "eventTimestamp",
        (),
        "the row's time in ms UTC; of one that leaves a window, when it came",
        Type.LONG,
    ),
    _event_time,
)
"""Written without an argument it is an expression of its own, `EventTime`."""
UNSTEADY = frozenset({UUID.name, CURRENT_TIME.name})
"""Of these a row that leaves a window has other values than when it came."""
