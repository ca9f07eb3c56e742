"""What functions and windows take: parameters, overloads, and arguments brought into one form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cep.plan.expressions import Column, Constant, Expression
from cep.plan.problems import with_article
from cep.plan.types import NUMERIC, Type

ANY = (*NUMERIC, Type.STRING, Type.BOOL, Type.OBJECT)
VALUES = (*NUMERIC, Type.STRING, Type.BOOL)
NUMBER = NUMERIC
WHOLE = (Type.INT, Type.LONG)
TEXT = (Type.STRING,)
TRUTH = (Type.BOOL,)
ONE_TYPE_HINT = "all its values must have one type; `cast(x, 'double')` changes one"

ArgumentKind = Literal["value", "constant", "attribute", "constant or attribute"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: the types it takes and what kind of expression may stand there.

    An optional one has a `default`. `repeated` ones may come again at the end. All `alike`
    arguments have the type of the first of them. `least` is the smallest number taken, and
    `choices` are the constants taken, in lower case. `is_time`: it is a time in ms, and shown so.
    """

    name: str
    types: tuple[Type, ...]
    kind: ArgumentKind = "value"
    default: Constant | None = None
    repeated: bool = False
    alike: bool = False
    least: float | None = None
    choices: tuple[str, ...] = ()
    is_time: bool = field(default=False, repr=False)  # digests of functions are of the rest

    @property
    def wanted(self) -> str:
        """What stands here, in words."""
        if self.choices:
            return "one of " + ", ".join(f"'{choice}'" for choice in self.choices)
        if self.is_time and self.kind == "constant":
            return "constant time"
        noun = "number" if self.types == NUMERIC else "value" if len(self.types) > 4 else ""
        noun = noun or " or ".join(dict.fromkeys(self.types))
        kind = {"value": "", "attribute": " attribute", "constant": " constant"}
        return f"{noun}{kind.get(self.kind, ' constant or attribute')}"

    def accepts_kind(self, value: Expression) -> bool:
        """Whether the expression is the kind of thing that may stand here."""
        match self.kind:
            case "value":
                return True
            case "constant":
                return isinstance(value, Constant)
            case "attribute":
                return isinstance(value, Column)
            case _:
                return isinstance(value, Column | Constant)


def rows(name: str, least: int = 1) -> Parameter:
    """A constant number of rows."""
    return Parameter(name, (Type.INT,), "constant", least=least)


def time(name: str, default: Constant | None = None, least: int = 1) -> Parameter:
    """A constant time: a time literal or ms."""
    return Parameter(name, WHOLE, "constant", default, least=least, is_time=True)


def flag(name: str) -> Parameter:
    """A constant true or false, false when left out."""
    return Parameter(name, TRUTH, "constant", Constant(False, Type.BOOL))


def null(type_: Type) -> Constant:
    """The default of a parameter that may be missing."""
    return Constant(None, type_)


Result = Type | Callable[[Sequence[Expression]], Type]
Added = tuple[tuple[str, Type], ...]
"""Names and types of attributes."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A name, its parameters in canonical order, and the overloads: names of parameters given.

    Without `overloads` optional parameters may be left out from the end. `result` is the type, or
    tells it from the arguments. Stream functions have attributes that are `added` to rows, or
    `added_by` tells which of them are. `stateful` functions remember rows. Those of the user have a
    `digest` of what they are.
    """

    name: str
    parameters: tuple[Parameter, ...]
    doc: str
    result: Result = Type.OBJECT
    overloads: tuple[tuple[str, ...], ...] = ()
    added: Added = ()
    stateful: bool = False
    digest: str = ""
    added_by: Callable[[Sequence[Expression]], Added] | None = None

    @property
    def forms(self) -> tuple[tuple[Parameter, ...], ...]:
        """Each list of parameters that may be given."""
        if self.overloads:
            named = {parameter.name: parameter for parameter in self.parameters}
            return tuple(tuple(named[name] for name in form) for form in self.overloads)
        required = sum(p.default is None and not p.repeated for p in self.parameters)
        return tuple(self.parameters[:n] for n in range(required, len(self.parameters) + 1))

    @property
    def written(self) -> str:
        """All forms, for messages."""
        return " or ".join(f"`{self.name}({_listed(form)})`" for form in self.forms)

    def type(self, arguments: Sequence[Expression]) -> Type:
        """The type of the result."""
        return self.result if isinstance(self.result, Type) else self.result(arguments)

    def adds(self, arguments: Sequence[Expression]) -> Added:
        """The attributes added to each row."""
        return self.added if self.added_by is None else self.added_by(arguments)


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why arguments do not fit; `position` None: their number."""

    message: str
    hint: str
    position: int | None = None


def fit(signature: Signature, values: Sequence[Expression]) -> tuple[Expression, ...] | Misfit:
    """The arguments in canonical order, defaults filled in."""
    forms = [form for form in signature.forms if _counts(form, len(values))]
    if not forms:
        plural = "" if len(values) == 1 else "s"
        message = f"`{signature.name}` does not take {len(values)} argument{plural}"
        return Misfit(message, f"write {signature.written}")
    misfits: list[Misfit] = []
    for form in forms:
        misfit = _misfit(signature, form, values)
        if misfit is None:
            return _canonical(signature, form, values)
        misfits.append(misfit)
    return max(misfits, key=lambda misfit: misfit.position or 0)


def _counts(form: tuple[Parameter, ...], given: int) -> bool:
    if form and form[-1].repeated:
        return given >= len(form)
    return given == len(form)


def _misfit(
    signature: Signature, form: tuple[Parameter, ...], values: Sequence[Expression]
) -> Misfit | None:
    shared: Type | None = None
    for position, value in enumerate(values):
        parameter = form[min(position, len(form) - 1)]
        alike = parameter.alike and shared is not None
        types = (shared,) if alike and shared is not None else parameter.types
        problem = _problem(parameter, value, types)
        if problem:
            hint = ONE_TYPE_HINT if alike else f"write {signature.written}"
            if parameter.is_time:
                hint += ", a time being such as `5 min`"
            message = f"`{signature.name}` needs {problem} as `{parameter.name}`"
            return Misfit(message, hint, position)
        shared = value.type if parameter.alike and shared is None else shared
    return None


def _problem(parameter: Parameter, value: Expression, types: tuple[Type, ...]) -> str:
    """What is wanted instead of `value`; empty when it fits."""
    if value.type not in types:
        return with_article(types[0] if len(types) == 1 else parameter.wanted)
    if not parameter.accepts_kind(value):
        return with_article(parameter.wanted)
    constant = value.value if isinstance(value, Constant) else None
    if parameter.choices and str(constant).lower() not in parameter.choices:
        return parameter.wanted
    is_number = isinstance(constant, int | float) and not isinstance(constant, bool)
    if parameter.least is not None and is_number and float(constant or 0) < parameter.least:
        return f"at least {parameter.least:g}"
    return ""


def _canonical(
    signature: Signature, form: tuple[Parameter, ...], values: Sequence[Expression]
) -> tuple[Expression, ...]:
    given = dict(zip((parameter.name for parameter in form), values, strict=False))
    fixed = tuple(
        value
        for parameter in signature.parameters
        if (value := given.get(parameter.name, parameter.default)) is not None
    )
    return fixed + tuple(values[len(form) :])


def _listed(form: tuple[Parameter, ...]) -> str:
    names = [parameter.name for parameter in form]
    return ", ".join([*names, ".."] if form and form[-1].repeated else names)
