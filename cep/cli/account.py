"""The options that say at which account orders are simulated, and how they are filled."""

from __future__ import annotations

import click

from cep.cli.numbers import PRICE
from cep.cli.options import Command, with_options
from cep.cli.paths import FILE

_ACCOUNT = (
    click.option(
        "--account", "account_file", type=FILE,
        help="TOML file of the account and its symbols: money, margin, commission, swap, volumes.",
    ),
    click.option("--hedging", is_flag=True, help="Let each signal open a position of its own."),
)  # fmt: skip
_OPTIONS = (
    *_ACCOUNT,
    click.option(
        "--latency", "latency_ms", type=click.IntRange(min=0), metavar="MS",
        help="Milliseconds from a signal to its order at the broker (default: 0).",
    ),
    click.option(
        "--slippage", "slippage_points", type=PRICE, metavar="POINTS",
        help="How many points worse than the quote orders and stops fill (default: 0).",
    ),
)  # fmt: skip


def ACCOUNT(command: Command) -> Command:  # noqa: N802 -- stands among options
    """Parameters `account_file`, `hedging`, `latency_ms` and `slippage_points`; None: not given."""
    return with_options(command, _OPTIONS)


def ACCOUNT_FILE(command: Command) -> Command:  # noqa: N802 -- stands among options
    """Parameters `account_file` and `hedging`."""
    return with_options(command, _ACCOUNT)
