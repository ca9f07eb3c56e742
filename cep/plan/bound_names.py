"""How the values of events are called that a complex event keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

from cep.lang import ast
from cep.plan.nodes import COMPLEX_SCHEMA
from cep.plan.problems import Skip

NEWEST = -1
Called = tuple[str, int, str]
"""An event (empty where only the attribute is named), which of several, and its attribute."""


@dataclass(slots=True)
class BoundNames:
    """Where a complex event's row has what its readers call by an event."""

    positions: dict[Called, int] = field(default_factory=dict)
    is_broken: bool = False

    def position(self, node: ast.Reference) -> int | None:
        """The position of what a reference names; None where it is nothing of an event. Skips what
        is not known because the complex event is in error.
        """
        if self.is_broken and node.name.text not in COMPLEX_SCHEMA.names:
            raise Skip
        return self.positions.get(called(node))


def called(node: ast.Reference) -> Called:
    """How a reference names a value of an event."""
    index = node.index
    if index is None:
        place = NEWEST
    else:
        place = index.number if index.from_last is None else NEWEST - index.from_last
    return (node.stream.text if node.stream is not None else "", place, node.name.text)
