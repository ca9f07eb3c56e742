"""PostgreSQL: https://www.postgresql.org/docs/current/functions-math.html"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from cep.database.dialects.base import PRODUCT, Dialect, Element, Lower
from cep.database.dialects.numbers import guarded, no_nan, wrapped_long
from cep.plan.expressions import Call, Constant
from cep.plan.types import Type

_SPACES = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999."""
_FIELDS = {"weekday": "dow", "day_of_year": "doy"}


def _long(op: str) -> Lower:
    """An operation on longs that wraps."""

    def lower(left: Element, right: Element) -> Element:
        wide = sa.Numeric()
        found = sa.cast(left, wide).op(op, return_type=wide)(sa.cast(right, wide))
        return wrapped_long(found, wide)

    return lower


def _extracted(node: Call, arguments: Sequence[Element]) -> Element:
    """`time:extract`."""
    unit = node.arguments[1]
    assert isinstance(unit, Constant)
    name = str(unit.value).lower()
    time_ms = sa.case((arguments[0].between(_FIRST_MS, _LAST_MS), arguments[0]))
    # rounded down, before 1970, too
    time_s = (time_ms - (time_ms % 1000 + 1000) % 1000).op("/", PRODUCT)(1000)
    moment: Element = sa.literal_column("timestamp '1970-01-01'") + time_s * sa.literal_column(
        "interval '1 second'"
    )
    found = sa.cast(sa.extract(_FIELDS.get(name, name), moment), sa.BigInteger())
    return found + 1 if name == "weekday" else found


def _substring(node: Call, arguments: Sequence[Element]) -> Element:
    text, start, length = arguments
    whole = sa.func.char_length(text, type_=sa.Integer())
    first = sa.cast(start, sa.Integer()) + 1
    # what is longer than the rest is the rest; substr takes no numbers of 64 bits
    count = sa.cast(sa.func.least(sa.func.greatest(length, 0), whole), sa.Integer())
    part = sa.case(
        (length.is_(None), sa.func.substr(text, first)), else_=sa.func.substr(text, first, count)
    )
    return sa.case((start.between(0, whole), part))


_DIGITS = "the last digits of PostgreSQL's differ from ours"
_TEXTS = "PostgreSQL's rules for letters and patterns are not ours"

POSTGRESQL = Dialect(
    name="postgresql",
    compiler=postgresql.dialect(paramstyle="format"),  # type: ignore[no-untyped-call]
    in_process=False,
    arithmetic={(op, Type.LONG): guarded(op, _long(op)) for op in "+-*"},
    narrow={Type.FLOAT: no_nan, Type.DOUBLE: no_nan},
    functions={
        "time:extract": _extracted,
        "str:substr": _substring,
        "str:length": lambda node, values: sa.cast(sa.func.char_length(values[0]), sa.BigInteger()),
        "str:contains": lambda node, values: sa.func.strpos(*values) > 0,
        "str:reverse": lambda node, values: sa.func.reverse(values[0], type_=sa.Text()),
        "str:trim": lambda node, values: sa.func.btrim(values[0], _SPACES, type_=sa.Text()),
    },
    never={
        "% double": "PostgreSQL has no remainder of doubles",
        "% float": "PostgreSQL has no remainder of floats",
        **dict.fromkeys(
            [
                *("math:cbrt", "math:exp", "math:ln", "math:log", "math:log2", "math:log10"),
                *("math:power", "math:sin", "math:cos", "math:tan"),
                *("math:asin", "math:acos", "math:atan"),
            ],
            _DIGITS,
        ),
        **dict.fromkeys(
            ["str:lower", "str:upper", "str:equalsIgnoreCase", "str:regexp", "str:replaceAll"],
            _TEXTS,
        ),
    },
)
