"""In which way rules run, and why not in a faster one."""

from __future__ import annotations

from collections.abc import Iterator

from cep.engine.codegen.join_keys import SIDES, band, equality
from cep.engine.compiled import Compiled
from cep.plan.expressions import Expression
from cep.plan.nodes import Plan
from cep.plan.query import Join
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.separable import separability
from cep.plan.text import expression_text


def how_it_runs(plan: Plan) -> str:
    """A section of `explain`: how replays and backtests run rules, and how daemon and App do."""
    rules = Compiled(plan, jit=False)
    lines = ["how it runs"]
    if why := rules.why_not_generated("sorted"):
        lines += [f"  everywhere: {_whole(rules)}", "  no module of its own, as"]
        lines += [f"    {name}: {reason}" for name, reason in why.items()]
        return "\n".join(lines)
    lines += ["  replays and backtests: a module of its own", *_by_keys(plan), *_lookups(plan)]
    if more := rules.why_not_generated("lived"):
        lines.append(f"  of records as they came: {_whole(rules)}, as")
        lines += [f"    {name}: {reason}" for name, reason in more.items()]
    return "\n".join([*lines, f"  daemon and App: {_whole(rules)}"])


def _whole(rules: Compiled) -> str:
    """How rules run that may become others, or that no module can run."""
    whole = None if rules.whole is None else rules.whole.program
    if whole is None:
        return f"the interpreter ({rules.why_not_whole})"
    calls = dict.fromkeys(one.node.function for one in whole.hosted if not one.only_fails)
    return f"a program; Python computes {', '.join(calls)}" if calls else "a program"


def _by_keys(plan: Plan) -> Iterator[str]:
    """What a module runs key by key, and what not."""
    by = separability(plan)
    for keyed, title in ((True, f"per {by.key}"), (False, "on one clock")):
        names = [operator.name for operator in plan.operators if by.is_keyed(operator) == keyed]
        if names:
            yield f"    {title}: {', '.join(names)}"


def _lookups(plan: Plan) -> Iterator[str]:
    """By what the joins of a module find the rows that their windows hold."""
    for query in plan.queries:
        if isinstance(query.input, Join):
            yield f"    join {query.name} {_way(query.input.on)}"


def _way(on: Expression | None) -> str:
    """How the condition of a join leads to the rows on which it is true."""
    conditions = [] if on is None else conjuncts(on)
    equal = equality(conditions)
    if equal is not None:
        keys = " and ".join(_side_text(key) for key in equal.keys if key is not None)
        return f"looks rows up by {keys}"
    bands = [_side_text(found.key) for slot in SIDES if (found := band(conditions, slot))]
    if bands:
        return f"looks for bands of {' and '.join(bands)}"
    return "looks at every row of its windows"


def _side_text(key: Expression) -> str:
    return expression_text(key, slots=("left", "right"))
