"""`mt5cep stress`: how much latency, slippage and spread a result stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from cep.cli.backtest_options import FILLS_AS_TOLD, RECORDS, options_of
from cep.cli.ending import ended_by_signals
from cep.cli.errors import UserError
from cep.cli.functions import FUNCTIONS
from cep.cli.parameters import PARAMETERS
from cep.cli.progress import advancing
from cep.cli.rules import RULES, read_rules
from cep.cli.summary import note, tell_dropped
from cep.cli.text import right_aligned, say
from mt5bridge.escapes import one_line

if TYPE_CHECKING:
    from cep.backtest.grid import Axes, Stress

UNITS = {"latency": " ms", "slippage": " points", "spread": ""}


@click.command()
@click.argument("rules", type=RULES)
@FUNCTIONS
@PARAMETERS
@RECORDS
@click.option(
    "--latency", "latencies", default="0,50,200", show_default=True, metavar="MS,MS",
    help="Milliseconds from a signal to its order at the broker.",
)  # fmt: skip
@click.option(
    "--slippage", "slippages", default="0,1,3", show_default=True, metavar="POINTS,POINTS",
    help="How many points worse orders and stops fill than they would.",
)  # fmt: skip
@click.option(
    "--spread", "spreads", default="1,1.5,2", show_default=True, metavar="FACTOR,+POINTS",
    help="Factors of the recorded spreads; with a plus, points that are added to them.",
)  # fmt: skip
@FILLS_AS_TOLD
@click.option(
    "--json", "as_json", is_flag=True, help="Print all cells as JSON objects, a line each."
)
def command(
    rules: Path, folder: Path | str, latencies: str, slippages: str, spreads: str, as_json: bool,
    **given: Any,
) -> None:  # fmt: skip
    """Fill the signals of RULES at harsher and harsher markets, and say what breaks first.

    A backtest for each latency, slippage and spread, and a table of what each comes to."""
    # Imported here: Numba and Arrow cost a second that `--help` need not wait.
    from cep.backtest.grid import stressed

    axes, options = _axes(latencies, slippages, spreads), options_of(given)
    with ended_by_signals():
        text, bar = read_rules(rules, given["parameters"]), advancing("stress", "records")
        found = stressed(text, folder, options, axes, bar)
    for told in found.told:
        note(told)
    tell_dropped(found.dropped)
    shown = map(_json, found.rows()) if as_json else map(one_line, lines(found))
    say("\n".join(shown))


def _json(row: dict[str, Any]) -> str:
    return msgspec.json.encode(row).decode()


def _axes(latencies: str, slippages: str, spreads: str) -> Axes:
    """What the options list. UserError, BacktestError."""
    from cep.backtest.grid import Axes, Spread

    return Axes(
        [int(one) for one in _numbers("--latency", latencies, is_whole=True)],
        _numbers("--slippage", slippages),
        [Spread.of(one.strip()) for one in spreads.split(",") if one.strip()],
    )


def _numbers(option: str, text: str, *, is_whole: bool = False) -> list[float]:
    try:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return [int(part) if is_whole else float(part) for part in parts]
    except ValueError:
        raise UserError(f"{option} {text}: no numbers", f"for example {option} 0,1,3") from None


def lines(found: Stress) -> Iterator[str]:
    """A table of all cells, and what breaks first."""
    from cep.backtest.page import amount, ratio

    head = ("latency", "slippage", "spread", "trades", "not filled", "net", "drawdown",
            "profit factor", "sharpe")  # fmt: skip
    rows = []
    for place, one in found.cells.items():
        net, fall = (amount(value, one.digits) for value in (one.results.net, one.drawdown))
        rows.append(
            (
                f"{place.latency:,}", f"{place.slippage:g}", str(place.spread),
                f"{one.results.trades:,}", f"{one.not_filled:,}", net, fall,
                ratio(one.results.profit_factor), ratio(one.results.sharpe),
            )
        )  # fmt: skip
    yield from right_aligned([head, *rows])
    yield from _broken(found)


def _broken(found: Stress) -> Iterator[str]:
    from cep.backtest.page import amount

    mildest = found.mildest
    net = amount(mildest.results.net, mildest.digits)
    if not mildest.results.trades:
        yield "nothing was traded"
    elif mildest.results.net <= 0.0:
        yield f"nothing is left to break: net {net} at the mildest"
    for at, limit in enumerate(found.limits if mildest.results.net > 0.0 else ()):
        left, unit = amount(limit.net, mildest.digits), UNITS[limit.axis]
        if limit.value is None:
            yield f"{limit.axis} alone leaves net {left} of {net} at its harshest"
        else:
            first = "breaks first: " if not at else ""
            yield f"{first}{limit.axis} {limit.value}{unit} alone, net {left} of {net}"
