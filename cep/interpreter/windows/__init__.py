"""Windows: one idea a file. `make_window` makes the running one of the plan's."""

from __future__ import annotations

from collections.abc import Callable

from cep.interpreter.context import Context
from cep.interpreter.rows import Emit
from cep.interpreter.windows.base import Setting, WindowPart
from cep.interpreter.windows.batch import BatchWindow
from cep.interpreter.windows.cron import CronWindow
from cep.interpreter.windows.expression import ExpressionWindow
from cep.interpreter.windows.expression_batch import ExpressionBatchWindow
from cep.interpreter.windows.external_time import ExternalTimeWindow
from cep.interpreter.windows.external_time_batch import ExternalTimeBatchWindow
from cep.interpreter.windows.frequent import FrequentWindow, LossyFrequentWindow
from cep.interpreter.windows.hopping import HoppingWindow
from cep.interpreter.windows.jump import LengthJumpWindow, TimeJumpWindow
from cep.interpreter.windows.keyed import KeyedWindow
from cep.interpreter.windows.length import LengthWindow
from cep.interpreter.windows.length_batch import LengthBatchWindow
from cep.interpreter.windows.session import SessionWindow
from cep.interpreter.windows.siddhi_time_batch import SiddhiTimeBatchWindow
from cep.interpreter.windows.sort import SortWindow
from cep.interpreter.windows.time import DelayWindow, TimeWindow
from cep.interpreter.windows.time_batch import TimeBatchWindow
from cep.interpreter.windows.time_length import TimeLengthWindow
from cep.plan.steps import Window
from cep.plan.types import Schema
from cep.plan.windows import kind_of

__all__ = ["WindowPart", "make_window"]

_WINDOWS: dict[str, Callable[[Setting], WindowPart]] = {
    "batch": BatchWindow,
    "cron": CronWindow,
    "delay": DelayWindow,
    "expression": ExpressionWindow,
    "expressionBatch": ExpressionBatchWindow,
    "externalTime": ExternalTimeWindow,
    "externalTimeBatch": ExternalTimeBatchWindow,
    "frequent": FrequentWindow,
    "hopping": HoppingWindow,
    "length": LengthWindow,
    "lengthJump": LengthJumpWindow,
    "lengthBatch": LengthBatchWindow,
    "lossyFrequent": LossyFrequentWindow,
    "session": SessionWindow,
    "sort": SortWindow,
    "time": TimeWindow,
    "timeBatch": TimeBatchWindow,
    "timeJump": TimeJumpWindow,
    "timeLength": TimeLengthWindow,
}
_SIDDHI: dict[str, Callable[[Setting], WindowPart]] = {"timeBatch": SiddhiTimeBatchWindow}
"""Windows that Siddhi has in another way, in its mode."""


def make_window(window: Window, schema: Schema, context: Context, emit: Emit) -> WindowPart:
    """A running window, empty, kept for snapshots; `schema` is that of the rows in front of it.

    What comes out goes to `emit`, chunk by chunk. KeyError when there is no such window.
    """
    kind = (_SIDDHI.get(window.name) if context.compat else None) or _WINDOWS[window.name]
    setting = Setting(window, schema, context, emit)
    has_clocks = context.shared.clocks.one is None and context.clock_of.key_positions
    is_split = has_clocks and kind_of(window).clock in ("groups", "key")
    part = KeyedWindow(setting, kind) if is_split else kind(setting)
    context.keep(part, "window")
    return part
