"""`App`: rules in a Python program, without files, daemon or Spark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any

from cep.app import frames
from cep.app.errors import ArgumentError, need, need_callable
from cep.clocks import Mode
from cep.dropped import Dropped
from cep.engine.change import changed, compiled_for
from cep.engine.clocks import MODES
from cep.engine.columns import Column
from cep.engine.encode import InputError
from cep.engine.native import Compiled, Run, Seed
from cep.engine.row_feed import RowFeed
from cep.engine.rows import Row, Rows
from cep.engine.snapshot import SnapshotError, restore, seed_of, take
from cep.engine.times import LAST_MSC, Time, msc
from cep.engine.watermarks import Telling
from cep.lang import Given
from cep.plan import Plan, compile_rules
from cep.plan.change import Report
from cep.plan.envelope import taken_names
from cep.plan.on_demand import build_on_demand
from cep.plan.rule_file import read_rule_file
from cep.plan.types import Schema

StreamCallback = Callable[[list[Row]], None]
QueryCallback = Callable[[int, list[Row] | None, list[Row] | None], None]


class App:
    """Rules at work: feed it rows, it calls back and returns what they cause.

    Rows are dictionaries: `stream`, `time_msc` (ms UTC), `kind`, then the attributes. Time is that
    of the rows; `advance` lets time pass without any. An App is not thread-safe.
    """

    def __init__(
        self,
        rules: str | Path | Plan,
        *,
        outputs: Sequence[str] | None = None,
        jit: bool = True,
        variables: Mapping[str, str] | None = None,
        parameters: Given | None = None,
        magic: int | None = None,
        mode: Mode = "sorted",
        changes: bool = True,
    ) -> None:
        """Load a rule text, file or plan; RuleError tells what is wrong with it and where.

        ArgumentError, here and below, for an argument of another kind.

        `outputs` are the streams whose rows `send` and `push` return (default: every derived
        one); KeyError when the rules do not make one of them. With `jit=False` nothing is compiled
        to machine code: slower, starts at once. `variables` are the values of `${name}` in the
        text, `parameters` those of its parameters in place of its own; ParameterError says what is
        none. `magic` is the magic number of positions for which they name none. `mode` says what
        the rows are: in the order of time (`sorted`), so that an older one is late, or as they
        came (`lived`), where each key of each stream has a clock of its own.
        Without `changes` no other rules can follow (`change`), and rules that a module can run have
        one, which is two to four times as fast.
        """
        self.plan = _plan(rules, variables, parameters, magic)
        self._outputs = None if outputs is None else _known(self.plan, outputs)
        self._jit = jit
        self._mode = _mode(mode)
        need("changes", changes, bool, "whether other rules may follow")
        need("jit", jit, bool, "whether there is to be machine code")
        self._changes = changes
        self._on_stream: defaultdict[str, list[StreamCallback]] = defaultdict(list)
        self._on_query: defaultdict[str, list[QueryCallback]] = defaultdict(list)
        self._told: list[tuple[str, str, Any]] = []
        self._run: Run | None = None
        self._feeds: dict[str, RowFeed] = {}
        self._is_closed = False
        self._dropped = Dropped()

    def __enter__(self) -> App:
        self._need_open()
        return self  # not begun: callbacks and a snapshot may still come

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def on_stream(self, stream: str, callback: StreamCallback) -> None:
        """Call back with the rows of a derived stream, those of one event at a time.

        KeyError when the rules make no such stream.
        """
        need("stream", stream, str, "the name of a derived stream")
        need_callable("callback", callback)
        if stream not in self.plan.made:
            known = ", ".join(sorted(self.plan.made))
            raise KeyError(f"no derived stream {stream!r}; there are {known}")
        _need_own_names("stream", stream, self.plan.stream(stream).schema)
        self._before_start()
        self._tell("stream", stream, callback)

    def on_query(self, query: str, callback: QueryCallback) -> None:
        """Call back with a query's time, current rows and expired rows (None: there are none).

        KeyError when there is no such query.
        """
        need("query", query, str, "the name of a query")
        need_callable("callback", callback)
        found = next((known for known in self.plan.queries if known.name == query), None)
        if found is None:
            known = ", ".join(known.name for known in self.plan.queries)
            raise KeyError(f"no query {query!r}; there are {known}")
        _need_own_names("query", query, found.schema)
        self._before_start()
        self._tell("query", query, callback)

    def _tell(self, kind: str, name: str, callback: Any) -> None:
        """Tell a callback from now on what comes out of a stream or query of the plan."""
        self._told.append((kind, name, callback))
        (self._on_stream if kind == "stream" else self._on_query)[name].append(callback)

    def _need_open(self) -> None:
        if self._is_closed:
            raise RuntimeError(
                "this App is closed; make a new one, and `restore` a snapshot to go on"
            )

    def _before_start(self) -> None:
        self._need_open()
        if self._run is not None:
            raise RuntimeError("register callbacks before the first row: they decide what compiles")

    def start(self, time_msc: Time | None = None) -> None:
        """Begin now rather than at the first row; timers count from `time_msc` (ms UTC)."""
        self._need_open()
        if self._run is None:
            self._run = self._load(Seed()).start(mode=self._mode)
            self._listen(self._run)
        if time_msc is not None:
            self._deliver(self._run.advance(msc(time_msc, "start")))

    def _listen(self, run: Run) -> None:
        for query, callbacks in self._on_query.items():
            for callback in callbacks:
                run.on_query(query, callback)

    def _load(self, seed: Seed) -> Compiled:
        return Compiled(
            self.plan,
            outputs=self._returned(),
            jit=self._jit,
            waits=False,  # they run uncompiled until there is machine code
            seed=seed,
            machine="always" if self._changes else "needed",  # no module can run all rules
            told=self._on_query,
        )

    def _returned(self) -> set[str] | None:
        return None if self._outputs is None else {*self._outputs, *self._on_stream}

    def change(
        self,
        rules: str | Path | Plan,
        *,
        variables: Mapping[str, str] | None = None,
        parameters: Given | None = None,
        magic: int | None = None,
    ) -> Report:
        """Go on with other rules: what did not change in them keeps its state.

        Returns what was kept, reset, is new and gone. RuleError, and nothing changed, when the
        new rules are wrong. Callbacks stay where their stream or query still exists.
        """
        if not self._changes:
            raise ArgumentError("change: this App was made with changes=False; leave that out")
        run, plan = self.run, _plan(rules, variables, parameters, magic)
        before = self.plan, self._told, self._on_stream, self._on_query
        self._begin_telling(plan)
        try:
            following = compiled_for(run, plan, outputs=self._returned(), told=self._on_query)
            self._run, report = changed(run, following)
        except Exception:
            self.plan, self._told, self._on_stream, self._on_query = before
            raise
        self._feeds.clear()
        self._listen(self._run)
        return report

    def _begin_telling(self, plan: Plan) -> None:
        """Take over a plan, and the callbacks for what it has."""
        told, self.plan, self._told = self._told, plan, []
        self._on_stream, self._on_query = defaultdict(list), defaultdict(list)
        known = {("query", query.name) for query in plan.queries}
        known |= {("stream", stream) for stream in plan.made}
        for kind, name, callback in told:
            if (kind, name) in known:
                self._tell(kind, name, callback)

    @property
    def run(self) -> Run:
        """The run behind this App, started."""
        self.start()
        assert self._run is not None
        return self._run

    def send(
        self, stream: str, row: Mapping[str, Any] | Sequence[Any], time_msc: Time | None = None
    ) -> list[Row]:
        """Feed one row, as a dictionary or as values in the order of the stream's attributes.

        `time_msc` is its time, in ms UTC or as a datetime; a dictionary may hold it under that
        name. Returns what the row causes. InputError, and nothing fed, when it does not fit.
        """
        feed = self._feed(stream)
        values = row if type(row) is tuple else frames.values(row, feed.names, stream)
        if time_msc is None and isinstance(row, Mapping):
            time_msc = row.get(frames.TIME)
        if time_msc is None:
            raise InputError(f"{stream}: a row without `time_msc`, its time in ms UTC")
        if type(time_msc) is not int or not 0 <= time_msc <= LAST_MSC:
            time_msc = msc(time_msc, f"{stream}.{frames.TIME}")
        return self._deliver(feed.push(time_msc, *values))

    def send_all(self, stream: str, rows: Iterable[tuple[Any, ...]]) -> list[Row]:
        """Feed rows that are made already: tuples of the time in ms UTC, then the values in order.

        The engine takes them one by one; only the way into it is shared, which makes it two or
        three times as fast as a call of `send` for each. InputError, and nothing fed, when one
        does not fit.
        """
        return self._deliver(self.run.push_rows(stream, rows))

    def _feed(self, stream: str) -> RowFeed:
        try:
            return self._feeds[stream]
        except (KeyError, TypeError):  # TypeError: it is no name, which RowFeed says
            feed = self._feeds[stream] = RowFeed(self.run, stream)
            return feed

    def push(
        self, stream: str, frame: frames.Frame, time_msc: Column | str | None = None
    ) -> list[Row]:
        """Feed rows as columns: a dictionary of columns, an Arrow table or a pandas frame.

        `time_msc` is a column, or the name of one (default: `time_msc`). The result is that of
        sending the rows one by one. InputError, and nothing fed, when a column does not fit.
        """
        columns = frames.columns(frame)
        times = frames.times(columns, time_msc, stream)
        return self._deliver(self.run.push(stream, columns, times))

    def advance(self, time_msc: Time, keys: Iterable[str] | None = None) -> list[Row]:
        """Say that all rows before a time have come: what is due fires. Returns what that causes.

        `keys` says it of these keys' rows alone, where each key has a clock (`mode='lived'`).
        """
        at_msc = msc(time_msc, "advance")
        if keys is None:
            return self._deliver(self.run.advance(at_msc, is_complete=True))
        need("keys", keys, (list, tuple, set, frozenset), "a list of keys")
        if self._mode == "sorted":
            raise ArgumentError("keys: sorted rows have one clock; make the App with mode='lived'")
        told = Telling(at_msc, tuple(keys), is_complete=True)
        return self._deliver(self.run.tell(told, self.run.next_order))

    def wall(self, time_msc: Time) -> list[Row]:
        """Say what the wall's clock shows, ms UTC: for `@app:playback(idle.time=.., ..)` alone."""
        return self._deliver(self.run.wall(msc(time_msc, "wall")))

    def ask(self, query: str) -> list[Row]:
        """Answer an on-demand query on tables, named windows or aggregations."""
        need("query", query, str, "the text of an on-demand query")
        return self.run.ask(build_on_demand(query, self.plan))

    @property
    def dropped(self) -> Dropped:
        """What was dropped so far, by name and reason: `app.dropped.by_name()`; closed, too."""
        return self._dropped if self._run is None else self._run.dropped

    def snapshot(self) -> bytes:
        """The state between two rows."""
        return take(self.run)

    def restore(self, snapshot: bytes) -> None:
        """Go on where a snapshot of the same rules was taken; SnapshotError for another's."""
        need("snapshot", snapshot, (bytes, bytearray, memoryview), "the bytes of `snapshot()`")
        self._need_open()
        if self._run is not None:
            raise RuntimeError("restore before the first row, in an App that has not started yet")
        run = restore(self._load(seed_of(snapshot)), snapshot)
        if run.clocks.mode != self._mode:
            taken = run.clocks.mode
            raise SnapshotError(
                f"the snapshot is of {taken} rows; make the App with mode={taken!r}"
            )
        self._run = run
        self._listen(run)

    def close(self) -> None:
        """Let go of everything; the App cannot be used any more, but closed again."""
        self._dropped = self.dropped
        self._run, self._is_closed = None, True
        self._feeds.clear()

    def _deliver(self, rows: Rows) -> list[Row]:
        """Call back, the rows of one event and stream at a time."""
        if not rows:  # as most rows lead to none
            return []
        made = rows.dicts()
        if self._on_stream:
            keys = zip(rows.orders.tolist(), (row["stream"] for row in made), strict=True)
            for (_, stream), group in groupby(zip(keys, made, strict=True), lambda pair: pair[0]):
                together = [row for _, row in group]
                for callback in self._on_stream.get(stream, ()):
                    callback(together)
        if self._outputs is None or not self._on_stream:
            return made
        return [row for row in made if row["stream"] in self._outputs]


def _known(plan: Plan, outputs: Sequence[str]) -> tuple[str, ...]:
    """The names of derived streams; KeyError for one that is none."""
    if isinstance(outputs, str):
        raise ArgumentError(f"outputs={outputs!r} is one name; give a list: [{outputs!r}]")
    need("outputs", outputs, Iterable, "a list of names of derived streams")
    outputs = tuple(outputs)
    for name in outputs:
        need("outputs", name, str, "a list of names of derived streams")
        if name not in plan.made:
            known = ", ".join(sorted(plan.made))
            raise KeyError(f"outputs: no derived stream {name!r}; there are {known}")
    return outputs


def _mode(mode: Mode) -> Mode:
    if mode not in MODES:
        raise ArgumentError(f"mode={mode!r}; give one of {', '.join(map(repr, MODES))}")
    return mode


def _plan(
    rules: str | Path | Plan,
    variables: Mapping[str, str] | None,
    parameters: Given | None,
    magic: int | None,
) -> Plan:
    variables = {} if variables is None else variables
    parameters = {} if parameters is None else parameters
    need("rules", rules, (str, Path, Plan), "a rule text, the Path of a file, or a Plan")
    need("parameters", parameters, Mapping, "a dictionary of values by name")
    need("variables", variables, Mapping, "a dictionary of texts")
    if magic is not None:
        need("magic", magic, int, "a magic number: 77")
    for name, value in variables.items():
        need(f"variables[{name!r}]", value, str, f"the text that is put in: {str(value)!r}")
    if isinstance(rules, str) and rules.endswith(".cep") and "\n" not in rules:
        raise ArgumentError(f"rules={rules!r} names a file; give Path({rules!r})")
    if isinstance(rules, Plan):
        given = {"variables": variables, "parameters": parameters, "magic": magic is not None}
        for name, values in given.items():
            if values:
                raise ArgumentError(f"{name} belong to a rule text; a plan has taken in its own")
        return rules
    if isinstance(rules, Path):
        return compile_rules(read_rule_file(rules), str(rules), variables, parameters, magic)
    return compile_rules(rules, variables=variables, parameters=parameters, magic=magic)


def _need_own_names(kind: str, name: str, schema: Schema) -> None:
    """ArgumentError for attributes that would hide what each row says of itself."""
    if taken := taken_names(schema.names):
        hint = f"each row says that of itself; select it as `own_{taken[0]}`"
        raise ArgumentError(f"{kind} {name!r} has an attribute `{taken[0]}`: {hint}")
