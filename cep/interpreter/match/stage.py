"""A state of a match while it runs: the partial matches that wait for its event."""

from __future__ import annotations

from collections import deque
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any

from cep.interpreter.match.frame import Frame, Outcome
from cep.interpreter.match.gate import Gate
from cep.interpreter.match.limits import Limit
from cep.interpreter.match.partial import Partial, age
from cep.interpreter.rows import Row, RowKind
from cep.plan.query import StreamState

if TYPE_CHECKING:
    from cep.interpreter.match.counted import CountedStage


class Stage:
    """`e1=S[..]`: takes one event.

    `pending` are the partial matches that wait here; new ones stay in `fresh` until the next row
    that concerns the stage, so that no row is taken twice by one match. What a completed stage
    does: it hands the partial match to `next`, and with `every` (`again`) a copy to where the
    repetition starts. `restart` is the start of the `every` around the stage, if any.
    """

    is_absence = False

    def __init__(self, state: StreamState, frame: Frame, is_start: bool) -> None:
        self.frame = frame
        self._shared = frame.context.shared
        self.slot = state.slot
        self.name = frame.names[state.slot]
        self.is_start = is_start
        self.limits: list[Limit] = []
        self.next: Stage | None = None
        self.again: Stage | None = None
        self.restart: Stage | None = None
        self.star: CountedStage | None = None
        self.signal = self.watched = frame.new_signal()
        self.pending: deque[Partial] = deque()
        self.fresh: deque[Partial] = deque()
        self._gate = Gate(state, frame.context.within(f"state{state.slot}"))
        self._has_begun = False

    @property
    def first_slot(self) -> int:
        """From here on slots belong to this stage and those behind it."""
        return self.slot

    def follow(self, stage: Stage) -> None:
        """Complete partial matches go to that stage."""
        self.next = stage

    def repeat(self, stage: Stage) -> None:
        """Complete partial matches start again at that stage."""
        self.again = stage

    def begin(self) -> None:
        """An empty partial match waits at the start: once, or again and again with `every`.

        A sequence that starts in front of an absence begins again, too.
        """
        before_absence = self.next is not None and self.next.is_absence
        repeats = self.again is not None or (self.frame.is_sequence and before_absence)
        if self.is_start and (repeats or not self._has_begun):
            self._has_begun = True
            self.add(Partial([None] * self.frame.slots))

    def add(self, partial: Partial) -> None:
        """A partial match arrives, and waits behind older ones; the oldest gives way to a bound.

        At a state of a sequence only the first of a row counts.
        """
        if self.frame.is_sequence and self.fresh:
            return
        place = len(self.fresh)
        while place and not self.frame.compat and age(self.fresh[place - 1]) > age(partial):
            place -= 1
        self.fresh.insert(place, partial)

    def add_again(self, partial: Partial) -> None:
        """A copy of the partial match starts here again."""
        self.fresh.append(partial.branch(self.first_slot))

    def update(self) -> None:
        """New partial matches are ready for the row that comes now."""
        if self.fresh:
            self.pending.extend(sorted(self.fresh, key=age))
            self.fresh.clear()

    def reset(self) -> None:
        """A sequence goes on: what waits here was not continued by the latest row."""
        self._break()
        if self.is_start and not self.fresh:
            self._begin_again()

    def expire(self, now_ms: int, thorough: bool) -> None:
        """Drop what is too old; the newest that was dropped starts its `every` again.

        The oldest wait in front: looking stops at the first that is young enough. But one that
        was slow in an earlier state may stand behind a younger one: a `thorough` look finds it.
        """
        if not self.limits:
            return
        last = None
        for queue in (self.pending, self.fresh):
            for partial in self._too_old(queue, now_ms, thorough):
                last = self._expire(partial, now_ms) or last
            if queue and not thorough and not self.frame.compat:
                break  # what is fresh waits behind it
        if last is not None and self.restart is not None:
            self._start_again(self.restart, last, now_ms)

    @property
    def waiting(self) -> int:
        """How many partial matches wait here, without empty ones that wait, last, at a start."""
        queues = (self.pending, self.fresh)
        last = (takewhile(self._has_not_begun, reversed(queue)) for queue in queues)
        return sum(map(len, queues)) - sum(1 for empty in last for _ in empty)

    def _has_not_begun(self, partial: Partial) -> bool:
        """Whether a partial match waits for its first row: it can't give way to others.

        Behind a start it has begun without any row, where an absence was all that came.
        """
        return self.is_start and partial.is_empty

    @property
    def oldest(self) -> Partial | None:
        """The partial match that has waited longest of those that have begun."""
        waiting = chain(self.pending, self.fresh)
        return next((one for one in waiting if not self._has_not_begun(one)), None)

    def drop(self, partial: Partial) -> None:
        """Let go the partial match if it is the oldest here."""
        if self.oldest is not partial:
            return
        queue = next(q for q in (self.pending, self.fresh) if any(one is partial for one in q))
        del queue[next(place for place, one in enumerate(queue) if one is partial)]
        self.frame.tell(self.name, Outcome.DROPPED, partial)

    def next_expiry_ms(self) -> int | None:
        """The first time at which a partial match that waits here is too old."""
        waiting = (*self.pending, *self.fresh)
        times = (limit.due_ms(partial) for limit in self.limits for partial in waiting)
        return min((time for time in times if time is not None), default=None)

    def offer(self, row: Row) -> list[Partial]:
        """Show a row to all that wait here, oldest first; what it completes is returned."""
        done: list[Partial] = []
        self.pending = deque(
            [partial for partial in self.pending if self._stays(partial, row, done)]
        )
        return done

    def start(self, time_ms: int) -> None:
        """The clock runs from here (absent states)."""

    def state(self, number: dict[int, int]) -> dict[str, Any]:
        """For a snapshot; `number` gives each partial match's number by its id()."""
        return {
            "pending": [number[id(partial)] for partial in self.pending],
            "fresh": [number[id(partial)] for partial in self.fresh],
            "has_begun": self._has_begun,
            "raised": self.signal.raised,
        }

    def restore(self, state: dict[str, Any], partials: list[Partial]) -> None:
        """Take over the state of a snapshot."""
        self.pending = deque(partials[number] for number in state["pending"])
        self.fresh = deque(partials[number] for number in state["fresh"])
        self._has_begun = state["has_begun"]
        self.signal.raised = state["raised"]

    def accept(self, partial: Partial, row: Row) -> bool:
        """The candidate in the slot has passed the gate. Whether the partial match leaves."""
        partial.time = row.time
        self._pass_on(partial)
        return True

    def _stays(self, partial: Partial, row: Row, done: list[Partial]) -> bool:
        partial.slots[self.slot] = row
        leaves = self._passes(partial) and self.accept(partial, row)
        if self.watched.raised:
            self._collect(partial, done)
        if leaves:
            return False
        partial.slots[self.slot] = None
        return self._stays_refused()

    def _stays_refused(self) -> bool:
        """Whether a partial match goes on waiting after a row that it refuses."""
        if self.frame.is_sequence and self.star is not None:
            self.star.begins_next = True
        return not self.frame.is_sequence

    def _passes(self, partial: Partial) -> bool:
        refusal = self._gate.refusal(partial)
        if self._shared.trace is not None:
            text = Outcome.TAKEN if refusal is None else Outcome.REFUSED.format(refusal)
            self.frame.tell(self.name, text, partial)
        return refusal is None

    def _collect(self, partial: Partial, done: list[Partial]) -> None:
        """The signal was raised: the partial match is complete."""
        self.watched.raised = False
        self.frame.tell(self.name, Outcome.MATCHED, partial)
        done.append(partial)

    def _pass_on(self, partial: Partial) -> None:
        """The stage is complete: on to the next, and round again with `every`."""
        self._hand_on(partial)
        if self.star is not None:
            self.star.begins_next = True

    def _hand_on(self, partial: Partial) -> None:
        if self.next is None:
            partial.is_done = True
            self.signal.raised = True
        else:
            self.next.add(partial)
        if self.again is not None:
            self.again.add_again(partial)

    def _complete_at(self, partial: Partial, due_ms: int) -> None:
        """The stage is complete by the passing of time, without an event."""
        partial.time = due_ms
        self.frame.tell(self.name, Outcome.ABSENT, partial)
        self._pass_on(partial)
        if self.next is None:
            self.signal.raised = False
            self.frame.tell(self.name, Outcome.MATCHED, partial)
            self.frame.send([[partial.finished()]])

    def _break(self) -> None:
        if self._shared.trace is not None:
            for partial in self.pending:
                if partial not in self.fresh:
                    self.frame.tell(self.name, Outcome.BROKEN, partial)
        self.pending.clear()

    def _begin_again(self) -> None:
        """A sequence without `every` begins anew only when nothing waits behind its start."""
        runs_on = self.again is None and self.next is not None and bool(self.next.pending)
        if not runs_on:
            self.begin()

    def _is_over(self, partial: Partial, now_ms: int) -> bool:
        return bool(self.limits) and any(limit.is_over(partial, now_ms) for limit in self.limits)

    def _too_old(self, queue: deque[Partial], now_ms: int, thorough: bool) -> list[Partial]:
        """Taken out of the queue. Siddhi looks at all that is fresh, and in front at the rest."""
        over: list[Partial] = []
        while queue and self._is_over(queue[0], now_ms):
            over.append(queue.popleft())
        if thorough or (self.frame.compat and queue is self.fresh):
            behind = [partial for partial in queue if self._is_over(partial, now_ms)]
            for partial in behind:
                queue.remove(partial)
            over += behind
        return over

    def _expire(self, partial: Partial, now_ms: int) -> Partial | None:
        """The partial match, unless it has been dropped elsewhere before."""
        if partial.kind is RowKind.EXPIRED:
            return None
        partial.kind, partial.came = RowKind.EXPIRED, partial.time
        self.frame.expire(self.name, partial, now_ms)
        return partial

    def _start_again(self, stage: Stage, partial: Partial, now_ms: int) -> None:
        """A dropped partial match starts its `every` again with the rows in front of that.

        Siddhi does so even when those rows are too old themselves: then a single state under
        `every` takes one more row, however late.
        """
        if self.frame.compat or not stage.is_too_old(partial.branch(stage.first_slot), now_ms):
            stage.add_again(partial)
            stage.update()

    def is_too_old(self, partial: Partial, now_ms: int) -> bool:
        """Whether the partial match would be dropped here at that time."""
        return self._is_over(partial, now_ms)
