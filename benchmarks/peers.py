"""Siddhi and Esper, unmodified, beside us: built by Maven in a folder of their own."""

from __future__ import annotations

import shutil
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.workloads import Input, Workload

FOLDER = Path(__file__).parent / "jvm"
CLASSES = {"siddhi": "peers.SiddhiPeer", "esper": "peers.EsperPeer"}
KINDS = {"symbol": 0, "mid": 1, "volume": 2, "a": 3, "b": 3}
DROPPED = 1  # the first run warms the JVM


@dataclass(frozen=True)
class Figure:
    """Medians of several runs."""

    events_per_s: float
    rows_per_event: float


def build() -> str:
    """Build the peers; what stands in the way, or nothing."""
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            return f"`{tool}` is not installed"
    command = ["mvn", "-q", "package"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"`mvn package` failed: {done.stdout[-300:]}"


def write_rows(rows: Input, path: Path) -> None:
    """The input in the format of `Rows.java`."""
    head = [len(rows), len(rows.columns), *(KINDS[name] for name in rows.names), len(rows.symbols)]
    with path.open("wb") as file:
        file.write(np.array(head, "<i8").tobytes())
        for symbol in rows.symbols:
            text = symbol.encode()
            file.write(np.array([len(text)], "<i8").tobytes() + text)
        file.write(rows.times.astype("<i8").tobytes())
        for column in rows.columns:
            wide = "<f8" if column.dtype.kind == "f" else "<i8"
            file.write(column.astype(wide).tobytes())


def measure(engine: str, workload: Workload, runs: int, folder: Path) -> Figure:
    """Median events/s of `runs` runs after one that warms; `engine` is siddhi or esper."""
    rules, rows = folder / f"{engine}.txt", folder / "rows.bin"
    rules.write_text(workload.siddhi if engine == "siddhi" else "\n".join(workload.esper))
    timed = runs + DROPPED
    write_rows(workload.make(workload.warm_up + timed * workload.peer_events), rows)
    target = FOLDER / engine / "target"
    command = ["java", "-Xmx6g", "-cp", f"{target / engine}.jar:{target / 'lib'}/*", "peers.Main"]
    command += [CLASSES[engine], str(rules), str(rows), str(workload.warm_up), str(timed)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    lines = [tuple(map(int, line.split())) for line in done.stdout.splitlines()][DROPPED:]
    rate = statistics.median(events / nanoseconds * 1e9 for events, nanoseconds, _ in lines)
    return Figure(rate, sum(out for *_, out in lines) / sum(events for events, *_ in lines))
