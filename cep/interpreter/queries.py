"""A query while it runs: input, selection, rate, output, in that order."""

from __future__ import annotations

from collections.abc import Callable

from cep.interpreter.context import Context
from cep.interpreter.inputs import make_input
from cep.interpreter.joins import CorrelationPart, make_join
from cep.interpreter.match import make_match
from cep.interpreter.matching import MatchingPart
from cep.interpreter.outputs import Publisher, QueryCallback, make_write
from cep.interpreter.rates import make_limiter
from cep.interpreter.rows import Emit
from cep.interpreter.selection import Selection
from cep.interpreter.streams import Junction
from cep.plan.query import Correlation, Join, Match, Matching, Query, StreamInput

Receiver = tuple[str, Emit]
"""The name of a stream (or named window) and what takes its chunks."""
FindStream = Callable[[str], Junction]
Start = Callable[[int], None]


class RunningQuery:
    """One query, or its instance of a partition key. `stream` finds the junctions it writes to.

    `receivers` are what it subscribes, in order.
    """

    def __init__(
        self, query: Query, context: Context, stream: FindStream, callbacks: list[QueryCallback]
    ) -> None:
        self.name = query.name
        owner = context.shared.uuid_names.get(query.name, query.name)
        context = context.owned_by(owner).wanting(query.output.events)
        context = context.going_by("query", query.name)
        self._shared = context.shared
        publisher = Publisher(callbacks, make_write(query.output, stream, context))
        self._limiter = make_limiter(query, context, publisher.send)
        selection = Selection(query, query.output.events, context, self._limiter.process)
        self.receivers: list[Receiver]
        self._start: Start | None = None
        self.receivers, self._start = _make_source(query, context, selection)

    def start(self, time_ms: int) -> None:
        """Begin: rates count their periods from here, leading absent states wait from here.

        Siddhi counts periods from the wall's time even in playback.
        """
        if not (self._shared.compat and self._shared.playback):
            self._limiter.start(time_ms)
        elif self._shared.wall_ms is not None:
            self._limiter.start(self._shared.wall_ms)
        if self._start is not None:
            self._start(time_ms)


def _make_source(
    query: Query, context: Context, selection: Selection
) -> tuple[list[Receiver], Start | None]:
    """What the query subscribes, and what has to be told of its start."""
    match query.input:
        case StreamInput():
            part = make_input(query.input, context, selection.process)
            return [(query.input.stream, part.receive)], None
        case Join():
            join = make_join(query.input, context, selection.process_all)
            return join.receivers(), None
        case Correlation():
            correlation = CorrelationPart(query.input, context, selection.process_all)
            return correlation.receivers(), None
        case Matching():
            matching = MatchingPart(query.input, context, selection.process_all)
            return [(query.input.input.stream, matching.receive)], None
        case Match():
            match_ = make_match(query.input, context, selection.process_all)
            return match_.receivers(), match_.start
