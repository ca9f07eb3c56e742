"""The one decorator for Numba kernels, their cache on disk, and the same source without Numba.

Numba keys its cache by the path and the text of the kernel's own file and does not notice a change
in a kernel it calls, so the cache folder carries the hash of all kernel sources and of the versions
that shape the code. In it only names count: a second installation of the same finds all of it made.
"""

from __future__ import annotations

import hashlib
import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba import int64
from numba.core.registry import CPUDispatcher
from numba.core.types.misc import unliteral

import cep.plan.functions
import mt5bridge.broker
from cep.engine.fused import OVERLOADED

F = TypeVar("F", bound=Callable[..., Any])
ENTERED = int64(int64)
Around = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Makes of a function another one, which calls it."""


def cache_root() -> Path:
    """The folder of compiled code: `MT5CEP_CACHE` or the user's cache folder."""
    if chosen := os.environ.get("MT5CEP_CACHE"):
        return Path(chosen)
    base = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "mt5cep"


def kernel_files() -> tuple[Path, ...]:
    """The sources of everything that is ever compiled, but for generated modules."""
    here, functions = Path(__file__), Path(cep.plan.functions.__file__).parent
    broker = Path(mt5bridge.broker.__file__).parent.glob("*.py")
    kernels = (here.parent / "kernels").glob("*.py")
    machine = (here.parent / "machine").rglob("*.py")
    folders = (kernels, machine, functions.rglob("*.py"), broker)
    fused = here.with_name("fused.py")
    return (here, fused, *(path for found in folders for path in sorted(found)))


@cache
def cache_folder() -> Path:
    """The cache folder of exactly these kernels, Numba, NumPy, Python and processor."""
    digest = hashlib.sha256()
    for source in kernel_files():
        digest.update(source.read_bytes())
    versions = (numba.__version__, np.__version__, sys.version)
    digest.update(repr(versions).encode())
    return cache_root() / digest.hexdigest()[:16]


class Addressed:
    """A function of the address of a table (`cep.engine.kernels.entry`): what Python calls of the
    kernels, and the only one that has machine code, when somebody needs it.
    """

    def __init__(self, function: Callable[[int], int], **options: Any) -> None:
        self.function = function
        self._options = options

    @cached_property
    def code(self) -> Any:
        """As Numba has it: from the disk, or compiled now, which takes seconds."""
        with caching():
            compile_ = numba.njit(
                ENTERED, cache=True, _nrt=False, error_model="numpy", **self._options
            )
            return compile_(self.function)


def addressed(function: Callable[[int], int]) -> Addressed:
    """Compile a function of an address, when it is needed."""
    return Addressed(function)


def kernel(function: F) -> F:
    """Compile a kernel that Python calls with arrays."""
    return _compiled(function)


def inner(function: F) -> F:
    """Compile a kernel that only kernels call, without the costly wrapper for Python."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inline(function: F) -> F:
    """An inner kernel that is always inlined: a few lines, or called from few places.

    A call hands over a state of twenty arrays by value, which costs more than most kernels do.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


@cache
def compiled(function: F) -> F:
    """An inlined kernel of a plain function; those it calls become kernels, too."""
    return inline(_calling_kernels(function, compiled))


@cache
def called(function: F) -> F:
    """An inner kernel of a plain function that is too long to be inlined, as of those it calls."""
    return inner(_calling_kernels(function, called))


def entry(function: F) -> F:
    """A kernel for Python of a plain function; those it calls become inner kernels."""
    return kernel(_calling_kernels(function, called))


def _calling_kernels(function: Any, as_kernel: Callable[[Any], Any]) -> Any:
    """A copy of a plain function that calls kernels where it called functions."""
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        value = names.get(name)
        if isinstance(value, types.FunctionType) and value not in OVERLOADED:
            names[name] = as_kernel(names[name])
    code = function.__code__
    return types.FunctionType(code, names, function.__name__, function.__defaults__)


def _compiled(function: F, **options: Any) -> F:
    # Without reference counts (`_nrt`): the caller owns every array and kernels make none. Counting
    # the arrays of a state at every call of a kernel costs ten times what most kernels do.
    options |= {"cache": True, "nogil": True, "_nrt": False}
    with caching():
        return without_literals(numba.njit(error_model="numpy", **options)(function))


class Locator:
    """Where Numba keeps the code of one function: what it asks of `CACHE_LOCATOR_CLASSES`."""

    def __init__(self, function: Callable[..., Any], path: str) -> None:
        self._folder = cache_folder() / function.__module__
        self._line = function.__code__.co_firstlineno
        self._path = path

    @classmethod
    def from_function(cls, function: Callable[..., Any], path: str) -> Locator:
        """Of a function from the file at `path`, wherever that is."""
        return cls(function, path)

    def ensure_cache_path(self) -> None:
        """Make the folder if it is not there; OSError where that can't be done."""
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        """The folder; before Numba writes there it has it made."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """What was made of another text is made anew: not all functions are the package's own."""
        return _digest_of(self._path)

    def get_disambiguator(self) -> str:
        """What tells functions of one name in a module apart."""
        return str(self._line)


@cache
def _digest_of(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


@contextmanager
def caching() -> Iterator[None]:
    """What is compiled meanwhile is kept in the cache folder, or comes from there."""
    previous = numba.config.CACHE_LOCATOR_CLASSES
    numba.config.CACHE_LOCATOR_CLASSES = f"{Locator.__module__}.{Locator.__qualname__}"
    try:
        yield
    finally:
        numba.config.CACHE_LOCATOR_CLASSES = previous


def without_literals(kernel: Any) -> Any:
    """The kernel, compiled once and not once more for every constant a caller passes."""
    template = kernel.get_call_template

    def by_types(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return template(tuple(map(unliteral, arguments)), named)

    kernel.get_call_template = by_types
    return kernel


def plain(function: F, around: Mapping[str, Around] | None = None) -> F:
    """The very same source, uncompiled, calling uncompiled kernels all the way down.

    `around` wraps kernels by name, for those who want to watch them work.
    """
    return _Plain(around or {}).of(function)


class _Plain:
    """Copies kernels onto globals in which every kernel is its own plain copy."""

    def __init__(self, around: Mapping[str, Around]) -> None:
        self._around = around
        self._copies: dict[int, Callable[..., Any]] = {}

    def of(self, function: Any) -> Any:
        if not isinstance(function, CPUDispatcher):
            return function
        source: types.FunctionType = function.py_func
        if id(source) not in self._copies:
            names = dict(source.__globals__)
            copy = types.FunctionType(source.__code__, names, source.__name__, source.__defaults__)
            self._copies[id(source)] = self._around.get(source.__name__, _unchanged)(copy)
            for name in source.__code__.co_names:
                if name in names:
                    names[name] = self.of(names[name])
        return self._copies[id(source)]


def _unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function
