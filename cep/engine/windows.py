"""The windows that the native engine compiles."""

from __future__ import annotations

from dataclasses import dataclass

from cep.plan.steps import Window


@dataclass(frozen=True, slots=True)
class NativeWindow:
    """A window as it is compiled: with a ring of its rows, or (`is_batch`) with sums alone.

    `is_shared`: many may read the ring, so that joins and windows of many sizes do.
    """

    is_batch: bool = False
    is_shared: bool = False


_COMPILED = {
    "length": NativeWindow(is_shared=True),
    "time": NativeWindow(is_shared=True),
    "externalTime": NativeWindow(),
    "lengthBatch": NativeWindow(is_batch=True),
}


def native_window(window: Window) -> NativeWindow | None:
    """How a window is compiled; None where it is not."""
    return _COMPILED.get(window.name)


def is_sliding(window: Window) -> bool:
    """Whether it is compiled with a ring of its rows, which leave one by one."""
    native = native_window(window)
    return native is not None and not native.is_batch


def is_shared(window: Window) -> bool:
    """Whether it is compiled with a ring that many may read."""
    native = native_window(window)
    return native is not None and native.is_shared


def parts_chunks(window: Window) -> bool:
    """Whether it may hand on several chunks when several rows come together."""
    return window.name in ("batch", "lengthBatch", "externalTimeBatch", "expressionBatch")
