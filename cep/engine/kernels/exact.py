"""Arithmetic of pairs of doubles, compiled: see `cep.plan.functions.pairs`."""

from __future__ import annotations

from cep.engine.jit import compiled
from cep.plan.functions import pairs

two_sum = compiled(pairs.two_sum)
two_product = compiled(pairs.two_product)
square = compiled(pairs.square)
add_pair = compiled(pairs.add_pair)
divide_pair = compiled(pairs.divide_pair)
mean = compiled(pairs.mean)
total = compiled(pairs.total)
scatter = compiled(pairs.scatter)
deviation = compiled(pairs.deviation)
