"""The kernels of functions, compiled when a generated module imports them by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from cep.engine.jit import compiled
from cep.plan.functions import AGGREGATORS, SCALARS
from cep.plan.functions.native import Kernel


def _kernels() -> Iterator[Kernel]:
    for scalar in SCALARS:
        yield from scalar.native.kernels if scalar.native is not None else ()
    for aggregator in AGGREGATORS:
        yield from aggregator.kernels


def _by_name() -> dict[str, Kernel]:
    found: dict[str, Kernel] = {}
    for kernel in _kernels():
        if found.setdefault(kernel.__name__, kernel) is not kernel:
            raise ValueError(f"{kernel.__module__}: there is another kernel {kernel.__name__}")
    return found


KERNELS = _by_name()
"""Every one of them, not compiled, by name."""


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in KERNELS:
        raise AttributeError(name)
    return compiled(KERNELS[name])
