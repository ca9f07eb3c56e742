"""A running matching: strictly sequential patterns of symbols, by instants of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cep.dropped import Reason
from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.inputs import make_input
from cep.interpreter.rows import Chunk, Emit, Evaluator, Row, RowKind
from cep.plan.query import Definition, Matching
from cep.plan.regex import automaton

Positions = frozenset[int]


@dataclass(slots=True)
class PartialMatch:
    """What has matched so far: the automaton's positions, its first time, its variables.

    `is_over`: a row of the present instant has emitted a symbol for it, so that it ends here.
    """

    positions: Positions | None
    first_ms: int
    variables: list[Any]
    is_over: bool = False


class _Symbol:
    """A symbol whose condition and assignments can be called."""

    def __init__(self, definition: Definition, context: Context) -> None:
        self.is_emitted: Evaluator = evaluator(definition.condition, context)
        self._sets = [(position, evaluator(value, context)) for position, value in definition.sets]

    def assigned(self, row: Row, variables: list[Any]) -> list[Any]:
        """The variables after the assignments, which see those made before them."""
        after = list(variables)
        seen = _seen(row, after)
        for position, value in self._sets:
            after[position] = value(seen)
        return after


class MatchingPart:
    """All partial matches that have begun, those of earlier instants and those of this one."""

    def __init__(self, matching: Matching, context: Context, emit: Callable[[list[Chunk]], None]):
        self._context = context
        self._matching = matching
        self._automaton = automaton(matching.regex)
        self._symbols = [_Symbol(symbol, context) for symbol in matching.symbols]
        self._emit = emit
        self._instant_ms: int | None = None
        self._before: list[PartialMatch] = []
        self._here: list[PartialMatch] = []
        self.receive: Emit = make_input(matching.input, context, self._process).receive
        context.keep(self, "matching")

    def _process(self, chunk: Chunk) -> None:
        for row in chunk:
            if row.kind is RowKind.CURRENT:
                for match in self._take(row):
                    self._emit([[match]])

    def _take(self, row: Row) -> Chunk:
        """The matches whose last row this is."""
        if self._instant_ms is not None and row.time < self._instant_ms:
            self._context.drop_for(Reason.LATE)
            return []
        if row.time != self._instant_ms:
            self._next_instant(row.time)
        found: Chunk = []
        start = PartialMatch(None, row.time, [None] * len(self._matching.variables))
        for partial in (*self._before, start):
            found += self._extend(partial, row)
        if len(self._here) > self._matching.partials_max:
            self._drop_oldest()
        return found

    def _next_instant(self, time_ms: int) -> None:
        waiting = [one for one in self._before if not one.is_over] if self._matching.skips else []
        begun_after = time_ms - self._matching.within_ms
        self._before = [one for one in (*waiting, *self._here) if one.first_ms > begun_after]
        self._here = []
        self._instant_ms = time_ms

    def _drop_oldest(self) -> None:
        """Of too many partial matches of this instant at one place the newest stay."""
        count_at: Counter[Positions | None] = Counter()
        kept = []
        for partial in reversed(self._here):
            count_at[partial.positions] += 1
            if count_at[partial.positions] <= self._matching.partials_max:
                kept.append(partial)
        self._context.drop_for(Reason.BOUND, len(self._here) - len(kept))
        self._here = kept[::-1]

    def _extend(self, partial: PartialMatch, row: Row) -> Chunk:
        """The matches that one comes to with this row; what may go on is kept."""
        seen = _seen(row, partial.variables)
        found: Chunk = []
        for number, symbol in enumerate(self._symbols):
            positions = self._automaton.step(partial.positions, number)
            if not positions and not self._matching.skips:
                continue
            if symbol.is_emitted(seen) is not True:
                continue
            partial.is_over = True
            if positions:
                variables = symbol.assigned(row, partial.variables)
                if self._automaton.goes_on(positions):
                    self._here.append(PartialMatch(positions, partial.first_ms, variables))
                if self._automaton.accepts(positions):
                    found.append(_seen(row, variables))
        return found

    def state(self) -> Any:
        return [self._instant_ms, *([_saved(one) for one in some] for some in self._partials)]

    def restore(self, state: Any) -> None:
        self._instant_ms, *saved = state
        self._before, self._here = [[_restored(one) for one in some] for some in saved]

    @property
    def _partials(self) -> tuple[list[PartialMatch], list[PartialMatch]]:
        return self._before, self._here


def _seen(row: Row, variables: list[Any]) -> Row:
    """What conditions and the selection see: the row, and the variables as a row."""
    return Row(row.time, [], slots=[row, Row(row.time, variables)])


def _saved(partial: PartialMatch) -> Any:
    assert partial.positions is not None
    return [sorted(partial.positions), partial.first_ms, partial.variables, partial.is_over]


def _restored(saved: Any) -> PartialMatch:
    positions, first_ms, variables, is_over = saved
    return PartialMatch(frozenset(positions), first_ms, variables, is_over)
