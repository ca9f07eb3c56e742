"""A sweep: the same records through rules with other values, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby

from cep.backtest.asked import Asked, Options, asked
from cep.backtest.pool import pooled
from cep.backtest.work import Work
from cep.lang import RuleError, parameters_of
from cep.lang.binding import bound
from cep.lang.parameters import Parameter
from cep.plan import compile_rules
from cep.sweep.errors import SweepError
from cep.sweep.fills import Fills
from cep.sweep.together import Diverged, Variant, run_together
from cep.sweep.trials import Trial
from cep.sweep.tried import Tried, alone, failed, of_variant

BLOCK = 32
"""Variants that run beside each other: each has its state in memory."""

LONG = 5_000_000
"""Records by variants from which on machine code of the rules' shape is worth its seconds."""

Numbered = tuple[int, Trial]
Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Job:
    """What is swept: rules, their text and its name for messages, over an archive."""

    text: tuple[str, str]
    archive: str
    options: Options


class Bench:
    """Runs variants of one job in this process."""

    def __init__(self, job: Job, *, is_long: bool = False) -> None:
        self.job, self.is_long = job, is_long
        self.asked: Asked = asked(job.text, job.archive, job.options)
        self.known: tuple[Parameter, ...] = parameters_of(*job.text)
        if not (self.asked.fills and self.asked.plan.signals):
            hint = "it compares what signals come to: define one, and leave --fills out"
            raise SweepError("a sweep of nothing that is filled", hint)
        self.fills = Fills(self.asked)

    def is_worth_compiling(self, trials: int) -> bool:
        """Whether machine code of the rules pays for so many variants."""
        return self.asked.selection.rows * trials >= LONG

    def variant(self, trial: Trial) -> Asked:
        """What is asked with other values; RuleError where these make no rules."""
        text, name = self.job.text
        magic = self.asked.market.magic
        plan = compile_rules(bound(text, self.known, trial), name, magic=magic)
        return replace(self.asked, plan=plan)

    def run(self, block: Sequence[Numbered], advance: Advance = lambda n: None) -> list[Tried]:
        """The rows of some variants, in their order. `advance` is told of records by variants."""
        found: list[Tried] = []
        ready: list[tuple[Numbered, Variant]] = []
        for number, trial in block:
            try:
                wanted = self.variant(trial)
                if wanted.has_account:
                    found.append(alone(number, trial, _alone(wanted)))
                    advance(wanted.selection.rows)
                else:
                    ready.append(((number, trial), Variant.of(wanted, is_long=self.is_long)))
            except RuleError as problem:
                found.append(failed(number, trial, problem))
                advance(self.asked.selection.rows)
        ready.sort(key=lambda pair: repr(pair[1].shape))
        for _, same in groupby(ready, key=lambda pair: pair[1].shape):
            found += self._together(list(same), advance)
        return sorted(found, key=lambda one: one.number)

    def _together(self, some: list[tuple[Numbered, Variant]], advance: Advance) -> list[Tried]:
        variants = [variant for _, variant in some]
        try:
            run_together(variants, self.asked.selection, lambda n: advance(n * len(variants)))
        except Diverged:
            return [alone(*numbered, _alone(one.asked)) for numbered, one in some]
        outcomes = self.fills.filled(variants, lambda n: None)
        return [
            of_variant(*numbered, one, outcome)
            for (numbered, one), outcome in zip(some, outcomes, strict=True)
        ]


def _alone(wanted: Asked) -> Work:
    return Work(wanted, shows_rows=False, has_report=False)


def blocks(trials: Sequence[Trial], size: int) -> list[list[Numbered]]:
    """The trials with their numbers, a few at a time."""
    numbered = list(enumerate(trials))
    return [numbered[at : at + size] for at in range(0, len(numbered), size)]


def swept(
    bench: Bench, trials: Sequence[Trial], jobs: int = 1, advance: Advance = lambda n: None
) -> Iterator[list[Tried]]:
    """The rows of all trials, block by block as they come; the same for any number of jobs.

    `advance` is told of records by variants. What has come is complete where this is ended early.
    """
    bench.is_long = bench.is_worth_compiling(len(trials))
    size = max(1, min(BLOCK, -(-len(trials) // max(1, jobs))))
    some = blocks(trials, size)
    if jobs == 1 or len(some) == 1:
        for block in some:
            yield bench.run(block, advance)
        return
    tasks = [(bench.job, bench.is_long, block) for block in some]
    for found in pooled(_in_pool, tasks, jobs):
        advance(bench.asked.selection.rows * len(found))
        yield found


@cache
def _benches() -> dict[str, Bench]:
    """What a process of a pool works with, by the job."""
    return {}


def _in_pool(task: tuple[Job, bool, list[Numbered]]) -> list[Tried]:
    job, is_long, block = task
    benches = _benches()
    if repr(job) not in benches:
        benches[repr(job)] = Bench(job, is_long=is_long)
    return benches[repr(job)].run(block)
