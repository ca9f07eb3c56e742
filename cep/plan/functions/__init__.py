"""The functions there are: scalar ones, aggregators, stream functions, and the user's own."""

from __future__ import annotations

from cep.plan.functions import registry
from cep.plan.functions.base import EXAMPLE, Aggregator, Scalar, own_aggregator
from cep.plan.functions.installed import load_installed
from cep.plan.functions.keyed import Maker
from cep.plan.functions.origin import FunctionError, Origin
from cep.plan.functions.plain import StateError, as_it_was
from cep.plan.functions.user import (
    BUILT_IN,
    UserFunction,
    UserIndicator,
    add,
    forget_of,
    function_of,
    has_user_functions,
    indicator_of,
    place_of,
    register,
    restored_on_failure,
    standing_in,
    unregister,
    user_function,
    user_indicator,
    user_names,
    user_places,
)
from cep.plan.signatures import Signature

__all__ = [
    "AGGREGATORS",
    "EXAMPLE",
    "SCALARS",
    "STREAM_FUNCTIONS",
    "Aggregator",
    "Scalar",
    "FunctionError",
    "Maker",
    "Origin",
    "StateError",
    "UserFunction",
    "UserIndicator",
    "add",
    "aggregator",
    "aggregator_of",
    "as_it_was",
    "forget_of",
    "function_of",
    "has_user_functions",
    "indicator_of",
    "load_installed",
    "names",
    "place_of",
    "register",
    "restored_on_failure",
    "scalar",
    "scalar_of",
    "standing_in",
    "stream_function",
    "unregister",
    "user_function",
    "user_indicator",
    "user_names",
    "user_places",
]

SCALARS = tuple(registry.SCALARS.values())
"""Every scalar function but those of the user."""
AGGREGATORS = tuple(registry.AGGREGATORS.values())
"""Every aggregator."""
STREAM_FUNCTIONS = tuple(registry.STREAM_FUNCTIONS.values())
"""Every stream function."""

_SCALARS = {one.name.lower(): one.signature for one in SCALARS}
_AGGREGATORS = {one.name.lower(): one.signature for one in AGGREGATORS}
_STREAMS = {signature.name.lower(): signature for signature in STREAM_FUNCTIONS}


def scalar_of(name: str) -> Scalar | None:
    """The scalar function of that name, spelled as in a plan; None for one of the user's."""
    return registry.SCALARS.get(name)


def aggregator_of(name: str) -> Aggregator:
    """The aggregator of that name, spelled as in a plan; any other is an indicator of the user."""
    return registry.AGGREGATORS.get(name) or own_aggregator(name)


def scalar(name: str) -> Signature | None:
    """A scalar function, the user's ones too; case does not matter."""
    found = _SCALARS.get(name.lower())
    own = user_function(name) if found is None else None
    return own.signature if own is not None else found


def aggregator(name: str) -> Signature | None:
    """An aggregator, the user's indicators too; case does not matter."""
    return _AGGREGATORS.get(name.lower()) or _own_indicator(name)


def stream_function(name: str) -> Signature | None:
    """A stream function, the user's indicators too; case does not matter."""
    return _STREAMS.get(name.lower()) or _own_indicator(name)


def _own_indicator(name: str) -> Signature | None:
    if name.lower() in BUILT_IN:
        return None
    own = user_indicator(name)
    return own.signature if own is not None else None


def names() -> tuple[str, ...]:
    """Every scalar function and aggregator, for suggestions."""
    return (*registry.SCALARS, *registry.AGGREGATORS, *user_names())
