"""`mt5cep explain`: what a rule file means to the machine."""

from __future__ import annotations

from pathlib import Path

import click

from cep.cli.rules import RULES, read_rules
from cep.plan import Plan, compile_rules
from cep.plan.explain import explain


@click.command()
@click.argument("rules", type=RULES)
@click.option("--code", is_flag=True, help="Print the Python the native engine generates.")
def command(rules: Path, code: bool) -> None:
    """Show numbers, arrangements and the plan of a rule file."""
    plan = compile_rules(*read_rules(rules))
    click.echo(generated_code(plan) if code else explain(plan))


def generated_code(plan: Plan) -> str:
    # Imported here: the engine brings Numba, which costs a second that `explain` need not wait.
    from cep.engine.native import Compiled

    return Compiled(plan, jit=False).source
