"""Where tasks run, how often they are tried, and whose code they run."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from cep.backtest.code import code_hash
from cep.cli import main
from cep.spark.code import packed
from cep.spark.masters import is_here, is_local, retrying
from cep.spark.session import _usual
from cep.spark.source import PartsReader, Work, other_code
from tests.waiting import LONG_S


@pytest.mark.parametrize(
    ("master", "wanted"),
    [
        ("local", "local[1,4]"),
        ("local[3]", "local[3,4]"),
        ("local[*]", "local[*,4]"),
        ("local[2,1]", "local[2,1]"),
        ("local-cluster[2,1,1024]", "local-cluster[2,1,1024]"),
        ("spark://host:7077", "spark://host:7077"),
        ("yarn", "yarn"),
    ],
)
def test_a_task_whose_worker_died_is_tried_again(master: str, wanted: str) -> None:
    assert retrying(master) == wanted


def test_the_driver_is_named_where_its_machine_is_the_only_one() -> None:
    for master in ("local[2]", "local-cluster[2,1,1024]", "spark://127.0.0.1:7077"):
        assert is_here(master) and _usual(master, None)["spark.driver.host"] == "127.0.0.1"
    for master in ("yarn", "spark://host:7077", "k8s://https://host"):
        assert not is_here(master) and "spark.driver.host" not in _usual(master, None)
    assert is_local("local[2]") and not is_local("local-cluster[2,1,1024]")


@pytest.mark.parametrize("text", ["spark.executor.memory", "memory=4g", "=4g"])
def test_a_setting_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    rules = tmp_path / "a.cep"
    rules.write_text("define stream Tick (symbol string, bid double);\n")
    given = ["backtest", str(rules), "--archive", str(tmp_path), "--conf", text]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 2
    assert f"--conf {text}: no setting of Spark" in result.stderr and "spark.NAME=" in result.stderr


def test_what_is_shipped_is_this_code(tmp_path: Path) -> None:
    """Unpacked elsewhere, it has the same hash: what tasks compare."""
    with zipfile.ZipFile(packed(tmp_path)) as file:
        file.extractall(tmp_path / "there")
    assert code_hash(tmp_path / "there") == code_hash()
    changed = tmp_path / "there" / "cep" / "__init__.py"
    changed.write_text(changed.read_text() + "\n")
    code_hash.cache_clear()
    assert code_hash(tmp_path / "there") != code_hash()


def test_tasks_that_import_other_code_say_so() -> None:
    import msgspec

    from cep.backtest.parts import Job, Task
    from cep.backtest.selection import Selection

    job = Job("", (), False, (), ())
    work = msgspec.json.encode(Work(job, ((Task(0, "", Selection("", ())),),), "another"))
    reader = PartsReader(work.decode())
    ((batch,),) = (list(reader.read(one)) for one in reader.partitions())
    (error,) = batch["error"].to_pylist()
    assert error == other_code("another")
    assert "import another mt5cep" in error and "PYTHONPATH" in error


CLUSTER = """
from cep.spark.session import session
with session("local-cluster[1,1,1024]") as spark:
    def where(_):
        from cep.backtest.code import ROOT, code_hash
        return ROOT.name, code_hash()
    print(*spark.sparkContext.parallelize([0], 1).map(where).collect()[0])
"""


@pytest.mark.campaign
@pytest.mark.spark
@pytest.mark.slow
def test_executors_run_the_code_that_was_shipped(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CLUSTER],
        capture_output=True,
        text=True,
        timeout=LONG_S,
        cwd=tmp_path,
    )
    assert done.stdout.split() == ["mt5cep-code", code_hash()], done.stderr[-2_000:]
