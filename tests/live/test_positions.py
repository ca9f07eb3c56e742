"""Positions and strategies agree: over restarts, with other hands, netting and hedging."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from loguru import logger

from cep.cli import main
from cep.live.config import read_config
from cep.live.health import notices
from cep.live.metrics import Figures
from mt5bridge.simulator import Account
from mt5bridge.wire import Order, OrderKind, OrderSide
from tests.live.service import Service, address, play, status_of, terminal, wait_until, walks
from tests.live.test_rule_files import MAGIC, settings_of

TICKS = walks("AB", 2_000)


def lived(settings: Path, count: int, account: Account) -> tuple[list[str], Any]:
    """One run of the daemon, up to so many ticks of each symbol: alerts, and the last status."""
    alerts: list[str] = []
    sink = logger.add(lambda message: alerts.append(message.record["message"]), level="ERROR")
    try:
        with Service(settings) as service:
            ticks = {name: one[:count] for name, one in TICKS.items()}
            found = terminal(ticks, instance=count, account=account)
            play(found, address(settings), until=service.is_settled)
            wait_until(lambda: len(service.daemon.outgoing.positions()) > 0)
            positions = service.daemon.outgoing.positions()
            wait_until(
                lambda: (told := status_of(settings)) is not None and told.positions == positions
            )
            return alerts, status_of(settings)
    finally:
        logger.remove(sink)


def by_hand(account: Account, position: int, lots: float = 0.0) -> None:
    """Somebody closes a position in the terminal."""
    number = 10**9 + len(account.deals)
    account.execute(
        Order(
            number, 0, 0, 0, position, lots, 0.0, 0.0, 0.0, 20, OrderKind.CLOSE, OrderSide.NONE,
            "hand", "",
        )
    )  # fmt: skip


def listed(settings: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["orders", "positions", "--config", str(settings), *options])


@pytest.mark.parametrize("is_hedging", [False, True])
def test_what_each_strategy_has_and_what_a_hand_has_closed(
    tmp_path: Path, is_hedging: bool
) -> None:
    """Two rule files that trade against each other, a manual close between two runs, one alert."""
    settings = settings_of(tmp_path)
    account = Account(hedging=is_hedging)
    alerts, status = lived(settings, 1_000, account)
    assert not alerts
    own = {magic: round(sum(_signed(account, magic)), 8) for magic in (77, MAGIC)}
    held = dict.fromkeys(own, 0.0)
    for one in status.positions:
        held[one.magic] = round(held[one.magic] + one.held, 8)
    assert held == own and own[77] < 0 < own[MAGIC]
    assert notices(status) == []

    position = int(account.deals[-1]["position_id"])
    before = len(account.deals)
    by_hand(account, position)
    assert len(account.deals) > before and account.deals[-1]["magic"] == 0
    result = listed(settings)
    assert result.exit_code == 0, "nothing has told of it yet"

    alerts, status = lived(settings, 1_001, account)
    (alert,) = [text for text in alerts if text.startswith("positions: ")]
    assert "closed by another hand" in alert and str(position) in alert
    changed = [one for one in status.positions if one.changed_msc]
    assert changed and all(one.magic is not None for one in changed)
    assert round(sum(one.held for one in status.positions), 8) == round(sum(_net(account)), 8)
    assert any("closed by another hand" in text for text in notices(status))
    result = listed(settings)
    assert result.exit_code == 1 and "difference" in result.output
    rows = json.loads(listed(settings, "--json").output)["positions"]
    assert [row for row in rows if row["difference"]] and rows == [
        {**row, "difference": round(row["held"] - row["meant"], 8)} for row in rows
    ]
    figures = {m.name: m for m in Figures(lambda: status).collect()}
    shown = figures["mt5cep_position_difference_lots"].samples
    assert any(sample.value for sample in shown) and len(shown) == len(status.positions)

    alerts, _ = lived(settings, 1_002, account)
    assert [text for text in alerts if text.startswith("positions: ")] == [], "told once"
    assert read_config(settings).orders.magic not in own


def _signed(account: Account, magic: int) -> list[float]:
    return [_lots(one) for one in account.deals if one["magic"] == magic]


def _net(account: Account) -> list[float]:
    return [_lots(one) for one in account.deals]


def _lots(deal: Any) -> float:
    return float(deal["volume"]) * (-1 if deal["type"] == 1 else 1)
