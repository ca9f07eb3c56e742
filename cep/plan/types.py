"""Attribute types and schemas of streams."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Type(StrEnum):
    """A SiddhiQL attribute type; `LIST` is only produced (complex events), never declared."""

    STRING = "string"
    INT = "int"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    BOOL = "bool"
    OBJECT = "object"
    LIST = "list"

    @property
    def is_numeric(self) -> bool:
        return self in NUMERIC

    @property
    def is_integer(self) -> bool:
        return self in (Type.INT, Type.LONG)

    @property
    def is_real(self) -> bool:
        return self in (Type.FLOAT, Type.DOUBLE)


NUMERIC = (Type.INT, Type.LONG, Type.FLOAT, Type.DOUBLE)
"""Numeric types in the order of widening: an operation has the widest type of its operands."""


def widest(left: Type, right: Type) -> Type:
    """The type of an arithmetic operation on two numeric operands."""
    return NUMERIC[max(NUMERIC.index(left), NUMERIC.index(right))]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One named, typed column of a stream."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Schema:
    """The attributes of a stream, in order."""

    attributes: tuple[Attribute, ...]

    @classmethod
    def of(cls, **types: Type) -> Schema:
        return cls(tuple(Attribute(name, type_) for name, type_ in types.items()))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    def position(self, name: str) -> int:
        """Index of the attribute called `name`; -1 when there is none."""
        return self.names.index(name) if name in self.names else -1

    def __len__(self) -> int:
        return len(self.attributes)
