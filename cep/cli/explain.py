"""`mt5cep explain`: what a rule file means to the machine."""

from __future__ import annotations

from pathlib import Path

import click

from cep.cli.errors import UserError, extra
from cep.cli.functions import FUNCTIONS
from cep.cli.output import output
from cep.cli.parameters import MAGIC, PARAMETERS
from cep.cli.paths import FILE
from cep.cli.rules import RULES, read_rules
from cep.plan import Plan, compile_rules
from cep.plan.explain import explain
from cep.plan.graph import graph
from cep.plan.positions import all_written_out

REFERENCE = "how it runs: the interpreter runs all of it, one record at a time, in file order"


@click.command()
@click.argument("rules", type=RULES)
@FUNCTIONS
@PARAMETERS
@MAGIC
@click.option("--code", is_flag=True, help="Print the Python the native engine generates.")
@click.option(
    "--written-out", is_flag=True, help="Print the statements that `define position` stands for."
)
@click.option(
    "--svg", type=FILE, metavar="FILE",
    help="Draw the plan into this file; what is interpreted has a dashed frame.",
)  # fmt: skip
@click.option(
    "--backend", type=click.Choice(["native", "reference", "database"]), default="native",
    show_default=True, help="Say how this runs it; database needs --url.",
)  # fmt: skip
@click.option("--url", metavar="URL", help="The database, as for `replay`.")
@click.option("--sql", is_flag=True, help="With --backend database: print the statements, too.")
def command(
    rules: Path,
    parameters: dict[str, str],
    magic: int | None,
    code: bool,
    written_out: bool,
    svg: Path | None,
    backend: str,
    url: str | None,
    sql: bool,
) -> None:
    """Show numbers, arrangements and the plan of a rule file, and how it runs."""
    if (backend == "database") != (url is not None):
        raise UserError("--backend database and --url belong together", "for example sqlite://")
    if backend == "reference" and code:
        raise UserError("--code is about --backend native", "the reference generates no code")
    plan = compile_rules(*read_rules(rules, parameters), magic=magic)
    if written_out:
        click.echo(statements(plan))
    elif svg is not None:
        with output(svg) as sink:
            sink.write(drawing(plan, is_reference=backend == "reference").encode())
    elif code:
        click.echo(generated_code(plan))
    elif url is not None:
        click.echo(explain(plan) + "\n\n" + how_a_database_runs(plan, url, sql))
    elif backend == "reference":
        click.echo(explain(plan) + "\n\n" + REFERENCE)
    else:
        click.echo(explain(plan) + "\n\n" + how_it_runs(plan))


# Below, imported where used: the engine brings Numba, a second that checking rules need not wait.


def statements(plan: Plan) -> str:
    """What each `define position` stands for; UserError where there is none."""
    found = all_written_out(plan.text, plan.name)
    if not found:
        raise UserError(f"{plan.name}: defines no position", "leave --written-out out")
    return found.rstrip("\n")


def how_it_runs(plan: Plan) -> str:
    """In which way they run, and why not in a faster one."""
    from cep.engine.explain import how_it_runs

    return how_it_runs(plan)


def how_a_database_runs(plan: Plan, url: str, sql: bool) -> str:
    """What runs on the database and how, what on our engine behind it and why."""
    with extra("database"):
        from cep.database.dialects import dialect_of
        from cep.fragments.split import how_it_runs

    return how_it_runs(plan, dialect_of(url), sql)


def drawing(plan: Plan, *, is_reference: bool = False) -> str:
    """The plan as an SVG; dashed is what no module can run, for the reference all of it."""
    from cep.engine.coverage import why_not_generated
    from cep.report.diagram import Arrow, Box, svg

    drawn = graph(plan)
    dashed = {node.name for node in drawn.nodes} if is_reference else why_not_generated(plan)
    boxes = [Box(n.name, n.kind, n.lines, n.name in dashed) for n in drawn.nodes]
    return svg(plan.name, boxes, [Arrow(*edge) for edge in drawn.edges])


def generated_code(plan: Plan) -> str:
    """The source of the rules' module; a comment where they have none."""
    from cep.engine.native import Compiled

    rules = Compiled(plan, jit=False)
    if why := rules.why_not_generated("sorted"):
        reasons = "".join(f"\n#   {name}: {reason}" for name, reason in why.items())
        return f"# nothing is generated for these rules, as{reasons}"
    return rules.generated.source
