"""`mt5cep compare`: two folders of runs, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from cep.cli.paths import FOLDER
from cep.cli.text import aligned, counted, say
from cep.report.tables import time_text

if TYPE_CHECKING:
    from cep.backtest.compare import Comparison, Pair, Row

DIFFER = 1
SHOWN_MAX = 20
"""Rows of one kind that are printed; --json has all."""
TEXT_LENGTH_MAX = 60


@click.command()
@click.argument("a", type=FOLDER)
@click.argument("b", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="Print all of it as one JSON object.")
@click.option(
    "--results", "only_results", is_flag=True,
    help="Let the exit code be that of results: what else the runs were made of does not count.",
)  # fmt: skip
@click.pass_context
def command(ctx: click.Context, a: Path, b: Path, as_json: bool, only_results: bool) -> None:
    """Compare the folders A and B of two runs of `mt5cep backtest --run`.

    What they were made of, metrics side by side, and trades that only one has or that are not the
    same. The exit code is 1 when they differ, as that of `diff`."""
    from cep.backtest.compare import compare, read_run

    found = compare(read_run(a), read_run(b))
    if as_json:
        say(msgspec.json.encode(found.as_json()).decode())
    else:
        say("\n".join(lines(found)))
    if found.has_other_results if only_results else found.differs:
        ctx.exit(DIFFER)


def lines(found: Comparison) -> Iterator[str]:
    """The comparison as text."""
    if not found.differs:
        yield f"the same: {counted(found.same, 'trade')}, {counted(len(found.metrics), 'metric')}"
        return
    if found.manifest:
        yield "made of other things:"
        yield from table(["what", "A", "B"], [made(pair) for pair in found.manifest])
    changed = [pair for pair in found.metrics if pair.differs]
    whole = [one for one in found.metrics if one.name.startswith(("results.all.", "equity."))]
    yield f"metrics: {counted(len(changed), 'difference')}"
    shown = list(dict.fromkeys((*whole, *changed)))
    rows = [(*cells(pair), "differs" if pair.differs else "") for pair in shown]
    yield from table(["metric", "A", "B", ""], rows, most=len(whole) + SHOWN_MAX)
    yield (
        f"trades: {found.same:,} the same, {len(found.different):,} different, "
        f"{len(found.only_a):,} only in A, {len(found.only_b):,} only in B"
    )
    for title, trades in (("only in A:", found.only_a), ("only in B:", found.only_b)):
        if trades:
            yield title
            yield from table(TRADE_COLUMNS, [trade_cells(trade) for trade in trades])
    if found.different:
        yield "different:"
        changes = [
            (*trade_cells(one.a)[:4], name, text(one.a[name]), text(one.b[name]))
            for one in found.different
            for name in one.columns
        ]
        yield from table([*TRADE_COLUMNS[:4], "column", "A", "B"], changes)
    if found.files:
        yield f"files that differ: {', '.join(pair.name for pair in found.files)}"


TRADE_COLUMNS = ("opened", "signal", "symbol", "side", "lots", "closed", "by", "points", "net")


def trade_cells(trade: Row) -> tuple[str, ...]:
    """Texts in the order of TRADE_COLUMNS."""
    return (
        time_text(trade["opened_msc"]), trade["signal"], trade["symbol"], trade["side"],
        text(trade["lots"]), time_text(trade["closed_msc"]), trade["reason"],
        text(trade["points"]), text(trade["net"]),
    )  # fmt: skip


def cells(pair: Pair) -> tuple[str, str, str]:
    return pair.name, text(pair.a), text(pair.b)


def made(pair: Pair) -> tuple[str, ...]:
    """As `cells`, of values that are no column of numbers: words stand under words."""
    return tuple(f"{cell} " for cell in cells(pair))


def text(value: Any) -> str:
    """A value of a manifest or a table in a cell; `-` where there is none."""
    if value is None:
        return "-"
    found = f"{value:.10g}" if isinstance(value, float) else str(value)
    return found if len(found) <= TEXT_LENGTH_MAX else f"{found[: TEXT_LENGTH_MAX - 1]}…"


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], most: int = SHOWN_MAX
) -> Iterator[str]:
    """Lines of a table, indented; of too many rows the first, and how many more there are."""
    for line in aligned([head, *rows[:most]]):
        yield f"  {line}"
    if len(rows) > most:
        yield f"  .. and {len(rows) - most:,} more, which --json has"
