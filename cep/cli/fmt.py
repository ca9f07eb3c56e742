"""`mt5cep fmt`: format rule files."""

from __future__ import annotations

from pathlib import Path

import click

from cep.cli.output import output
from cep.cli.rules import RULES, STDIN, read_rules
from cep.lang import format_rules


@click.command()
@click.argument("rules", nargs=-1, required=True, type=RULES)
@click.option("--write", is_flag=True, help="Write the result back to the files.")
@click.option(
    "--check", is_flag=True, help="Print nothing but the files that would change; exit code 1 then."
)
@click.pass_context
def command(ctx: click.Context, rules: tuple[Path, ...], write: bool, check: bool) -> None:
    """Format rule files.

    Comments stay. Without options the result is printed.
    """
    changed = [formatted(path, write=write, check=check) for path in rules]
    if check and any(changed):
        ctx.exit(1)


def formatted(path: Path, *, write: bool, check: bool) -> bool:
    """Format one file; true when that changes it."""
    text, name = read_rules(path)
    result = format_rules(text, name)
    if check:
        if result != text:
            click.echo(f"{name}: would change")
    elif write and path != STDIN:
        if result != text:
            with output(path) as sink:
                sink.write(result.encode())
            click.echo(f"{name}: formatted")
    else:
        click.echo(result, nl=False)
    return result != text
