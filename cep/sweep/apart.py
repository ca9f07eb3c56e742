"""The rules of few variants over much history, cut by symbol and time as those of a backtest are.

Where fewer kinds of rules are tried than there are helpers, most of these would wait, or run the
same rules again for other variants. So the rules of a kind are divided (`cep.backtest.divided`) and
run once; what they have given goes with the variants, whose accounts are one task each, as ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from cep.backtest.divided import Divided, Wanted, how_divided, why_whole
from cep.backtest.parts import Job, PartRow, Task, run_task
from cep.backtest.pool import Helpers
from cep.backtest.processes import TASKS_A_JOB
from cep.backtest.results import Results
from cep.engine.native import Compiled
from cep.lang import RuleError
from cep.plan.nodes import Plan
from cep.sweep.alike import Common
from cep.sweep.sweep import Advance, Bench, Numbered, Ruled
from cep.sweep.together import compiled

ROWS_MIN = 20_000_000
"""Of fewer records rules take about as long as helpers to begin twice, for rules and for fills."""
HELPERS_A_KIND = 2
"""So many at least: with fewer there is little to gain."""


@dataclass(frozen=True)
class _Rules:
    """Rules that tasks run, and how they are cut; compiled once a process."""

    plan: Plan
    job: Job
    is_long: bool

    @cached_property
    def compiled(self) -> Compiled:
        return compiled(self.plan, is_long=self.is_long)


@dataclass(frozen=True, slots=True)
class _Kind:
    """Variants whose rules run once, in tasks."""

    common: Common
    divided: Divided
    variants: int

    @classmethod
    def of(cls, bench: Bench, kind: Sequence[Numbered], folder: str, tasks: int) -> _Kind | None:
        """None where the rules are in one piece, or none."""
        selection = bench.asked.selection
        try:
            asked = bench.variant(kind[0][1])
            common = Common.of(asked.plan)
            rules = compiled(common.plan, is_long=bench.is_long)
        except RuleError:
            return None
        if asked.has_account or why_whole(rules, selection):
            return None
        return cls(common, Divided.of(rules, selection, folder, Wanted(tasks)), len(kind))

    def ruled(self, parts: Sequence[PartRow]) -> Ruled:
        """What the tasks have come to together."""
        found = Results(self.common.plan)
        for rows in self.divided.rows(parts, found.end):
            found.take(rows)
        found.add_records(sum(part.rows for part in parts))
        return Ruled(self.common.likeness, found)


def run_apart(
    bench: Bench, kinds: Sequence[Sequence[Numbered]], helpers: Helpers, advance: Advance
) -> list[Ruled | None]:
    """What the rules of each kind of variants have given; None where they run with the variants.

    Of other variants of a kind than the first it is a guess that these are their rules. `advance`
    is told of records by variants.
    """
    if not is_worth_cutting(bench) or len(kinds) * HELPERS_A_KIND > helpers.jobs:
        return [None for _ in kinds]
    tasks = -(-TASKS_A_JOB * helpers.jobs // len(kinds))
    with TemporaryDirectory(prefix="mt5cep-") as folder:
        of_all = (_Kind.of(bench, kind, folder, tasks) for kind in kinds)
        cut = {place: kind for place, kind in enumerate(of_all) if kind is not None}
        parts = _parts(bench, cut, helpers, advance) if cut else {}
        return [
            cut[place].ruled(parts[place]) if place in cut else None for place in range(len(kinds))
        ]


def _parts(
    bench: Bench, cut: Mapping[int, _Kind], helpers: Helpers, advance: Advance
) -> dict[int, list[PartRow]]:
    """What the tasks of each kind come to, in files of its folder."""
    shipped = {
        place: _Rules(kind.common.plan, kind.divided.job, bench.is_long)
        for place, kind in cut.items()
    }
    todo = [(place, task) for place, kind in cut.items() for task in kind.divided.tasks]
    for kind in cut.values():
        kind.divided.warm()
    parts: dict[int, list[PartRow]] = {place: [] for place in cut}
    done = zip(todo, helpers.each(_in_task, shipped, todo), strict=True)
    for number, ((place, _), (rows, data)) in enumerate(done):
        file = Path(cut[place].divided.job.folder) / f"{number}.parts"
        file.write_bytes(data)
        parts[place] += [msgspec.structs.replace(row, file=str(file)) for row in rows]
        advance(sum(row.rows for row in rows) * cut[place].variants)
    return parts


def is_worth_cutting(bench: Bench) -> bool:
    """Whether there are records enough."""
    return bench.asked.selection.rows >= ROWS_MIN


def how_cut(bench: Bench) -> str:
    """How the rules are cut where few are tried, or why not, for people; of rules with the values
    that the text says.
    """
    if bench.asked.has_account:
        return "in one piece, with the account"
    rules = compiled(Common.of(bench.asked.plan).plan, is_long=bench.is_long)
    why = why_whole(rules, bench.asked.selection)
    return f"in one piece: {why}" if why else how_divided(rules, bench.asked.selection)


def _in_task(
    shipped: Mapping[int, _Rules], numbered: tuple[int, Task]
) -> tuple[list[PartRow], bytes]:
    """The parts of a task, and the bytes in which they lie: those who work may share no folder."""
    place, task = numbered
    mine = shipped[place]
    with TemporaryDirectory(prefix="mt5cep-") as folder:
        job = msgspec.structs.replace(mine.job, folder=folder)
        rows = list(run_task(job, task, mine.compiled))
        return rows, Path(rows[0].file).read_bytes() if rows else b""
