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
from cep.lang.parameters import Parameter, Value
from cep.plan import compile_rules
from cep.sweep.alike import like, results_of
from cep.sweep.errors import SweepError
from cep.sweep.fills import Fills
from cep.sweep.together import Diverged, Variant, run_together
from cep.sweep.trials import Trial
from cep.sweep.tried import Tried, alone, failed, filled

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
        ready: list[_Wanted] = []
        for numbered in block:
            try:
                wanted = self.variant(numbered[1])
            except RuleError as problem:
                found.append(failed(*numbered, problem))
                advance(self.asked.selection.rows)
                continue
            if wanted.has_account:
                found.append(alone(*numbered, _alone(wanted)))
                advance(wanted.selection.rows)
            else:
                ready.append((numbered, wanted))
        found += self._beside(ready, advance)
        return sorted(found, key=lambda one: one.number)

    def _beside(self, ready: Sequence[_Wanted], advance: Advance) -> Iterator[Tried]:
        """Variants that can run beside each other; of those that are alike the first one runs."""
        groups: list[_Group] = []
        for places in like([wanted.plan for _, wanted in ready]):
            some = [ready[place] for place in places]
            try:
                groups.append((Variant.of(some[0][1], is_long=self.is_long), some))
            except RuleError as problem:
                yield from (failed(*numbered, problem) for numbered, _ in some)
                advance(self.asked.selection.rows * len(some))
        groups.sort(key=lambda pair: repr(pair[0].shape))
        for _, same in groupby(groups, key=lambda pair: pair[0].shape):
            yield from self._together(list(same), advance)

    def _together(self, groups: Sequence[_Group], advance: Advance) -> Iterator[Tried]:
        wanted = [one for _, some in groups for one in some]
        variants, count = [variant for variant, _ in groups], len(wanted)
        try:
            run_together(variants, self.asked.selection, lambda n: advance(n * count))
        except Diverged:
            yield from (alone(*numbered, _alone(one)) for numbered, one in wanted)
            return
        results = [
            results_of(one.plan, variant.results) for variant, some in groups for _, one in some
        ]
        outcomes = self.fills.filled(results, lambda n: None)
        for (numbered, one), outcome in zip(wanted, outcomes, strict=True):
            yield filled(*numbered, one.selection, outcome)


_Wanted = tuple[Numbered, Asked]
_Group = tuple[Variant, list[_Wanted]]
"""Variants that are alike, and the one of them that runs."""


def _alone(wanted: Asked) -> Work:
    return Work(wanted, shows_rows=False, has_report=False)


def blocks(
    bench: Bench, trials: Sequence[Trial], size: int, first: int = 0
) -> list[list[Numbered]]:
    """The trials with their numbers from `first` on, a few at a time, those whose rules run once
    side by side.
    """
    names = _names_of_rules(bench, trials)
    groups: dict[tuple[Value, ...], list[Numbered]] = {}
    for number, trial in enumerate(trials, first):
        groups.setdefault(tuple(trial[name] for name in names), []).append((number, trial))
    numbered = [one for group in groups.values() for one in group]
    return [numbered[at : at + size] for at in range(0, len(numbered), size)]


def _names_of_rules(bench: Bench, trials: Sequence[Trial]) -> list[str]:
    """The parameters that change more than numbers of signals, as far as two values of each tell:
    a guess is enough, variants are compared when they run.
    """
    if not trials:
        return []
    first, found = trials[0], []
    for name in first:
        other = next((one[name] for one in trials if one[name] != first[name]), None)
        if other is None:
            continue
        try:
            plans = [bench.variant(one).plan for one in (first, {**first, name: other})]
        except RuleError:
            found.append(name)
        else:
            found += [name] if len(like(plans)) > 1 else []
    return found


def swept(
    bench: Bench, trials: Sequence[Trial], jobs: int = 1, advance: Advance = lambda n: None
) -> Iterator[list[Tried]]:
    """The rows of all trials, block by block as they come; the same for any number of jobs.

    `advance` is told of records by variants. What has come is complete where this is ended early.
    """
    bench.is_long = bench.is_worth_compiling(len(trials))
    yield from in_blocks(bench, trials, jobs, advance)


def in_blocks(
    bench: Bench, trials: Sequence[Trial], jobs: int, advance: Advance, first: int = 0
) -> Iterator[list[Tried]]:
    """The rows of some trials of a sweep, numbered from `first` on, block by block."""
    size = max(1, min(BLOCK, -(-len(trials) // max(1, jobs))))
    some = blocks(bench, trials, size, first)
    if jobs == 1 or len(some) <= 1:
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
