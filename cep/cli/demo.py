"""`mt5cep demo`: everything at once on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from cep.cli.errors import UserError
from cep.cli.numbers import SPEED
from cep.cli.paths import FOLDER


@click.command()
@click.option(
    "--out", type=FOLDER, default=Path("demo-run"),
    show_default=True, help="Folder for everything the demo makes.",
)  # fmt: skip
@click.option(
    "--ticks", type=click.IntRange(1), default=24_000, show_default=True, help="Ticks per symbol."
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Other seeds make other ticks.",
)
@click.option("--speed", type=SPEED, default=900.0, show_default=True, help="Times real time.")
@click.option("--master", default="local[2]", show_default=True, help="The Spark master.")
@click.option(
    "--terminal", type=click.Choice(["auto", "mql5", "python"]), default="auto", show_default=True,
    help="MQL5 programs on an emulated terminal, which needs g++, or one in Python.",
)  # fmt: skip
def command(out: Path, ticks: int, seed: int, speed: float, master: str, terminal: str) -> None:
    """Run everything at once on this machine and compare live with backtest."""
    # Imported here: it brings Numba, which costs a second that `--help` need not wait.
    from cep.demo.run import Demo

    if not Demo(out.resolve(), click.echo, ticks, seed, speed, master, terminal).run():
        raise UserError("live and backtest differ", f"compare {out}/state/events.jsonl with "
                        f"{out}/backtest.jsonl")  # fmt: skip
