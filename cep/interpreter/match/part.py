"""A pattern or sequence while it runs."""

from __future__ import annotations

from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.match.frame import EmitAll, Frame
from cep.interpreter.match.partial import Partial, age
from cep.interpreter.match.snapshot import keep_partials, take_partials
from cep.interpreter.match.stage import Stage
from cep.interpreter.match.wiring import wire
from cep.interpreter.rows import Chunk, Emit, Row, RowKind
from cep.plan.query import Match

Receiver = tuple[str, Emit]
"""The name of a stream and what takes its chunks."""


class MatchPart:
    """One match, or its instance of a partition key."""

    def __init__(self, match: Match, context: Context, emit: EmitAll) -> None:
        self._frame = Frame(match, context, emit)
        self._stages = wire(match, self._frame)
        streams = {state.slot: state.input.stream for state in match.states}
        self._by_stream: dict[str, list[Stage]] = {}
        for stage in self._stages:
            self._by_stream.setdefault(streams[stage.slot], []).append(stage)
        self._expiry = context.timer("expiry", self._expire)
        self._expiry_ms: int | None = None
        self._last_ms: int | None = None
        context.keep(self, "match")

    @property
    def partials(self) -> int:
        """How many partial matches wait now."""
        return sum(not partial.is_empty for partial in self._waiting())

    def receivers(self) -> list[Receiver]:
        """By stream, what takes its chunks."""
        return [(stream, self._receiver(stream)) for stream in self._by_stream]

    def start(self, time_ms: int) -> None:
        """Begin to wait for the first event; a leading absence counts from that time."""
        for stage in self._stages:
            stage.begin()
        for stage in self._stages:
            stage.start(time_ms)

    def state(self) -> dict[str, Any]:
        waiting = self._waiting()
        number = {id(partial): number for number, partial in enumerate(waiting)}
        return {
            "partials": keep_partials(waiting),
            "stages": [stage.state(number) for stage in self._stages],
            "expiry_ms": self._expiry_ms,
            "last_ms": self._last_ms,
        }

    def restore(self, state: dict[str, Any]) -> None:
        partials = take_partials(state["partials"])
        for stage, saved in zip(self._stages, state["stages"], strict=True):
            stage.restore(saved, partials)
        self._expiry_ms, self._last_ms = state["expiry_ms"], state["last_ms"]

    def _receiver(self, stream: str) -> Emit:
        stages = self._by_stream[stream]
        return self._alone(stages[0]) if len(stages) == 1 else self._several(stages)

    def _alone(self, stage: Stage) -> Emit:
        """A stream that one state reads: each match goes out by itself."""

        def receive(chunk: Chunk) -> None:
            done = [row for event in _events(chunk) for row in self._offer([stage], event)]
            for rows in done:
                for row in rows:
                    self._frame.send([[row]])

        return receive

    def _several(self, stages: list[Stage]) -> Emit:
        """A stream that several states read: what a state completes goes out together.

        The last states see an event first, so that no match takes it twice; matches go out when
        all states have seen all events of the chunk.
        """
        backwards = stages[::-1]

        def receive(chunk: Chunk) -> None:
            done = [rows for event in _events(chunk) for rows in self._offer(backwards, event)]
            for rows in done:
                self._frame.send([[row] for row in rows])

        return receive

    def _offer(self, stages: list[Stage], event: Row) -> list[list[Row]]:
        """Show an event to the stages of its stream; the matches that each completes."""
        self._forget_for_late(event.time)
        for stage in self._stages:
            stage.expire(event.time, stage in stages and not self._frame.compat)
        if self._frame.is_sequence:
            self._go_on()
        else:
            for stage in stages[::-1]:
                stage.update()
        done = [[partial.finished() for partial in stage.offer(event)] for stage in stages]
        self._bound()
        self._plan_expiry()
        return done

    def _forget_for_late(self, time_ms: int) -> None:
        """An event that comes late does not find again what was too old already, wherever it waits.

        Else it would depend on what waits in front of it, where Siddhi's look stops.
        """
        last_ms, self._last_ms = self._last_ms, time_ms
        if last_ms is None or time_ms >= last_ms or self._frame.compat or self._frame.is_sequence:
            return
        for stage in self._stages:
            stage.expire(last_ms, thorough=True)

    def _go_on(self) -> None:
        """In a sequence every event of its streams moves all states on."""
        for stage in reversed(self._stages):
            stage.reset()
        for stage in self._stages:
            stage.update()

    def _bound(self) -> None:
        """Of too many partial matches the oldest gives way."""
        most = self._frame.partials_max
        if most is None or sum(len(one.pending) + len(one.fresh) for one in self._stages) <= most:
            return
        while sum(stage.waiting for stage in self._stages) > most:
            candidates = [stage.oldest for stage in self._stages]
            oldest = min((one for one in candidates if one is not None), key=age)
            for stage in self._stages:
                stage.drop(oldest)
            self._frame.count_dropped()

    def _expire(self, due_ms: int) -> None:
        self._expiry_ms = None
        for stage in self._stages:
            stage.expire(due_ms, thorough=True)
        self._plan_expiry()

    def _plan_expiry(self) -> None:
        """Where expired matches are wanted on a stream, they are looked for when they are due."""
        if not self._frame.reports_expired or self._expiry_ms is not None:
            return
        times = [time for stage in self._stages if (time := stage.next_expiry_ms()) is not None]
        if times:
            self._expiry_ms = min(times)
            self._expiry.at(self._expiry_ms)

    def _waiting(self) -> list[Partial]:
        """All partial matches, each once."""
        queues = (queue for stage in self._stages for queue in (stage.pending, stage.fresh))
        return list({id(partial): partial for queue in queues for partial in queue}.values())


def _events(chunk: Chunk) -> Chunk:
    return [row for row in chunk if row.kind in (RowKind.CURRENT, RowKind.EXPIRED)]


def make_match(match: Match, context: Context, emit: EmitAll) -> MatchPart:
    """A running match, kept for snapshots. It emits rows with slots, each a chunk of its own."""
    return MatchPart(match, context, emit)
