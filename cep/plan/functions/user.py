"""Functions and indicators of the user; rules call them by name, or as `namespace:name`.

A plan names the version that it was made with (`digest`), and versions stay known as long as the
process lives: a plan at work never meets another function under the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from cep.plan.functions.installed import load_installed
from cep.plan.functions.keyed import Maker
from cep.plan.functions.origin import FunctionError, Origin, digest_of, origin_of
from cep.plan.functions.registry import AGGREGATORS, SCALARS, STREAM_FUNCTIONS
from cep.plan.signatures import Parameter, Signature
from cep.plan.types import Type

BUILT_IN = {
    **dict.fromkeys(map(str.lower, STREAM_FUNCTIONS), "a stream function"),
    **dict.fromkeys(map(str.lower, AGGREGATORS), "an aggregator"),
    **dict.fromkeys(map(str.lower, SCALARS), "a function"),
    "eventtimestamp": "a function",
}


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function: `call` gets the arguments as Python values, None for null."""

    signature: Signature
    call: Callable[..., Any]
    place: str = ""


@dataclass(frozen=True, slots=True)
class UserIndicator:
    """A class with memory: `maker` makes one for each group of rows."""

    signature: Signature
    maker: Maker
    place: str = ""


Own = UserFunction | UserIndicator
OwnT = TypeVar("OwnT", UserFunction, UserIndicator)
_newest: dict[str, Own] = {}
_versions: dict[tuple[str, str], Own] = {}
_loading: list[Origin] = []


def register(
    name: str,
    argument_types: Sequence[Type],
    return_type: Type,
    call: Callable[..., Any],
    doc: str = "",
) -> UserFunction:
    """Make a function known to every rule text compiled from now on.

    FunctionError (a ValueError) when the name is not `name` or `namespace:name`, or is taken.
    """
    parameters = tuple(
        Parameter(f"argument{position}", (type_,))
        for position, type_ in enumerate(argument_types, start=1)
    )
    return add(UserFunction(Signature(name, parameters, doc, return_type), call), call)


def add(own: OwnT, defined: object) -> OwnT:
    """As `register`, of what `defined` (a function, a class) stands for.

    The file that has defined a name may define it again, as a cell of a notebook does.
    """
    name = own.signature.name
    parts = name.split(":")
    if len(parts) > 2 or not all(part.isidentifier() for part in parts):
        raise FunctionError(f"a function is called `name` or `namespace:name`, not `{name}`")
    origin = _loading[-1] if _loading else origin_of(defined)
    _need_free(name, origin)
    signature = replace(own.signature, digest=digest_of(own.signature, origin, defined))
    known = replace(own, signature=signature, place=origin.place)
    _newest[name.lower()] = _versions[name.lower(), signature.digest] = known
    return known


def _need_free(name: str, origin: Origin) -> None:
    remedy = "give it another name, or a namespace: `@function(name='own:name')`"
    built_in = BUILT_IN.get(name.lower())
    if built_in is not None:
        raise FunctionError(f"{origin.place}: `{name}` is {built_in} already", remedy)
    other = _newest.get(name.lower())
    if other is not None and (_loading or other.place != origin.place):
        where = "twice" if other.place == origin.place else f"in {other.place} already"
        raise FunctionError(f"{origin.place}: `{name}` is defined {where}", remedy)


@contextmanager
def standing_in(origin: Origin) -> Iterator[None]:
    """While a file is loaded: what is made known belongs to it."""
    _loading.append(origin)
    try:
        yield
    finally:
        _loading.pop()


@contextmanager
def restored_on_failure() -> Iterator[None]:
    """All that is made known and forgotten inside the block, or nothing."""
    before = dict(_newest)
    try:
        yield
    except BaseException:
        _newest.clear()
        _newest.update(before)
        raise


def unregister(name: str) -> None:
    """Forget a function; nothing happens when there is none. Plans that use it go on."""
    _newest.pop(name.lower(), None)


def forget_of(places: Sequence[str]) -> None:
    """Forget all that files have defined."""
    for name in [name for name, own in _newest.items() if own.place in places]:
        del _newest[name]


def _found(name: str) -> Own | None:
    if name.lower() not in _newest:
        load_installed()
    return _newest.get(name.lower())


def user_function(name: str) -> UserFunction | None:
    """The function of that name; case does not matter."""
    own = _found(name)
    return own if isinstance(own, UserFunction) else None


def user_indicator(name: str) -> UserIndicator | None:
    """The indicator of that name; case does not matter."""
    own = _found(name)
    return own if isinstance(own, UserIndicator) else None


def function_of(name: str, digest: str) -> UserFunction:
    """The version of a function that a plan names, the newest without one; KeyError: no such."""
    own = _versions[name.lower(), digest] if digest else _newest[name.lower()]
    assert isinstance(own, UserFunction)
    return own


def indicator_of(name: str, digest: str) -> UserIndicator:
    """The version of an indicator that a plan names; KeyError when there is none."""
    own = _versions[name.lower(), digest]
    assert isinstance(own, UserIndicator)
    return own


def place_of(name: str, digest: str) -> str:
    """The file of the version that a plan names."""
    return _versions[name.lower(), digest].place


def has_user_functions() -> bool:
    """Whether there has been any, so that a plan may call one."""
    return bool(_versions)


def user_names() -> tuple[str, ...]:
    """The names there are, as given."""
    load_installed()
    return tuple(own.signature.name for own in _newest.values())


def user_places() -> dict[str, str]:
    """The file of each function there is, by name as given."""
    return {own.signature.name: own.place for own in _newest.values()}
