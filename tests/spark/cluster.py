"""A standalone Spark cluster of processes: a master, and workers that can be killed."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyspark

from cep.spark.java import find_java
from tests.waiting import LONG_S, wait_until

HOME = Path(pyspark.__file__).parent
CLASS = "org.apache.spark.deploy.{0}.{1}"
WORKER_MEMORY = "1500m"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Its address, `spark://127.0.0.1:PORT`, and the process of each worker."""

    master: str
    workers: tuple[subprocess.Popen[bytes], ...]


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """A master and workers of one core each, on free ports of 127.0.0.1; logs are in `folder`."""
    with ExitStack() as stack:
        log = folder / "master.log"
        stack.enter_context(daemon(log, "master", "Master"))
        master = said(log, r"Starting Spark master at (spark://\S+)")
        found = []
        for number in range(workers):
            log, work = folder / f"worker{number}.log", str(folder / f"worker{number}")
            given = ("--cores", "1", "--memory", WORKER_MEMORY, "--work-dir", work, master)
            found.append(stack.enter_context(daemon(log, "worker", "Worker", *given)))
        for number in range(workers):
            said(folder / f"worker{number}.log", "(Successfully registered with master)")
        yield Cluster(master, tuple(found))


@contextmanager
def daemon(log: Path, package: str, name: str, *given: str) -> Iterator[subprocess.Popen[bytes]]:
    """A daemon of Spark; killed at the end, with all that it started."""
    home = find_java().home
    environment = {**os.environ, "SPARK_HOME": str(HOME), "JAVA_HOME": str(home)}
    # the worker's launcher of executors asks for Scala's version, or looks for a build of Spark
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_SCALA_VERSION": "2.13"}
    java = [str(home / "bin" / "java"), "-Xmx256m", "-Dspark.master.rest.enabled=false"]
    usual = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    command = [*java, "-cp", str(HOME / "jars" / "*"), CLASS.format(package, name), *usual, *given]
    with log.open("wb") as sink:
        found = subprocess.Popen(command, env=environment, stdout=sink, stderr=subprocess.STDOUT)
    try:
        yield found
    finally:
        kill(found.pid)
        found.wait(LONG_S)


def kill(pid: int) -> None:
    """End a process and all that it started, at once: -9."""
    for one in family(pid):
        with suppress(psutil.NoSuchProcess):
            one.kill()


def family(pid: int) -> list[psutil.Process]:
    """A process and all that it started, that are still there."""
    with suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        return [top, *top.children(recursive=True)]
    return []


def said(log: Path, pattern: str) -> str:
    """What a log says, once it does."""
    wait_until(lambda: re.search(pattern, log.read_text(errors="replace")) is not None)
    found = re.search(pattern, log.read_text(errors="replace"))
    assert found is not None
    return found[1]
