"""The binder alone: raised simple events go straight into its kernel, past every query."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from cep.engine.input_rows import InputRows
from cep.engine.kernels.arrive import feed_rows
from cep.engine.kernels.state import OUT_CLOCK, OUT_ORDER, OUT_STREAM, OUT_TIME
from cep.engine.layout import row_widths
from cep.engine.native import Compiled
from cep.engine.output_rows import OutputRows
from cep.plan.nodes import Plan

Ints = npt.NDArray[np.int64]


class Binder:
    """Engines and complex events of a plan without keys, fed with raised events."""

    def __init__(self, plan: Plan) -> None:
        rules = Compiled(plan, jit=False)
        assert rules.generated.module is not None
        rules.generated.module = replace(rules.generated.module, run=feed_rows)
        rules = rules.generated
        self.run = rules.begun()
        self._ids = np.array([rules.ids.raised(event) for event in plan.events])
        self._widths = row_widths(plan)
        self._order = 0

    def encode(self, events: Ints, times_msc: Ints) -> InputRows:
        """Rows that raise `plan.events[i]` for each i of `events`."""
        n = len(events)
        ints = np.zeros((n, self._widths[0]), np.int64)
        ints[:, OUT_ORDER] = np.arange(self._order, self._order + n)
        ints[:, OUT_STREAM] = self._ids[events]
        ints[:, OUT_TIME] = ints[:, OUT_CLOCK] = times_msc
        self._order += n
        return InputRows(ints, np.zeros((n, self._widths[1])))

    def feed(self, rows: InputRows) -> int:
        """Feed rows; how many rows of simple and complex events they gave."""
        taken: list[OutputRows] = []
        self.run.runner.feed(rows, taken)
        return sum(len(part.ints) for part in taken)
