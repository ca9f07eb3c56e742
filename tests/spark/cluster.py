"""A standalone Spark cluster: a master, and workers that can be killed."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyspark

from cep.spark.java import find_java
from tests.spark.machines import Machine
from tests.waiting import LONG_S, wait_until

HOME = Path(pyspark.__file__).parent
CLASS = "org.apache.spark.deploy.{0}.{1}"
WORKER_MEMORY = "1500m"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Its address, `spark://HOST:PORT`, and the process of each worker."""

    master: str
    workers: tuple[subprocess.Popen[bytes], ...]


@contextmanager
def cluster(folder: Path, machines: Sequence[Machine]) -> Iterator[Cluster]:
    """A master on the first machine, and a worker of one core on each of the others, on free ports;
    logs are in `folder`.
    """
    with ExitStack() as stack:
        log = folder / "master.log"
        stack.enter_context(daemon(machines[0], log, "master", "Master"))
        master = said(log, r"Starting Spark master at (spark://\S+)")
        found, logs = [], []
        for number, machine in enumerate(machines[1:]):
            logs.append(folder / f"worker{number}.log")
            work = str(folder / f"worker{number}")
            given = ("--cores", "1", "--memory", WORKER_MEMORY, "--work-dir", work, master)
            found.append(stack.enter_context(daemon(machine, logs[-1], "worker", "Worker", *given)))
        for log in logs:
            said(log, "(Successfully registered with master)")
        yield Cluster(master, tuple(found))


@contextmanager
def daemon(
    machine: Machine, log: Path, package: str, name: str, *given: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A daemon of Spark; killed at the end, with all that it started."""
    home = find_java().home
    environment = {**os.environ, "SPARK_HOME": str(HOME), "JAVA_HOME": str(home)}
    # the worker's launcher of executors asks for Scala's version, or looks for a build of Spark
    environment |= {"SPARK_LOCAL_IP": machine.address, "SPARK_SCALA_VERSION": "2.13"}
    java = [str(home / "bin" / "java"), "-Xmx256m", "-Dspark.master.rest.enabled=false"]
    usual = ["--host", machine.address, "--port", "0", "--webui-port", "0"]
    own = [*java, "-cp", str(HOME / "jars" / "*"), CLASS.format(package, name), *usual, *given]
    command = machine.command(own)
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
