"""What every tree is made of: places in the text, names, constants, times."""

from __future__ import annotations

from dataclasses import dataclass, field

from cep.lang.errors import Span


@dataclass(frozen=True, slots=True)
class Node:
    """Anything that stands somewhere in the text."""

    span: Span = field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier as written, without backticks."""

    text: str


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A constant; `type` is the SiddhiQL type it is written as."""

    value: str | int | float | bool
    type: str


@dataclass(frozen=True, slots=True)
class Duration(Node):
    """A time literal such as `1 min 30 sec`."""

    ms: int
