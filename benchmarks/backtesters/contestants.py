"""Who is measured, the environments of the packages, and their programs at work.

Each package wants versions of NumPy, Numba or pandas of its own, so it is installed into a virtual
environment of its own, once for each version.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.backtesters.job import Answer, Job, Trade

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = "installed"
"""A file of an environment that is complete."""


@dataclass(frozen=True)
class Contestant:
    """A package of PyPI, or we ourselves, who need none.

    `share` is that of the ticks, less for the slow. `way` says what is done for each tick,
    `own_file` what is made of the ticks first, and `prices` why trades have others.
    """

    name: str
    module: str
    way: str
    version: str = ""
    share: float = 1.0
    own_file: str = ""
    prices: str = ""


US = Contestant(
    "mt5cep",
    "by_us",
    "compiled rules by tick, then a broker over the ticks",
    own_file="our archive",
)
CONTESTANTS = (
    US,
    Contestant(
        "nautilus_trader", "by_nautilus",
        "a Python call by tick; exchange and account, compiled", "1.221.0", 0.25,
    ),
    Contestant(
        "backtesting", "by_backtesting", "a Python call by bar, of one tick; means as arrays",
        "0.6.6", 0.1, prices="trades at the mid, half the spread is a commission",
    ),
    Contestant(
        "vectorbt", "by_vectorbt", "means and signals as arrays, then orders in a compiled loop",
        "1.2.0",
    ),
    Contestant(
        "hftbacktest", "by_hftbacktest", "a compiled strategy by tick, with an order book",
        "2.4.4", own_file="events for hftbacktest",
    ),
)  # fmt: skip


class AbsentError(Exception):
    """A package cannot be had or run here; the text says why."""


def python_of(contestant: Contestant, folder: Path) -> Path:
    """The Python that runs a contestant's program; its environment is made where there is none."""
    if not contestant.version:
        return Path(sys.executable)
    home = folder / f"{contestant.name}-{contestant.version}"
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if (home / INSTALLED).is_file():
        return python
    print(f"installing {contestant.name} {contestant.version} into {home}", flush=True)
    try:
        venv.create(home, clear=True, with_pip=True)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise AbsentError(f"has no environment: {error}") from None
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, f"{contestant.name}=={contestant.version}"],
        stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise AbsentError(f"cannot be installed: {last_line(done.stderr)}")
    (home / INSTALLED).touch()
    return python


def last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "no reason given")


class Program:
    """A contestant's program, which runs when asked."""

    def __init__(self, python: Path, contestant: Contestant, job: Job) -> None:
        self.contestant, self.job = contestant, job
        self.answers: list[Answer] = []
        self.first_s = 0.0
        """Of the first run with all before it: Python, imports, what is compiled."""
        self._command = [
            str(python), "-m", f"benchmarks.backtesters.{contestant.module}",
            *map(str, (job.folder, job.ticks, job.fast, job.slow)),
        ]  # fmt: skip
        self._process: subprocess.Popen[str] | None = None
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed in `stop`

    def prepare(self) -> None:
        """Have it write the file that it reads."""
        command = [*self._command, "--prepare"]
        done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise AbsentError(f"cannot be run: {last_line(done.stderr)}")

    def run(self) -> None:
        """One more run."""
        begun = time.perf_counter()
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, cwd=ROOT, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            )  # fmt: skip
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            raise AbsentError(f"cannot be run: {last_line(self._errors.read())}")
        self.first_s = self.first_s or time.perf_counter() - begun
        answer = json.loads(line)
        answer["trades"] = [Trade(*row) for row in answer["trades"]]
        self.answers.append(Answer(**answer))

    def stop(self) -> None:
        if self._process:
            self._process.communicate()
        self._errors.close()

    @property
    def ticks_per_s(self) -> float:
        """Median of the runs after the first one, the ticks in memory."""
        return self.job.ticks / statistics.median(answer.run_s for answer in self.answers[1:])

    @property
    def read_ticks_per_s(self) -> float:
        """The same with the ticks from the file."""
        taken_s = [answer.load_s + answer.run_s for answer in self.answers[1:]]
        return self.job.ticks / statistics.median(taken_s)
