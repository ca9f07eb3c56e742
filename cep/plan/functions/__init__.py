"""The functions there are: scalar ones, aggregators, stream functions, and the user's own."""

from __future__ import annotations

from cep.plan.functions.aggregators import AGGREGATORS, INDICATORS
from cep.plan.functions.scalars import SCALARS
from cep.plan.functions.streams import STREAM_FUNCTIONS
from cep.plan.functions.user import (
    UserFunction,
    register,
    unregister,
    user_function,
    user_names,
)
from cep.plan.signatures import Signature

__all__ = [
    "AGGREGATORS",
    "INDICATORS",
    "SCALARS",
    "STREAM_FUNCTIONS",
    "UserFunction",
    "aggregator",
    "names",
    "register",
    "scalar",
    "stream_function",
    "unregister",
    "user_function",
    "user_names",
]

_SCALARS = {signature.name.lower(): signature for signature in SCALARS}
_AGGREGATORS = {signature.name.lower(): signature for signature in AGGREGATORS}
_STREAMS = {signature.name.lower(): signature for signature in STREAM_FUNCTIONS}


def scalar(name: str) -> Signature | None:
    """A scalar function, the user's ones too; case does not matter."""
    found = _SCALARS.get(name.lower())
    own = user_function(name) if found is None else None
    return own.signature if own is not None else found


def aggregator(name: str) -> Signature | None:
    """An aggregator; case does not matter."""
    return _AGGREGATORS.get(name.lower())


def stream_function(name: str) -> Signature | None:
    """A stream function; case does not matter."""
    return _STREAMS.get(name.lower())


def names() -> tuple[str, ...]:
    """Every scalar function and aggregator, for suggestions."""
    known = [signature.name for signature in (*SCALARS, *AGGREGATORS)]
    return (*known, *user_names())
