"""What the stages of one match share: its settings, its output, and those who watch it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from loguru import logger

from cep.dropped import Reason
from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.match.partial import Partial
from cep.interpreter.rows import Chunk, Row
from cep.plan.query import Match

EmitAll = Callable[[list[Chunk]], None]
"""Takes chunks that are selected one by one and go on as one batch."""


class Outcome(StrEnum):
    """What the trace says of a partial match; of a refusal it says which condition failed."""

    TAKEN = "taken"
    REFUSED = "condition {} failed"
    FORBIDDEN = "forbidden: what must be absent came"
    ABSENT = "absent for the whole time"
    BROKEN = "sequence broken"
    EXPIRED = "expired: older than `within`"
    DROPPED = "dropped: too many partial matches"
    MATCHED = "matched"


def state_names(match: Match) -> list[str]:
    """What the trace calls the states, by slot: the reference, `S@2` where several have it."""
    references = [state.reference for state in match.states]
    return [
        reference if references.count(reference) == 1 else f"{reference}@{slot + 1}"
        for slot, reference in enumerate(references)
    ]


class Signal:
    """Raised when a match is complete, looked at by the stage that offered the row."""

    __slots__ = ("raised",)

    def __init__(self) -> None:
        self.raised = False


class Frame:
    """One match, or its instance of a partition key."""

    def __init__(self, match: Match, context: Context, emit: EmitAll) -> None:
        self.context = context
        self.compat = context.compat
        self.is_sequence = match.kind == "sequence"
        self.slots = len(match.states)
        self.names = state_names(match)
        self.partials_max = None if context.compat else match.partials_max
        self.signal = Signal()
        self._emit = emit
        self._expired = match.expired
        projection = match.expired.projection if match.expired else ()
        self._project = [evaluator(expression, context) for _, expression in projection]

    @property
    def reports_expired(self) -> bool:
        """Whether partial matches that run out of time go to a stream."""
        return self._expired is not None

    def new_signal(self) -> Signal:
        """The signal of a stage. All share one, so that no stage misses it.

        Siddhi's stages have one each, and the first looks at that of the last: it misses a match
        that ends elsewhere (`e1 and e2` alone, with e1 last).
        """
        return Signal() if self.compat else self.signal

    def send(self, chunks: list[Chunk]) -> None:
        """Rows of complete matches, as one batch."""
        if chunks:
            self._emit(chunks)

    def tell(self, state: str, text: str, partial: Row | None) -> None:
        """Tell the trace, if there is one, what became of a partial match at a state."""
        trace = self.context.shared.trace
        if trace is not None:
            trace(f"{self.context.path}/{state}", text, partial)

    def count_dropped(self) -> None:
        """A partial match gave way to newer ones: counted, and logged the first time."""
        if not self.context.shared.dropped.count(self.context.part, Reason.BOUND):
            message = "{}: more than {} partial matches; the oldest are dropped"
            logger.warning(message, self.context.path, self.partials_max)
        self.context.drop_for(Reason.BOUND)

    def expire(self, state: str, partial: Partial, now_ms: int) -> None:
        """A partial match has run out of time: told to the trace and to the stream asked for."""
        self.tell(state, Outcome.EXPIRED, partial)
        if self._expired is None or partial.is_done:
            return
        row = partial.finished()
        values = [project(row) for project in self._project]
        self.context.shared.streams[self._expired.stream].send([Row(now_ms, values)])
