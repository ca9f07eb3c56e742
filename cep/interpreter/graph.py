"""The running parts of a plan and how they are connected."""

from __future__ import annotations

from collections.abc import Callable, Collection

from cep.clocks import Lateness
from cep.interpreter.aggregations import make_aggregation
from cep.interpreter.clock import Clock
from cep.interpreter.context import Context, Shared
from cep.interpreter.events import KeySlots, RunningEvents
from cep.interpreter.named_windows import make_named_window
from cep.interpreter.outputs import QueryCallback
from cep.interpreter.partitions import RunningPartition
from cep.interpreter.queries import RunningQuery
from cep.interpreter.reorder import ReorderStage
from cep.interpreter.siddhi_clock import SiddhiClock
from cep.interpreter.streams import Junction
from cep.interpreter.tables import make_table
from cep.interpreter.tables.hash_order import in_hash_order, slots_for
from cep.interpreter.triggers import RunningTrigger
from cep.plan.change import PartId
from cep.plan.clocks import clocks
from cep.plan.nodes import Event, NamedWindow, Plan
from cep.plan.query import Query
from cep.plan.uuid_names import uuid_names

CallbacksOf = Callable[[str], list[QueryCallback]]


class Graph:
    """Made in the order streams, tables, windows, aggregations, queries and events, triggers.

    Readers of a stream are subscribed in the order of definition; a partition stands where its
    first query that reads the stream stands.
    """

    def __init__(
        self,
        plan: Plan,
        playback: bool,
        callbacks: CallbacksOf,
        lateness: Lateness,
    ) -> None:
        compat = plan.compat == "siddhi"
        clock = SiddhiClock() if compat else Clock()
        of_plan = {part: (n, of) for n, (part, of) in enumerate(clocks(plan).items())}
        names = uuid_names(plan)
        self.shared = Shared(compat, playback, clock, lateness, of_plan, names)
        self.shared.keys = KeySlots(plan)
        self.partitions: dict[str, RunningPartition] = {}
        self.reorder: dict[str, ReorderStage] = {}
        self._plan = plan
        self._callbacks = callbacks
        self._queries: list[RunningQuery] = []
        self._make_streams()
        self._make_holders()
        self.events = RunningEvents(plan, self.shared)
        self._make_operators()
        self._keep_run()
        self.wall = Clock()
        wall = self.wall if compat and playback else None
        self._triggers = [
            RunningTrigger(item, self._place("trigger", item.name), self.stream(item.name), wall)
            for item in plan.triggers
        ]

    @property
    def lag_ms(self) -> int:
        """How far the clock stays behind the time that has passed, for rows out of order."""
        if not self.reorder:
            return 0
        return max(stage.max_delay_ms for stage in self.reorder.values())

    def stream(self, name: str) -> Junction:
        """The junction of a stream or named window; KeyError when there is none."""
        try:
            return self.shared.streams[name]
        except KeyError:
            raise KeyError(f"there is no stream '{name}'") from None

    def start(self, time_ms: int) -> None:
        """Set the clock, where there is one, and begin with everything that depends on it."""
        self.shared.clocks.begin(time_ms)
        self.begin(time_ms)

    def begin(self, time_ms: int, going_on: Collection[PartId] = ()) -> None:
        """Begin with everything but the parts that are going on."""
        with self.shared.cause.at(time_ms):
            self._begin(time_ms, going_on)

    def _begin(self, time_ms: int, going_on: Collection[PartId]) -> None:
        for query in self._queries:
            if ("query", query.name) not in going_on:
                query.start(time_ms)
        for name, partition in self.partitions.items():
            partition.begin(time_ms, going_on)
            if ("partition", name) not in going_on:
                partition.start(time_ms)
        for trigger in self._triggers:
            if ("trigger", trigger.name) not in going_on:
                trigger.start(time_ms)

    def begin_wall(self, going_on: Collection[PartId]) -> None:
        """Begin with what follows the wall's clock, where that is known, but what is going on."""
        if self.wall.now_ms is None:
            return
        for trigger in self._triggers:
            if ("trigger", trigger.name) not in going_on:
                trigger.start_wall(self.wall.now_ms)

    def show_wall(self, time_ms: int) -> None:
        """Move the wall's clock; the first time is where it starts."""
        if self.wall.now_ms is None:
            for trigger in self._triggers:
                trigger.start_wall(time_ms)
        self.shared.wall_ms = time_ms
        self.wall.glide(time_ms)

    def _place(self, kind: str, name: str) -> Context:
        return Context(self.shared).within(kind).within(name).going_by(kind, name)

    def _make_streams(self) -> None:
        compat, streams = self.shared.compat, self.shared.streams
        names = [stream.name for stream in self._plan.streams]
        for name in names + [window.name for window in self._plan.windows]:
            streams[name] = Junction(name, None, compat)
        for stream in self._plan.streams:
            if stream.on_error == "stream":
                streams[stream.name].fault = streams.get(f"!{stream.name}")
            if stream.reorder is not None:
                place = self._place("stream", stream.name)
                self.reorder[stream.name] = ReorderStage(stream.reorder, place)

    def _make_holders(self) -> None:
        for table in self._plan.tables:
            place = self._place("table", table.name)
            self.shared.tables[table.name] = make_table(table, place)
        for window in self._windows():
            place = self._place("window", window.name)
            publish = self.shared.streams[window.name].send
            self.shared.windows[window.name] = make_named_window(window, place, publish)
        for aggregation in self._plan.aggregations:
            place = self._place("aggregation", aggregation.name)
            part = make_aggregation(aggregation, place)
            self.shared.aggregations[aggregation.name] = part
            self.stream(aggregation.input.stream).subscribe(part.receive)

    def _windows(self) -> list[NamedWindow]:
        """The named windows; in Siddhi they are made, and served, in the order of a hash table."""
        windows = {window.name: window for window in self._plan.windows}
        names = list(windows)
        if self.shared.compat:
            names = in_hash_order(names, slots_for(len(names)))
        return [windows[name] for name in names]

    def _keep_run(self) -> None:
        """Snapshots have what is known of keys, of lateness, of the last record, and what was
        dropped."""
        place = Context(self.shared).within("run")
        place.keep(self.shared.lateness, "lateness")
        place.keep(self.shared.clocks, "clocks")
        place.keep(self.shared.keys, "keys")
        place.keep(self.shared.cause, "place")
        place.keep(self.shared.dropped, "dropped")

    def _make_operators(self) -> None:
        self.partitions = {
            item.name: RunningPartition(
                item,
                tuple(query for query in self._plan.queries if query.partition == item.name),
                self._place("partition", item.name),
                self._callbacks,
            )
            for item in self._plan.partitions
        }
        routed: set[tuple[str, str]] = set()
        for operator in self._plan.operators:
            match operator:
                case Event():
                    self.events.watch(operator)
                case Query(partition=None):
                    self._make_query(operator)
                case Query(partition=str(name)):
                    self._route(operator, name, routed)
        self.events.connect(self._plan)

    def _make_query(self, query: Query) -> None:
        place = self._place("query", query.name)
        running = RunningQuery(query, place, self.stream, self._callbacks(query.name))
        self._queries.append(running)
        for name, receiver in running.receivers:
            self.stream(name).subscribe(receiver)

    def _route(self, query: Query, partition: str, routed: set[tuple[str, str]]) -> None:
        for name, receiver in self.partitions[partition].receivers(query):
            if (partition, name) not in routed:
                routed.add((partition, name))
                self.stream(name).subscribe(receiver)
