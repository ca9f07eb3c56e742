"""Joins and correlations: rows of one input matched with what the others hold."""

from cep.interpreter.joins.correlation import CorrelationPart
from cep.interpreter.joins.join import JoinPart, make_join

__all__ = ["CorrelationPart", "JoinPart", "make_join"]
