"""`mt5cep check`: validate rule files."""

from __future__ import annotations

from pathlib import Path

import click

from cep.cli.errors import BAD_INPUT, explain_error
from cep.cli.functions import FUNCTIONS
from cep.cli.parameters import PARAMETERS
from cep.cli.rules import RULES, read_rules
from cep.cli.text import counted, say
from cep.lang import Given
from cep.plan import compile_rules
from cep.plan.nodes import Plan
from cep.plan.readers import lines_of
from cep.plan.surprises import surprises


@click.command()
@click.argument("rules", nargs=-1, required=True, type=RULES)
@FUNCTIONS
@PARAMETERS
@click.pass_context
def command(ctx: click.Context, rules: tuple[Path, ...], parameters: dict[str, str]) -> None:
    """Validate rule files.

    Every file is checked (- is standard input), all problems are printed with file, line and
    column; the exit code is 2 when there are any. Warnings name what is no mistake but does other
    than it seems.
    """
    results = [checked(path, parameters) for path in rules]
    if not all(results):
        ctx.exit(BAD_INPUT)


def checked(path: Path, parameters: Given) -> bool:
    """Report on one file; false when it has problems."""
    try:
        text, name = read_rules(path, parameters)
        plan = compile_rules(text, name)
    except Exception as error:
        message, exit_code = explain_error(error)
        if exit_code != BAD_INPUT:
            raise
        say(message, err=True)
        return False
    say(f"{name}: ok, {counts(plan)}")
    if found := surprises(plan):
        lines = lines_of(plan)
        for one in found:
            warn(f"{one.what}\nhelp: {one.remedy}", f"{name}:{lines[one.name.partition('.')[0]]}")
    return True


def warn(text: str, place: str = "") -> None:
    """What is no mistake, but would surprise; nothing for an empty text."""
    if text:
        say(f"{place}: warning: {text}" if place else f"warning: {text}", err=True)


def counts(plan: Plan) -> str:
    """`2 streams, 1 query, ...`, leaving out what the plan has none of."""
    keepers = [name for query in plan.queries if (name := plan.position_of(query.name))]
    numbers = {
        "parameter": len(plan.parameters),
        "stream": len(plan.sources),
        "position": len({*keepers}),
        "query": len(plan.queries) - len(plan.signals) - len(keepers),
        "event": len(plan.events),
        "complex event": len(plan.complexes),
        "signal": len(plan.signals),
    }
    return ", ".join(counted(n, noun) for noun, n in numbers.items() if n) or "no rules"
