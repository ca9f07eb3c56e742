"""Rules are compiled once for all worlds of a process: no plan changes, and texts come again."""

from __future__ import annotations

from functools import cache

from cep.plan import compile_rules
from cep.plan.nodes import Plan


@cache
def compiled_rules(text: str, file: str = "<rules>") -> Plan:
    """As `compile_rules`."""
    return compile_rules(text, file)
