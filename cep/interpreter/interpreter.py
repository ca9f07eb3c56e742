"""The interpreter of a plan: rows go in by stream, come out by query and by stream."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from cep.clocks import Lateness, Mode
from cep.dropped import Dropped
from cep.interpreter.codec import unpack
from cep.interpreter.context import Shared, Trace
from cep.interpreter.events import Arrived, Queued
from cep.interpreter.graph import Graph
from cep.interpreter.on_demand import answer
from cep.interpreter.outputs import QueryCallback
from cep.interpreter.playback import Heartbeat
from cep.interpreter.rows import Chunk, Emit, Row
from cep.interpreter.snapshot import (
    FORMAT,
    Saved,
    SavedWall,
    decode,
    due_of,
    encode,
    fingerprint,
    packed,
    timers_of,
)
from cep.plan.change import PartId
from cep.plan.keys import key_position
from cep.plan.nodes import Plan
from cep.plan.query import OnDemandQuery

StreamCallback = Callable[[Chunk], None]
TimedValues = tuple[int, Sequence[Any]]
"""A row as it is sent: its time in ms UTC, and its values."""

OF_RUN = "/run/"
"""Parts that are restored first: what others make for a key stands in the order of the keys."""

RELATIVE_BELOW_MS = 86_400_000
"""Rows of the first day of 1970 have times that count from the start of their recording.

Their clock starts at 0, as Siddhi's playback does for all; that of other rows at the first row.
"""


class Interpreter:
    """Runs all queries of a plan, uncompiled; it is the meaning of the language.

    With `playback` the times of the rows drive the clock; without, only `advance` does. `mode` says
    how the records follow one another, by which they are late or not, and whether each key has a
    clock of its own.
    Callbacks are told what comes out, in order; they may be added at any time. Times are ms UTC.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        playback: bool = True,
        mode: Mode = "sorted",
    ) -> None:
        self.plan = plan
        self.playback = playback
        self.mode: Mode = mode
        self._key_positions = {stream.name: key_position(stream) for stream in plan.sources}
        self._query_callbacks: defaultdict[str, list[QueryCallback]] = defaultdict(list)
        self._stream_callbacks: list[tuple[str, Emit]] = []
        self._watchers: list[tuple[str, Emit]] = []
        self._heartbeat = Heartbeat(plan.playback)
        self._started = False
        self._trace: Trace | None = None
        self._graph = self._made()

    def __enter__(self) -> Interpreter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def now_ms(self) -> int | None:
        """The newest time; None before the first is known."""
        return self.shared.clocks.now_ms

    @property
    def next_due_ms(self) -> int | None:
        """When something is due next, on its own clock; rows that wait for order are due now."""
        if self._graph.reorder:
            return self.now_ms or 0
        return self.shared.clocks.next_due_ms()

    def on_query(self, name: str, callback: QueryCallback) -> None:
        """Tell (time of the last row, current rows or None, expired rows or None) of each chunk.

        KeyError when there is no such query.
        """
        if all(query.name != name for query in self.plan.queries):
            raise KeyError(f"there is no query '{name}'")
        self._query_callbacks[name].append(callback)

    def on_stream(self, name: str, callback: StreamCallback) -> None:
        """Tell the rows of each chunk of a stream or named window; KeyError when there is none."""
        self._graph.stream(name).subscribe(callback)
        self._stream_callbacks.append((name, callback))

    def on_output(self, name: str, callback: StreamCallback) -> None:
        """Tell what the rules put on a stream, each chunk before its readers get it.

        KeyError when there is no such stream.
        """
        self._graph.stream(name).watch(callback)
        self._watchers.append((name, callback))

    @property
    def dropped(self) -> Dropped:
        """What was dropped so far."""
        return Dropped(self._graph.shared.dropped)

    def queue(self, engine: str) -> list[Queued]:
        """The events in the queue of an engine, in order of arrival, with what they are bound to.

        KeyError when there is no such engine.
        """
        return self._graph.events.queue(engine)

    def on_trace(self, trace: Trace) -> None:
        """Tell what happens to rows and partial matches inside of queries, for debugging."""
        self._trace = self._graph.shared.trace = trace

    def on_arrival(self, arrived: Arrived) -> None:
        """Tell of every event that comes to an engine, for debugging, until a restore."""
        self._graph.events.on_arrival(arrived)

    def start(self, time_ms: int | None = None) -> None:
        """Begin at that time. Without one it is the first row's time (in Siddhi's mode 0).

        After a restore it says how late it is now: what has become due meanwhile is due now.
        """
        if time_ms is None and self.plan.compat and self.playback:
            time_ms = 0
        if time_ms is None:
            return
        if self._started:
            self.shared.clocks.pass_time(time_ms)
        else:
            self._started = True
            self._graph.start(time_ms)

    def send(self, stream: str, rows: Iterable[TimedValues], n: int | None = None) -> None:
        """Send rows as one chunk; with playback the last one's time moves the clock first.

        `n` is the place among all records; by default they are counted. KeyError when there is no
        such stream.
        """
        self._graph.stream(stream)
        chunk = [Row(time_ms, list(values)) for time_ms, values in rows]
        if not chunk:
            return
        self.shared.cause.begin(n)
        for row in chunk:
            self.shared.keys.see(stream, row.values)
        stage = self._graph.reorder.get(stream)
        if stage is None:
            self._feed(stream, chunk)
            return
        in_order, late = stage.push(chunk)
        self._feed_each(stream, in_order)
        if late and stage.late_stream is not None:
            self._begin(late[-1].time)
            with self.shared.cause.at(late[-1].time, is_late=True):
                self._graph.stream(stage.late_stream).send(late)

    def pass_record(self, stream: str, key: str | None, time_ms: int, n: int | None = None) -> bool:
        """Let the clocks follow a source record that others read; what it makes due fires.

        Whether it is late; one that waits for order is not.
        """
        self.let_go(time_ms, n)
        return stream not in self._graph.reorder and self._follow(stream, [(key, time_ms)])

    def hand_over(
        self,
        stream: str,
        time_ms: int,
        values: Sequence[Any],
        *,
        is_late: bool,
    ) -> None:
        """Hand over a row of the record that was passed last, or one that others made of it."""
        with self.shared.cause.at(time_ms, is_late=is_late):
            self._graph.stream(stream).deliver([Row(time_ms, list(values))])

    def let_go(self, time_ms: int, n: int | None = None) -> None:
        """A record of that time is next, by which rows that wait for order may go on."""
        if self.mode == "sorted":
            self.advance(time_ms, n)
            return
        self.shared.cause.begin(n)
        self._release(time_ms)

    def advance(self, time_ms: int, n: int | None = None, *, is_complete: bool = False) -> None:
        """Let time pass: fire what is due up to `time_ms`. Rows that wait for order come first.

        `n` is as in `send`: that time has passed is a record, too. `is_complete`: all earlier
        records have come, as is implied where they are sorted.
        """
        self.shared.cause.begin(n)
        self._release(time_ms)
        if self.playback:
            self._pass(time_ms - self._graph.lag_ms, is_complete=is_complete)
        else:
            self._begin(time_ms)
            self.shared.clocks.glide(time_ms)

    def advance_keys(
        self,
        keys: Collection[str],
        time_ms: int,
        common_ms: int | None,
        n: int | None = None,
        *,
        is_complete: bool,
    ) -> None:
        """Take a watermark: time has passed for these keys, and for every key up to `common_ms`.

        That is a record, too: `n` is as in `send`, and its keys appear. `is_complete`: all their
        earlier records have come, so that those that still come are late.
        """
        self.shared.cause.begin(n)
        self.shared.keys.open(keys)
        if is_complete:
            self.shared.lateness.complete(keys, time_ms)
        self._begin(time_ms)
        if common_ms is not None:
            self.let_go(common_ms, self.shared.cause.n)
        lag_ms = self._graph.lag_ms
        self.shared.clocks.pass_time_of(
            keys, time_ms - lag_ms, None if common_ms is None else common_ms - lag_ms
        )

    def end(self, time_ms: int, n: int | None = None) -> None:
        """The input ends here: as `advance`, but that no row waits any more for earlier ones."""
        self.shared.cause.begin(n)
        for stream, stage in self._graph.reorder.items():
            self._feed_each(stream, stage.flush())
        if self.playback:
            self._pass(time_ms, is_complete=True)
        else:
            self.advance(time_ms, n)

    def wall(self, time_ms: int, n: int | None = None) -> None:
        """Say what the wall's clock shows: with playback, idle time then moves the clock."""
        self.shared.cause.begin(n)
        self._graph.show_wall(time_ms)
        while self._heartbeat.is_due(time_ms):
            self._heartbeat.heard()
            self._pass((self.now_ms or 0) + self._heartbeat.increment_ms)

    @property
    def next_wall_ms(self) -> int | None:
        """When, on the wall's clock, something is due next."""
        due = (self._heartbeat.next_ms, self._graph.wall.next_due_ms())
        return min((time_ms for time_ms in due if time_ms is not None), default=None)

    @property
    def shared(self) -> Shared:
        """What the running parts share, for those who evaluate conditions beside them."""
        return self._graph.shared

    def ask(self, query: OnDemandQuery) -> list[list[Any]] | None:
        """Answer an on-demand query; None when nothing was found."""
        return answer(query, self._graph.shared)

    def close(self) -> None:
        """Let go the rows that still wait for order."""
        for stream, stage in self._graph.reorder.items():
            self._feed_each(stream, stage.flush())

    def snapshot(self) -> bytes:
        """The whole state, exact between any two calls."""
        return encode(self.saved())

    def saved(self) -> Saved:
        """What a snapshot holds; SnapshotError when something cannot be saved."""
        shared, wall = self._graph.shared, self._graph.wall
        return Saved(
            FORMAT,
            self.plan.name,
            fingerprint(self.plan),
            self._started,
            shared.clocks.now_ms,
            timers_of(shared.clocks.pending()),
            SavedWall(wall.now_ms, timers_of(wall.pending()), self._heartbeat.state()),
            {name: part.keys() for name, part in self._graph.partitions.items()},
            packed(shared.parts),
        )

    def restore(self, data: bytes) -> None:
        """Go on from a snapshot of the same plan; SnapshotError when it is of another.

        Callbacks stay.
        """
        saved = decode(data, self.plan)
        self._graph = self._made()
        for name, callback in self._stream_callbacks:
            self._graph.stream(name).subscribe(callback)
        for name, callback in self._watchers:
            self._graph.stream(name).watch(callback)
        self._take(saved)

    def go_on(self, saved: Saved, kept: Collection[PartId]) -> None:
        """Go on, as an interpreter just made, from the state of the parts that other rules kept.

        All other parts begin at the time of the clock.
        """
        self._take(saved)
        if saved.started and saved.now_ms is not None:
            self._graph.begin(saved.now_ms, kept)
        self._graph.begin_wall(kept)

    def hand_callbacks(self, other: Interpreter) -> None:
        """Give an interpreter of other rules the callbacks of the queries and streams it has."""
        queries = {query.name for query in other.plan.queries}
        for name, callbacks in self._query_callbacks.items():
            if name in queries:
                other._query_callbacks[name] += callbacks
        for stream, callback in self._stream_callbacks:
            if stream in other.shared.streams:
                other.on_stream(stream, callback)
        for stream, callback in self._watchers:
            if stream in other.shared.streams:
                other.on_output(stream, callback)
        if self._trace is not None:
            other.on_trace(self._trace)

    def _take(self, saved: Saved) -> None:
        graph, shared = self._graph, self._graph.shared
        first = {path for path in saved.parts if path.startswith(OF_RUN)}
        for path in first:
            shared.parts[path].restore(unpack(saved.parts[path]))
        for name, keys in saved.partitions.items():
            graph.partitions[name].make_keys(keys)
        for path, state in saved.parts.items():
            if path not in first:
                shared.parts[path].restore(unpack(state))
        shared.clocks.take_over(saved.now_ms, due_of(saved.timers, shared.timers))
        shared.wall_ms = saved.wall.now_ms
        graph.wall.restore(saved.wall.now_ms, due_of(saved.wall.timers, graph.wall.by_name()))
        self._heartbeat.restore(saved.wall.heartbeat)
        self._started = saved.started

    def _made(self) -> Graph:
        callbacks = self._query_callbacks.__getitem__
        lateness = Lateness(self.mode)
        graph = Graph(self.plan, self.playback, callbacks, lateness)
        graph.shared.trace = self._trace
        return graph

    def _begin(self, time_ms: int) -> None:
        if not self._started:
            self.start()
            relative = self.playback and time_ms < RELATIVE_BELOW_MS
            self.start(0 if relative else time_ms)

    def _release(self, time_ms: int) -> None:
        """Let rows go on that have waited for earlier ones up to that time."""
        for stream, stage in self._graph.reorder.items():
            self._feed_each(stream, stage.advance(time_ms))

    def _feed_each(self, stream: str, rows: Chunk) -> None:
        for row in rows:
            self._feed(stream, [row])

    def _feed(self, stream: str, chunk: Chunk) -> None:
        """Records of one stream: first what is due by then, then they, late or not as the last."""
        position = self._key_positions.get(stream)
        records = [(None if position is None else row.values[position], row.time) for row in chunk]
        is_late = self._follow(stream, records)
        with self.shared.cause.at(chunk[-1].time, is_late=is_late):
            self._graph.stream(stream).deliver(chunk)

    def _follow(self, stream: str, records: Sequence[tuple[str | None, int]]) -> bool:
        """Let the clocks follow records of a source, given by key and time; whether the last is
        late. Of those that are put in order none is that may go on.
        """
        time_ms = records[-1][1]
        self._begin(time_ms)
        if self.playback:
            if time_ms >= (self.now_ms or 0):
                self._heartbeat.heard()
            self.shared.clocks.follow(stream, records)
        is_late = False
        for key, at_ms in records:
            is_late = self.shared.lateness.take(stream, key, at_ms)
        return is_late and stream not in self._graph.reorder

    def _pass(self, time_ms: int, *, is_complete: bool = False) -> None:
        self._begin(time_ms)
        if time_ms >= (self.now_ms or 0):
            self._heartbeat.heard()
        self.shared.clocks.pass_time(time_ms, is_complete=is_complete)
