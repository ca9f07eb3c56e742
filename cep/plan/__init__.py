"""The logical plan: what every front end builds and every back end takes."""

from __future__ import annotations

from cep.plan.build import compile_rules
from cep.plan.nodes import Plan

__all__ = ["Plan", "compile_rules"]
