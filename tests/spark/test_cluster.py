"""A standalone cluster of two workers, one of them killed in the middle: the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from cep.archive import Archive, import_history
from mt5bridge.history import TickBlock
from tests.backtest.archives import DAY_MS, START_MSC, walk
from tests.backtest.rules import KEYED
from tests.spark.cluster import cluster, family, kill
from tests.waiting import LONG_S, wait_until

pytestmark = [pytest.mark.campaign, pytest.mark.spark, pytest.mark.slow]
SYMBOLS, TICKS = 24, 20_000
"""Three tasks of ours in each of Spark's eight, long enough to be seen at work."""
ENDED = 3
"""So many of our tasks have ended when the worker is killed."""
SETTINGS = (
    # both workers are there before the first task, or one alone might do them all
    "spark.cores.max=2",
    "spark.scheduler.minRegisteredResourcesRatio=1",
    f"spark.scheduler.maxRegisteredResourcesWaitingTime={LONG_S:.0f}s",
    # a list of all that happened, to look at afterwards
    "spark.eventLog.enabled=true",
    "spark.eventLog.compress=false",
    "spark.eventLog.rolling.enabled=false",
)


def test_a_worker_that_is_killed_changes_no_byte(tmp_path: Path) -> None:
    """docs/backtest.md: "A task whose worker dies is tried again, four times in all"."""
    prepared(tmp_path)
    alone = backtest(tmp_path, "none")
    expected = alone.communicate(timeout=LONG_S)
    assert alone.returncode == 0, expected
    work, events = tmp_path / "work", tmp_path / "events"
    settings = (*SETTINGS, f"spark.eventLog.dir={events.as_uri()}")
    more = [f"--conf={one}" for one in settings]
    with cluster(tmp_path, 2) as spark:
        run = backtest(tmp_path, spark.master, "--work", str(work), *more)
        try:
            held = stopped([one.pid for one in spark.workers], run, work)
            wait_until(lambda: ended(work) >= ENDED or run.poll() is not None)
            assert run.poll() is None, run.communicate()
            (lost,) = (one for one in spark.workers if held in family(one.pid))
            kill(lost.pid)
            found = run.communicate(timeout=LONG_S)
        finally:
            kill(run.pid)
    assert run.returncode == 0, found
    rows = (tmp_path / "spark.jsonl").read_bytes()
    assert rows == (tmp_path / "none.jsonl").read_bytes()
    assert rows.count(b'"stream":"Fade"') > SYMBOLS
    assert found[0] == expected[0] and b"Fade" in found[0]
    assert tried_again(happened(events))


def prepared(folder: Path) -> None:
    """Rules, history of symbols, and the folders of a run."""
    random, archive = np.random.default_rng(7), Archive(folder / "archive")
    names = (f"SYM{number}" for number in range(SYMBOLS))
    blocks = [TickBlock(name, walk(random, START_MSC, DAY_MS, TICKS)) for name in names]
    import_history(archive, blocks)
    (folder / "rules.cep").write_text(KEYED)
    for name in ("work", "events"):
        (folder / name).mkdir()


def backtest(folder: Path, master: str, *more: str) -> subprocess.Popen[bytes]:
    """The command at work; its rows go to a file that says where they ran."""
    out = folder / ("none.jsonl" if master == "none" else "spark.jsonl")
    given = ["backtest", str(folder / "rules.cep"), "--archive", str(folder / "archive")]
    given += ["--master", master, "--out", str(out), *more]
    command = [sys.executable, "-m", "cep", *given]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def stopped(workers: list[int], run: subprocess.Popen[bytes], work: Path) -> psutil.Process:
    """A process that is in the middle of a task of ours, stopped there so that it stays in it."""
    found: list[psutil.Process] = []

    def look() -> bool:
        for one in (one for pid in workers for one in family(pid) if is_at_work(one, work)):
            with suppress(psutil.NoSuchProcess):
                one.suspend()
                if is_at_work(one, work):
                    found.append(one)
                    return True
                one.resume()
        return run.poll() is not None

    wait_until(look)
    assert found, run.communicate()
    return found[0]


def is_at_work(process: psutil.Process, work: Path) -> bool:
    """Whether it has a file open that takes what a task finds."""
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        return any(work in Path(file.path).parents for file in process.open_files())
    return False


def ended(work: Path) -> int:
    """How many tasks of ours have ended at least: each has a file, and two workers have one core
    each.
    """
    return len(list(work.rglob("*.parts"))) - 2


def happened(folder: Path) -> list[dict[str, Any]]:
    """Spark's list of all that happened in a run."""
    (file,) = folder.iterdir()
    return [json.loads(line) for line in file.read_text().splitlines()]


def tried_again(events: list[dict[str, Any]]) -> bool:
    """Whether a task was lost with its executor, and one that was tried again has ended well."""
    lost, well = set[tuple[int, int]](), set[tuple[int, int]]()
    for event in events:
        if event["Event"] != "SparkListenerTaskEnd":
            continue
        info, why = event["Task Info"], event["Task End Reason"]["Reason"]
        task = event["Stage ID"], info["Index"]
        if why == "ExecutorLostFailure":
            lost.add(task)
        elif why == "Success" and info["Attempt"] > 0:
            well.add(task)
    return bool(lost) and lost <= well
