"""What each part of a plan remembers: derived operator by operator, from the sources on.

A part whose memory is not known to be shorter remembers all there ever was. What is derived is of
history, whose records stand in the order of time, and of values alone: numbers and `seq` of events
count from the beginning, and whoever joins parts of a run counts them anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from cep.plan import functions
from cep.plan.change import PartId
from cep.plan.expressions import Call, Constant, InTable
from cep.plan.functions.scalars.records import CURRENT_TIME, UUID
from cep.plan.functions.streams.bars import TIME as TIME_BARS
from cep.plan.keys import (
    divides_by_key,
    is_key,
    key_attributes,
    looks_by_key,
)
from cep.plan.memory import (
    EVERYTHING,
    NOTHING,
    Memory,
    behind,
    for_ms,
    forever,
    last_rows,
    together,
    until_silence,
)
from cep.plan.nodes import (
    Complex,
    Either,
    Engine,
    Event,
    Leaf,
    Origin,
    Pattern,
    Plan,
    Repeat,
    Sequence,
    leaves,
    nodes_below,
)
from cep.plan.outlets import streams_filled
from cep.plan.query import (
    EveryState,
    GroupState,
    Match,
    Matching,
    MatchState,
    NextState,
    Query,
    StreamInput,
    StreamState,
)
from cep.plan.steps import Filter, GroupBy, Handler, Holder, Insert, Last, Project, Window
from cep.plan.text import duration_text
from cep.plan.windows import argument_of, kind_of


@dataclass(frozen=True, slots=True)
class Remembered:
    """The memory of each part by itself (`own`), and with that of all that its rows come from."""

    own: Mapping[PartId, Memory]
    whole: Mapping[PartId, Memory]

    @property
    def plan(self) -> Memory:
        """That of all parts together."""
        return together(self.whole.values())

    def of(self, names: Iterable[str]) -> Memory:
        """That of the parts of these names."""
        wanted = set(names)
        return together(whole for (_, name), whole in self.whole.items() if name in wanted)

    def describe(self, hidden: Collection[str] = ()) -> list[str]:
        """What `explain` says about it, a line each; `hidden` are queries that are not told of."""
        titles: dict[str, list[str]] = {}
        lost: dict[str, None] = {}
        for (_, name), memory in self.own.items():
            if name in hidden:
                continue
            if memory.forever:
                lost[f"  {memory.forever}"] = None
            else:
                titles.setdefault(str(memory), []).append(name)
        lines = [f"{title}: {', '.join(dict.fromkeys(names))}" for title, names in titles.items()]
        if lost:
            lines += [f"{EVERYTHING}:", *lost]
        return [*lines, f"by time: {split_text(self.plan)}"] if lines else []


def split_text(memory: Memory) -> str:
    """Whether a run over history may begin later, in words."""
    if memory.forever:
        return f"in one piece, {memory.forever}"
    if memory.silence_ms:
        return (
            f"in parts that begin after a silence of more than {duration_text(memory.silence_ms)},"
            f" and first read {replace(memory, silence_ms=0)}"
        )
    return f"in parts that begin anywhere, and first read {memory}"


def remembered(plan: Plan) -> Remembered:
    """The memory of every part of a plan."""
    return _Derivation(plan).run()


class _Derivation:
    """Streams are asked from their readers back to the sources, each once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.held = key_attributes(plan)
        self.own: dict[PartId, Memory] = {}
        self.whole: dict[PartId, Memory] = {}
        self._streams: dict[str, Memory] = {}
        self._dense: dict[str, str] = {}
        self._under_way: set[str] = set()
        self._partitions = {one.name: one for one in plan.partitions}

    def run(self) -> Remembered:
        plan = self.plan
        if plan.compat:
            why = f"compat('{plan.compat}') keeps what it keeps"
            parts = {("plan", plan.name): forever(f"{plan.name}: {why}")}
            return Remembered(parts, parts)
        for source in plan.sources:
            if source.reorder is not None:
                self._note(("stream", source.name), for_ms(source.reorder.max_delay_ms), NOTHING)
        for trigger in plan.triggers:
            why = f"{trigger.name}: it goes by the clock since the start"
            self._note(("trigger", trigger.name), forever(why), NOTHING)
        for aggregation in plan.aggregations:
            why = f"{aggregation.name}: it keeps values of all rows"
            self._note(("aggregation", aggregation.name), forever(why), NOTHING)
        for window in plan.windows:
            self._window(window.name)
        for operator in plan.operators:
            match operator:
                case Query():
                    self._query(operator)
                case Event():
                    self._event(operator)
                case Complex():
                    pass  # an engine remembers for it
        for engine in plan.engines:
            self._engine(engine.name)
        return Remembered(self.own, self.whole)

    def _note(self, part: PartId, own: Memory, before: Memory) -> Memory:
        """Keep what was found of a part."""
        self.own[part], self.whole[part] = own, behind(own, before)
        return self.whole[part]

    def _once(self, part: PartId, find: Callable[[], Memory]) -> Memory:
        return self.whole[part] if part in self.whole else find()

    def stream(self, name: str) -> Memory:
        """The memory of the rows of a stream or named window."""
        if name in self._under_way:
            return forever(f"rows go round in a circle through {name}")
        if name not in self._streams:
            self._under_way.add(name)
            self._streams[name] = together(self._written(name))
            self._under_way.remove(name)
        return self._streams[name]

    def _written(self, name: str) -> Iterator[Memory]:
        """Of everything that puts rows there."""
        plan = self.plan
        stream = next((one for one in plan.streams if one.name == name), None)
        if stream is None:
            yield self._window(name)
            return
        if stream.origin in (Origin.FAULT, Origin.TRIGGER):
            yield forever(f"{name} follows from faults or the clock")
        for source in plan.streams:
            own = source.reorder
            if own is not None and name in (source.name, own.late_stream):
                yield for_ms(own.max_delay_ms)
        for operator in plan.operators:
            match operator:
                case Query() if name in streams_filled(operator):
                    yield self._query(operator)
                case Event(name=own_name) | Complex(name=own_name) if own_name == name:
                    yield self._engine(operator.engine)
                case _:
                    pass

    def _window(self, name: str) -> Memory:
        return self._once(("window", name), lambda: self._found_window(name))

    def _found_window(self, name: str) -> Memory:
        window = next(one for one in self.plan.windows if one.name == name)
        into = [query for query in self.plan.queries if query.target == name]
        own = _named(name, self._window_memory(window.window, None))
        return self._note(("window", name), own, together(map(self._query, into)))

    def _event(self, event: Event) -> Memory:
        return self._once(("event", event.name), lambda: self._found_event(event))

    def _found_event(self, event: Event) -> Memory:
        own = NOTHING
        if not event.every:
            source = self.dense(event.source)
            if event.key is not None and not looks_by_key(event, self.held):
                own = forever(f"{event.name}: whether it was true, of each {event.key.name}")
            elif source is None:
                own = forever(f"{event.name}: the last row of {event.source} may be of any age")
            else:
                own = last_rows(1, source)
        return self._note(("event", event.name), own, self.stream(event.source))

    def _engine(self, name: str) -> Memory:
        return self._once(("engine", name), lambda: self._found_engine(self.plan.engine(name)))

    def _found_engine(self, engine: Engine) -> Memory:
        plan = self.plan
        own_events = [self._event(one) for one in plan.events if one.engine == engine.name]
        chained = [self.stream(one.complex) for one in plan.chained if one.engine == engine.name]
        own = _engine_memory(plan, engine)
        return self._note(("engine", engine.name), own, together((*own_events, *chained)))

    def _query(self, query: Query) -> Memory:
        return self._once(("query", query.name), lambda: self._found_query(query))

    def _found_query(self, query: Query) -> Memory:
        """The inputs one by one, and behind them what the query remembers of their rows."""
        name = query.name
        own = [_named(name, self._input_memory(query, one)) for one in query.inputs]
        binds = _named(name, self._binding(query))
        read = (
            behind(memory, NOTHING if memory.forever else self.stream(one.stream))
            for memory, one in zip(own, query.inputs, strict=True)
        )
        whole = behind(binds, together(read))
        self.own["query", name] = behind(binds, together(own))
        self.whole["query", name] = whole
        return whole

    def _input_memory(self, query: Query, source: StreamInput) -> Memory:
        """What is remembered in front of what binds the inputs."""
        if source.holder in (Holder.TABLE, Holder.AGGREGATION):
            return forever(f"{source.stream} keeps rows")
        found = NOTHING
        for handler in source.before:
            found = behind(self._handler(handler, query), found)
        if source.window is not None:
            rows_of = self._counted(query, source)
            found = behind(self._window_memory(source.window, rows_of), found)
        for handler in source.after:
            found = behind(self._handler(handler, query), found)
        return found

    def _handler(self, handler: Handler, query: Query) -> Memory:
        if isinstance(handler, Filter):
            return NOTHING
        signature = functions.stream_function(handler.name)
        if signature is not None and not signature.stateful:
            return NOTHING
        is_by_key = all(is_key(key, query, self.held) for key in handler.keys)
        size = handler.arguments[-1] if handler.arguments else None
        if handler.name == TIME_BARS.name and is_by_key and isinstance(size, Constant):
            return for_ms(int(size.value or 0))
        return forever(f"its {handler.name} follows from all rows")

    def _counted(self, query: Query, source: StreamInput) -> str | None:
        """The source of whose rows there are as many as enter the window of an input, at most."""
        if any(not _passes_all(one) for one in source.before):
            return None
        return self.dense(source.stream) if self._is_by_key(query) else None

    def _is_by_key(self, query: Query) -> bool:
        """Whether what a query keeps is of all rows, or of those of each key."""
        partition = self._partitions.get(query.partition or "")
        return partition is None or divides_by_key(partition, self.held)

    def _window_memory(self, window: Window, rows_of: str | None) -> Memory:
        kind = kind_of(window)
        match kind.keeps:
            case "age":
                return for_ms(window.constant(kind.size))
            case "batches":
                start = argument_of(window, "start")
                if isinstance(start, Constant) and start.value is not None:
                    return for_ms(2 * window.constant(kind.size))  # what is told, and what expires
                return forever(f"its {window.name} begins with the first row")
            case "rows" if rows_of is not None:
                return last_rows(window.constant(kind.size), rows_of)
            case "rows":
                return forever(f"the rows in its {window.name} window may be of any age")
            case "silence":
                latency = argument_of(window, "latency")
                assert isinstance(latency, Constant)
                return until_silence(window.constant(kind.size) + int(latency.value or 0))
            case _:
                return forever(f"what is in its {window.name} window follows from all rows")

    def _binding(self, query: Query) -> Memory:
        """What a query remembers of the rows of its inputs."""
        if query.rate is not None:
            return forever("its output is limited, which counts from the first row")
        if any(isinstance(one, InTable) for one in nodes_below(query)):
            return forever("it asks a table")
        if (why := self._partition_why(query)) or (why := _aggregates_why(query)):
            return forever(why)
        match query.input:
            case Match():
                return _match_memory(query.input)
            case Matching():
                return for_ms(query.input.within_ms)
            case _:
                return NOTHING

    def _partition_why(self, query: Query) -> str:
        partition = self._partitions.get(query.partition or "")
        if partition is None:
            return ""
        if partition.purge_every_ms is not None or partition.idle_ms is not None:
            return "its partition forgets keys by the clock"
        divided = {key.stream for key in partition.keys}
        for one in query.inputs:
            if one.stream not in divided and not one.stream.startswith(f"{partition.name}#"):
                return f"rows of {one.stream} reach every key there has been"
        return ""

    def dense(self, stream: str) -> str | None:
        """A source each of whose records makes a row of the stream, of its key, at least."""
        found = next((one for one in self.plan.streams if one.name == stream), None)
        if found is None or found.reorder is not None:
            return None
        if found.origin is Origin.SOURCE:
            return stream
        if stream not in self._dense:
            self._dense[stream] = ""  # for those that go in a circle
            writers = (one for one in self.plan.queries if one.target == stream)
            self._dense[stream] = next(filter(None, map(self._dense_query, writers)), "")
        return self._dense[stream] or None

    def _dense_query(self, query: Query) -> str:
        """The source of each of whose records a query puts a row out."""
        source, output = query.input, query.output
        if not isinstance(source, StreamInput) or not isinstance(output, Insert):
            return ""
        if output.events == "expired" or not self._is_by_key(query):
            return ""
        if not all(map(_passes_all, (*source.before, *source.after))):
            return ""
        if not all(isinstance(step, GroupBy | Project | Last) for step in query.steps):
            return ""
        if source.window is not None and not kind_of(source.window).leaves_singly:
            return ""
        return self.dense(source.stream) or ""


def _named(name: str, memory: Memory) -> Memory:
    return forever(f"{name}: {memory.forever}") if memory.forever else memory


def _passes_all(handler: Handler) -> bool:
    """Whether every row goes on."""
    if isinstance(handler, Filter):
        return False
    signature = functions.stream_function(handler.name)
    return signature is not None and not signature.stateful


def _aggregates_why(query: Query) -> str:
    """Why running values follow from more than what is in the window; empty when they do not."""
    if not query.aggregates:
        return ""
    if not isinstance(query.input, StreamInput):
        return "its running values follow from all rows that met"
    window = query.input.window
    if window is None:
        return "its running values are of all rows"
    kind = kind_of(window)
    if not (kind.leaves_singly or kind.keeps in ("batches", "silence")):
        return f"its running values are not of what is in {window.name}"
    kept = ("window", "arrivals") if kind.keeps == "batches" else ("window",)
    for one in query.aggregates:
        if functions.aggregator_of(one.function).remembers not in kept:
            return f"its {one.function} follows from all rows"
    if any(map(_changes, nodes_below((query.aggregates, query.input.after)))):
        return "a row may leave its running values with another value than it came with"
    return ""


def _changes(node: object) -> bool:
    """Whether the same row may have another value later."""
    if not isinstance(node, Call):
        return False
    return bool(node.digest) or node.function in (CURRENT_TIME.name, UUID.name)


def _match_memory(match: Match) -> Memory:
    """Of a pattern that begins with each row of one kind: no match depends on another one."""
    if match.kind != "pattern" or not _begins_with_every(match.root):
        return forever(f"what its {match.kind} waits for follows from all there was")
    if match.within_ms is None:
        return forever("its pattern has no `within`")
    return for_ms(match.within_ms + 1)  # one more, when it is told that its time is over


def _begins_with_every(root: MatchState) -> bool:
    """`every e1=A -> e2=B -> ..`, no state of which is counted, absent or two at once."""
    match root:
        case NextState(left=EveryState(state=StreamState()), right=right):
            return _is_chain(right)
        case GroupState(state=state, within_ms=None):
            return _begins_with_every(state)
        case _:
            return False


def _is_chain(state: MatchState) -> bool:
    match state:
        case StreamState():
            return True
        case NextState():
            return _is_chain(state.left) and _is_chain(state.right)
        case _:
            return False


def _engine_memory(plan: Plan, engine: Engine) -> Memory:
    """Its queue: of a time, unless what is in it follows from what was in it before."""
    events = [one for one in plan.events if one.engine == engine.name]
    repeats = [one.repeat for one in events]
    repeats += [one.repeat for one in plan.chained if one.engine == engine.name]
    if Repeat.REJECT in repeats:
        return until_silence(engine.span_ms)
    is_opposed = engine.opposites == "validate" and any(one.opposites for one in events)
    found = (one for one in plan.complexes if one.engine == engine.name)
    if not all(_binds_by_time(one, is_opposed=is_opposed) for one in found):
        return until_silence(engine.span_ms)
    return for_ms(engine.span_ms)


def _binds_by_time(found: Complex, *, is_opposed: bool) -> bool:
    """Whether what an event is bound to follows from later events alone.

    So it is where events of different names follow one another: the newest ones that are free are
    taken, so that one is free or not whatever came before it. Where one event is asked for twice,
    or either of two may come first, each match decides what the next one finds, without end. An
    absence is looked for in between, which of three events decides which two are left over.
    """
    names = [ref.event for ref in leaves(found.pattern)]
    if _is_one_event(found.pattern):
        return True
    if len(set(names)) < len(names) or not _follow(found.pattern):
        return False
    return len(names) == 2 or not (is_opposed or found.forbid or _has_absence(found.pattern))


def _is_one_event(pattern: Pattern) -> bool:
    if isinstance(pattern, Either):
        return _is_one_event(pattern.left) and _is_one_event(pattern.right)
    return isinstance(pattern, Leaf)


def _follow(pattern: Pattern) -> bool:
    if isinstance(pattern, Sequence):
        return _follow(pattern.left) and _follow(pattern.right)
    return isinstance(pattern, Leaf)


def _has_absence(pattern: Pattern) -> bool:
    return isinstance(pattern, Sequence) and (
        bool(pattern.absent) or _has_absence(pattern.left) or _has_absence(pattern.right)
    )
