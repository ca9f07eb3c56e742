"""What is defined in the modules of a folder: no list names them.

A module that is added there is found; what it defines is in the order of the modules' names.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Protocol, TypeVar


class Named(Protocol):
    """A definition, under the name by which rules call it."""

    @property
    def name(self) -> str: ...


Found = TypeVar("Found", bound=Named)


def defined(package: ModuleType, kind: type[Found]) -> Mapping[str, Found]:
    """By name; ValueError when two have one, in any case."""
    found: dict[str, Found] = {}
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for one in vars(import_module(module.name)).values():
            if isinstance(one, kind) and found.setdefault(one.name.lower(), one) is not one:
                raise ValueError(f"{module.name}: there is another {one.name}")
    return {one.name: one for one in found.values()}
