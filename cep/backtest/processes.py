"""A backtest in several processes: symbols apart, and a symbol by time where its rules allow it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from cep.backtest.divided import Divided, Wanted
from cep.backtest.kept import Found, Kept
from cep.backtest.parts import Job, Task, run_task
from cep.backtest.pool import Processes
from cep.backtest.selection import Selection
from cep.dropped import Ended, nobody
from cep.engine.native import Compiled
from cep.engine.rows import Rows

TASKS_A_JOB = 3
"""So that no process waits long for the last one."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """How the work is shared: by so many processes, and with runs before where parts are `kept`.

    `tell` is told what was kept. `slice_rows` are those of a slice, left out as many as is good.
    """

    jobs: int = 1
    kept: Path | None = None
    tell: Callable[[str], None] = lambda text: None
    slice_rows: int | None = None

    @property
    def is_any(self) -> bool:
        """Whether anything is shared."""
        return self.jobs > 1 or self.kept is not None


def in_processes(
    rules: Compiled,
    selection: Selection,
    sharing: Sharing,
    advance: Callable[[int], None] = lambda n: None,
    ended: Ended = nobody,
) -> Iterator[Rows]:
    """Output rows in order, those of `sequential`, of rules whose symbols can be run apart
    (`why_sequential`). `advance` and `ended` are as there.
    """
    tasks = TASKS_A_JOB * sharing.jobs if sharing.jobs > 1 else 1
    wanted = Wanted(tasks, sharing.slice_rows, sharing.kept is not None)
    with TemporaryDirectory(prefix="mt5cep-") as folder:
        divided = Divided.of(rules, selection, folder, wanted)
        parts: Found = []
        for found in _found(divided, sharing):
            parts += found
            advance(sum(part.rows for part in found))
        yield from divided.rows(parts, ended)


def _found(divided: Divided, sharing: Sharing) -> Iterator[Found]:
    """What each task comes to: kept from a run before, or made now."""
    kept = None if sharing.kept is None else Kept(sharing.kept)
    rest = list[Task]()
    for task in divided.tasks:
        known = None if kept is None else kept.find(divided.job, task)
        if known is None:
            rest.append(task)
        else:
            yield known
    made = _made(divided, rest, sharing.jobs)
    for task, found in zip(rest, made, strict=True):
        if kept is not None:
            kept.keep(divided.job, task, found)
        yield found
    if kept is not None:
        sharing.tell(str(kept))


def _made(divided: Divided, tasks: Sequence[Task], jobs: int) -> Iterator[Found]:
    """What tasks come to, in their order."""
    if min(jobs, len(tasks)) >= 2:
        divided.warm()
    yield from Processes(jobs).each(_in_pool, divided.job, tasks)


def _in_pool(job: Job, task: Task) -> Found:
    return list(run_task(job, task))
