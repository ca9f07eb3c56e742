"""A backtest in several processes: symbols apart, and a symbol by time where its rules allow it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from cep.backtest.by_time import Periods, memory_apart
from cep.backtest.kept import Found, Kept, day_cuts
from cep.backtest.parts import (
    Job,
    Task,
    merged_rows,
    run_task,
    slice_rows_for,
    why_sequential,
)
from cep.backtest.pool import pooled
from cep.backtest.records import keys_in_order
from cep.backtest.selection import Selection
from cep.backtest.sequential import sequential
from cep.dropped import Ended, nobody
from cep.engine.apart import mode_of
from cep.engine.native import Compiled
from cep.engine.rows import Rows
from cep.plan.memory import Memory, forever
from cep.plan.remembered import split_text

TASKS_A_JOB = 3
"""So that no process waits long for the last one."""


def memory_of(rules: Compiled, selection: Selection) -> Memory:
    """What a run of a symbol remembers, so that it can be cut by time or cannot."""
    if selection.is_lived:
        return forever("of what was lived time passes as it did")
    return memory_apart(rules)


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

    Where events or partial matches had no room, which of them were dropped depends on all before:
    then it is run again, in one piece.
    """
    memory = memory_of(rules, selection)
    keys = keys_in_order(selection, rules.plan)
    with TemporaryDirectory(prefix="mt5cep-") as folder:
        job = _job(rules, keys, selection, folder, sharing)
        todo = tasks_by_time(job, rules, selection, memory)
        parts: Found = []
        for found in _found(rules, job, todo, sharing):
            parts += found
            advance(sum(part.rows for part in found))
        is_cut = any(task.period.number for task in todo)
        if not (is_cut and any(part.is_full for part in parts)):
            yield from merged_rows(rules, keys, parts, selection, ended)
            return
    yield from sequential(rules, selection, ended=ended)


def _job(
    rules: Compiled, keys: Sequence[str], selection: Selection, folder: str, sharing: Sharing
) -> Job:
    """The job, cut for as many processes, or by days where parts are kept."""
    memory = memory_of(rules, selection)
    rows = sharing.slice_rows or _slice_rows(rules, selection, sharing.jobs)
    job = Job.of(rules, keys, selection, folder, rows, memory.silence_ms)
    if sharing.kept is None or selection.is_lived:
        return job
    return job.cut_at(day_cuts(selection, rules.plan, memory), selection)


def _found(rules: Compiled, job: Job, todo: Sequence[Task], sharing: Sharing) -> Iterator[Found]:
    """What each task comes to: kept from a run before, or made now."""
    kept = None if sharing.kept is None else Kept(sharing.kept)
    rest = list[Task]()
    for task in todo:
        known = None if kept is None else kept.find(job, task)
        if known is None:
            rest.append(task)
        else:
            yield known
    for task, found in zip(rest, _made(rules, job, rest, sharing.jobs), strict=True):
        if kept is not None:
            kept.keep(job, task, found)
        yield found
    if kept is not None:
        sharing.tell(str(kept))


def _made(rules: Compiled, job: Job, tasks: Sequence[Task], jobs: int) -> Iterator[Found]:
    """What tasks come to, in their order."""
    work = [(job, task) for task in tasks]
    if min(jobs, len(work)) < 2:
        yield from map(_in_pool, work)
        return
    for part in rules.in_parts(job.mode):
        if part is not None:
            part.begun().warm_up()  # or every process would compile it
    yield from pooled(_in_pool, work, min(jobs, len(work)))


def tasks_by_time(job: Job, rules: Compiled, selection: Selection, memory: Memory) -> list[Task]:
    """A task for each period of each symbol, those with the most records first."""
    todo: list[tuple[int, Task]] = []
    for place, own in enumerate(selection.by_symbol().values()):
        for period in Periods(own, rules.plan, memory).at(job.cuts):
            task = Task((place,), (own,), selection.clock, period)
            slices = len(job.cuts) + 1 if period.past is None else period.past
            todo.append((own.rows * (slices - period.first), task))
    return [task for _, task in sorted(todo, key=lambda one: -one[0])]


def _slice_rows(rules: Compiled, selection: Selection, jobs: int) -> int:
    """As few records that there is work for all processes."""
    usual = slice_rows_for(rules, mode_of(lived=selection.is_lived))
    return max(1, min(usual, -(-selection.rows // (TASKS_A_JOB * jobs))))


def _in_pool(work: tuple[Job, Task]) -> Found:
    return list(run_task(*work))


def why_one_process(rules: Compiled, selection: Selection) -> str:
    """Why several processes have nothing to share; empty where they have."""
    lived = selection.is_lived
    why = why_sequential(rules, lived=lived, ends_sorted=selection.ends_sorted)
    if why is None and len(selection.symbols) < 2:
        forever = memory_of(rules, selection).forever
        return forever and f"there is one symbol, and {forever}"
    return why or ""


def how_divided(rules: Compiled, selection: Selection, jobs: int) -> str:
    """How so many processes share the work, for people."""
    how = split_text(memory_of(rules, selection))
    processes = "process" if jobs == 1 else "processes"
    return f"in {jobs} {processes}, symbols apart, each {how}"
