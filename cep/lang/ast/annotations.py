"""Annotations."""

from __future__ import annotations

from dataclasses import dataclass

from cep.lang.ast.nodes import Node


@dataclass(frozen=True, slots=True)
class Annotation(Node):
    """`@name(key='value', .., @inner(..))`, name and keys in lower case; no key is ''."""

    name: str
    elements: tuple[tuple[str, str], ...]
    annotations: tuple[Annotation, ...] = ()

    def value(self, key: str) -> str | None:
        """The value given for `key`, or for no key."""
        return next((value for name, value in self.elements if name.lower() in (key, "")), None)
