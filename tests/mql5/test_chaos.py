"""The chaos proof in short: one seed, and whether the proof itself would find what is wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks.chaos_faults import FIRST
from benchmarks.chaos_proof import deal_problems, tick_problems
from cep.archive import Archive
from mt5bridge.emulator.broker_log import read_broker_log
from mt5bridge.records import TICK, Records

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")


@pytest.mark.campaign
@pytest.mark.spark
@needs_compiler
def test_what_the_terminal_holds_is_archived_once(tmp_path: Path) -> None:
    from benchmarks.chaos import prove
    from cep.spark.session import session

    with session("local[2]") as spark:
        outcome = prove(tmp_path, seed=1, ticks=20_000, spark=spark)
    assert outcome.problems == []
    assert outcome.ticks == 20_000 and outcome.daemon_kills == 2 and outcome.most_in_a_ms == 6
    assert outcome.deals > 10 and outcome.revisions > outcome.deals
    assert outcome.reinitialisations == 3 and outcome.account_switches == 5
    assert outcome.late > 0 and outcome.ontick_skipped > 0 and outcome.faults > 100
    check_that_the_proof_finds_faults(tmp_path)


def check_that_the_proof_finds_faults(folder: Path) -> None:
    """A tick or a deal more, less, changed or elsewhere is not overlooked."""
    archive = Archive(folder / "proof")
    base = np.fromfile(folder / "terminal" / "tick_base" / "EURUSD.bin", TICK)
    assert list(tick_problems(archive, FIRST, "EURUSD", base)) == []
    for wrong in wrong_ticks(base):
        assert list(tick_problems(archive, FIRST, "EURUSD", wrong)) != []
    made = read_broker_log(folder / "terminal" / "broker.log").revisions
    assert list(deal_problems(archive, FIRST, made)) == []
    for wrong in wrong_deals(made):
        assert list(deal_problems(archive, FIRST, wrong)) != []


def wrong_ticks(base: Records) -> list[Records]:
    price, swapped = base.copy(), base.copy()
    price["ask"][100] += 0.00001
    place = int(np.flatnonzero(base["bid"][1:] != base["bid"][:-1])[0])
    swapped[[place, place + 1]] = swapped[[place + 1, place]]
    return [base[:-1], np.concatenate([base, base[-1:]]), price, swapped]


def wrong_deals(made: Records) -> list[Records]:
    price = made.copy()
    price["price"] += 1.0
    more = made[-1:].copy()
    more["ticket"] += 1
    return [made[1:], np.concatenate([made, more]), price]
