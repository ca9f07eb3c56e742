"""The machine code of a stage: found on disk, made here, or by a child process meanwhile.

Making it takes seconds. Who can't wait runs the same source uncompiled, on the same state, until a
child has made it. Whoever makes it holds a lock, so no two processes make the same, and leaves a
mark beside it on disk; Numba's own cache does not tell what it has.

`python -m cep.engine.machine_code MODULE NAME` is the child.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from loguru import logger
from numba.core.registry import cpu_target

from cep.engine.encode import InputRows
from cep.engine.generated import PREFIX, imported, plans_folder
from cep.engine.kernels.state import State
from cep.engine.machine.kernels.run import run
from cep.engine.single import Entry
from mt5bridge.file_lock import lock

PATIENCE_ROWS = 5_000
"""So many rows are run uncompiled before a child is started: far fewer are done by then."""
NEXT_ROWS = 500_000
"""After so many rows in another way a child makes the machine code for the next run: it takes as
long as some millions of rows do."""
LOW_PRIORITY = 10
FLAT = frozenset({"wi", "wf", "bt", "slot", "ol"})
DEEP = frozenset({"me"})
FLOATS = frozenset({"kf", "af", "gf", "wf", "of"})
SOME = 64
"""Places of an array that is there for its type only: more than a kernel reads without a row."""


class MachineCode:
    """That of one kernel, whichever runs need it."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._is_made = self._has_failed = False
        self._child: subprocess.Popen[bytes] | None = None
        self._rows = 0

    def make(self) -> None:
        """Have it in this process: from disk, else made here, or by who is at it already."""
        if self._is_made:
            return
        if self._mark.exists():
            _compile(self._kernel)
        else:
            file = lock(self._mark.with_suffix(".lock"), wait=True)
            try:
                _compile(self._kernel)
                self._mark.touch()
            finally:
                os.close(file)
        self._is_made = True

    @property
    def is_ready(self) -> bool:
        """Whether it is here or on disk."""
        return self._is_made or self._mark.exists()

    def order(self, rows: int) -> None:
        """So many rows more are run in another way: when they are worth it, have a child make it
        for the next run.
        """
        self._rows += rows
        if self._child is None and self._rows > NEXT_ROWS and not self.is_ready:
            self._child = self._started()

    def fetch(self, *, waits: bool = True) -> None:
        """Have it in this process, made by a child: compiling in a thread holds up all others.

        Unless it `waits`, the child begins, and `is_there` says when it is done.
        """
        if not self._is_made and not self._mark.exists():
            self._child = self._child or self._started()
            if not waits:
                logger.info("rows run uncompiled until there is machine code: some minutes, once")
                return
            self._child.wait()
        self.make()

    def is_there(self, rows: int) -> bool:
        """Whether it is, without waiting for it; so many rows more are to be run without.

        After `PATIENCE_ROWS` a child begins to make it, which may outlast this process.
        """
        if self._is_made or self._has_failed:
            return self._is_made
        self._rows += rows
        if self._child is None:
            if self._mark.exists():
                self.make()
            elif self._rows > PATIENCE_ROWS:
                self._child = self._started()
        elif (status := self._child.poll()) is not None:
            if status or not self._mark.exists():
                logger.debug("no machine code of {}: the run goes on uncompiled", self._name)
                self._has_failed = True
            else:
                self.make()
        return self._is_made

    @property
    def _name(self) -> tuple[str, str]:
        function = self._kernel.py_func
        return function.__module__, function.__name__

    @cached_property
    def _mark(self) -> Path:
        """Says that it is on disk, for this processor."""
        processor = cpu_target.target_context.codegen().magic_tuple()
        own = hashlib.sha256(repr((self._name, processor)).encode()).hexdigest()[:24]
        return plans_folder() / f"{own}.made"

    def _started(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", __name__, *self._name]
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # the user's Ctrl-C ends the run, not what others may use
        )


def nothing() -> tuple[InputRows, State]:
    """No rows and no state, of the very types that a kernel is called with."""

    def array(name: str) -> Any:
        dimensions = 1 if name in FLAT else 3 if name in DEEP else 2
        return np.zeros((SOME,) * dimensions, np.float64 if name in FLOATS else np.int64)

    state = State(*map(array, State._fields))
    return InputRows(np.zeros((SOME, SOME), np.int64), np.zeros((SOME, SOME))), state


def _compile(kernel: Any) -> None:
    """Compile a kernel, or load it: for batches and for single rows."""
    if kernel is run:
        program, memory = np.zeros(SOME, np.int64), np.zeros((1, SOME), np.int64)
        records = np.zeros((SOME, SOME), np.int64)
        run(0, 0, records, records.view(np.float64), memory, memory.view(np.float64), program)
        return
    rows, state = nothing()
    kernel(0, 0, rows.ints, rows.floats, state)
    Entry(kernel, rows, state)


def main(module: str, name: str) -> None:
    """Make the code of a kernel."""
    own = imported(module) if module.startswith(PREFIX) else import_module(module)
    kernel = getattr(own, name)
    if kernel is run and hasattr(os, "nice"):
        os.nice(LOW_PRIORITY)  # nobody waits for the library: what runs meanwhile comes first
    MachineCode(kernel).make()


if __name__ == "__main__":
    main(*sys.argv[1:])
