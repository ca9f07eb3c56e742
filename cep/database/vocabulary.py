"""The words that definitions of functions write SQL in: see `cep.plan.functions.sql`."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Double,
    Integer,
    Text,
    and_,
    case,
    cast,
    extract,
    false,
    func,
    literal,
    literal_column,
    null,
    or_,
    true,
)

from cep.database.conversions import converted, real, whole
from cep.database.dialects.base import COLUMN_TYPES, PRODUCT, Element

__all__ = [
    "COLUMN_TYPES",
    "PRODUCT",
    "BigInteger",
    "Double",
    "Integer",
    "Text",
    "and_",
    "case",
    "cast",
    "converted",
    "counted",
    "extract",
    "false",
    "func",
    "literal",
    "literal_column",
    "null",
    "or_",
    "real",
    "true",
    "whole",
]


def counted(truth: Element) -> Element:
    """1 where it is true, else 0: of these there is a sum."""
    return case((truth, whole(1)), else_=whole(0))
