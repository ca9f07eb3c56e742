"""What a window is: all that anybody asks of one, in one object.

The files of `kinds` hold the objects; every list of windows elsewhere is made of them. A back end
keeps one table from a window's name to how it runs it, and asks for anything else here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cep.plan.expressions import Expression
from cep.plan.signatures import Misfit, Signature

Arguments: TypeAlias = tuple[Expression, ...]
By = Literal["rows", "clock", "rows and clock", "attribute", "values", "condition", "chunks"]
"""What makes rows leave: rows that come, our clock, both, an attribute that is a clock, which
values the rows have, a condition, or that other rows come together."""
Clock = Literal["none", "one", "groups", "key"]
"""Whether our clock lets rows go. It does not; it lets those of all groups go together; each row
goes by itself, so that groups by the key may have a clock each; so may the sessions of each
value of the argument `key`."""
Apart = Literal["never", "rows", "aggregates"]
"""Whether a window for each key has the rows that one of all keys has: the current ones that pass
through it, or also what is in it, which aggregates of the key see."""
Keeps = Literal["ever", "age", "rows", "batches", "silence"]
"""What decides what is in it, its size being a time or number: all rows that ever came, those of
that time, the last ones, those of this batch and the one before (where `start` says when batches
begin), or those since nothing came for that time."""


@dataclass(frozen=True, slots=True)
class WindowKind:
    """A window that rules may name. `example` is a call on attributes of `functions.EXAMPLE`.

    `leaves_singly`: rows leave one by one, each told by an expired row: in the order in which they
    came, but for late rows of windows by time. `has_condition`: its first argument is a condition,
    as a text.

    `read` makes the arguments of a window that takes them in its own way, from their values and
    their text in the rules; `finish` looks at arguments that fit the signature, and may fill in
    what depends on others.
    """

    signature: Signature
    example: str
    by: By
    clock: Clock = "none"
    apart: Apart = "never"
    keeps: Keeps = "ever"
    leaves_singly: bool = False
    has_condition: bool = False
    read: Callable[[Sequence[Expression], Sequence[str]], Arguments | Misfit] | None = None
    finish: Callable[[Arguments], Arguments | Misfit] = lambda arguments: arguments

    @property
    def name(self) -> str:
        """As rules are told to spell it."""
        return self.signature.name

    @property
    def times(self) -> tuple[int, ...]:
        """The places of arguments that are times."""
        parameters = enumerate(self.signature.parameters)
        return tuple(place for place, parameter in parameters if parameter.is_time)

    @property
    def size(self) -> int:
        """The place of the argument that says how long or how many: the first constant."""
        parameters = enumerate(self.signature.parameters)
        return next((place for place, one in parameters if one.kind == "constant"), 0)

    @property
    def jumps(self) -> bool:
        """Whether rows are given up a jump at a time, so that some may never be in it."""
        return any(parameter.name == "jump" for parameter in self.signature.parameters)
