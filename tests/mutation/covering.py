"""Which tests run which lines, and how long each takes: measured once, kept on disk."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest

from tests.mutation.mutants import IMPORT

OPTIONS = ["-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist"]


class Watch:
    """A pytest plugin: tells the measurement which test is running, and notes how it went."""

    def __init__(self, measurement: coverage.Coverage) -> None:
        self._measurement = measurement
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._measurement.switch_context(item.nodeid)
        began = time.perf_counter()
        result = yield
        self.seconds[item.nodeid] = time.perf_counter() - began
        return result

    def lasting(self, failed: set[str]) -> dict[str, float]:
        """Seconds of the tests that passed."""
        return {name: taken for name, taken in self.seconds.items() if name not in failed}


class Failed:
    """A pytest plugin: which tests did not pass."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            self.names.add(report.nodeid)


def measure(root: Path, modules: list[str], tests: list[str], kept: Path) -> None:
    """Run the tests in this process, and keep by line which of those that passed ran it."""
    measurement = coverage.Coverage(data_file=None, include=[str(root / path) for path in modules])
    watch, failed = Watch(measurement), Failed()
    measurement.start()
    pytest.main([*OPTIONS, *tests], [watch, failed])
    measurement.stop()
    data = measurement.get_data()
    lines: dict[str, dict[int, list[str]]] = {}
    for path in modules:
        by_line = data.contexts_by_lineno(str(root / path))
        lines[path] = {line: [n for n in names if n] for line, names in by_line.items()}
    kept.parent.mkdir(parents=True, exist_ok=True)
    found = {"lines": lines, "seconds": watch.lasting(failed.names)}
    kept.write_text(json.dumps(found), encoding="utf-8")


class Covering:
    """What `measure` has kept."""

    def __init__(self, kept: Path) -> None:
        found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        self._seconds: dict[str, float] = found["seconds"]
        self._lines: dict[str, dict[int, list[str]]] = defaultdict(dict)
        for path, lines in found["lines"].items():
            self._lines[path] = {int(line): names for line, names in lines.items()}

    def tests(self, path: str, line: int, seconds_max: float) -> list[str]:
        """Tests that run a line, quick ones first, as many as are done in so many seconds.

        What is run by the import is left to the tests that run any line, or to all if none does.
        """
        lines = self._lines[path]
        names = set(lines.get(line, ()))
        if line == IMPORT:
            names = set().union(*lines.values()) or set(self._seconds)
        known = names & self._seconds.keys()
        chosen: list[str] = []
        taken = 0.0
        for name in sorted(known, key=lambda one: (self._seconds[one], one)):
            taken += self._seconds[name]
            if chosen and taken > seconds_max:
                break
            chosen.append(name)
        return chosen
