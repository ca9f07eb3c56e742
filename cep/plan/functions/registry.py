"""Every function there is, found in the modules of `aggregators`, `scalars` and `streams`."""

from __future__ import annotations

from cep.plan.defined import defined
from cep.plan.functions import aggregators, scalars, streams
from cep.plan.functions.base import Aggregator, Scalar
from cep.plan.signatures import Signature

AGGREGATORS = defined(aggregators, Aggregator)
SCALARS = defined(scalars, Scalar)
STREAM_FUNCTIONS = defined(streams, Signature)
