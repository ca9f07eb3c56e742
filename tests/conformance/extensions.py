"""The extension functions that the reference's tests bring with them."""

from __future__ import annotations

from cep.plan.functions import register
from cep.plan.types import Type


def fault() -> int:
    """Fails, always."""
    raise RuntimeError("a fault on purpose")


def get_all(text: str) -> str:
    """What it is given."""
    return text


def register_all() -> None:
    """Make them known to the rule compiler."""
    register("custom:fault", [], Type.LONG, fault)
    register("custom:getAll", [Type.STRING], Type.STRING, get_all)
