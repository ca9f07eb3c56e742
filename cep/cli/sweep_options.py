"""Options that `sweep` and `walkforward` share: what is tried, and what is best."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from cep.cli.masters import PLACE
from cep.cli.options import Command, with_options
from cep.lang.habits import UNITS
from cep.lang.tokens import TIME_UNITS_MS

if TYPE_CHECKING:
    from cep.sweep.search import Wish

BY = (
    "net", "sharpe", "profit_factor", "daily_sharpe", "win_rate", "expectancy_points", "points",
    "profit", "drawdown", "equity_drawdown", "trades",
)  # fmt: skip
_TRIALS = (
    click.option(
        "--param", "tried", multiple=True, metavar="NAME=VALUES",
        help="Try these values: 1:3:0.1 is a range with a step, 1,2,3 a list (default: what the "
        "rules say). Repeat it.",
    ),
    click.option("--random", type=click.IntRange(min=1), metavar="N", help="Draw N by chance."),
    click.option(
        "--optuna", type=click.IntRange(min=1), metavar="N",
        help="Have Optuna choose N, by what those before came to.",
    ),
    click.option("--seed", type=int, default=1, show_default=True, help="Of draws and searches."),
    click.option(
        "--limit", type=click.IntRange(min=1), default=10_000, show_default=True,
        help="Refuse a grid of more combinations.",
    ),
    click.option(
        "--by", type=click.Choice(BY), default="net", show_default=True,
        help="What is best: the most, of drawdowns the least.",
    ),
)  # fmt: skip


def TRIALS(command: Command) -> Command:  # noqa: N802 -- stands among options
    """Parameters `tried` and `by`, those of which `wish_of` makes a wish, and those of PLACE."""
    return with_options(PLACE(command), _TRIALS)


def wish_of(by: str, given: dict[str, Any]) -> Wish:
    """How to search, of TRIALS' options, which are taken out of what was given."""
    from cep.sweep.search import Wish  # imported here: Numba and Arrow cost a second

    names = ("random", "optuna", "seed", "limit")
    return Wish(by=by, **{name: given.pop(name) for name in names})


class Length(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A length of time, `30d` or `12 hours`, as ms."""

    name = "timespan"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"\s*(\d+)\s*([a-z]+)\s*", str(value).lower())
        unit = "" if found is None else UNITS.get(found[2], found[2])
        if found is None or unit not in TIME_UNITS_MS:
            self.fail(f"{value!r} is no time; write it such as 30d or 12 hours", param, ctx)
        return int(found[1]) * TIME_UNITS_MS[unit]


LENGTH = Length()
