"""What all benchmarks share: medians, tables, results as Markdown."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.machine import describe

RUNS = 5
MIB = 1 << 20
FOLDER = Path(__file__).parent


def seconds(work: Callable[[], object]) -> float:
    """Duration of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def keep_garbage_apart() -> None:
    """The garbage collector looks no more at what is there for good, as in the daemon."""
    gc.collect()
    gc.freeze()


def median_seconds(work: Callable[[], object], runs: int = RUNS) -> float:
    """Median duration of several calls."""
    return statistics.median(seconds(work) for _ in range(runs))


def in_new_process(module: str, *arguments: str, cache: Path | None = None) -> str:
    """What `python -m module arguments` prints; `cache` is where it keeps compiled code."""
    environment = dict(os.environ)
    if cache is not None:
        environment["MT5CEP_CACHE"] = str(cache)
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def peak_mib() -> int:
    """The most memory this process has had, in MiB; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit // MIB


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def millions(rate: float) -> str:
    return f"{rate / 1e6:.2f} M"


def write_results(
    name: str, title: str, *parts: str, how: str = f"One core, median of {RUNS} runs."
) -> None:
    """Print the results and write them to `name`.md beside the script."""
    text = "\n\n".join([f"# {title}", *parts, f"{how} {describe()}"])
    (FOLDER / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)
