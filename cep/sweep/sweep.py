"""The variants of a sweep in one process: the same records through rules with other values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import groupby

from cep.backtest.asked import Asked, asked
from cep.backtest.options import Options
from cep.backtest.results import Results
from cep.backtest.selection import select
from cep.backtest.work import Work
from cep.lang import RuleError, parameters_of
from cep.lang.binding import bound
from cep.lang.parameters import Parameter
from cep.plan import compile_rules
from cep.sweep.alike import Common, like
from cep.sweep.errors import SweepError
from cep.sweep.fills import Fills
from cep.sweep.together import Diverged, Variant, run_together
from cep.sweep.trials import Trial
from cep.sweep.tried import Tried, alone, failed, filled

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
    """Runs variants of one job in this process.

    Sent to another, it reads the same there: files as they were when it was made.
    """

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

    def between(self, from_msc: int, to_msc: int) -> Bench:
        """The same over the records of a range of time. BacktestError where there are none."""
        found, mine = copy(self), self.asked
        wanted = mine.said["symbols"]
        some = select(mine.archive, mine.plan, wanted, from_msc, to_msc, mine.selection.hidden)
        found.asked = replace(mine, selection=some)
        found.fills = Fills(found.asked)
        return found

    def variant(self, trial: Trial) -> Asked:
        """What is asked with other values; RuleError where these make no rules."""
        text, name = self.job.text
        magic = self.asked.market.magic
        plan = compile_rules(bound(text, self.known, trial), name, magic=magic)
        return replace(self.asked, plan=plan)

    def run(
        self,
        block: Sequence[Numbered],
        advance: Advance = lambda n: None,
        ruled: Ruled | None = None,
    ) -> list[Tried]:
        """The rows of some variants, in their order. `advance` is told of records by variants.

        Of those of rules that have been `ruled` only orders are filled.
        """
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
                ready.append(_Wanted(numbered, wanted, Common.of(wanted.plan)))
        found += self._beside(ready, advance, ruled)
        return sorted(found, key=lambda one: one.number)

    def _beside(
        self, ready: Sequence[_Wanted], advance: Advance, ruled: Ruled | None
    ) -> Iterator[Tried]:
        """Variants that can run beside each other; of those that are alike the first one runs."""
        groups: list[_Group] = []
        selection = self.asked.selection
        for likeness, places in like([one.common for one in ready]).items():
            some = [ready[place] for place in places]
            if ruled is not None and ruled.likeness == likeness:
                yield from self._filled([(ruled.results, some)])
                continue
            plan = some[0].common.plan
            try:
                groups.append((Variant.of(plan, selection, is_long=self.is_long), some))
            except RuleError as problem:
                yield from (failed(*one.numbered, problem) for one in some)
                advance(selection.rows * len(some))
        groups.sort(key=lambda pair: repr(pair[0].shape))
        for _, same in groupby(groups, key=lambda pair: pair[0].shape):
            yield from self._together(list(same), advance)

    def _together(self, groups: Sequence[_Group], advance: Advance) -> Iterator[Tried]:
        wanted = [one for _, some in groups for one in some]
        variants, count = [variant for variant, _ in groups], len(wanted)
        try:
            run_together(variants, self.asked.selection, lambda n: advance(n * count))
        except Diverged:
            yield from (alone(*one.numbered, _alone(one.asked)) for one in wanted)
            return
        yield from self._filled([(variant.results, some) for variant, some in groups])

    def _filled(self, ruled: Sequence[tuple[Results, Sequence[_Wanted]]]) -> Iterator[Tried]:
        """The rows of variants whose rules have run: what each group of alike ones has given."""
        wanted = [one for _, some in ruled for one in some]
        results = [one.common.results(common) for common, some in ruled for one in some]
        outcomes = self.fills.filled(results, lambda n: None)
        for one, outcome in zip(wanted, outcomes, strict=True):
            yield filled(*one.numbered, one.asked.selection, outcome)


@dataclass(frozen=True, slots=True)
class Ruled:
    """What rules for all that are alike, of this likeness, have given."""

    likeness: str
    results: Results


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A variant that can run beside others, and what it has in common with those alike."""

    numbered: Numbered
    asked: Asked
    common: Common


_Group = tuple[Variant, list[_Wanted]]
"""Variants that are alike, and the rules that run for them."""


def _alone(wanted: Asked) -> Work:
    return Work(wanted, shows_rows=False, has_report=False)
