"""Options that commands about a backtest share: which records, and how signals are filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import click

from cep.backtest.bounds import MAGIC_MAX, VALID_SECONDS_MAX, Deals, Fills
from cep.cli.account import ACCOUNT, ACCOUNT_FILE
from cep.cli.errors import UserError
from cep.cli.moments import MOMENT, utc_msc
from cep.cli.options import Command, with_options
from cep.cli.paths import ARCHIVE
from cep.cli.points import given_points

if TYPE_CHECKING:
    from cep.backtest.options import Options

_RECORDS = (
    click.option(
        "--archive", "folder", required=True, type=ARCHIVE,
        help="The archive to read, a folder or an address such as s3://bucket/ticks.",
    ),
    click.option(
        "--from", "start", type=MOMENT, help="First moment, UTC (default: all there is).",
    ),
    click.option("--to", "end", type=MOMENT, help="Moment to stop before, UTC."),
    click.option("--symbols", metavar="A,B", help="Only records of these symbols."),
    click.option(
        "--reject", metavar="MARKS",
        help="Keep ticks with these marks from rules and fills: outlier,repeated,gap,crossed,late.",
    ),
    click.option(
        "--streams", metavar="A,B", help="Only rows of these streams (default: all).",
    ),
)  # fmt: skip
_FILLS = (
    click.option(
        "--fills", type=click.Choice(get_args(Fills)), default="next-tick",
        show_default=True, help="How signals are filled.",
    ),
    click.option(
        "--deals", type=click.Choice(get_args(Deals)),
        help="Which fills rules see (default: those the archive has recorded, else the simulated).",
    ),
    click.option(
        "--point", multiple=True, metavar="SYMBOL=SIZE",
        help="Size of a point, where nobody else has told it. Repeat it.",
    ),
    click.option(
        "--valid-seconds", type=click.IntRange(0, VALID_SECONDS_MAX), default=60, show_default=True,
        help="How long a signal without `for` TIME waits for a tick.",
    ),
    click.option(
        "--magic", type=click.IntRange(0, MAGIC_MAX), default=77, show_default=True,
        help="Magic number of the orders, which their deals carry.",
    ),
)  # fmt: skip


def RECORDS(command: Command) -> Command:  # noqa: N802 -- stands among options
    """Parameter `folder`, the archive, and those of which `options_of` makes options."""
    return with_options(command, _RECORDS)


def FILLS(command: Command) -> Command:  # noqa: N802 -- stands among options
    """How signals are filled, and at which account, for `options_of`."""
    return with_options(ACCOUNT(command), _FILLS)


def FILLS_AS_TOLD(command: Command) -> Command:  # noqa: N802 -- stands among options
    """As FILLS, but for latency and slippage."""
    return with_options(ACCOUNT_FILE(command), _FILLS)


def options_of(given: Mapping[str, Any]) -> Options:
    """What was given of RECORDS and FILLS, but the archive, as options of a backtest. UserError."""
    return {
        "start": utc_msc(given["start"]), "end": utc_msc(given["end"]),
        "symbols": names("--symbols", given["symbols"]),
        "reject": names("--reject", given["reject"]) or (),
        "streams": names("--streams", given["streams"]),
        "fills": given["fills"], "deals": given["deals"], "point": given_points(given["point"]),
        "valid_seconds": given["valid_seconds"], "magic": given["magic"],
        "account": given["account_file"], "hedging": given["hedging"],
        "latency": given.get("latency_ms") or 0, "slippage": given.get("slippage_points") or 0.0,
    }  # fmt: skip


def names(option: str, text: str | None) -> list[str] | None:
    """What an option lists; UserError for none."""
    if text is None:
        return None
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        what = {"--symbols": "no symbol", "--streams": "no stream"}.get(option, "no mark")
        raise UserError(f"{option}: names {what}", f"for example {EXAMPLES[option]}")
    return found


EXAMPLES = {
    "--symbols": "--symbols EURUSD,XAUUSD",
    "--streams": "--streams Fade,Reversal",
    "--reject": "--reject outlier,gap",
}
