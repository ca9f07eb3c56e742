"""`mt5cep orders positions`: which strategy holds what, and what other hands have made of it."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec

from cep.cli.settings_file import NEEDED_CONFIG
from cep.cli.text import aligned, counted, say
from cep.live.config import Config, limits_of, others_of, read_config
from cep.live.outgoing import journal_path
from cep.report.tables import time_text
from mt5bridge.clock import now_msc
from mt5bridge.escapes import one_line
from mt5bridge.orders import Limits, read_journal
from mt5bridge.orders.holdings import Awaited, Claim, Holdings, holdings_of

HEAD = [
    "strategy", "account", "symbol", "position", "meant", "held", "difference", "changed (UTC)",
    "requests",
]  # fmt: skip


@click.command("positions")
@NEEDED_CONFIG
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(config: Path, as_json: bool) -> None:
    """List who holds what, as far as deals have told, whether the daemon runs or not.

    The exit code is 1 when a position is not what its strategy has made it.
    """
    found = holdings(read_config(config))
    claims, awaited = list(found.claims()), list(found.awaited())
    if as_json:
        positions, deals = [*map(as_json_row, claims)], msgspec.to_builtins(awaited)
        say(json.dumps({"positions": positions, "awaited": deals}, indent=1))
    else:
        say("\n".join(aligned([HEAD, *map(row, claims)])) if claims else "no position")
        for one in awaited:
            say(awaited_text(one, now_msc()))
    if any(claim.magic is not None and claim.difference for claim in claims):
        raise click.exceptions.Exit(1)


def holdings(config: Config) -> Holdings:
    """What the order journal says of positions."""
    limits: Limits = limits_of(config)
    named = {one.magic: one.name for one in limits.named}
    return holdings_of(read_journal(journal_path(config)).records, {**others_of(config), **named})


def as_json_row(claim: Claim) -> dict[str, object]:
    """All of it, with the difference."""
    return {**msgspec.to_builtins(claim), "difference": claim.difference}


def row(claim: Claim) -> list[str]:
    """One line of the table."""
    return [
        claim.strategy or "other hands",
        one_line(claim.account),
        one_line(claim.symbol),
        str(claim.position),
        f"{claim.meant:g}",
        f"{claim.held:g}",
        f"{claim.difference:g}" if claim.difference else "",
        time_text(claim.changed_msc) if claim.changed_msc else "",
        one_line(", ".join(claim.requests)),
    ]


def awaited_text(one: Awaited, now_msc: int) -> str:
    """A fill without its deal."""
    seconds = counted(max(0, now_msc - one.told_msc) // 1000, "second")
    what = f"{one_line(one.name)}: {one.lots:g} lots of {one_line(one.symbol)} were filled"
    where = f"(deal {one.deal}, account {one_line(one.account)})"
    return f"{what} {where}, and no publisher has sent the deal for {seconds}"
