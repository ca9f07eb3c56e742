"""Expressions as objects: they are composed, rendered as text, and checked when a query is made.

Wherever a query takes an expression it also takes its text, in the language of rule files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from cep.lang import ast
from cep.lang.errors import Source

Value: TypeAlias = "Term | str | int | float | bool"


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """An expression; `text` is whole in itself: it stands in parentheses where it needs them.

    Python's operators compose terms: `+ - * / %`, comparisons, `& | ~` for and, or, not. A plain
    value beside a term is a literal.
    """

    text: str

    def __add__(self, other: Value) -> Term:
        return _joined(self, "+", other)

    def __radd__(self, other: Value) -> Term:
        return _joined(other, "+", self)

    def __sub__(self, other: Value) -> Term:
        return _joined(self, "-", other)

    def __rsub__(self, other: Value) -> Term:
        return _joined(other, "-", self)

    def __mul__(self, other: Value) -> Term:
        return _joined(self, "*", other)

    def __rmul__(self, other: Value) -> Term:
        return _joined(other, "*", self)

    def __truediv__(self, other: Value) -> Term:
        return _joined(self, "/", other)

    def __rtruediv__(self, other: Value) -> Term:
        return _joined(other, "/", self)

    def __mod__(self, other: Value) -> Term:
        return _joined(self, "%", other)

    def __lt__(self, other: Value) -> Term:
        return _joined(self, "<", other)

    def __le__(self, other: Value) -> Term:
        return _joined(self, "<=", other)

    def __gt__(self, other: Value) -> Term:
        return _joined(self, ">", other)

    def __ge__(self, other: Value) -> Term:
        return _joined(self, ">=", other)

    def __eq__(self, other: Value) -> Term:  # type: ignore[override]
        return _joined(self, "==", other)

    def __ne__(self, other: Value) -> Term:  # type: ignore[override]
        return _joined(self, "!=", other)

    def __and__(self, other: Term) -> Term:
        return _joined(self, "and", other)

    def __or__(self, other: Term) -> Term:
        return _joined(self, "or", other)

    def __invert__(self) -> Term:
        return Term(f"(not {self.text})")

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self.text} has no truth value here: write `&`, `|` and `~` for and, or and not"
        )

    def is_null(self) -> Term:
        """Whether there is no value."""
        return Term(f"({self.text} is null)")


def attribute(name: str, stream: str = "") -> Term:
    """An attribute, or a variable of a pattern; `stream` says whose, where several have it."""
    return Term(f"{stream}.{name}" if stream else name)


def literal(value: str | int | float | bool) -> Term:
    """A value. Whole numbers beyond 32 bits are long, others int."""
    match value:
        case bool():
            return Term("true" if value else "false")
        case str():
            return Term(_quoted(value))
        case int():
            suffix = "" if -(2**31) <= value < 2**31 else "L"
            return Term(f"{value}{suffix}" if value >= 0 else f"({value}{suffix})")
        case float():
            return Term(repr(value) if value >= 0 else f"({value!r})")


def call(function: str, *arguments: Value) -> Term:
    """A function of rule files."""
    return Term(f"{function}({', '.join(term(argument).text for argument in arguments)})")


def term(value: Value) -> Term:
    """A term as it is, a value as a literal."""
    return value if isinstance(value, Term) else literal(value)


@dataclass(frozen=True, slots=True)
class Written:
    """An expression that has been read already, as part of a larger text."""

    node: ast.Expression
    source: Source


Condition: TypeAlias = Term | str | Written
"""An expression as a query takes it."""


def _joined(left: Value, operator: str, right: Value) -> Term:
    return Term(f"({term(left).text} {operator} {term(right).text})")


def _quoted(text: str) -> str:
    for quote in ("'", '"', '"""'):
        if quote not in text and (len(quote) == 3 or "\n" not in text):
            return f"{quote}{text}{quote}"
    raise ValueError("a text with ''' both ' and \" and \"\"\" ''' cannot be written in a rule")
