"""A trader, a publisher and a receiver that are global objects of a user's own EA."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mt5bridge.wire import Side, Signal, SignalResult, SignalStatus
from tests.bridge.live import Daemon, wait_until
from tests.mql5.publishing import IDENTITY, Stage, market, script, terminal_of
from tests.mql5.reinit import INPUTS, PERIOD, begin_again
from tests.mql5.trading import signal

PROGRAM = Path(__file__).parent / "GlobalObjects.mq5"
TRADER, RECEIVER = f"{IDENTITY}/trader", f"{IDENTITY}/GlobalObjects"


@pytest.mark.parametrize("orderly", ["true", "false"])
def test_they_begin_anew_with_what_is_on_the_disk(tmp_path: Path, orderly: str) -> None:
    ticks = market("EURUSD", 1_500)
    with Daemon() as daemon:
        port = daemon.server.address.rpartition(":")[2]
        session = script(
            tmp_path, ticks, port, "pace rate=1000", {"Orderly": orderly}, program="GlobalObjects"
        )
        with terminal_of([PROGRAM], session, tmp_path / "terminal") as terminal:
            stage = Stage(daemon, terminal, ticks)
            request = replace(signal(Side.BUY, 0.1), symbol="EURUSD")
            executed = _ask(daemon, TRADER, request)
            assert executed.status is SignalStatus.EXECUTED
            for change in (INPUTS, PERIOD, INPUTS):
                begin_again(terminal, "GlobalObjects", change)
                daemon.outcomes.clear()
                assert _ask(daemon, TRADER, request) == executed
                assert _ask(daemon, RECEIVER, signal(Side.BUY)).status is SignalStatus.DRY_RUN
            stage.wait_ticks()
            stage.wait_deals(2)  # the deposit and the buy
            result = terminal.stop()
    stage.check_ticks()
    assert len(stage.deals()) == len(stage.broker_deals()) == 2
    assert [line.split("\t")[-1] for line in result.journal if "deal 1 of" in line] != []
    assert not any("deal 2 of" in line for line in result.journal)
    assert result.exit_code == 0


def _ask(daemon: Daemon, identity: str, request: Signal) -> SignalResult:
    """The final result of a request to one of the programs."""

    def final() -> list[SignalResult]:
        found = [outcome.result for outcome in list(daemon.outcomes)]
        return [result for result in found if result.id == request.id and result.status.final]

    wait_until(lambda: identity in daemon.server.traders("EURUSD"))
    daemon.server.send(identity, request)
    wait_until(lambda: bool(final()))
    return final()[0]
