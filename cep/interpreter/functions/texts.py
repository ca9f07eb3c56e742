"""The functions of the namespace `str`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.functions.convert import as_text
from cep.interpreter.rows import Evaluator, Row
from cep.plan.expressions import Call

GROUP = re.compile(r"\$(\d)")


def joined(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    """`str:concat`: the values as texts, nulls left out."""
    types = [argument.type for argument in node.arguments]

    def concat(row: Row) -> str:
        values = [argument(row) for argument in arguments]
        return "".join(
            as_text(value, type_)
            for value, type_ in zip(values, types, strict=True)
            if value is not None
        )

    return concat


def _replace_all(text: str, pattern: str, by: str) -> str:
    """Groups are written `$1`, as in Java."""
    return re.sub(pattern, GROUP.sub(r"\\g<\1>", by.replace("\\", r"\\")), text)


def substring(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    """`str:substr(text, from[, length])`; null when `from` lies outside the text."""
    text, start, length = arguments

    def part(row: Row) -> str | None:
        value, first, count = text(row), start(row), length(row)
        if value is None or first is None or not 0 <= first <= len(value):
            return None
        return str(value[first:] if count is None else value[first : first + max(count, 0)])

    return part


TEXTS: dict[str, Callable[..., Any]] = {
    "str:length": len,
    "str:lower": str.lower,
    "str:upper": str.upper,
    "str:trim": str.strip,
    "str:reverse": lambda text: text[::-1],
    "str:contains": lambda text, part: part in text,
    "str:equalsIgnoreCase": lambda text, other: text.lower() == other.lower(),
    "str:regexp": lambda text, pattern: re.fullmatch(pattern, text) is not None,
    "str:replaceAll": _replace_all,
}
"""Functions that are null when an argument is."""
