"""Every revision of every deal reaches the daemon once and in order."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from mt5bridge.records import DealKind, Records
from tests.bridge.live import wait_until
from tests.mql5.publishing import Stage, market, publishing
from tests.waiting import LONG_S

QUIET = "pace rate=2000\nontick skip=0.33"
TRADES = f"{QUIET}\nbroker activity_ticks=20 activity_lots=0.01 shuffle=1 duplicates=0.2"
CONTENT = ("ticket", "kind", "volume", "price", "commission", "swap", "profit", "fee", "magic")

IN_SLICES = {"PumpDealsMax": "7"}  # a comparison of the history takes many events


@pytest.mark.parametrize("inputs", [{}, IN_SLICES])
def test_fills_in_one_millisecond_and_unordered_transactions(
    tmp_path: Path, inputs: dict[str, str]
) -> None:
    statements = f"{TRADES}\n" + "\n".join(
        f"at tick={tick} broker='burst 40 EURUSD 0.1'" for tick in (200, 201, 700)
    )
    with publishing(tmp_path, market("EURUSD", 1_500), statements, inputs=inputs) as stage:
        _finish(stage)
        told = stage.deals()
    _check_told_once(stage, told)
    assert len(told) > 120
    assert (told["kind"] == DealKind.ADD).all()
    groups = np.unique(told["time_msc"], return_counts=True)[1]
    assert groups.max() >= 40
    assert (np.diff(told["ticket"].astype(np.int64)) > 0).all()


@pytest.mark.parametrize("inputs", [{}, IN_SLICES])
def test_revisions_cancellations_and_deletions(tmp_path: Path, inputs: dict[str, str]) -> None:
    statements = (
        f"{QUIET}\nat tick=100 broker='trade buy EURUSD 0.1 7 first'"
        "\nat tick=400 broker='revise last commission -1.25'"
        "\nat tick=800 broker='revise last swap -0.5'"
        "\nat tick=1200 broker='trade sell EURUSD 0.1 8 second'"
        "\nat tick=1300 broker='delete_deal last'"
    )
    with publishing(tmp_path, market("EURUSD", 1_500), statements, inputs=inputs) as stage:
        _finish(stage)
        told = stage.deals()
    _check_told_once(stage, told)
    first = told[told["comment"] == b"first"]
    assert first["revision"].tolist() == [0, 1, 2]
    assert first["commission"].tolist() == [0.0, -1.25, -1.25]
    assert told[-1]["kind"] == DealKind.DELETE
    assert first["magic"].tolist() == [7, 7, 7]


def test_deals_that_come_late_into_the_history(tmp_path: Path) -> None:
    statements = f"{TRADES}\nbroker history_delay_ms=0..80 revisions=0.5 revision_delay_ms=50..300"
    with publishing(tmp_path, market("EURUSD", 1_500), statements) as stage:
        _finish(stage)
        told = stage.deals()
    _check_told_once(stage, told)


@pytest.mark.parametrize("inputs", [{}, IN_SLICES])
def test_what_happened_while_cut_off_from_the_trade_server(
    tmp_path: Path, inputs: dict[str, str]
) -> None:
    """No transaction tells of it, and others go missing; the history does."""
    statements = (
        f"{TRADES}\nbroker missing=0.3 revisions=0.3 revision_delay_ms=50..300"
        "\nat tick=500 disconnect=300\nat tick=1200 disconnect=200"
    )
    with publishing(tmp_path, market("EURUSD", 2_000), statements, inputs=inputs) as stage:
        _finish(stage)
        told = stage.deals()
        stage.wait_agreed()
    _check_told_once(stage, told)
    stage.check_ticks()


@pytest.mark.parametrize("inputs", [{}, IN_SLICES])
@pytest.mark.parametrize("breaks", ["terminal", "daemon", "line"])
def test_restarts_tell_each_revision_once(
    tmp_path: Path, breaks: str, inputs: dict[str, str]
) -> None:
    line = "\nsockets short=0.3 cut_after=8000..40000" if breaks == "line" else ""
    statements = f"{TRADES}\nbroker revisions=0.3 revision_delay_ms=50..300{line}"
    with publishing(tmp_path, market("EURUSD", 2_000), statements, inputs=inputs) as stage:
        for share in (0.2, 0.4, 0.6):
            stage.wait_share(share)
            if breaks == "terminal":
                stage.terminal.kill()
                stage.terminal.start()
            elif breaks == "daemon":
                stage.restart_daemon()
        _finish(stage)
        told = stage.deals()
    _check_told_once(stage, told)


@pytest.mark.parametrize("inputs", [{}, IN_SLICES])
def test_without_its_file_each_deal_is_still_told_once(
    tmp_path: Path, inputs: dict[str, str]
) -> None:
    """WELCOME's time and count tell which deals were told, as long as none was revised."""
    with publishing(tmp_path, market("EURUSD", 2_000), TRADES, inputs=inputs) as stage:
        for share in (0.3, 0.6):
            stage.wait_share(share)
            stage.terminal.kill()
            stage.terminal.file("Mt5Bridge/5001@Demo/deals.bin").unlink()
            stage.terminal.start()
        _finish(stage)
        told = stage.deals()
    _check_told_once(stage, told)


@pytest.mark.parametrize("inputs", [{}, IN_SLICES])
def test_a_new_daemon_is_told_the_whole_history(tmp_path: Path, inputs: dict[str, str]) -> None:
    with publishing(tmp_path, market("EURUSD", 1_000), TRADES, inputs=inputs) as stage:
        _finish(stage)
        told = stage.deals()
        stage.daemon.stop()
        stage.daemon.stored.clear()
        stage.daemon.positions.clear()
        stage.terminal.stop()
        stage.daemon.start()
        stage.terminal.start()
        stage.wait_deals(len(told))
        again = stage.deals()
    assert again[list(CONTENT)].tobytes() == told[list(CONTENT)].tobytes()


def _finish(stage: Stage) -> None:
    """Wait until all ticks are there and the daemon knows of all that the broker has done."""
    stage.wait_ticks()
    stage.terminal.wait(lambda stats: bool(stats.data["broker_idle"]), LONG_S)
    wait_until(lambda: _newest(stage.deals()) == _newest(stage.broker_deals()))


def _newest(deals: Records) -> dict[int, tuple[object, ...]]:
    """The state of each deal after all revisions; deleted ones are gone."""
    state: dict[int, tuple[object, ...]] = {}
    for deal in deals:
        if deal["kind"] == DealKind.DELETE:
            state.pop(int(deal["ticket"]), None)
        else:
            state[int(deal["ticket"])] = tuple(deal[name] for name in CONTENT if name != "kind")
    return state


def _check_told_once(stage: Stage, told: Records) -> None:
    """Each ticket has revisions 0, 1, 2 ..., each with new content; every deal was told."""
    broker = stage.broker_deals()
    assert set(told["ticket"]) == set(broker["ticket"])
    for ticket in np.unique(told["ticket"]):
        own = told[told["ticket"] == ticket]
        assert own["revision"].tolist() == list(range(len(own)))
        assert own[0]["kind"] == DealKind.ADD
        contents = [bytes(deal[list(CONTENT)].tobytes()) for deal in own]
        assert all(one != other for one, other in itertools.pairwise(contents))
        assert len(own) <= np.count_nonzero(broker["ticket"] == ticket)
