"""What a query reads: patterns and sequences."""

from __future__ import annotations

from dataclasses import dataclass

from cep.lang.ast.inputs import StreamInput
from cep.lang.ast.nodes import Duration, Name, Node


@dataclass(frozen=True, slots=True)
class StreamState(Node):
    """`e1=S[condition]` in a pattern or sequence."""

    input: StreamInput
    reference: Name | None


@dataclass(frozen=True, slots=True)
class CountState(Node):
    """`e1=S[..]<m:n>`; `least` and `most` are None where left out.

    `symbol` is ``*``, `+` or `?` where one stands for the numbers, else ''.
    """

    state: StreamState
    least: int | None
    most: int | None
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class AbsentState(Node):
    """`not S[..] [for TIME]`."""

    state: StreamState
    time: Duration | None


@dataclass(frozen=True, slots=True)
class LogicalState(Node):
    """`left and right` or `left or right`."""

    op: str
    left: StreamState | AbsentState
    right: StreamState | AbsentState


@dataclass(frozen=True, slots=True)
class NextState(Node):
    """`left -> right` (pattern) or `left, right` (sequence), right associative."""

    left: StateNode
    right: StateNode


@dataclass(frozen=True, slots=True)
class EveryState(Node):
    """`every state` or `every (states)`."""

    state: StateNode


@dataclass(frozen=True, slots=True)
class GroupState(Node):
    """`(states within TIME)` or `(states) within TIME -> ..`; parentheses alone leave no node."""

    state: StateNode
    within: Duration


StateNode = (
    StreamState | CountState | AbsentState | LogicalState | NextState | EveryState | GroupState
)


@dataclass(frozen=True, slots=True)
class StateInput(Node):
    """A pattern (`->`) or a sequence (`,`)."""

    kind: str
    state: StateNode
    within: Duration | None
