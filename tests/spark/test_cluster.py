"""A standalone cluster of two workers, one of them killed in the middle of a backtest or a
sweep: the same bytes. Its machines are this one, or namespaces that reach each other by a network
alone, where also the driver has one of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from cep.archive import Archive, import_history
from mt5bridge.history import TickBlock
from tests.backtest.archives import DAY_MS, START_MSC, walk, with_points
from tests.backtest.rules import KEYED
from tests.spark.cluster import Cluster, cluster, family, kill
from tests.spark.machines import Machine, here, namespaces
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
MACHINES = 4
"""The driver's, the master's and two of workers."""


@pytest.fixture(params=["processes", "namespaces"])
def machines(request: pytest.FixtureRequest) -> Iterator[Sequence[Machine]]:
    """Those of a cluster, with the driver's first."""
    if request.param == "processes":
        yield here(MACHINES)
        return
    with namespaces(MACHINES) as found:
        yield found


def test_a_worker_that_is_killed_changes_no_byte(
    tmp_path: Path, machines: Sequence[Machine]
) -> None:
    """docs/backtest.md: "A task whose worker dies is tried again, four times in all"."""
    prepared(tmp_path)
    expected = finished(backtest(tmp_path, Machine(), "none"))
    work, events = tmp_path / "work", tmp_path / "events"
    driver, *others = machines
    more = ("--work", str(work))
    with cluster(tmp_path, others) as spark:
        run = backtest(tmp_path, driver, spark.master, *more, *conf(driver, events))
        found = bereft(run, spark, work, lambda: ended(work) >= ENDED)
    rows = (tmp_path / "spark.jsonl").read_bytes()
    assert rows == (tmp_path / "none.jsonl").read_bytes()
    assert rows.count(b'"stream":"Fade"') > SYMBOLS
    assert found[0] == expected[0] and b"Fade" in found[0]
    assert tried_again(happened(events))


def test_a_worker_that_is_killed_changes_nothing_of_a_sweep(
    tmp_path: Path, machines: Sequence[Machine]
) -> None:
    """docs/backtest.md, "Sweeps": of few variants over much history rules are cut into tasks."""
    prepared(tmp_path)
    expected = finished(sweep(tmp_path, Machine(), "none"))
    work, events = tmp_path / "work", tmp_path / "events"
    driver, *others = machines
    with cluster(tmp_path, others) as spark:
        given = conf(driver, events, f"spark.executorEnv.TMPDIR={work}")
        run = sweep(tmp_path, driver, spark.master, *given)
        found = bereft(run, spark, work, lambda: jobs_ended(events) >= ENDED)
    rows = (tmp_path / "spark.csv").read_bytes()
    assert rows == (tmp_path / "none.csv").read_bytes() and len(rows.splitlines()) == 4
    assert found[0] == expected[0]
    assert b"rules, where few are tried: symbols apart, each in" in found[1]
    assert tried_again(happened(events))


def conf(driver: Machine, events: Path, *more: str) -> list[str]:
    """The settings of a run on the cluster, in which the driver has a name where it needs one."""
    own = [f"spark.driver.host={driver.address}"] if driver.namespace else []
    given = (*SETTINGS, f"spark.eventLog.dir={events.as_uri()}", *own, *more)
    return [f"--conf={one}" for one in given]


def finished(run: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """What a run has said that went well."""
    found = run.communicate(timeout=LONG_S)
    assert run.returncode == 0, found
    return found


def bereft(
    run: subprocess.Popen[bytes], spark: Cluster, work: Path, is_time: Callable[[], bool]
) -> tuple[bytes, bytes]:
    """What a run says of which a worker is killed in the middle of a task, when it is time."""
    try:
        held = stopped([one.pid for one in spark.workers], run, work)
        wait_until(lambda: is_time() or run.poll() is not None)
        assert run.poll() is None, run.communicate()
        (lost,) = (one for one in spark.workers if held in family(one.pid))
        kill(lost.pid)
        return finished(run)
    finally:
        kill(run.pid)


def prepared(folder: Path) -> None:
    """Rules, history of symbols, and the folders of a run."""
    random, archive = np.random.default_rng(7), Archive(folder / "archive")
    names = (f"SYM{number}" for number in range(SYMBOLS))
    blocks = [TickBlock(name, walk(random, START_MSC, DAY_MS, TICKS)) for name in names]
    import_history(archive, blocks)
    with_points(archive)
    (folder / "rules.cep").write_text(KEYED)
    (folder / "sweep.cep").write_text(
        "define parameter Stop int = 20;\n" + KEYED.replace("stop 20 points", "stop Stop points")
    )
    for name in ("work", "events"):
        (folder / name).mkdir()


def backtest(folder: Path, driver: Machine, master: str, *more: str) -> subprocess.Popen[bytes]:
    """The command at work; its rows go to a file that says where they ran."""
    out = folder / ("none.jsonl" if master == "none" else "spark.jsonl")
    given = ["backtest", str(folder / "rules.cep"), "--archive", str(folder / "archive")]
    given += ["--master", master, "--out", str(out), *more]
    command = driver.command([sys.executable, "-m", "cep", *given])
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def sweep(folder: Path, driver: Machine, master: str, *more: str) -> subprocess.Popen[bytes]:
    """The same of a sweep, which cuts also as little as this."""
    out = folder / ("none.csv" if master == "none" else "spark.csv")
    given = ["sweep", str(folder / "sweep.cep"), "--archive", str(folder / "archive")]
    given += ["--param", "Stop=10,20,40", "--master", master, "--out", str(out), *more]
    program = "from cep.cli import main; from cep.sweep import apart; apart.ROWS_MIN = 1"
    command = driver.command([sys.executable, "-c", f"{program}; main({given})"])
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


def jobs_ended(events: Path) -> int:
    """How many jobs of Spark's have ended: of a sweep each task is one."""
    return sum(file.read_text().count('"SparkListenerJobEnd"') for file in events.iterdir())


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
