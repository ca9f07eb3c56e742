"""What a sweep tries: trials that are known before, or those that Optuna chooses on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cep.backtest.options import whole
from cep.backtest.pool import Helpers
from cep.sweep.blocks import swept
from cep.sweep.errors import SweepError
from cep.sweep.guided import Guide, guided
from cep.sweep.sweep import Advance, Bench
from cep.sweep.trials import LIMIT, Axis, Trial, axes, draws, grid
from cep.sweep.tried import Tried, check_measure


class Search(Protocol):
    """What is to be tried, over whichever records."""

    @property
    def count(self) -> int:
        """How many at most."""

    @property
    def names(self) -> list[str]:
        """The parameters that are tried."""

    def rows(
        self, bench: Bench, helpers: Helpers | None = None, advance: Advance = lambda n: None
    ) -> Iterator[list[Tried]]:
        """Their rows, a few at a time; `advance` is told of records by variants."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A grid, or draws by chance."""

    trials: Sequence[Trial]

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.trials)

    @property
    def names(self) -> list[str]:
        """As `Search` says."""
        return list(self.trials[0]) if self.trials else []

    def rows(
        self, bench: Bench, helpers: Helpers | None = None, advance: Advance = lambda n: None
    ) -> Iterator[list[Tried]]:
        """As `Search` says."""
        yield from swept(bench, self.trials, helpers, advance)


@dataclass(frozen=True, slots=True)
class Chosen:
    """So many that Optuna chooses, for the measure `by`."""

    axes: Sequence[Axis]
    count: int
    by: str
    seed: int

    @property
    def names(self) -> list[str]:
        """As `Search` says."""
        return [axis.of.name for axis in self.axes]

    def rows(
        self, bench: Bench, helpers: Helpers | None = None, advance: Advance = lambda n: None
    ) -> Iterator[list[Tried]]:
        """As `Search` says: each call is a search of its own."""
        guide = Guide(self.axes, self.by, self.seed)
        yield from guided(bench, guide, self.count, helpers, advance)


@dataclass(frozen=True, slots=True)
class Wish:
    """How to search: draws instead of a grid, or Optuna for a measure, with this seed."""

    random: int | None = None
    optuna: int | None = None
    by: str = "net"
    seed: int = 1
    limit: int = LIMIT

    def search(self, bench: Bench, tried: Mapping[str, str]) -> Search:
        """What is to be tried of the values `tried`. SweepError, BacktestError, ParameterError."""
        if self.random is not None and self.optuna is not None:
            hint = "leave one of them out"
            raise SweepError("--random and --optuna exclude each other", hint)
        check_measure(self.by)
        for name, value in (("random", self.random), ("optuna", self.optuna)):
            if value is not None:
                whole(name, value, 1)
        whole("limit", self.limit, 1)
        found = axes(bench.known, tried)
        if self.optuna is not None:
            Guide(found, self.by, self.seed)  # says what it lacks before any work
            return Chosen(found, self.optuna, self.by, self.seed)
        if self.random is not None:
            return Listed(draws(found, self.random, self.seed))
        return Listed(grid(found, self.limit))
