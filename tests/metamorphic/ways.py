"""The ways to run a rule file over the same records: none of them may change a row."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from cep.clocks import Mode
from cep.database.drivers import connect
from cep.database.runner import Options, Runner
from cep.engine.apart import begun_apart, is_distributable
from cep.engine.change import changed, compiled_for
from cep.engine.distributed import Merge
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import Ints
from cep.engine.native import Compiled, Run
from cep.engine.part import EVER, End, run_part
from cep.engine.rows import Rows
from cep.engine.snapshot import restore, take
from cep.engine.watermarks import Telling
from cep.fragments.exchange import Fragments, merged
from cep.fragments.replay import DatabaseReplay, part_of
from cep.fragments.rows import Line as Placed
from cep.fragments.split import split
from cep.inputs.types import ARROW
from cep.interpreter.change import changed as take_over
from cep.interpreter.run import InterpretedRun
from cep.plan.elapsed import put_out_by_time
from cep.plan.nodes import Plan
from cep.replay import Source
from cep.spark.replay import are_in_order, replay_on_spark
from tests.metamorphic import servers

END = "end"
"""The stream of the last step: the input ends."""
TOLD = "told"
"""The stream of a watermark of some keys: `keys`, `is_complete`, and `common_msc`, up to when all
that is told of has come (None: nobody says so)."""
OWN = "own clock"
"""The stream of a step by which time passes on the clock of who stores the records."""
Step = tuple[str, int, dict[str, Any] | None]
"""A record or a watermark of keys; without a row time passes (stream "" or `OWN`), or the input
ends.
"""


def is_record(step: Step) -> bool:
    """Whether it is a record, not time that passes."""
    return step[0] not in ("", OWN, END, TOLD)


RELOADED_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Line:
    """A row that came out, and the step that it came of; -1 where a way does not tell."""

    n: int
    stream: str
    row: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A plan, what is sent to it, and the chance by which a way decides what it may decide."""

    plan: Plan
    steps: Sequence[Step]
    mode: Mode
    seed: int

    @property
    def random(self) -> Random:
        return Random(self.seed)


class RefusedError(Exception):
    """A way that does not run such rules, and says so before it begins."""


Way = Callable[[Case], list[Line]]


def interpreter(case: Case) -> list[Line]:
    """The meaning: record by record."""
    run = InterpretedRun(case.plan, mode=case.mode)
    return [line for n, step in enumerate(case.steps) for line in _interpreted(run, n, step)]


def traced(case: Case) -> list[Line]:
    """With a trace and callbacks that look at everything."""
    run = InterpretedRun(case.plan, mode=case.mode)
    run.interpreter.on_trace(lambda place, what, row: None)
    for stream in case.plan.streams:
        run.interpreter.on_stream(stream.name, lambda chunk: None)
    for query in case.plan.queries:
        run.interpreter.on_query(query.name, lambda at, current, expired: None)
    return [line for n, step in enumerate(case.steps) for line in _interpreted(run, n, step)]


def told_of_time(case: Case) -> list[Line]:
    """Between records of history somebody says that time passes."""
    run, told = InterpretedRun(case.plan, mode=case.mode), _Passing(case)
    lines = []
    for n, step in enumerate(case.steps):
        stream, at, row = step
        for passed in told.before(step):
            run.interpreter.advance(passed, n)
        if row is None:
            lines += _interpreted(run, n, step)
        else:
            values = [row[name] for name in case.plan.stream(stream).schema.names]
            lines += [Line(n, one["stream"], one) for one in run.push(stream, at, values, n)]
    return lines


class _Passing:
    """Times, some by chance and each only once, between the newest record and the next one."""

    def __init__(self, case: Case) -> None:
        if case.mode != "sorted":
            raise RefusedError("of what was lived, its watermarks tell")
        self._random = case.random
        self._newest_ms: int | None = None

    def before(self, step: Step) -> list[int]:
        _, to_ms, row = step
        from_ms, self._newest_ms = self._newest_ms, max(to_ms, self._newest_ms or to_ms)
        if row is None or from_ms is None or from_ms >= to_ms:
            return []
        count = self._random.choice((0, 1, 3))
        return sorted(self._random.randint(from_ms, to_ms) for _ in range(count))


def interpreter_restored(case: Case) -> list[Line]:
    """Saved and restored between some records."""
    random, lines = case.random, []
    run = InterpretedRun(case.plan, mode=case.mode)
    share = random.choice((0.1, 0.5, 1.0))
    for n, step in enumerate(case.steps):
        lines += _interpreted(run, n, step)
        if random.random() < share:
            saved = run.interpreter.snapshot()
            run = InterpretedRun(case.plan, mode=case.mode)
            run.interpreter.restore(saved)
    return lines


def interpreter_reloaded(case: Case) -> list[Line]:
    """The same rules are loaded anew between some records."""
    random, lines = case.random, []
    run = InterpretedRun(case.plan, mode=case.mode)
    for n, step in enumerate(case.steps):
        lines += _interpreted(run, n, step)
        if random.random() < RELOADED_SHARE:
            following = InterpretedRun(case.plan, mode=case.mode)
            following.interpreter.restore(take_over(run.interpreter, case.plan)[0].snapshot())
            run = following
    return lines


def native(case: Case) -> list[Line]:
    """Natively as plain Python, record by record."""
    run = Compiled(case.plan, jit=False).start(mode=case.mode)
    return [line for n, step in enumerate(case.steps) for line in _native(run, n, step)]


def one_program(case: Case) -> list[Line]:
    """As one program, in batches that end anywhere; between some of them it is saved and restored,
    or the same rules are loaded anew.
    """
    rules = Compiled(case.plan, jit=False, machine="always")
    if rules.as_program(case.mode) is None:
        raise RefusedError(rules.why_not_whole)
    return _batched(case, rules.start(mode=case.mode))


def by_interpreter(case: Case) -> list[Line]:
    """In the interpreter in the engine's place, in the same way."""
    rules = Compiled(case.plan, jit=False).by_interpreter
    return _batched(case, rules.begun(mode=case.mode))


def _batched(case: Case, run: Run) -> list[Line]:
    random, lines = case.random, list[Line]()
    most, share = random.choice((1, 2, 5, 1_000)), random.choice((0.0, 0.2, 1.0))
    batch: list[tuple[int, Step]] = []
    for n, step in enumerate(case.steps):
        if is_record(step):
            batch.append((n, step))
        if batch and (not is_record(step) or len(batch) == most):
            lines += _lines(run.feed(_encoded(run, batch)))
            batch = []
        if not is_record(step):
            lines += _native(run, n, step)
        if not batch and random.random() < share:
            run = restore(run.rules, take(run))
        if not batch and random.random() < share / 4:
            run, _ = changed(run, compiled_for(run, case.plan))
    return lines + _lines(run.feed(_encoded(run, batch))) if batch else lines


def native_told_of_time(case: Case) -> list[Line]:
    """The same natively."""
    run, told = Compiled(case.plan, jit=False).start(mode=case.mode), _Passing(case)
    lines = []
    for n, step in enumerate(case.steps):
        for at in told.before(step):
            lines += _lines(run.advance(at, n))
        lines += _native(run, n, step)
    return lines


def native_restored(case: Case) -> list[Line]:
    """Natively, saved and restored between some records."""
    return _restored(case, jit=False)


def reloaded(case: Case) -> list[Line]:
    """Natively, the same rules loaded anew between some records."""
    random, lines = case.random, []
    run = Compiled(case.plan, jit=False).start(mode=case.mode)
    for n, step in enumerate(case.steps):
        lines += _native(run, n, step)
        if random.random() < RELOADED_SHARE:
            run, _ = changed(run, compiled_for(run, case.plan))
    return lines


def taken_over(case: Case) -> list[Line]:
    """Machine code takes over from plain Python midway."""
    return _restored(case, jit=True)


def machine(case: Case) -> list[Line]:
    """Machine code, record by record."""
    run = Compiled(case.plan).start(mode=case.mode)
    return [line for n, step in enumerate(case.steps) for line in _native(run, n, step)]


def batched(case: Case) -> list[Line]:
    """Natively, in batches that end anywhere."""
    random, lines = case.random, []
    run = Compiled(case.plan, jit=False).start(mode=case.mode)
    most = random.choice((2, 5, 1_000))
    batch: list[tuple[int, Step]] = []
    for n, step in enumerate(case.steps):
        if is_record(step):
            batch.append((n, step))
        if batch and (not is_record(step) or len(batch) == most or random.random() < 0.1):
            lines += _lines(run.feed(_encoded(run, batch)))
            batch = []
        if not is_record(step):
            lines += _native(run, n, step)
    return lines


def by_key(case: Case) -> list[Line]:
    """Each key in a run of its own, in any number of parts, and the parts put together.

    This is what tasks of Spark do.
    """
    rules, mode = Compiled(case.plan, jit=False), case.mode
    if (why := is_distributable(rules, lived=mode == "lived", places_times=True)) is not None:
        raise RefusedError(why)
    times = [at for _, at, _ in case.steps]
    if mode == "sorted" and times != sorted(times):
        raise RefusedError("a key's tasks see no other key's records, which make late in history")
    places = rules.in_parts(mode)[0].stages.by.keys
    parts: dict[Any, list[tuple[int, Step]]] = {}
    came: dict[Any, int] = {}
    for n, step in enumerate(case.steps):
        if step[0] == TOLD and step[2] is not None:
            for key in step[2]["keys"]:  # it appears, though there is no record of it yet
                parts.setdefault(key, [])
        elif step[2] is not None and step[0] in places:
            key = step[2][places[step[0]]]
            parts.setdefault(key, []).append((n, step))
            came.setdefault(key, len(came))
    known = [key for key in parts if key is not None]
    if None in parts and mode == "lived" and any(put_out_by_time(case.plan)):
        raise RefusedError(
            "there is no way to tell of records without a key that they are complete"
        )
    merge = Merge(rules, known, mode, partial(_first_at, case) if mode == "sorted" else None)
    made = []
    for place, (key, own) in enumerate(parts.items()):
        run = begun_apart(rules, known, mode)
        told = deque(_told_of(key, case.steps) if mode == "lived" else ())
        batches = [_encoded(run, own)] if own else []
        end = End(time_msc=times[-1] if mode == "sorted" else None)
        number = came.get(key, len(came))
        made.append((place, run_part(run, batches, partial(_taken, told), end, number)))
    return _lines(merge.push(made))


def _first_at(case: Case, times_msc: Ints) -> Ints:
    """The first step of history that is not older than each of these times."""
    found: Ints = np.searchsorted([at for _, at, _ in case.steps], times_msc)
    return np.where(found < len(case.steps), found, EVER)


def _told_of(key: Any, steps: Iterable[Step]) -> Iterator[tuple[int, Telling]]:
    """What is told of one key, behind its place."""
    for n, (stream, at, row) in enumerate(steps):
        if stream == TOLD and row is not None and key in row["keys"]:
            yield n, Telling(at, (key,), row["is_complete"])
        elif row is None and stream != OWN and key is not None:
            yield n, Telling(at, (key,), is_complete=True)


def _taken(told: deque[tuple[int, Telling]], order: int) -> Iterator[tuple[int, Telling]]:
    """What was told before a place, once."""
    while told and told[0][0] < order:
        yield told.popleft()


def database(case: Case, url: str = "sqlite://") -> list[Line]:
    """The queries in a database, in batches of some size, the rest on our engine behind it."""
    if case.mode != "sorted":
        raise RefusedError("a replay is of records in the order of time")
    if not (records := sources(case.plan, enumerate(case.steps))):
        return []
    with closing(
        DatabaseReplay(case.plan, url, jit=False, batch_events=case.random.choice((1, 3, 1_000)))
    ) as run:
        made = list(run.replay(records, until_msc=case.steps[-1][1]))
    rows = [json.loads(line) for lines in made for line in lines]
    return [Line(-1, row["stream"], row) for row in rows]


def behind(case: Case) -> list[Line]:
    """The same as it is lived, as in a daemon: our engine is told how time passes."""
    if case.mode != "lived":
        raise RefusedError("a daemon's records are lived")
    lines: list[Line] = []
    with closing(_Behind(case)) as run:
        for n, step in enumerate(case.steps):
            lines += run.take(n, step)
        return lines + run.rest()


class _Behind:
    """Both halves of a plan at work on batches that end anywhere."""

    def __init__(self, case: Case) -> None:
        self._plan, self._random = case.plan, case.random
        driver = connect("sqlite://")
        found = split(case.plan, driver.dialect, lived=True)
        self._runner = Runner(driver, Options(may_restart=False, takes_late=True))
        wanted = case.plan.derived
        self._runner.change(found.front, found.passed | (wanted & found.front.made))
        self._run = Compiled(found.rest, outputs=wanted & found.rest.made, jit=False).start()
        self._halves = Fragments(case.plan, found, self._runner, self._run, wanted)
        self._waiting: list[tuple[int, Step]] = []

    def take(self, n: int, step: Step) -> list[Line]:
        """What a step leads to, and what has waited before it."""
        if not is_record(step):
            waiting = self.rest()
            told = _told(self._run, n, step)
            return [*waiting, *_placed(self._halves.numbered(told))]
        self._waiting.append((n, step))
        return self.rest() if self._random.random() < 0.3 else []

    def rest(self) -> list[Line]:
        """What those that wait lead to."""
        if not (records := sources(self._plan, self._waiting)):
            return []
        self._waiting = []
        rows = [part_of(one) for one in records]
        made = self._halves.front(rows)
        return _placed(merged(self._halves.lines(made), self._halves.behind(rows, made)))

    def close(self) -> None:
        self._runner.close()


def _placed(lines: Iterable[Placed]) -> list[Line]:
    return [Line(place[0], row["stream"], row) for place, row in lines]


def duckdb(case: Case) -> list[Line]:
    """The same in DuckDB."""
    return database(case, "duckdb://")


def postgresql(case: Case) -> list[Line]:
    """The same in a server, which is started when it is first asked for."""
    return database(case, servers.postgresql())


def spark(case: Case) -> list[Line]:
    """Each key in tasks of Spark, in processes of their own."""
    rules = Compiled(case.plan, jit=False)
    if (why := is_distributable(rules)) is not None:
        raise RefusedError(why)
    records = sources(case.plan, enumerate(case.steps))
    if not are_in_order(records):
        raise RefusedError("records that may be late run in sequence")
    with TemporaryDirectory() as folder:
        until_msc = case.steps[-1][1]
        made = list(replay_on_spark(servers.spark(), rules, records, Path(folder), until_msc))
    return [line for rows in made for line in _lines(rows)]


INTERPRETED: dict[str, Way] = {
    "traced": traced,
    "told of time": told_of_time,
    "interpreter restored": interpreter_restored,
}
COMPILED: dict[str, Way] = {
    "native": native,
    "native told of time": native_told_of_time,
    "batched": batched,
    "one program": one_program,
    "native restored": native_restored,
    "by key": by_key,
    "database": database,
    "behind a database": behind,
}
SLOW: dict[str, Way] = {"machine code": machine, "taken over": taken_over}
RELOADED: dict[str, tuple[str, Way]] = {
    "interpreter restored": ("interpreter reloaded", interpreter_reloaded),
    "native restored": ("reloaded", reloaded),
    "one program": ("by interpreter", by_interpreter),
}
"""What is drawn in place of half of these."""
REAL: dict[str, Way] = {"duckdb": duckdb, "postgresql": postgresql, "spark": spark}
WAYS = {
    "interpreter": interpreter, **INTERPRETED, **COMPILED, **dict(RELOADED.values()), **SLOW, **REAL
}  # fmt: skip
BY_INTERPRETER = frozenset({"interpreter", *INTERPRETED, "interpreter reloaded"})
DATABASES = frozenset({"database", "duckdb", "postgresql"})
BY_KEY = frozenset({"by key", "spark"})
RECORDS_ONLY = DATABASES | {"spark"}
"""They take records and the end of the input, no time that passes between them."""


def sources(plan: Plan, steps: Iterable[tuple[int, Step]]) -> list[Source]:
    """The records at their places as replay reads them from files."""
    steps, found = list(steps), []
    for stream in plan.sources:
        own = [(n, at, row) for n, (name, at, row) in steps
               if name == stream.name and row is not None]  # fmt: skip
        columns = {"time_msc": pa.array([at for _, at, _ in own], pa.int64())}
        for one in stream.schema.attributes:
            values = [row[one.name] for _, _, row in own]
            columns[one.name] = pa.array(values, ARROW[one.type])
        if own:
            found.append(Source(stream, pa.table(columns), np.array([n for n, _, _ in own])))
    return found


def _interpreted(run: InterpretedRun, n: int, step: Step) -> list[Line]:
    stream, at, row = step
    if row is None:
        complete = stream != OWN
        made = run.end(at) if stream == END else run.advance(at, is_complete=complete)
    elif stream == TOLD:
        made = run.tell(row["keys"], at, row["common_msc"], is_complete=row["is_complete"])
    else:
        made = run.push_row(stream, at, row)
    return [Line(n, one["stream"], one) for one in made]


def _native(run: Run, n: int, step: Step) -> list[Line]:
    if is_record(step):
        return _lines(run.feed(_encoded(run, [(n, step)])))
    return _lines(_told(run, n, step))


def _told(run: Run, n: int, step: Step) -> Rows:
    """Take a step that is no record."""
    stream, at, row = step
    if row is None:
        complete = stream != OWN
        return run.end(at, n) if stream == END else run.advance(at, n, is_complete=complete)
    run.watermarks.clock_msc = row["common_msc"]
    return run.tell(Telling(at, row["keys"], row["is_complete"]), n)


def _lines(rows: Rows) -> list[Line]:
    made = zip(rows.orders.tolist(), rows.dicts(), strict=True)
    return [Line(n, row["stream"], row) for n, row in made]


def _encoded(run: Run, records: Iterable[tuple[int, Step]]) -> InputRows:
    """Records of several streams as one batch, at their places in the order."""
    own: dict[str, list[tuple[int, int, dict[str, Any]]]] = {}
    for n, (stream, at, row) in records:
        assert row is not None
        own.setdefault(stream, []).append((n, at, row))
    parts = []
    for stream, some in own.items():
        names = run.encoder.source(stream).schema.names
        columns = {name: [row[name] for _, _, row in some] for name in names}
        times = np.array([at for _, at, _ in some], np.int64)
        order = np.array([n for n, _, _ in some], np.int64)
        parts.append(run.encoder.encode(stream, columns, times, order))
    return InputRows.merge(parts)


def _restored(case: Case, *, jit: bool) -> list[Line]:
    random, lines = case.random, []
    plain = Compiled(case.plan, jit=False)
    run, following = plain.start(mode=case.mode), Compiled(case.plan, jit=True) if jit else plain
    cut = random.randrange(len(case.steps))
    share = 0.0 if jit else random.choice((0.1, 0.5, 1.0))
    for n, step in enumerate(case.steps):
        lines += _native(run, n, step)
        if n == cut or random.random() < share:
            run = restore(following, take(run))
    return lines
