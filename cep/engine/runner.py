"""What runs all of the rules of a run: a module, a program or the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from cep.dropped import Dropped
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import Ints
from cep.engine.machine.told import Told
from cep.engine.output_rows import OutputRows
from cep.engine.watermarks import Telling


class Runner(Protocol):
    """The state of rules, fed with encoded rows that stand in order; output is raw."""

    n_of: Callable[[int], int]
    """The number of a record, which functions see, by its place in this run."""

    @property
    def told(self) -> list[Told]:
        """What queries have put out, of those that are told of, until somebody takes it."""
        ...

    def feed(self, rows: InputRows, taken: list[OutputRows]) -> None:
        """Take rows; output goes to `taken`, in order."""
        ...

    def feed_row(self, row: InputRows) -> list[OutputRows]:
        """Take one row, whose arrays are always the same."""
        ...

    def advance(self, time_msc: int, order: int, *, is_complete: bool = True) -> list[OutputRows]:
        """Let time pass without a record; `is_complete`: all earlier ones have come."""
        ...

    def tell(self, told: Telling, common_msc: int | None, order: int) -> list[OutputRows]:
        """Take a watermark of keys; time has passed for all keys up to `common_msc`, if known."""
        ...

    def end(self, time_msc: int, order: int) -> list[OutputRows]:
        """The input ends at a time: what is due by then happens, and nothing waits any more."""
        ...

    def add_keys(self, codes: Ints, strings: int) -> None:
        """These keys have the next rows; there are so many strings."""
        ...

    def open_keys(self, codes: Ints) -> None:
        """Give keys the next slots, from which numbers of events follow."""
        ...

    def fetch(self, *, waits: bool) -> None:
        """Have another process make the machine code, which is loaded when it is needed."""
        ...

    def dropped(self) -> Dropped:
        """What was dropped so far."""
        ...
