"""The functions of the user that a plan calls."""

from __future__ import annotations

from collections.abc import Iterator

from cep.plan.expressions import Aggregate, Call
from cep.plan.functions import has_user_functions, place_of
from cep.plan.nodes import Plan, nodes_below
from cep.plan.steps import StreamFunction, Window


def own_digests(plan: Plan) -> tuple[str, ...]:
    """The versions of all of them; equal for two plans that call the same."""
    return tuple(sorted({*_digests(plan)}))


def own_lines(plan: Plan) -> list[str]:
    """What `explain` says about them: the name, and the file in which it stands."""
    called = {
        (node.name if isinstance(node, StreamFunction) else node.function, node.digest)
        for node in (nodes_below(plan) if has_user_functions() else ())
        if isinstance(node, Call | Aggregate | StreamFunction) and node.digest
    }
    return [f"{name}  {place_of(name, digest)}" for name, digest in sorted(called)]


def _digests(plan: Plan) -> Iterator[str]:
    for node in nodes_below(plan) if has_user_functions() else ():
        match node:
            case Call() | Aggregate() | StreamFunction() if node.digest:
                yield node.digest
            case Window():
                yield from node.digests
