"""What a query reads: a stream or a join of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cep.lang.ast.expressions import Expression
from cep.lang.ast.nodes import Name, Node

if TYPE_CHECKING:
    from cep.lang.ast.queries import Query


@dataclass(frozen=True, slots=True)
class Filter(Node):
    """`[condition]` or `#[condition]`."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class Handler(Node):
    """`#window.name(..)`, `#name(..)` or `#namespace:name(..)`; `arguments` None is `(*)`.

    Also the window of `define window`.
    """

    name: Name
    arguments: tuple[Expression, ...] | None
    is_window: bool
    namespace: Name | None = None


@dataclass(frozen=True, slots=True)
class StreamInput(Node):
    """`S[filter]#function(..)#window.w(..)[filter] as alias`: handlers in order of the text.

    `marker` is `#` for an inner and `!` for a fault stream. `inner` is the query of
    `from (from .. select .. return) ..`, whose stream has no name.
    """

    stream: Name
    handlers: tuple[Filter | Handler, ...]
    alias: Name | None = None
    marker: str = ""
    inner: Query | None = None


@dataclass(frozen=True, slots=True)
class JoinInput(Node):
    """`left [unidirectional] KIND join right [unidirectional] on .. within .. per ..`.

    `kind` is inner, left, right or full; `unidirectional` is '', left or right.
    """

    left: StreamInput
    right: StreamInput
    kind: str
    unidirectional: str
    on: Expression | None
    within: tuple[Expression, ...] = ()
    per: Expression | None = None
