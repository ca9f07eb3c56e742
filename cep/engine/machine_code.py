"""The machine code of a stage: found on disk, made here, or by a child process meanwhile.

Making it takes seconds. Who can't wait runs the same source uncompiled, on the same state, until a
child has made it. Whoever makes it holds a lock, so no two processes make the same, and leaves a
mark beside it on disk; Numba's own cache does not tell what it has.

`python -m cep.engine.machine_code MODULE NAME [in haste]` is the child.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from loguru import logger
from numba.core.registry import cpu_target

from cep.engine.generated import PREFIX, imported, plans_folder
from cep.engine.machine.kernels.entry import enter
from mt5bridge.file_lock import lock

PATIENCE_ROWS = 5_000
"""So many rows are run uncompiled before a child is started: far fewer are done by then."""
NEXT_ROWS = 500_000
"""After so many rows in another way a child makes the machine code for the next run: it takes as
long as some millions of rows do."""
LOW_PRIORITY = 10


class Makeable(Protocol):
    """What has machine code: found by its function's module and name, where it is itself."""

    @property
    def function(self) -> Callable[..., Any]: ...

    @property
    def code(self) -> Any:
        """From the disk, or compiled now, which takes seconds."""


Enter = TypeVar("Enter", bound=Makeable)
Code = TypeVar("Code")


class Made(Generic[Code]):
    """A decorator of a function that has something compiled and returns it: once a process."""

    def __init__(self, function: Callable[[], Code]) -> None:
        self.function = function

    @cached_property
    def code(self) -> Code:
        """What it returns."""
        return self.function()


class MachineCode(Generic[Enter]):
    """That of what Python enters, whichever runs need it."""

    def __init__(self, enter: Enter) -> None:
        self.enter = enter
        self._is_made = self._has_failed = self._is_announced = False
        self._child: subprocess.Popen[bytes] | None = None
        self._rows = 0

    def make(self) -> None:
        """Have it in this process: from disk, else made here, or by who is at it already."""
        if self._is_made:
            return
        if self._mark.exists():
            _ = self.enter.code
        else:
            logger.info("compiling {}", self._what)
            file = lock(self._lock, wait=True)
            try:
                _ = self.enter.code
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
            self._start()

    def fetch(self, *, waits: bool = True) -> None:
        """Have it in this process, made by a child: compiling in a thread holds up all others.

        Unless it `waits`, the child begins, and `is_there` says when it is done.
        """
        if not self._is_made and not self._mark.exists():
            if self._child is None:
                self._start(in_haste=waits)
            if not waits:
                self._is_announced = True
                logger.info("rows run uncompiled until there is machine code: some minutes, once")
                return
            logger.info("compiling {}", self._what)
            if self._child is not None:
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
                self._start()
        elif (status := self._child.poll()) is not None:
            if status or not self._mark.exists():
                logger.debug("no machine code of {}: the run goes on uncompiled", self._name)
                self._has_failed = True
            else:
                self.make()
                if self._is_announced:
                    logger.info("there is machine code: rows run compiled from now on")
        return self._is_made

    @property
    def _what(self) -> str:
        """What is compiled, and how long whoever waits for it has to."""
        is_engine = self.enter is enter  # the rest is a stage, or what writes its rows
        return "the engine, once: some minutes" if is_engine else "the rules, once: some seconds"

    @property
    def _name(self) -> tuple[str, str]:
        function = self.enter.function
        return function.__module__, function.__name__

    @cached_property
    def _mark(self) -> Path:
        """Says that it is on disk, for this processor."""
        processor = cpu_target.target_context.codegen().magic_tuple()
        own = hashlib.sha256(repr((self._name, processor)).encode()).hexdigest()[:24]
        return plans_folder() / f"{own}.made"

    @property
    def _lock(self) -> Path:
        """Held by who makes it."""
        return self._mark.with_suffix(".lock")

    def _start(self, *, in_haste: bool = False) -> None:
        """Have a child make it, unless another process does: each child that only waits takes
        100 MB. Should that one die, a child begins after as many rows once more.
        """
        try:
            os.close(lock(self._lock))
        except BlockingIOError:
            self._rows = 0
        else:
            self._child = self._started(in_haste)

    def _started(self, in_haste: bool) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", __name__, *self._name, *(["in haste"] if in_haste else [])]
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # the user's Ctrl-C ends the run, not what others may use
        )


def main(module: str, name: str, *haste: str) -> None:
    """Make the code of what is entered by that name; in haste where somebody waits for it."""
    own = imported(module) if module.startswith(PREFIX) else import_module(module)
    chosen = getattr(own, name)
    if chosen is enter and not haste and hasattr(os, "nice"):
        os.nice(LOW_PRIORITY)  # the library takes minutes: what runs meanwhile comes first
    MachineCode(chosen).make()


if __name__ == "__main__":
    main(*sys.argv[1:])
