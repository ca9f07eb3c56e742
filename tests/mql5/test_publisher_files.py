"""Files that a virus scanner or a backup holds, or a full disk: nothing lost, nothing doubled."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.records import DealType
from tests.mql5.publishing import Stage, market, publishing
from tests.waiting import LONG_S, wait_until

LIVELY = "pace rate=3000\nontick skip=0.33\nticks_odd late=0.05 late_by=1..50"
AHEAD = {"WriteAhead": "true"}
FOLDER = "Mt5Bridge/5001@Demo"


def _begun_again(stage: Stage, fault: str) -> None:
    """The terminal was killed and starts with a fault of files."""
    stage.terminal.kill()
    stage.terminal.script = stage.terminal.script.plus(f"files {fault}")
    stage.terminal.start()


def _free(stage: Stage, deeds: str = "open=0 move=0 delete=0 write=0") -> None:
    stage.terminal.act(f"files='{deeds}'")


def _holds_back_until_free(stage: Stage) -> None:
    """Nothing is sent of all 4,000 ticks before the files are free; then all is.

    A deal made now is told behind all that was under way: the connection keeps the order.
    """
    stage.terminal.act("broker='trade buy EURUSD 0.1'")
    wait_until(lambda: _trades(stage) == 1)
    received = stage.received("EURUSD")
    stage.terminal.wait(lambda stats: stats.ticks_delivered == 4_000, LONG_S)
    assert stage.received("EURUSD") == received
    _free(stage)
    stage.wait_ticks()
    stage.wait_agreed()


def test_a_ledger_that_is_held_is_waited_for(tmp_path: Path) -> None:
    """Late ticks of before are in it and nowhere else: nothing is sent before it is read."""
    with publishing(tmp_path, market("EURUSD", 4_000), LIVELY, inputs=AHEAD) as stage:
        stage.wait_share(0.3)
        _begun_again(stage, "open=1 name=*.ledger")
        stage.terminal.wait_journal("its ledger cannot be read", LONG_S)
        _holds_back_until_free(stage)
    stage.check_ticks()


def test_what_cannot_be_written_ahead_is_not_sent(tmp_path: Path) -> None:
    with publishing(tmp_path, market("EURUSD", 4_000), LIVELY, inputs=AHEAD) as stage:
        stage.wait_share(0.3)
        stage.terminal.act("files='move=1 write=1 name=*.ledger*'")
        stage.terminal.wait_journal("its ledger cannot be written", LONG_S)
        _holds_back_until_free(stage)
    stage.check_ticks()


def test_killed_while_files_fail_now_and_then(tmp_path: Path) -> None:
    """On the disk is the old ledger or the new one, and one that is not replaced goes on."""
    faults = "files open=0.1 move=0.5 write=0.05 name=*.ledger*"
    ticks = market("EURUSD GBPUSD", 4_000)
    with publishing(tmp_path, ticks, f"{LIVELY}\n{faults}", inputs=AHEAD) as stage:
        for share in (0.2, 0.4, 0.6, 0.8):
            stage.wait_share(share)
            stage.terminal.kill()
            stage.terminal.start()
        stage.wait_ticks()  # which may have been there before the last kill
        stage.terminal.wait(lambda stats: stats.ticks_delivered == stage.total, LONG_S)
    stage.check_ticks()


def test_begun_again_while_files_fail_now_and_then(tmp_path: Path) -> None:
    """Nothing is written ahead here: what ends tries again, and who begins then knows all of it."""
    faults = "files open=0.2 move=0.5 write=0.1 name=*.ledger*"
    ticks = market("EURUSD GBPUSD", 4_000)
    with publishing(tmp_path, ticks, f"{LIVELY}\n{faults}") as stage:
        for share in (0.2, 0.35, 0.5, 0.65, 0.8):
            stage.wait_share(share)
            stage.terminal.act("reinit=Publisher reason=RECOMPILE")
        stage.wait_ticks()
    stage.check_ticks()


@pytest.mark.parametrize("fault", ["open=1", "write=1"])
def test_deals_wait_for_their_file(tmp_path: Path, fault: str) -> None:
    """Revisions of what was told before are in it: each deal and each change is told once."""
    with publishing(tmp_path, market("EURUSD", 100), "pace rate=1000") as stage:
        stage.terminal.act("broker='trade buy EURUSD 0.1'")
        wait_until(lambda: _trades(stage) == 1)
        _begun_again(stage, f"{fault} name=deals.bin")
        stage.terminal.act("broker='revise last swap -1.25'")
        stage.terminal.act("broker='trade buy EURUSD 0.2'")
        stage.terminal.wait_journal("no deal is told before", LONG_S)
        assert _trades(stage) == 1
        _free(stage)
        wait_until(lambda: _trades(stage) == 3)
    told, made = stage.deals(), stage.broker_deals()
    for name in ("ticket", "volume", "swap", "revision"):
        assert sorted(told[name].tolist()) == sorted(made[name].tolist())


def _trades(stage: Stage) -> int:
    """How many revisions of buys and sells the daemon has."""
    return int((stage.deals()["type"] <= DealType.SELL).sum())
