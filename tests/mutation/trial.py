"""One worker: tries faults in a copy of the tree, a forked process for each."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from multiprocessing import get_context
from pathlib import Path

import tests
from tests.mutation.covering import OPTIONS, Covering, measure
from tests.mutation.mutants import Mutant

PRELOADED = "numpy numba pyarrow.parquet zmq msgspec hypothesis pytest loguru".split()
"""Imported once, before the forks; nothing of the project is among them."""
TESTS_S = 40.0
LIMIT_S = 180.0
NOTICED, SURVIVED, ENDLESS, UNTESTED = "noticed", "survived", "endless", "untested"


def copied(root: Path, to: Path) -> Path:
    """The tracked files of the project, and untracked ones that are not ignored, in a folder."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=root, check=True, stdout=subprocess.PIPE).stdout
    for name in filter(None, names.decode().split("\0")):
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to / name)
    shared = root.parent / "shared"
    if shared.exists() and not (to.parent / "shared").exists():
        (to.parent / "shared").symlink_to(shared)
    return to


def in_child(tree: Path, arguments: list[str]) -> bool | None:
    """Whether tests pass in a forked process; None when they do not end."""
    child = get_context("fork").Process(target=_become_test_run, args=(tree, arguments))
    child.start()
    child.join(LIMIT_S)
    if child.exitcode is not None:
        return child.exitcode == 0
    assert child.pid is not None
    os.killpg(child.pid, signal.SIGKILL)
    child.join()
    return None


def _become_test_run(tree: Path, arguments: list[str]) -> None:
    """Never returns."""
    os.setsid()
    os.chdir(tree)
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    code = 1
    try:
        pytest = importlib.import_module("pytest")
        code = int(pytest.main(["-x", *OPTIONS, *arguments]))
    finally:
        os._exit(code)


class Trial:
    """Tries faults of one group in `tree`, which nobody else uses."""

    def __init__(self, tree: Path, covering: Covering) -> None:
        self._tree = tree
        self._covering = covering

    def outcome(self, mutant: Mutant | None, tests: list[str]) -> str:
        """What becomes of a fault, or of no fault at all."""
        if not tests:
            return UNTESTED
        if mutant is None:
            return _outcome(in_child(self._tree, tests))
        path = self._tree / mutant.path
        before = path.read_bytes()
        path.write_bytes(mutant.applied(before))
        try:
            return _outcome(in_child(self._tree, tests))
        finally:
            path.write_bytes(before)

    def of(self, mutant: Mutant) -> str:
        return self.outcome(mutant, self._covering.tests(mutant.path, mutant.line, TESTS_S))


def _outcome(passed: bool | None) -> str:
    if passed is None:
        return ENDLESS
    return SURVIVED if passed else NOTICED


def try_all(tree: Path, covering: Covering, mutants: Iterable[Mutant]) -> None:
    """Print one JSON line for each fault; first of all, that the tests pass without one."""
    trial = Trial(tree, covering)
    for number, mutant in enumerate(mutants):
        if number == 0:
            tests = covering.tests(mutant.path, mutant.line, TESTS_S)
            print(json.dumps(["", trial.outcome(None, tests)]), flush=True)
        print(json.dumps([mutant.name, trial.of(mutant)]), flush=True)


def main() -> None:
    """`measure TREE KEPT` or `try TREE KEPT`, the rest as JSON on standard input."""
    verb, tree, kept = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    told = json.load(sys.stdin)
    os.environ["PYTHONPATH"] = str(tree)
    sys.path[:] = [str(tree), *(path for path in sys.path if path not in ("", str(Path.cwd())))]
    tests.__path__[:] = [str(tree / "tests")]  # what is imported from now on is the copy's
    for name in PRELOADED:
        importlib.import_module(name)
    if verb == "measure":
        os.chdir(tree)
        measure(tree, told["modules"], told["tests"], kept)
    else:
        try_all(tree, Covering(kept), [Mutant(**one) for one in told])


if __name__ == "__main__":
    main()
