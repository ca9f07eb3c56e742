"""Yesterday's errors, to be put back: the triples must find each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Any
from unittest.mock import patch

from cep import clocks
from cep.engine import change
from cep.engine import clocks as native_clocks
from cep.engine.machine.stage import MachineRun
from cep.engine.part import run_part
from cep.interpreter.cause import Cause
from cep.interpreter.clock import Clock
from cep.interpreter.events.binder import Search
from cep.interpreter.events.queue import Arrival, Queue, Queued
from cep.interpreter.events.raising import RunningEvent
from cep.interpreter.interpreter import Interpreter
from cep.interpreter.move import Move
from cep.interpreter.rows import Chunk
from cep.interpreter.stream_functions import IndicatorOfGroup
from cep.interpreter.streams import Junction
from cep.plan import compile_rules
from cep.plan.nodes import Plan, Stream
from tests.metamorphic import triples, ways

Planted = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True, slots=True)
class Fault:
    """An error and how it is planted; `seed` is the first triple that finds it."""

    name: str
    planted: Planted
    seed: int


def elected_key() -> AbstractContextManager[Any]:
    """The key of a stream is what queries and events group it by, where they agree."""

    def elected(plan: Plan, stream: Stream) -> Stream:
        names = {
            tuple(query.inputs[0].schema.names[column.position] for column in query.group_by)
            for query in plan.queries
            if query.group_by and query.inputs[0].stream == stream.name
        }
        names |= {
            (stream.schema.names[event.key.position],)
            for event in plan.events
            if event.source == stream.name and event.key is not None
        }
        agreed = names.pop() if len(names) == 1 else ()
        return replace(stream, key=agreed[0] if len(agreed) == 1 else None)

    def compiled(text: str) -> Plan:
        plan = compile_rules(text)
        return replace(plan, streams=tuple(elected(plan, stream) for stream in plan.streams))

    return patch.object(triples, "compile_rules", compiled)


def late_against_the_queue() -> AbstractContextManager[Any]:
    """An event is late if its queue holds a newer one."""
    admit = Queue.admit

    def judged(self: Queue, event: Arrival) -> Queued | None:
        is_late = any(one.at_ms > event.at_ms for one in self.events)
        return admit(self, replace(event, is_late=is_late))

    return patch.object(Queue, "admit", judged)


@contextmanager
def bars_by_the_next_tick() -> Iterator[None]:
    """A bar ends with the next tick, at its own time, which is late against the queue then."""
    begun, receive = IndicatorOfGroup.__init__, RunningEvent.receive

    def begin(self: IndicatorOfGroup, *given: Any) -> None:
        begun(self, *given[:-1], None)

    def received(self: RunningEvent, chunk: Chunk) -> None:
        cause = self._engine._shared.cause
        for row in chunk:
            with cause.at(row.time, is_late=cause.is_late):
                receive(self, [row])

    with ExitStack() as stack:
        stack.enter_context(patch.object(IndicatorOfGroup, "__init__", begin))
        stack.enter_context(patch.object(RunningEvent, "receive", received))
        stack.enter_context(late_against_the_queue())
        yield


def span_by_the_queue() -> AbstractContextManager[Any]:
    """`within` is the time from the first event of a match to its last, as they stand."""

    def may_begin(self: Search, match: Sequence[Queued]) -> bool:
        if match[-1].at_ms - match[0].at_ms > self.found.within_ms:
            return False
        if not match[0].may_bind(self.found.name, self.key):
            return False
        return self._queue.engine.opposites == "evict" or not self._queue.is_opposed(match[0])

    return patch.object(Search, "_may_begin", may_begin)


def names_by_a_global_counter() -> AbstractContextManager[Any]:
    """UUID() counts all calls."""
    calls = count()
    return patch.object(Cause, "call", lambda self, place: next(calls))


@contextmanager
def clock_at_the_record() -> Iterator[None]:
    """While what is due before a record fires, clocks stand at the record, as in Siddhi."""
    jump, run = Clock.jump, Move.run

    def jumped(self: Clock, to_ms: int) -> None:
        self.move(to_ms)
        jump(self, to_ms)

    def moved(self: Move) -> None:
        for clock in self._clocks:
            clock.move(clock._to_ms)
        run(self)

    with patch.object(Clock, "jump", jumped), patch.object(Move, "run", moved):
        yield


def last_reader_first() -> AbstractContextManager[Any]:
    """The readers of a stream get its rows in the reverse order of the file."""
    return patch.object(Junction, "subscribe", lambda self, reader: self.readers.insert(0, reader))


def timers_after_the_record() -> AbstractContextManager[Any]:
    """What is due by a record's time happens when the record has been handed over."""
    feed = Interpreter._feed

    def fed(self: Interpreter, stream: str, chunk: Chunk) -> None:
        moves: list[Any] = []
        with patch.object(self.shared.clocks, "follow", lambda *given: moves.append(given)):
            feed(self, stream, chunk)
        for given in moves:
            self.shared.clocks.follow(*given)

    return patch.object(Interpreter, "_feed", fed)


def one_clock_for_all_keys() -> AbstractContextManager[Any]:
    """Of records as they came, one of any key makes those of others late."""
    return patch.object(clocks.Lateness, "_place", lambda self, stream, key: clocks.ALL)


def bound_once_for_all() -> AbstractContextManager[Any]:
    """An event that one complex event has bound is taken from all others."""
    return patch.object(Queued, "may_bind", lambda self, name, key: not self.bound)


def snapshots_without_lateness() -> AbstractContextManager[Any]:
    """What is restored knows no newest time."""
    return patch.object(clocks.Lateness, "restore", lambda self, state: None)


def clocks_by_the_batch() -> AbstractContextManager[Any]:
    """A batch is judged by its own records alone."""
    mark = native_clocks.Clocks.mark

    def marked(self: native_clocks.Clocks, ints: Any) -> None:
        self.restore(native_clocks.Clocks(self.mode, self._names[:-1]).state())
        mark(self, ints)

    return patch.object(native_clocks.Clocks, "mark", marked)


def reloaded_rules_begin_anew() -> AbstractContextManager[Any]:
    """Rules that take over get no state of those before."""
    return patch.object(change, "_go_on", lambda run, after, changes: None)


def watermarks_without_a_place() -> AbstractContextManager[Any]:
    """A watermark of keys is no record: it has no place, and its keys do not appear."""
    advance = Interpreter.advance_keys

    def advanced(
        self: Interpreter, keys: Any, time_ms: int, common_ms: Any, n: Any = None, **more: Any
    ) -> None:
        cause, slots = self.shared.cause, self.shared.keys
        before = cause.n, slots.state()
        advance(self, keys, time_ms, common_ms, n, **more)
        if n is None:
            cause.n = before[0]
            slots.restore(before[1])

    return patch.object(Interpreter, "advance_keys", advanced)


def nothing_due_in_the_end() -> AbstractContextManager[Any]:
    """A program's input ends without that time passes."""
    return patch.object(MachineRun, "end", lambda self, time_msc, order: [])


def parts_without_watermarks() -> AbstractContextManager[Any]:
    """What runs a key at a time is told nothing of its key."""
    return patch.object(
        ways,
        "run_part",
        lambda run, batches, told, end, number: run_part(run, batches, end=end, number=number),
    )


FAULTS = (
    Fault("elected key", elected_key, 102),
    Fault("late against the queue", late_against_the_queue, 38),
    Fault("bars by the next tick", bars_by_the_next_tick, 23),
    Fault("span by the queue", span_by_the_queue, 142),
    Fault("names by a global counter", names_by_a_global_counter, 5),
    Fault("last reader first", last_reader_first, 5),
    Fault("timers after the record", timers_after_the_record, 0),
    Fault("one clock for all keys", one_clock_for_all_keys, 60),
    Fault("bound once for all", bound_once_for_all, 281),
    Fault("snapshots without lateness", snapshots_without_lateness, 19),
    Fault("clocks by the batch", clocks_by_the_batch, 51),
    Fault("reloaded rules begin anew", reloaded_rules_begin_anew, 9),
    Fault("nothing due in the end", nothing_due_in_the_end, 3),
    Fault("watermarks without a place", watermarks_without_a_place, 9),
    Fault("parts without watermarks", parts_without_watermarks, 51),
    Fault("clock at the record", clock_at_the_record, 10),
)
