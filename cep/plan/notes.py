"""Annotations that statements of the plan understand: their values, with places for errors."""

from __future__ import annotations

from cep.lang import RuleError, ast, parse_duration_ms
from cep.lang.errors import suggestion
from cep.plan.problems import Problems

Annotations = tuple[ast.Annotation, ...]


def find(annotations: Annotations, name: str) -> ast.Annotation | None:
    """The first annotation of a name (lower case)."""
    return next((one for one in annotations if one.name == name), None)


def keyed(annotation: ast.Annotation, key: str) -> str | None:
    """The value of a key (lower case), which must be written."""
    return next((value for name, value in annotation.elements if name == key), None)


def positive(problems: Problems, annotation: ast.Annotation, key: str, value: str) -> int:
    """A whole number above 0."""
    if value.strip().isascii() and value.strip().isdigit() and int(value) > 0:
        return int(value)
    message = f"`{key}` must be a whole number above 0, it is '{value}'"
    raise problems.error(annotation.span, message, f"for example `{key}='1000'`")


def duration(problems: Problems, annotation: ast.Annotation, key: str, value: str) -> int:
    """A time in ms, more than 0."""
    try:
        ms = parse_duration_ms(value)
    except RuleError as error:
        message = f"`{key}` must be a time, it is '{value}'"
        hint = f"for example `{key}='1 min'`"
        raise problems.error(annotation.span, message, hint) from error
    if ms <= 0:
        message = f"`{key}` must be more than 0"
        raise problems.error(annotation.span, message, f"for example `{key}='1 min'`")
    return ms


def enabled(annotation: ast.Annotation) -> bool:
    """Whether `enable` is not 'false'."""
    return (keyed(annotation, "enable") or "true").lower() != "false"


def choice(
    problems: Problems, annotation: ast.Annotation, key: str, choices: tuple[str, ...]
) -> str:
    """One of some words (lower case); the first where nothing is written."""
    value = annotation.value(key)
    if value is None:
        return choices[0]
    if value.lower() not in choices:
        hint = suggestion(value, choices)
        raise problems.error(annotation.span, f"unknown {key} '{value}'", hint)
    return value.lower()
