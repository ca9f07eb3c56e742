"""How a run is divided into tasks, symbols apart and each by time, and put together again.

It is the same wherever tasks run: in processes of this machine (`cep.backtest.processes`) or on
Spark (`cep.spark.backtest`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cep.backtest.by_time import ALL, Period, Periods, memory_apart
from cep.backtest.kept import day_cuts
from cep.backtest.parts import Job, PartRow, Task, merged_rows, slice_rows_for, why_sequential
from cep.backtest.records import keys_in_order
from cep.backtest.selection import Selection
from cep.backtest.sequential import sequential
from cep.dropped import Ended, nobody
from cep.engine.apart import mode_of
from cep.engine.native import Compiled
from cep.engine.rows import Rows
from cep.plan.memory import Memory, forever
from cep.plan.remembered import split_text


@dataclass(frozen=True, slots=True)
class Wanted:
    """So many tasks at least, if the rules allow; `slice_rows` are those of a slice, left out as
    many as is good. `by_days`: history is cut at each day instead, so that parts can be kept.
    """

    tasks: int = 1
    slice_rows: int | None = None
    by_days: bool = False


@dataclass(frozen=True, slots=True)
class Divided:
    """A run in tasks, the largest first."""

    rules: Compiled
    selection: Selection
    keys: list[str]
    job: Job
    tasks: list[Task]

    @classmethod
    def of(cls, rules: Compiled, selection: Selection, folder: str, wanted: Wanted) -> Divided:
        """The run of rules whose symbols can be run apart (`why_sequential`); tasks leave what they
        find in `folder`.
        """
        memory, plan = memory_of(rules, selection), rules.plan
        keys = keys_in_order(selection, plan)
        by_days = wanted.by_days and not selection.is_lived
        is_given = by_days or wanted.slice_rows is not None
        usual = slice_rows_for(rules, mode_of(lived=selection.is_lived))
        if not is_given and _symbols_suffice(selection, wanted.tasks):
            # silences, which are looked for in all times, are nobody's business then
            job = Job.of(rules, keys, selection, folder, usual)
            return cls(rules, selection, keys, job, _tasks(job, selection, lambda _: [ALL]))
        share = -(-selection.rows // wanted.tasks)
        rows = wanted.slice_rows or max(1, min(usual, share))
        job = Job.of(rules, keys, selection, folder, rows, memory.silence_ms)
        if by_days:
            job = job.cut_at(day_cuts(selection, plan, memory), selection)
        rows_min = 0 if is_given else selection.rows // (2 * wanted.tasks)
        return cls(
            rules, selection, keys, job, tasks_by_time(job, rules, selection, memory, rows_min)
        )

    def warm(self) -> None:
        """Put the machine code into the cache, or all who work would compile it for themselves."""
        for part in self.rules.in_parts(self.job.mode):
            if part is not None:
                part.begun().warm_up()

    def rows(self, parts: Sequence[PartRow], ended: Ended = nobody) -> Iterator[Rows]:
        """Output rows in order, those of `sequential`, from what the tasks have come to.

        Where events or partial matches had no room, which of them were dropped depends on all
        before: then it is run again, in one piece. `ended` is told what was dropped.
        """
        is_cut = any(task.period.number for task in self.tasks)
        if is_cut and any(part.is_full for part in parts):
            yield from sequential(self.rules, self.selection, ended=ended)
        else:
            yield from merged_rows(self.rules, self.keys, parts, self.selection, ended)


def memory_of(rules: Compiled, selection: Selection) -> Memory:
    """What a run of a symbol remembers, so that it can be cut by time or cannot."""
    if selection.is_lived:
        return forever("of what was lived time passes as it did")
    return memory_apart(rules)


def tasks_by_time(
    job: Job, rules: Compiled, selection: Selection, memory: Memory, rows_min: int = 0
) -> list[Task]:
    """A task for each period of each symbol, those with the most records first.

    With `rows_min` periods are no shorter than that, and many times as long as their warm-up.
    """

    def periods_of(own: Selection) -> list[Period]:
        if job.mode != "sorted":
            return [ALL]
        return Periods(own, rules.plan, memory).at(job.cuts, rows_min)

    return _tasks(job, selection, periods_of)


def _tasks(
    job: Job, selection: Selection, periods_of: Callable[[Selection], list[Period]]
) -> list[Task]:
    todo = [
        Task.of(job, place, own, period)
        for place, own in enumerate(selection.by_symbol().values())
        for period in periods_of(own)
    ]
    return sorted(todo, key=lambda task: -task.selection.rows)


def grouped(tasks: Sequence[Task], groups_max: int) -> list[list[Task]]:
    """All tasks in at most `groups_max` groups of about equal records, the largest group first."""
    groups: list[list[Task]] = [[] for _ in range(min(groups_max, len(tasks)))]
    loads = [0] * len(groups)
    for task in sorted(tasks, key=lambda task: -task.selection.rows):
        lightest = loads.index(min(loads))
        groups[lightest].append(task)
        loads[lightest] += task.selection.rows
    ordered = sorted(zip(loads, groups, strict=True), key=lambda pair: -pair[0])
    return [group for _, group in ordered]


def _symbols_suffice(selection: Selection, tasks: int) -> bool:
    """Whether so many tasks are as long as each other with no symbol cut."""
    largest = max((own.rows for own in selection.by_symbol().values()), default=0)
    return largest <= -(-selection.rows // tasks)


def why_whole(rules: Compiled, selection: Selection) -> str:
    """Why there is one task at most; empty where there can be several."""
    lived = selection.is_lived
    why = why_sequential(rules, lived=lived, ends_sorted=selection.ends_sorted)
    if why is None and len(selection.symbols) < 2:
        remembers = memory_of(rules, selection).forever
        return remembers and f"there is one symbol, and {remembers}"
    return why or ""


def how_divided(rules: Compiled, selection: Selection) -> str:
    """How tasks share the work, for people."""
    return f"symbols apart, each {split_text(memory_of(rules, selection))}"
