"""What every row that is put out says of itself; no attribute may have such a name.

A row is one flat object, in JSON lines, journals and callbacks:
`{"stream", "time_msc", "kind", ...attributes}`. An attribute of the same name would take the place
of what readers tell rows apart by.
"""

from __future__ import annotations

from collections.abc import Iterable

from cep.lang.errors import Span, listing
from cep.plan.problems import Problems

ENVELOPE = ("stream", "time_msc", "kind")


def taken_names(names: Iterable[str]) -> list[str]:
    """The attributes that would hide what a row says of itself."""
    return [name for name in names if name in ENVELOPE]


def need_own_names(problems: Problems, span: Span, names: Iterable[str]) -> None:
    """RuleError for rows that are put out and have such an attribute."""
    for name in taken_names(names):
        message = f"rows that are put out cannot have an attribute `{name}`"
        told = listing(ENVELOPE)
        hint = f"each row says its {told} by itself; call this one otherwise, as `own_{name}`"
        raise problems.error(span, message, hint)
