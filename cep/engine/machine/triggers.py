"""Triggers as nodes, each in front of its stream."""

from __future__ import annotations

from cep.engine.machine.calendars import calendar
from cep.engine.machine.kernels.steps import TRIGGER
from cep.engine.machine.program import Builder
from cep.plan.nodes import Trigger


def lower_trigger(builder: Builder, trigger: Trigger) -> None:
    """Write a trigger, which is told when the run begins."""
    stream = builder.streams[trigger.name]
    every = 0 if trigger.every_ms is None else builder.cell(trigger.every_ms)
    schedule = 0 if trigger.cron is None else calendar(builder, trigger.cron)
    node = builder.node(
        TRIGGER, stream.node, stream.width, stream.width, 0,
        builder.ranks["trigger", trigger.name], every, schedule,
    )  # fmt: skip
    builder.starts.append(node)
