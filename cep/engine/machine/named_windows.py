"""Named windows as nodes: a window that queries write to, then a stream of what comes out."""

from __future__ import annotations

from dataclasses import dataclass

from cep.engine.machine.arrivals import EVERY_KIND
from cep.engine.machine.dispatch import END, ROW
from cep.engine.machine.expressions import Names
from cep.engine.machine.homes import Home
from cep.engine.machine.kernels.words import TIME
from cep.engine.machine.program import Builder, StreamNode, names_of
from cep.engine.machine.windows import lower_window
from cep.plan.change import PartId
from cep.plan.nodes import NamedWindow

KINDS = {"current": 1, "expired": 2, "all": 3}
"""Which kinds of rows come out, as bits."""


@dataclass(frozen=True, slots=True)
class Own:
    """Where a named window stands: outside of all partitions."""

    builder: Builder
    rank: int
    part: PartId

    @property
    def home(self) -> Home:
        return self.builder.home


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a named window, to which when they came is added."""

    words: int
    width: int
    names: Names
    carries_arrival: bool = True


def lower_named_window(builder: Builder, plan: NamedWindow) -> None:
    """Write a named window: `builder.windows` has where its rows go in, `builder.streams` where
    they come out.
    """
    out = builder.inner_stream(plan.schema, has_arrival=True)
    width = out.width
    part = ("window", plan.name)
    kinds = builder.project(out.node, width, KINDS[plan.output], width, ())
    place = Own(builder, builder.ranks[part], part)
    rows = Rows(width, width, names_of(plan.schema))
    node = lower_window(place, plan.window, rows, kinds, plan.schema)
    entry = builder.project(node, width, EVERY_KIND, width - 1, [builder.value([ROW, TIME, END])])
    builder.streams[plan.name] = out
    builder.windows[plan.name] = StreamNode(entry, plan.schema, has_arrival=True)
    builder.held_by_name[plan.name] = builder.held[node]
