"""Rewrites: the same plan, cheaper to run."""

from __future__ import annotations

from cep.plan.nodes import Plan
from cep.plan.rewrite.conditions import is_condition, with_queries
from cep.plan.rewrite.conjunctions import ordered
from cep.plan.rewrite.expressions import map_plan
from cep.plan.rewrite.folding import folded
from cep.plan.rewrite.sharing import Sharing, sharing

__all__ = ["Sharing", "is_condition", "rewrite", "sharing", "with_queries"]


def rewrite(plan: Plan) -> Plan:
    """The plan with constants computed, and conjunctions cheap and selective first."""
    return with_queries(map_plan(plan, lambda expression: ordered(folded(expression))))
