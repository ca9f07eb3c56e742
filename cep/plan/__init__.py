"""The logical plan: what every front end builds and every back end takes."""

from __future__ import annotations

from cep.plan.build import compile_rules
from cep.plan.nodes import Plan
from cep.plan.on_demand import build_on_demand

__all__ = ["Plan", "build_on_demand", "compile_rules"]
