"""Random rules of which most remember no more than a time or some rows, and history for them."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from cep.engine.native import Compiled, Run
from cep.plan.memory import Memory
from tests.engine.random_apps import SCHEMA, numbered, written

START_MS = 1_700_000_000_000
STEPS_MS = (0, 0, 1, 3, 10, 20, 45, 80)
SILENCES_MS = (1_500, 4_000, 9_000)
ROWS = 60
Row = tuple[str, int, dict[str, Any]]

CHOICES: Mapping[str, tuple[str, ...]] = {
    "stream": ("A", "A", "B"),
    "test": ("v > 1", "p <= 2.5", "not b", "n == 1", "k == 'x' or v < 4"),
    "filter": ("", "", "[{test}]"),
    "ms": ("20 milliseconds", "50 milliseconds", "120 milliseconds", "300 milliseconds"),
    "few": ("0", "1", "2", "4"),
    "window": (
        "time({ms})",
        "time({ms})",
        "timeLength({ms}, 3)",
        "timeJump({ms}, 30 milliseconds)",
        "delay({ms})",
        "length({few})",
        "timeBatch({ms}, 7)",
        "timeBatch({ms}, 7, true)",
        "timeBatch({ms})",
        "session({ms})",
        "session({ms}, k)",
        "hopping({ms}, 30 milliseconds)",
    ),
    "measure": (
        "sum(p)", "avg(p)", "stdDev(p)", "count()", "min(p)", "max(v)", "median(p)", "sum(v)",
        "distinctCount(v)", "lag(p)", "ema(p, 2)",
    ),
    "kinds": ("", "", "expired events ", "all events "),
    "groups": (" group by k", " group by k", "", " group by n"),
    "step": (
        "from {stream}{filter} select k, v, p insert into Mid;",
        "from {stream} select k, v, p insert into Mid;",
        "from {stream}#window.time({ms}) select k, v, avg(p) as p group by k insert into Mid;",
        "from {stream}#bars:time(p, v, {ms}) select k, v, close as p group by k insert into Mid;",
        "from {stream}#window.{window} select k, v, p insert {kinds}into Mid;",
    ),
    "behind": (
        "from Mid#window.{window} select k, {measure} as m, {measure} as o{groups} insert {kinds}"
        "into {out};",
        "from Mid[v > 2] select k, p insert into {out};",
        "from Mid#bars:time(p, v, {ms}) select k, open, high, bar_ticks group by k"
        " insert into {out};",
        "from Mid#window.length({few}) join B#window.time({ms}) on Mid.k == B.k"
        " select Mid.k as k, Mid.p as p, B.v as v insert into {out};",
    ),
    "query": (
        *["{step} {behind}"] * 3,
        *["{step} {behind} {behind}"] * 2,
        "from {stream}{filter}#window.{window} select k, {measure} as m{groups} insert {kinds}"
        "into {out};",
        "from every e1={stream}[{test}] -> e2={stream}[v > e1.v] within {ms}"
        " select e1.k as k, e1.v as v, e2.p as p insert into {out};",
        "from every e1={stream}[{test}] -> e2={stream}[k == e1.k] -> e3={stream} within {ms}"
        " select e1.k as k, e3.v as v insert into {out};",
        "partition with (k of A, k of B) begin from {stream}#window.{window}"
        " select k, {measure} as m insert {kinds}into {out}; end;",
    ),
    "repeat": ("allow", "refresh", "refresh", "reject"),
    "source": ("A", "A", "B", "Band", "Band"),
    "once": ("{source}[p > 1.0] repeat {repeat}", "every {source}[p > 1.0] repeat {repeat}"),
    "each": ("every {source}[{few_tests}] repeat {repeat}", "{source}[p < 3.0] repeat {repeat}"),
    "few_tests": ("v >= 1", "p > 0.2", "v == 2"),
    "pattern": (
        "Up followed by Down",
        "Up followed by Down followed by Fill",
        "Up followed by [not Fill] Down",
        "Up followed by [not Up] Fill followed by Down",
        "Up and Fill",
        "Up followed by Up",
        "Up or Down",
        "Fill",
    ),
    "forbid": ("", "", " forbid Fill"),
    "option": ("", "", ", opposites = 'validate'"),
    "band": ("from A#window.time({ms}) select k, v, avg(p) as p group by k insert into Band;",),
    "engine": ("define engine Main (queue = 300 milliseconds{option});",),
    "raised": (
        "define event Up in Main for each k as {once}; define event Down in Main for each k as"
        " {each}; define event Fill in Main for each k as {each};",
    ),
    "found": ("define complex Turn in Main for each k as {pattern} within {ms}{forbid};",),
    "events": (
        "{band} {engine} {raised} {found} define signal Act on Turn buy 0.1 lots;"
        " from Turn#window.time({ms}) select key, count() as n group by key insert into {out};",
    ),
}  # fmt: skip


def random_text(number: int) -> str:
    """Rules over the streams A and B, from a number."""
    random = Random(number)
    kind = "events" if number % 3 == 0 else "query"
    streams = "".join(f"@key('k') define stream {name} {SCHEMA};\n" for name in "AB")
    return streams + numbered(written(random, kind, CHOICES))


def random_history(number: int, keys: str) -> list[Row]:
    """Rows in the order of time, with some silences, from a number."""
    random, now_ms, rows = Random(number), START_MS, []
    for _ in range(ROWS):
        silent = random.random() < 0.06
        now_ms += random.choice(SILENCES_MS if silent else STEPS_MS)
        values = {
            "k": random.choice(keys),
            "v": random.choice((0, 1, 2, 3, 4, 5, None)),
            "p": random.choice((0.1, 0.5, 1.5, 2.25, 3.125, 7.3, 1e16, None)),
            "n": random.choice((0, 1, 2)),
            "b": random.choice((True, False)),
            "at": now_ms,
        }
        rows.append((random.choice("AAB"), now_ms, values))
    return rows


def steps_of(run: Run, rows: list[Row]) -> list[list[str]]:
    """What each row leads to, and time up to the next one; as text, for -0.0 is not 0.0."""
    found: list[list[str]] = []
    for n, (stream, time_ms, values) in enumerate(rows):
        made = [*run.push_row(stream, time_ms, values).dicts()]
        if n + 1 < len(rows) and rows[n + 1][1] > time_ms + 1:
            made += run.advance(rows[n + 1][1] - 1).dicts()
        found.append(list(map(_text, made)))
    return found


def _text(row: dict[str, Any]) -> str:
    """A row without what counts from the beginning: `seq`, and those of bound events."""
    return repr({name: value for name, value in row.items() if name not in ("seq", "events")})


def begun(rules: Compiled, rows: list[Row]) -> Run:
    """A run of history whose keys have the slots that they have in a run of all rows."""
    keys = list(dict.fromkeys(values["k"] for _, _, values in rows))
    return rules.start(keys, "sorted")


def first_needed(memory: Memory, rows: list[Row], cut: int) -> int:
    """The first row that has to be read before the row at `cut`."""

    def back(at_ms: int, count: int, source: str) -> int:
        times: dict[str, list[int]] = {}
        for stream, time_ms, values in rows[:cut]:
            if stream == source and time_ms < at_ms:
                times.setdefault(values["k"], []).append(time_ms)
        return min((found[-count:][0] for found in times.values()), default=at_ms)

    begins = memory.begins_msc(rows[cut - 1][1], back)
    return next((n for n, row in enumerate(rows) if row[1] >= begins), cut)


def may_cut(memory: Memory, rows: list[Row], cut: int) -> bool:
    """Whether a part may begin with that row: none of its ms is in front of it."""
    return 0 < rows[cut][1] - rows[cut - 1][1] > memory.silence_ms
