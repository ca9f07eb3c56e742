"""Collecting independent problems of one rule file, so that all are shown at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, ParamSpec, TypeVar

from cep.lang.errors import RuleError, Source, Span, raise_all

P = ParamSpec("P")
T = TypeVar("T")


class Skip(Exception):
    """What this depends on is broken and was already reported."""


class NameKind(NamedTuple):
    """`noun` is what a name stands for, `start` the offset of its definition."""

    noun: str
    start: int


class Problems:
    """The errors found so far in one source; `kinds` tells what names of a rule file stand for."""

    def __init__(self, source: Source, kinds: Mapping[str, NameKind] | None = None) -> None:
        self.source = source
        self.kinds = kinds or {}
        self._errors: list[RuleError] = []

    def error(self, span: Span, message: str, hint: str = "") -> RuleError:
        """An error at `span`, to be raised (or given to `report`)."""
        return self.source.error(span, message, hint)

    def report(self, span: Span, message: str, hint: str = "") -> None:
        """Note an error and go on."""
        self.add(self.error(span, message, hint))

    def add(self, error: RuleError) -> None:
        """Note an error that is made already, and go on."""
        self._errors.append(error)

    def attempt(self, build: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """What `build(..)` returns; None, with the error noted, when it raises one."""
        try:
            return build(*args, **kwargs)
        except RuleError as error:
            self._errors.extend(error.errors)
        except Skip:
            pass
        return None

    def line(self, span: Span) -> int:
        return self.source.line_column(span.start)[0]

    def text(self, span: Span) -> str:
        """The source text of a place in backticks, shortened to one line."""
        words = " ".join(self.source.text[span.start : span.end].split())
        return f"`{words if len(words) <= 40 else words[:37] + '...'}`"

    def raise_all(self) -> None:
        """Raise everything noted; return when there is nothing."""
        raise_all(self._errors)


def with_article(noun: str) -> str:
    """`a string`, `an int`."""
    return f"{'an' if noun[0] in 'aeio' else 'a'} {noun}"
