"""Trials that Optuna chooses by what those before came to, a batch at a time.

A batch is asked for as a whole, so that its variants run beside each other, and told as a whole, so
that the trials are the same whoever works at them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cep.backtest.pool import Helpers
from cep.lang.parameters import Value
from cep.sweep.blocks import in_blocks
from cep.sweep.errors import SweepError
from cep.sweep.sweep import Advance, Bench
from cep.sweep.trials import Axis, Trial, need_axes
from cep.sweep.tried import SMALL_IS_GOOD, Tried

if TYPE_CHECKING:
    from optuna import Trial as Asked
    from optuna.distributions import BaseDistribution

BATCH = 16
"""Trials that are asked for at a time: more are faster, fewer know more of those before."""
VAIN = 10
"""So many batches in a row without new values end the search: it would only come again."""


class Guide:
    """Asks Optuna's sampler (TPE) for values of `axes`, and tells it the measure `by`.

    Places on an axis are asked for where it has steps, so that values are those of a grid to the
    last digit. SweepError where Optuna is not installed.
    """

    def __init__(self, axes: Sequence[Axis], by: str, seed: int) -> None:
        need_axes(axes)
        self._axes, self._by = [_sorted(axis) for axis in axes], by
        try:
            import optuna
        except ImportError:
            raise SweepError(
                "Optuna is not installed", "in the checkout of mt5cep run: pip install '.[optuna]'"
            ) from None
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._study = optuna.create_study(
            direction="minimize" if by in SMALL_IS_GOOD else "maximize",
            sampler=optuna.samplers.TPESampler(seed=seed),
        )
        self._worst = optuna.trial.TrialState.PRUNED
        self._space = {axis.of.name: _distribution(axis) for axis in self._axes}
        self._known: dict[tuple[Value, ...], float | None] = {}

    @property
    def size(self) -> float:
        """How many different trials there are."""
        return math.prod(len(axis) or math.inf for axis in self._axes)

    def batch(self, count: int) -> dict[tuple[Value, ...], list[Asked]]:
        """At most so many new trials, with what Optuna asked for each; fewer where it asks again
        for values that it has been told of, which it is told once more.
        """
        found: dict[tuple[Value, ...], list[Asked]] = {}
        for _ in range(BATCH):
            if len(found) == count:
                break
            asked = self._study.ask(self._space)
            values = tuple(_value(axis, asked.params[axis.of.name]) for axis in self._axes)
            if values in self._known:
                self._say([asked], self._known[values])
            else:
                found.setdefault(values, []).append(asked)
        return found

    def trial(self, values: tuple[Value, ...]) -> Trial:
        """Values by names."""
        return {axis.of.name: value for axis, value in zip(self._axes, values, strict=True)}

    def tell(self, batch: Mapping[tuple[Value, ...], list[Asked]], rows: Sequence[Tried]) -> None:
        """What the trials of a batch came to, in its order."""
        for (values, asked), row in zip(batch.items(), rows, strict=True):
            self._known[values] = row.measures.get(self._by)
            self._say(asked, self._known[values])

    def _say(self, asked: Sequence[Asked], measure: float | None) -> None:
        """One without a measure, as values that make no rules, counts as worse than all others."""
        for one in asked:
            if measure is None or not math.isfinite(measure):
                self._study.tell(one, state=self._worst)
            else:
                self._study.tell(one, measure)


def guided(
    bench: Bench,
    guide: Guide,
    count: int,
    helpers: Helpers | None = None,
    advance: Advance = lambda n: None,
) -> Iterator[list[Tried]]:
    """The rows of so many trials, each once, batch by batch; fewer where there are no more, or
    where the search asks for nothing new. The same whoever works at them.

    `advance` is told of records by variants.
    """
    bench.is_long |= bench.is_worth_compiling(count)
    done = vain = 0
    wanted = min(count, guide.size)
    while done < wanted and vain < VAIN:
        batch = guide.batch(min(BATCH, int(wanted) - done))
        vain = 0 if batch else vain + 1
        trials = [guide.trial(values) for values in batch]
        some = in_blocks(bench, trials, helpers, advance, done)
        found = [one for block in some for one in block]
        found.sort(key=lambda one: one.number)
        guide.tell(batch, found)
        done += len(found)
        if found:
            yield found


def _sorted(axis: Axis) -> Axis:
    """Numbers in order, as the search takes places beside each other for alike."""
    if not axis.values or axis.of.type in ("string", "bool"):
        return axis
    return Axis(axis.of, tuple(sorted(axis.values)))


def _distribution(axis: Axis) -> BaseDistribution:
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    if axis.low is not None and axis.high is not None and axis.step is None:
        return FloatDistribution(float(axis.low), float(axis.high))
    if axis.of.type in ("string", "bool"):
        return CategoricalDistribution(axis.values)
    return IntDistribution(0, len(axis) - 1)


def _value(axis: Axis, found: Value) -> Value:
    """What stands at a place of an axis; of others, what was found is the value."""
    is_place = len(axis) and axis.of.type not in ("string", "bool")
    return axis.at(int(found)) if is_place else found
