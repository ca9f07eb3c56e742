"""`mt5cep explain`: what a rule file means to the machine."""

from __future__ import annotations

from pathlib import Path

import click

from cep.cli.rules import RULES, read_rules
from cep.plan import Plan, compile_rules
from cep.plan.explain import explain
from cep.plan.graph import graph


@click.command()
@click.argument("rules", type=RULES)
@click.option("--code", is_flag=True, help="Print the Python the native engine generates.")
@click.option(
    "--svg", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Draw the plan into this file; what is interpreted has a dashed frame.",
)  # fmt: skip
def command(rules: Path, code: bool, svg: Path | None) -> None:
    """Show numbers, arrangements and the plan of a rule file, and how it runs."""
    plan = compile_rules(*read_rules(rules))
    if svg is not None:
        svg.write_text(drawing(plan), encoding="utf-8")
    elif code:
        click.echo(generated_code(plan))
    else:
        click.echo(explain(plan) + "\n\n" + how_it_runs(plan))


# Below, imported where used: the engine brings Numba, a second that checking rules need not wait.


def how_it_runs(plan: Plan) -> str:
    """What is compiled, what is interpreted and why."""
    from cep.engine.explain import how_it_runs

    return how_it_runs(plan)


def drawing(plan: Plan) -> str:
    """The plan as an SVG."""
    from cep.engine.explain import interpreted
    from cep.report.diagram import Arrow, Box, svg

    drawn, dashed = graph(plan), interpreted(plan)
    boxes = [Box(n.name, n.kind, n.lines, n.name in dashed) for n in drawn.nodes]
    return svg(plan.name, boxes, [Arrow(*edge) for edge in drawn.edges])


def generated_code(plan: Plan) -> str:
    """The source of the compiled part."""
    from cep.engine.native import Compiled

    return Compiled(plan, jit=False).source
