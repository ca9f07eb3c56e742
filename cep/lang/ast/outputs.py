"""Where the rows of a query go."""

from __future__ import annotations

from dataclasses import dataclass

from cep.lang.ast.expressions import Expression, Reference
from cep.lang.ast.nodes import Duration, Literal, Name, Node


@dataclass(frozen=True, slots=True)
class Rate(Node):
    """`output [all|first|last|snapshot] every N events | TIME`; `kind` is `all` when left out."""

    kind: str
    events: Literal | None
    time: Duration | None


@dataclass(frozen=True, slots=True)
class Assignment(Node):
    """`T.a = expression` in `set`."""

    target: Reference
    value: Expression


@dataclass(frozen=True, slots=True)
class Insert(Node):
    """`insert [all|current|expired events] into TARGET`; `marker` is `#` or `!` or ''."""

    target: Name
    events: str = "current"
    marker: str = ""


@dataclass(frozen=True, slots=True)
class Delete(Node):
    """`delete T [for all|expired events] on condition`."""

    target: Name
    events: str
    on: Expression


@dataclass(frozen=True, slots=True)
class Update(Node):
    """`update [or insert into] T [for .. events] [set ..] on condition`."""

    target: Name
    events: str
    on: Expression
    assignments: tuple[Assignment, ...]
    or_insert: bool


@dataclass(frozen=True, slots=True)
class Return(Node):
    """`return [all|current|expired events]`, or no output clause at all."""

    events: str = "current"


Output = Insert | Delete | Update | Return
