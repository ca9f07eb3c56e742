"""What a run says of a rule text, values of parameters and a magic number: the text with them."""

from __future__ import annotations

from collections.abc import Mapping

from cep.lang.ast import ParameterDefinition, PositionDefinition
from cep.lang.cursor import INT_MAX
from cep.lang.errors import RuleError, Source, suggestion
from cep.lang.parameters import Parameter, Value
from cep.lang.parser import Parser, parse

Given = Mapping[str, Value]
"""Values by names; texts are read as the types of their parameters."""


class ParameterError(ValueError):
    """No value for a parameter: `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def parameters_of(text: str, file: str = "<rules>") -> tuple[Parameter, ...]:
    """The parameters of a rule text, in its order; raises RuleError."""
    statements = parse(text, file).statements
    return tuple(one.parameter for one in statements if isinstance(one, ParameterDefinition))


def with_parameters(text: str, file: str, given: Given) -> str:
    """The rule text with these values in place of its own; RuleError, ParameterError.

    Lines stay where they are, so that whatever reads the text later speaks of the same places.
    """
    if not given:
        return text
    known = parameters_of(text, file)
    values = {name: value_of(known, name, value) for name, value in given.items()}
    return bound(text, known, values)


def bound(text: str, known: tuple[Parameter, ...], values: Given) -> str:
    """The same for values that fit, of parameters which the text is known to have."""
    for one in sorted(known, key=lambda one: -one.value_span.start):
        if one.name in values:
            try:
                written = one.written(values[one.name])
            except ValueError as problem:
                raise ParameterError(f"{one.name}: {problem}") from None
            text = text[: one.value_span.start] + written + text[one.value_span.end :]
    return text


def with_magic(text: str, file: str, magic: int | None) -> str:
    """The rule text whose positions have a run's magic number, where they name none; RuleError.

    Lines stay where they are. None: nobody has said one.
    """
    if magic is None or "position" not in text.lower():
        return text
    written = f"{magic}L" if magic > INT_MAX else str(magic)
    for one in reversed(parse(text, file).statements):
        if isinstance(one, PositionDefinition) and one.magic is None:
            text = f"{text[: one.span.end]} magic {written}{text[one.span.end :]}"
    return text


def value_of(known: tuple[Parameter, ...], name: str, value: Value) -> Value:
    """A value that a parameter may have; ParameterError names another one, or what it may be."""
    one = parameter(known, name)
    found = read_value(one, one.shown(value) if not isinstance(value, str) else value)
    if misfit := one.misfit(found):
        raise ParameterError(f"{name}: {misfit}", f"the rules say `{one.text}`")
    return found


def parameter(known: tuple[Parameter, ...], name: str) -> Parameter:
    """The parameter of a name; ParameterError."""
    found = {one.name: one for one in known}
    if name not in found:
        hint = suggestion(name, found) or "the rules define none: `define parameter NAME TYPE = ..`"
        raise ParameterError(f"the rules have no parameter {name}", hint)
    return found[name]


def read_value(one: Parameter, text: str) -> Value:
    """A text as a value of the parameter's type, whatever its limits; ParameterError."""
    if one.type == "string":
        return text
    parser = Parser(Source(text.strip()))
    try:
        found = parser.parameter_value(one.type).value
        parser.expect_end("the end of the value")
    except RuleError:
        article = "an" if one.type == "int" else "a"
        raise ParameterError(
            f"{one.name}: {text!r} is not {article} {one.type}", f"the rules say `{one.text}`"
        ) from None
    return found
