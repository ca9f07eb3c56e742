"""Scalar functions: those of Siddhi's core, and of its extensions what traders need."""

from __future__ import annotations

from collections.abc import Sequence

from cep.plan.expressions import Constant, Expression
from cep.plan.signatures import ANY, NUMBER, TEXT, TRUTH, VALUES, WHOLE, Parameter, Signature
from cep.plan.types import Type, widest

NAMED_TYPES = ("int", "long", "float", "double", "string", "bool")
TIME_UNITS = ("year", "month", "day", "hour", "minute", "second", "weekday", "day_of_year")


def last(arguments: Sequence[Expression]) -> Type:
    """The type of the last argument, which the values share."""
    return arguments[-1].type


def named(arguments: Sequence[Expression]) -> Type:
    """The type that the last argument names."""
    name = arguments[-1]
    assert isinstance(name, Constant)
    return Type(str(name.value).lower())


def wider(arguments: Sequence[Expression]) -> Type:
    """The wider type of two numbers."""
    return widest(arguments[0].type, arguments[1].type)


VALUE = Parameter("x", ANY)
NAMED = Parameter("type", TEXT, "constant", choices=NAMED_TYPES)
X = Parameter("x", NUMBER)
S = Parameter("s", TEXT)
ALIKE = Parameter("x", (*VALUES, Type.OBJECT), alike=True)
NUMBERS = Parameter("x", NUMBER, alike=True, repeated=True)
POSITION = Parameter("from", WHOLE)
ONE_OR_MORE = (("x",),)
"""The only form of a function whose one parameter `x` is repeated but cannot be left out."""


def _instance_of(name: str) -> Signature:
    doc = f"whether the value is a {name.lower()}"
    return Signature(f"instanceOf{name}", (VALUE,), doc, Type.BOOL)


CORE = (
    Signature("cast", (VALUE, NAMED), "the value, which is of that type already", named),
    Signature("convert", (VALUE, NAMED), "the value as that type; null when it cannot be", named),
    Signature(
        "ifThenElse",
        (Parameter("condition", TRUTH), ALIKE, Parameter("otherwise", ALIKE.types, alike=True)),
        "the second when the first is true, else the third",
        last,
    ),
    Signature(
        "coalesce",
        (Parameter("x", ALIKE.types, alike=True, repeated=True),),
        "the first that is not null",
        last,
        ONE_OR_MORE,
    ),
    Signature(
        "default",
        (ALIKE, Parameter("instead", VALUES, "constant", alike=True)),
        "the first, or the constant where that is null",
        last,
    ),
    Signature("maximum", (NUMBERS,), "the largest; nulls do not count", last, ONE_OR_MORE),
    Signature("minimum", (NUMBERS,), "the smallest; nulls do not count", last, ONE_OR_MORE),
    *(_instance_of(name) for name in ("String", "Integer", "Long", "Float", "Double", "Boolean")),
    Signature("createSet", (Parameter("x", VALUES),), "a set of one value", Type.OBJECT),
    Signature("sizeOfSet", (Parameter("set", (Type.OBJECT,)),), "how many it holds", Type.INT),
    Signature("UUID", (), "a name of its own, the same in each replay", Type.STRING),
    Signature("currentTimeMillis", (), "when what is under way happens, in ms UTC", Type.LONG),
    Signature("eventTimestamp", (), "the row's time in ms UTC", Type.LONG),
)


def _math(name: str, doc: str) -> Signature:
    return Signature(f"math:{name}", (X,), doc, Type.DOUBLE)


MATHS = (
    _math("abs", "the distance from 0"),
    _math("ceil", "the next whole number above"),
    _math("floor", "the next whole number below"),
    Signature(
        "math:round",
        (X,),
        "the nearest whole number, halves upward; int for a float, else long",
        lambda arguments: Type.INT if arguments[0].type is Type.FLOAT else Type.LONG,
    ),
    _math("sqrt", "the square root"),
    _math("cbrt", "the cube root"),
    _math("exp", "e to the power of x"),
    _math("ln", "the natural logarithm"),
    Signature("math:log", (X, Parameter("base", NUMBER)), "the logarithm to a base", Type.DOUBLE),
    _math("log2", "the logarithm to base 2"),
    _math("log10", "the logarithm to base 10"),
    Signature("math:power", (X, Parameter("y", NUMBER)), "x to the power of y", Type.DOUBLE),
    Signature("math:max", (X, Parameter("y", NUMBER)), "the larger of two", wider),
    Signature("math:min", (X, Parameter("y", NUMBER)), "the smaller of two", wider),
    Signature("math:signum", (X,), "-1, 0 or 1", Type.INT),
    _math("sin", "the sine of an angle in radians"),
    _math("cos", "the cosine of an angle in radians"),
    _math("tan", "the tangent of an angle in radians"),
    _math("asin", "the angle of a sine"),
    _math("acos", "the angle of a cosine"),
    _math("atan", "the angle of a tangent"),
    Signature("math:isNan", (X,), "whether it is no number", Type.BOOL),
    Signature("math:isInfinite", (X,), "whether it is infinite", Type.BOOL),
    Signature("math:pi", (), "3.14159..", Type.DOUBLE),
    Signature("math:e", (), "2.71828..", Type.DOUBLE),
)

TEXTS = (
    Signature(
        "str:concat",
        (Parameter("x", VALUES, repeated=True),),
        "all, one behind another",
        Type.STRING,
        ONE_OR_MORE,
    ),
    Signature("str:length", (S,), "the number of characters", Type.INT),
    Signature("str:lower", (S,), "in lower case", Type.STRING),
    Signature("str:upper", (S,), "in upper case", Type.STRING),
    Signature("str:trim", (S,), "without spaces around", Type.STRING),
    Signature("str:reverse", (S,), "read backward", Type.STRING),
    Signature(
        "str:contains", (S, Parameter("part", TEXT)), "whether the part stands in it", Type.BOOL
    ),
    Signature("str:equalsIgnoreCase", (S, Parameter("t", TEXT)), "equal but for case", Type.BOOL),
    Signature(
        "str:regexp", (S, Parameter("pattern", TEXT)), "whether all of it matches", Type.BOOL
    ),
    Signature(
        "str:replaceAll",
        (S, Parameter("pattern", TEXT), Parameter("by", TEXT)),
        "every match of the pattern replaced",
        Type.STRING,
    ),
    Signature(
        "str:substr",
        (S, POSITION, Parameter("length", WHOLE, default=Constant(None, Type.INT))),
        "a part, from a position counted from 0",
        Type.STRING,
    ),
)

TIMES = (
    Signature(
        "time:extract",
        (Parameter("time_ms", WHOLE), Parameter("unit", TEXT, "constant", choices=TIME_UNITS)),
        "a part of a time in ms UTC; weekdays count from 1, Sunday",
        Type.INT,
    ),
)

SCALARS = (*CORE, *MATHS, *TEXTS, *TIMES)
"""Every scalar function; the namespaces are those of Siddhi's extensions."""
