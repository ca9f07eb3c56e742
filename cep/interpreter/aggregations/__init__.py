"""Incremental aggregations: running values per calendar unit and group."""

from cep.interpreter.aggregations.aggregation import AggregationPart, make_aggregation

__all__ = ["AggregationPart", "make_aggregation"]
