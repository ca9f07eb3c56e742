"""Every scalar function and aggregator, found in the modules of `scalars` and `aggregators`."""

from __future__ import annotations

from cep.plan.defined import defined
from cep.plan.functions import aggregators, scalars
from cep.plan.functions.base import Aggregator, Scalar

AGGREGATORS = defined(aggregators, Aggregator)
SCALARS = defined(scalars, Scalar)
