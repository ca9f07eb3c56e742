"""Who has taken the daemon's port gets neither password nor execution from a terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mt5bridge.emulator.broker_log import read_broker_log
from mt5bridge.emulator.script import parse_script
from mt5bridge.records import DealType
from mt5bridge.wire import encode
from tests.bridge.rogue import Rogue, pretending, reflecting, welcoming
from tests.emulator.market import needs_compiler
from tests.mql5.publishing import TRADER, terminal_of
from tests.mql5.trading import SCRIPT, still
from tests.waiting import LONG_S
from tests.wire.samples import FRAMES

pytestmark = needs_compiler
TOLD = "who listens there does not know the password"


def ordering(_data: bytes) -> list[bytes]:
    """Answers with orders alone."""
    return [encode(FRAMES["order"][1]), encode(FRAMES["signal"][1])]


def garbling(_data: bytes) -> list[bytes]:
    """Answers with what is no frame."""
    return [b"x", b""]


@pytest.mark.parametrize("answer", [welcoming, pretending, reflecting, ordering, garbling])
def test_a_trader_tells_a_rogue_nothing_and_does_nothing_for_it(
    answer: Callable[[bytes], list[bytes]], tmp_path: Path
) -> None:
    """12.8: the real Trader, live and without limits, in the emulated terminal."""
    ticks = tmp_path / "eurusd.bin"
    ticks.write_bytes(still(60_000).tobytes())
    rogue = Rogue(answer)
    with rogue.listening() as address:
        script = parse_script(
            SCRIPT.format(
                seed=1, mode="hedging", symbol="", ticks=ticks, broker="",
                port=address.rpartition(":")[2],
                inputs="Trading=TRADING_LIVE MaxLotsPerOrder=0 MaxLotsPerSymbol=0 MaxLotsPerDay=0",
            )
        )  # fmt: skip
        with terminal_of([TRADER], script, tmp_path / "terminal") as terminal:
            terminal.wait_journal(TOLD, LONG_S)
            heard = len(rogue.heard)
            terminal.wait(lambda _stats: len(rogue.heard) > heard, LONG_S)
            folder = terminal.folder
    rogue.check()
    log = read_broker_log(folder / "broker.log")
    assert not log.requests
    assert not [deal for deal in log.deals.values() if deal.type <= DealType.SELL]
