"""The options that say at which account orders are simulated, and how they are filled."""

from __future__ import annotations

from typing import Any

import click

from cep.backtest.bounds import LATENCY_MS_MAX
from cep.cli.options import Command, with_options
from cep.cli.paths import FILE


class SlippageText(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Points, and what comes to them."""

    name = "slippage"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str:
        # Imported here: NumPy costs time that `--help` need not wait.
        from cep.account.slippage import SlippageError, slippage_of

        text = str(value)
        try:
            points, _ = slippage_of(text)
        except SlippageError as problem:
            self.fail(f"{problem}; {problem.hint}", param, ctx)
        return text if "," in text or "=" in text else points


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
        "--latency", "latency_ms", type=click.IntRange(0, LATENCY_MS_MAX), metavar="MS",
        help="Milliseconds from a signal to its order at the broker (default: 0).",
    ),
    click.option(
        "--slippage", "slippage_points", type=SlippageText(), metavar="POINTS[,PART]...",
        help="How many points worse than the quote orders and stops fill (default: 0), and parts "
        "that come to them, such as spread=0.25.",
    ),
)  # fmt: skip


def ACCOUNT(command: Command) -> Command:  # noqa: N802 -- stands among options
    """Parameters `account_file`, `hedging`, `latency_ms` and `slippage_points`; None: not given."""
    return with_options(command, _OPTIONS)


def ACCOUNT_FILE(command: Command) -> Command:  # noqa: N802 -- stands among options
    """Parameters `account_file` and `hedging`."""
    return with_options(command, _ACCOUNT)
