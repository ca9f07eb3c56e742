"""Joins: rows of one side matched with what the other side holds."""

from cep.interpreter.joins.join import JoinPart, make_join

__all__ = ["JoinPart", "make_join"]
