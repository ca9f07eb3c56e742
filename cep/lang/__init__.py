"""The rule language: text to tokens to syntax tree, and back to well-formed text."""

from __future__ import annotations

from cep.lang.binding import (
    Given,
    ParameterError,
    parameters_of,
    with_magic,
    with_parameters,
)
from cep.lang.errors import RuleError, RuleErrors
from cep.lang.formatter import format_rules
from cep.lang.parser import parse, parse_duration_ms, parse_expression, parse_on_demand

__all__ = [
    "Given",
    "ParameterError",
    "RuleError",
    "RuleErrors",
    "format_rules",
    "parameters_of",
    "parse",
    "parse_duration_ms",
    "parse_expression",
    "parse_on_demand",
    "with_magic",
    "with_parameters",
]
