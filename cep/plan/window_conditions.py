"""The conditions of expression windows."""

from __future__ import annotations

from dataclasses import dataclass

from cep.lang import RuleError, parse_expression
from cep.lang.errors import Source, Span
from cep.plan.check import Checker
from cep.plan.expressions import Aggregate, Call, Expression, walk
from cep.plan.problems import Problems
from cep.plan.scope import Place, Scope
from cep.plan.types import Schema


@dataclass(frozen=True, slots=True)
class WindowCondition:
    """The condition of an expression window.

    Slot 0 is the row being judged, slot 1 the first and slot 2 the last row of the window.
    """

    condition: Expression
    aggregates: tuple[Aggregate, ...]

    @property
    def digests(self) -> tuple[str, ...]:
        """Those of the user's functions in it."""
        whole = (self.condition, *(one for item in self.aggregates for one in item.arguments))
        found = {node.digest for one in whole for node in walk(one) if isinstance(node, Call)}
        found |= {aggregate.digest for aggregate in self.aggregates}
        return tuple(sorted(found - {""}))


CURRENT_SLOT, FIRST_SLOT, LAST_SLOT = 0, 1, 2


def window_condition(
    text: str, schema: Schema, problems: Problems | None = None, span: Span | None = None
) -> WindowCondition:
    """The condition of an expression window, from its text.

    Raises RuleError for a wrong one, at `span` of the rules where that is given.
    """
    own = Problems(Source(text, "<window>"), problems.kinds if problems else None)
    rows_ = (
        Place("", schema),
        Place("first", schema, FIRST_SLOT),
        Place("last", schema, LAST_SLOT),
    )
    aggregates: list[Aggregate] = []
    try:
        node = parse_expression(text)
        checker = Checker(Scope(own, rows_, own=rows_[0]), aggregates)
        return WindowCondition(checker.condition(node), tuple(aggregates))
    except RuleError as error:
        if problems is None or span is None:
            raise
        raise problems.error(span, f"in this condition, {error.message}", error.hint) from error
