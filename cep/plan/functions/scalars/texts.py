"""Functions of strings, in the namespace `str`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from cep.plan.expressions import Call, Constant
from cep.plan.functions.base import Evaluate, Scalar, Setting, strict
from cep.plan.functions.convert import as_text
from cep.plan.functions.parameters import S
from cep.plan.functions.sql import Element, Never, Sql
from cep.plan.signatures import TEXT, VALUES, WHOLE, Parameter, Signature
from cep.plan.types import Type

GROUP = re.compile(r"\$(\d)")
SPACES = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)


def _joined(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
    """`str:concat`: the values as texts, nulls left out."""
    types = [argument.type for argument in node.arguments]

    def concat(row: Any) -> str:
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


def _substring(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
    """`str:substr(text, from[, length])`; null when `from` lies outside the text."""
    text, start, length = arguments

    def part(row: Any) -> str | None:
        value, first, count = text(row), start(row), length(row)
        if value is None or first is None or not 0 <= first <= len(value):
            return None
        return str(value[first:] if count is None else value[first : first + max(count, 0)])

    return part


def _sql_joined(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
    texts = [
        sql.func.coalesce(sql.converted(value, argument.type, Type.STRING), "")
        for value, argument in zip(values, node.arguments, strict=True)
    ]
    found = sql.cast(texts[0], sql.Text())
    for text in texts[1:]:
        found = found.concat(text)
    return found


def _sql_substring(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
    text, start, length = values
    whole = sql.func.char_length(text, type_=sql.Integer())
    first = sql.cast(start, sql.Integer()) + 1
    # what is longer than the rest is the rest; substr takes no numbers of 64 bits
    count = sql.cast(sql.func.least(sql.func.greatest(length, 0), whole), sql.Integer())
    part = sql.case(
        (length.is_(None), sql.func.substr(text, first)),
        else_=sql.func.substr(text, first, count),
    )
    return sql.case((start.between(0, whole), part))


def _sql_length(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
    return sql.cast(sql.func.char_length(values[0]), sql.BigInteger())


RULES = {"postgresql": Never("PostgreSQL's rules for letters and patterns are not ours")}
POSITION = Parameter("from", WHOLE)
PART = Parameter("part", TEXT)
PATTERN = Parameter("pattern", TEXT)

CONCAT = Scalar(
    Signature(
        "str:concat",
        (Parameter("x", VALUES, repeated=True),),
        "all, one behind another",
        Type.STRING,
        (("x",),),
    ),
    _joined,
    sql=_sql_joined,
)
LENGTH = Scalar(
    Signature("str:length", (S,), "the number of characters", Type.INT),
    strict(len),
    sql={"postgresql": _sql_length},
)
LOWER = Scalar(
    Signature("str:lower", (S,), "in lower case", Type.STRING), strict(str.lower), sql=RULES
)
UPPER = Scalar(
    Signature("str:upper", (S,), "in upper case", Type.STRING), strict(str.upper), sql=RULES
)
TRIM = Scalar(
    Signature("str:trim", (S,), "without spaces around", Type.STRING),
    strict(str.strip),
    sql={
        "postgresql": lambda sql, node, values: sql.func.btrim(values[0], SPACES, type_=sql.Text())
    },
)
REVERSE = Scalar(
    Signature("str:reverse", (S,), "read backward", Type.STRING),
    strict(lambda text: text[::-1]),
    sql={"postgresql": lambda sql, node, values: sql.func.reverse(values[0], type_=sql.Text())},
)
CONTAINS = Scalar(
    Signature("str:contains", (S, PART), "whether the part stands in it", Type.BOOL),
    strict(lambda text, part: part in text),
    sql={"postgresql": lambda sql, node, values: sql.func.strpos(*values) > 0},
)
EQUALS_IGNORE_CASE = Scalar(
    Signature("str:equalsIgnoreCase", (S, Parameter("t", TEXT)), "equal but for case", Type.BOOL),
    strict(lambda text, other: text.lower() == other.lower()),
    sql=RULES,
)
REGEXP = Scalar(
    Signature("str:regexp", (S, PATTERN), "whether all of it matches", Type.BOOL),
    strict(lambda text, pattern: re.fullmatch(pattern, text) is not None),
    sql=RULES,
    can_fail=True,
)
REPLACE_ALL = Scalar(
    Signature(
        "str:replaceAll",
        (S, PATTERN, Parameter("by", TEXT)),
        "every match of the pattern replaced",
        Type.STRING,
    ),
    strict(_replace_all),
    sql=RULES,
    can_fail=True,
)
SUBSTR = Scalar(
    Signature(
        "str:substr",
        (S, POSITION, Parameter("length", WHOLE, default=Constant(None, Type.INT))),
        "a part, from a position counted from 0",
        Type.STRING,
    ),
    _substring,
    sql={"postgresql": _sql_substring},
)
