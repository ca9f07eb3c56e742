"""The windows there are."""

from __future__ import annotations

from cep.plan.defined import defined
from cep.plan.expressions import Constant, Expression
from cep.plan.steps import Window
from cep.plan.windows import kinds
from cep.plan.windows.base import Clock, WindowKind

__all__ = ["WINDOWS", "WindowKind", "argument_of", "clock_of", "kind_of", "window_kind"]

_BY_NAME = defined(kinds, WindowKind)
WINDOWS = tuple(sorted(_BY_NAME.values(), key=lambda one: one.name.lower()))
"""Every window; arguments of the plan stand in the order of its parameters."""

_IN_ANY_CASE = {one.name.lower(): one for one in WINDOWS}


def window_kind(name: str) -> WindowKind | None:
    """A window by name; case does not matter."""
    return _IN_ANY_CASE.get(name.lower())


def kind_of(window: Window) -> WindowKind:
    """What is known of a window of a plan; KeyError when there is no such window."""
    return _BY_NAME[window.name]


def clock_of(window: Window) -> Clock:
    """Whether our clock lets the rows of a window go; after a `timeout` it does those of all."""
    kind = kind_of(window)
    if not any(one.name == "timeout" for one in kind.signature.parameters):
        return kind.clock
    after = argument_of(window, "timeout")
    return "one" if isinstance(after, Constant) and after.value else kind.clock


def argument_of(window: Window, parameter: str) -> Expression:
    """The argument of that name, of a window that has it; StopIteration otherwise."""
    parameters = enumerate(kind_of(window).signature.parameters)
    return window.arguments[next(place for place, one in parameters if one.name == parameter)]
