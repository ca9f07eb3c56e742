"""The compiled binder fed with raised events, past all generated code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cep.engine.input_rows import InputRows
from cep.engine.kernels.arrive import feed_rows
from cep.engine.kernels.state import OUT_CLOCK, OUT_KEY, OUT_ORDER, OUT_STREAM, OUT_TIME
from cep.engine.native import Compiled, Run
from cep.engine.output_rows import OutputRows
from cep.plan.expressions import Logical
from cep.plan.nodes import COMPLEX_SCHEMA, Chained, Complex, Event, Origin, Plan
from tests.reference.binder import Arrival
from tests.reference.engine import Reference
from tests.reference.expressions import Value

Raise = tuple[Event, str | None, int, int]
"""An event, its key and its time, and the clock at its record, negated if that is late."""
MADE = (Origin.EVENT, Origin.COMPLEX)


class RecordingReference(Reference):
    """The naive engine, remembering which raised events the last row sent to the engines."""

    raised: list[Raise]

    def push(self, stream: str, time_msc: int, row: Mapping[str, Value]) -> list[dict[str, Value]]:
        self.raised = []
        return super().push(stream, time_msc, row)

    def _enter(self, definition: Event | Chained, arrival: Arrival) -> None:
        if isinstance(definition, Event):
            clock = max(int(arrival.clock_msc), arrival.time_msc)
            clock = -clock if arrival.is_late else clock
            self.raised.append((definition, arrival.key, arrival.time_msc, clock))
        super()._enter(definition, arrival)


def on_source_rows(plan: Plan) -> Plan:
    """The plan with every event raised straight from the source, no query in between, and without
    what complex events keep of their events.
    """
    operators = []
    for operator in plan.operators:
        if isinstance(operator, Complex):
            operator = replace(operator, bound=())
        if isinstance(operator, Event) and operator.source != "S":
            assert isinstance(operator.condition, Logical)
            operator = replace(operator, source="S", condition=operator.condition.left)
        operators.append(operator)
    streams = tuple(
        replace(one, schema=COMPLEX_SCHEMA) if one.origin is Origin.COMPLEX else one
        for one in plan.streams
    )
    return replace(plan, operators=tuple(operators), streams=streams)


class BinderOnly:
    """Engines and complex events of a plan, with Numba."""

    def __init__(self, plan: Plan) -> None:
        rules = Compiled(plan, jit=False).generated
        assert rules.module is not None
        rules.module = replace(rules.module, run=feed_rows)
        self.rules = rules
        self.run: Run = rules.begun()
        self.streams = {stream.name for stream in plan.streams if stream.origin in MADE}
        self.order = 0

    def feed(self, raised: Sequence[Raise], keys: Sequence[str]) -> list[dict[str, Any]]:
        """The output rows that the events raised by one source row lead to."""
        self.run.open_keys(keys)
        self.order += 1
        made: list[OutputRows] = []
        for event, key, time_msc, clock in raised:
            self.run.runner.feed(self._row(event, key, time_msc, clock), made)
        rows = self.run._made(made)
        return [row for row in rows.dicts() if row["stream"] in self.streams]

    def _row(self, event: Event, key: str | None, time_msc: int, clock: int) -> InputRows:
        widths, cells = self.rules.stages.row_widths, len(self.rules.stages.clocks)
        ints = np.zeros((1, widths[0]), np.int64)
        ints[0, OUT_ORDER] = self.order
        ints[0, OUT_STREAM] = self.rules.ids.raised(event)
        ints[0, OUT_TIME] = time_msc
        ints[0, OUT_CLOCK] = clock
        ints[0, widths[0] - cells :] = abs(clock)
        ints[0, OUT_KEY] = 0 if key is None else 1 + self.run.keys.index(key)
        return InputRows(ints, np.zeros((1, widths[1])))
