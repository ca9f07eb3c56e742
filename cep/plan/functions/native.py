"""How the native engine computes a function: cells it keeps, and source that calls kernels.

Kernels are plain functions over cells of the engine's state: those of a function stand beside its
definition, and the engine compiles them when a rule asks for them. They may call each other, those
of `pairs`, and `math`; an int array and a float array hold their cells, from column `ci` and `cf`
of one row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from cep.plan.expressions import Aggregate, Call

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float64]
else:  # annotations alone need them, and NumPy takes long to import
    Ints = Floats = Any

NULL = -(2**63)
"""Null of int, long, bool and of string codes; that of floats is NaN."""
CELLS = "{i}, {f}, {row}, {ci}, {cf}"
"""What kernels of an aggregator are told of their cells, as source."""

CLEARED = 4
"""So many cells of an aggregator's own are set to 0, of both kinds, when it starts again."""

Kernel = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Cells:
    """An aggregator with cells of its own, `ints` and `floats` of them, all 0 at first.

    `enter`, `leave` and `value` are source with {i}, {f}, {row}, {ci}, {cf}, the constant {n} and
    the arguments {0}, {1}, .. Arguments are kept in the window where `leave` is not empty.
    `as_float`: they count as floats. When an aggregator starts again its first `CLEARED` cells are
    set to 0: by them `enter` must know that nothing has come.
    """

    ints: int
    floats: int
    enter: str
    value: str
    leave: str = ""
    as_float: bool = True


@dataclass(frozen=True, slots=True)
class Moments:
    """It is a `value`, a kernel, of the exact count and sum of its argument, a float.

    With `squares` of the sum of the squares, too. Aggregators of one argument share all of these.
    """

    value: str
    squares: bool = False


@dataclass(frozen=True, slots=True)
class WholeTotal:
    """The sum of whole numbers, wrapping at 64 bits."""


@dataclass(frozen=True, slots=True)
class Extreme:
    """The largest value in the window, or with `sign` -1 the smallest."""

    sign: int


@dataclass(frozen=True, slots=True)
class Kept:
    """It keeps all values: `ranked`, below which a share of `percent` lies; else different ones.

    Only rules that run as one program have it so (`cep.engine.machine`).
    """

    is_ranked: bool
    percent: float = 0.0


Native: TypeAlias = "Cells | Moments | WholeTotal | Extreme | Kept"
Compile: TypeAlias = "Native | Callable[[Aggregate], Native | str]"
"""How it is compiled, or what tells this from the aggregate; a text is the reason why it is not."""


class Written(Protocol):
    """A call with its arguments as source, by place, each as it is asked for."""

    @property
    def call(self) -> Call: ...

    def value(self, place: int) -> str:
        """The value: float of float and double, else int."""

    def double(self, place: int) -> str:
        """A number as a double."""

    def alike(self, place: int) -> str:
        """The value as the type of the call."""

    def truth(self, place: int) -> str:
        """Whether it is true; null is not."""


@dataclass(frozen=True, slots=True)
class Source:
    """How a call of a scalar function is written; `why_not` tells calls that are not, and why."""

    write: Callable[[Written], str]
    kernels: tuple[Kernel, ...] = ()
    why_not: Callable[[Call], str | None] = lambda call: None
