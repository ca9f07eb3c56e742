"""Random rule texts of the whole language and input for them, from a number.

The same number gives the same app in every process. Times are ms UTC.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from cep.plan.functions import AGGREGATORS, Aggregator
from cep.plan.signatures import Parameter
from cep.plan.types import Type

Step = tuple[str, int, dict[str, Any] | None]
"""What happens: a row of a stream, its time and values; or, without values, time passes on the
clock of the rows (stream "") or on the wall's."""

WALL = "wall"
START_MS = 1_700_000_000_000
START_OF_SIDDHI_MS = 3_000
"""Its mode begins at 0, and timers fire up to the first row."""
SCHEMA = "(k string, v long, p double, n int, b bool, at long)"


def _call(one: Aggregator) -> str:
    """A call on columns of `SCHEMA` by the types that are taken, and on constants."""
    return f"{one.name}({', '.join(map(_argument, one.signature.parameters, 'pvp!'))})"


def _argument(parameter: Parameter, number: str) -> str:
    if parameter.kind == "constant":
        return "{some}"
    columns = {"k": Type.STRING, number: Type.DOUBLE, "b": Type.BOOL, "createSet(k)": Type.OBJECT}
    return next(name for name, type_ in columns.items() if type_ in parameter.types)


REFUSED = re.compile(r"(output snapshot every [^;]*?) insert expired events")
"""A snapshot has no expired rows of its own."""

CHOICES: dict[str, tuple[str, ...]] = {
    "stream": ("A", "A", "B"),
    "few": ("1", "2", "3", "4"),
    "some": ("2", "3", "5"),
    "ms": ("50 milliseconds", "120 milliseconds", "300 milliseconds", "1 sec"),
    "limit": ("0", "1", "2", "4"),
    "test": ("v > {limit}", "p <= 2.5", "not b", "n is null", "k == 'x' or v < {limit}", "n != v"),
    "filter": ("", "", "[{test}]", "[{test} and {test}]"),
    "function": (
        "#bollinger(p, {some})",
        "#macd(p, 2, 4, {some})",
        "#pol2Cart(p, p)",
        "#bars:time(p, v, {ms})",
        "#bars:ticks(p, v, {some})",
        "#bars:volume(p, v, {some})",
    ),
    "window": (
        "length({few})",
        "time({ms})",
        "timeLength({ms}, {few})",
        "externalTime(at, {ms})",
        "sort({few}, v, 'desc', k, 'asc')",
        "frequent({few}, k)",
        "lossyFrequent(0.3, 0.1, k)",
        "session({ms}, k)",
        "delay({ms})",
        "expression('count() <= {few}')",
        "expression('sum(v) < 9')",
        "hopping(300 milliseconds, {ms})",
        "timeJump({ms}, 300 milliseconds)",
        "lengthJump({few}, 2)",
        "lengthJump({few}, 1, k)",
        "{batch}",
        "{batch}",
    ),
    "batch": (
        "lengthBatch({few})",
        "lengthBatch({few}, true)",
        "timeBatch({ms})",
        "timeBatch({ms}, 0)",
        "timeBatch({ms}, true)",
        "externalTimeBatch(at, {ms})",
        "externalTimeBatch(at, {ms}, 0, 500 milliseconds)",
        "cron('*/1 * * * * ?')",
        "batch()",
        "expressionBatch('count() <= {few}')",
        "expressionBatch('last.v - first.v < 3', true)",
    ),
    "measure": (
        "sum(v)",
        "sum(p)",
        "avg(p)",
        "count()",
        "min(p)",
        "max(v)",
        "minForever(p)",
        "maxForever(v)",
        "stdDev(p)",
        "distinctCount(k)",
        "and(b)",
        "or(b)",
        "unionSet(createSet(n))",
        "sizeOfSet(unionSet(createSet(k)))",
        "median(p)",
        "percentile(p, 30.0)",
        "{any_aggregator}",
        "{indicator}",
        "{indicator}",
    ),
    "any_aggregator": tuple(_call(one) for one in AGGREGATORS if one.remembers == "window"),
    "indicator": tuple(_call(one) for one in AGGREGATORS if one.remembers == "arrivals"),
    "grouped": ("", " group by k", " group by k", " group by k, b"),
    "chosen": ("", "", " having not (b0 is null)", " order by k desc limit {some}", " limit {few}"),
    "rate": (
        *[""] * 7,
        " output every {some} events",
        " output first every {some} events",
        " output last every {some} events",
        " output all every {ms}",
        " output first every {ms}",
        " output last every {ms}",
        " output snapshot every {ms}",
    ),
    "kind": ("", "", "", "expired events ", "all events ", "all events "),
    "into": (" insert {kind}into {out};",),
    "end": ("{chosen}{rate}{into}",),
    "plain": (
        "from {stream}{filter}#window.{window} select k, b, {measure} as b0, {measure} as b1"
        "{grouped}{end}",
        "from {stream}{filter}#window.{window}{filter} select k, {measure} as b0, v, p * 2 as q"
        " group by k{end}",
        "from {stream}#window.length({few}) select k, avg(p) as b0, sum(v) as s group by k{into}",
        "from {stream}[{test}]#window.time({ms}) select k, avg(p) as b0, stdDev(p) as s group by k"
        "{into}",
        "from {stream}{filter} select k, {measure} as b0{grouped}{end}",
        "from {stream}[{test}] select k, v, eventTimestamp() as b0 insert into {out};",
        "from {stream}{filter}{function} select *{rate}{into}",
    ),
    "match": (
        "from every e1=A[{test}] -> e2=B[k == e1.k]{within} select e1.v as x, e2.v as y{into}",
        "from every e1={stream}[{test}] -> e2={stream}[v > e1.v] -> e3={stream}[p < e2.p]{within}"
        " select e1.k as k, e2.v as y, e3.p as z{into}",
        "from every (e1=A -> e2=A[v >= e1.v]){within} select e1.v as x, e2.v as y{into}",
        "from e1=A<{few}:5> -> e2=B{within} select e1[0].v as x, e1[last].v as y, e2.k as k{into}",
        "from every e1={stream}<{some}> -> e2=B select e1.v as x, e2.v as y{into}",
        "from every e1=A -> not B[k == e1.k] for {ms} select e1.v as x{into}",
        "from every not {stream}[{test}] for {ms} select currentTimeMillis() as x{into}",
        "from every e1=A[{test}] -> not B[{test}] and e2=A select e1.v as x, e2.v as y{into}",
        "from every (e1=A[{test}] and e2=B[{test}]) -> e3={stream}{within}"
        " select e1.v as x, e2.v as y, e3.v as z{into}",
        "from every (e1=A[v > 3] or e2=B[v > 3]) -> e3={stream}{within}"
        " select e1.v as x, e2.v as y, e3.v as z{into}",
        "from every e1=A, e2=A[v > e1.v]+, e3=B select e1.v as x, e2[last].v as y, e3.k as k{into}",
        "from every e1={stream}, e2={stream}[{test}]*, e3=A[v < e1.v]?, e4=B{within}"
        " select e1.v as x, e2[0].v as y, e3.v as z, e4.v as w{into}",
        "from every e1=A[{test}], e2={stream}[p >= e1.p]{within} select e1.k as k, e2.p as y{into}",
        "@bound(partials='3') from every e1=A -> e2=B[v == e1.v] select e1.v as x{into}",
        "@expired(stream='Gone') from every e1=A -> e2=B[v == e1.v] within {ms}"
        " select e1.v as x insert into {out};",
    ),
    "within": ("", " within {ms}", " within 400 milliseconds"),
    "side": ("#window.length({few})", "#window.time({ms})", "", "#window.{window}"),
    "joining": ("join", "join", "left outer join", "right outer join", "full outer join"),
    "on": ("l.k == r.k", "l.k == r.k and l.p < r.p", "l.v > r.v", "l.v + 1 == r.v"),
    "pair": (" on {on} select l.k as k, r.v as v, l.p as p{rate}{into}",),
    "join": (
        "from A{filter}{side} as l {joining} B{side} as r{pair}",
        "from A{side} as l unidirectional join B#window.length({few}) as r{pair}",
        "from A#window.length({few}) as l join A#window.time({ms}) as r{pair}",
    ),
    "stored": (
        "from B{filter} select k, v update or insert into Limits set Limits.v = v"
        " on Limits.k == k;",
        "from A[{test}] select k, v insert into Limits; from B delete Limits on Limits.k == k;",
        "from B select k, v insert into Noted; from A[n == 1] delete Noted on Noted.v > v;"
        " from A[b] update Noted set Noted.v = Noted.v + v on Noted.k == k;",
        "from A[(k == Limits.k) in Limits] select k, v{rate}{into}",
        "from A{side} as l {joining} Noted as r on l.k == r.k select l.v as x, r.v as y{into}",
        "from A{filter} select k, v, p insert into Held;",
        "from Held select k, {measure_held} as b0 group by k{end}",
        "from B{side} as l join Held as r on l.k == r.k select l.v as x, r.v as y{into}",
        "from B as l join Bars as r on l.k == r.k within 0L, 9000000000000L per 'seconds'"
        " select l.v as x, r.m as y, r.s as z{into}",
        "from Tick select triggered_time as x{into}",
        "from Calendar#window.length(2) select triggered_time as x, count() as b0{into}",
        "from Tick join Limits as r select r.k as k, r.v as v{into}",
        "from Tick join Held as r select r.k as k, r.v as v{rate}{into}",
    ),
    "measure_held": ("sum(v)", "avg(p)", "max(v)", "stdDev(p)", "count()"),
    "chain": (
        "from A#window.length({few}) select k, sum(v) as s group by k insert into Sums;",
        "from B[{test}] select k, sum(v) as s group by k insert into Sums;",
        "from Sums#window.{window_sums} select k, max(s) as b0 group by k{end}",
        "from every e1=Sums -> e2=B[v > e1.s]{within} select e1.s as x, e2.k as k{into}",
    ),
    "window_sums": ("length({few})", "time({ms})", "lengthBatch({some})", "sort({few}, s)"),
    "inner": (
        "{plain}",
        "{plain}",
        "{match}",
        "{join}",
        "from A#window.{window} select k, sum(v) as s insert into #Inner;"
        " from every e1=#Inner -> e2=B[v > e1.s] select e1.s as x, e2.v as y{into}",
    ),
    "keys": (
        "k of A, k of B",
        "k of A, k of B",
        "k of A",
        "v > 3 as 'big' or v > 1 as 'some' of A, k of B",
    ),
    "purge": ("", "", "@purge(enable='true', interval='200 milliseconds', idle.period={quoted}) "),
    "quoted": ("'150 milliseconds'", "'1 sec'"),
    "partition": (
        "{purge}partition with ({keys}) begin {inner} end;",
        "{purge}partition with ({keys}) begin {inner} {inner} end;",
    ),
    "events": (
        "define engine Main (queue = 2 sec); define engine Wide (queue = 3 sec) from Main;"
        " define event Up in Main for each k as A[{test}] opposite Down;"
        " define event Down in Main for each k as B[{test}];"
        " define event Fill in Main for each k as every A[v == 2] repeat {repeat};"
        " define complex Turn in Main for each k as {pattern} within 1 sec{forbid};"
        " define complex Both in Wide as Turn('x') and Turn('y') within 2 sec;"
        " define signal Act on Turn buy 0.1 lots;",
    ),
    "repeat": ("allow", "reject", "refresh"),
    "forbid": ("", " forbid Down"),
    "pattern": (
        "Up followed by Fill",
        "Up and Fill",
        "Fill -> (Up or Down)",
        "Up -> [not Down] Fill",
    ),
    "fast_window": ("length({few})", "time({ms})", "length({some})", "time({ms})"),
    "fast_measure": ("sum(v)", "avg(p)", "count()", "min(p)", "max(v)", "stdDev(p)"),
    "fast_end": (" insert into {out};", " having not (b0 is null) insert into {out};"),
    "fast_step": ("{stream}", "{stream}[{test}]"),
    "fast": (
        "from {stream}{filter}#window.{fast_window} select k, p, {fast_measure} as b0,"
        " {fast_measure} as b1{grouped}{fast_end}",
        "from {stream}[{test}] select k, v, {fast_measure} as b0 group by k{fast_end}",
        "from every e1={fast_step} -> e2={fast_step} -> e3={stream}[v > e1.v]{within}"
        " select e1.k as k, e2.v as b0, e3.p as z{fast_end}",
        "from every e1={fast_step}, e2={stream}[p >= e1.p]{within} select e1.k as k, e2.p as b0"
        "{fast_end}",
        "from A{filter}#window.{fast_window} as l {joining} B#window.{fast_window} as r on {on}"
        " select l.k as k, r.v as b0, l.p as p{fast_end}",
        "partition with (k of A, k of B) begin {fast_inner} {fast_inner} end;",
    ),
    "fast_inner": (
        "from every e1={fast_step} -> e2={stream}[v > e1.v]{within} select e1.k as k, e2.v as b0"
        "{fast_end}",
        "from A#window.{fast_window} as l join B#window.{fast_window} as r on {on}"
        " select l.k as k, r.v as b0{fast_end}",
        "from {stream}[{test}] select k, v, p * 2 as b0{fast_end}",
    ),
    "query": (
        *["{plain}"] * 4,
        *["{match}"] * 4,
        *["{join}"] * 2,
        *["{stored} {stored}"] * 3,
        "{chain} {chain}",
        *["{partition}"] * 2,
    ),
}
"""What stands for each name in braces: one of these, chosen anew at each place."""

HOLDERS = {
    "Limits": "@PrimaryKey('k') define table Limits (k string, v long);",
    "Noted": "@Index('v') define table Noted (k string, v long);",
    "Held": "define window Held (k string, v long, p double) time(300 milliseconds);",
    "Bars": "define aggregation Bars from A select k, avg(p) as m, sum(v) as s group by k "
    "aggregate every sec ... min;",
    "Tick": "define trigger Tick at every 170 milliseconds;",
    "Calendar": "define trigger Calendar at '*/1 * * * * ?';",
    "Sums": "@key('k') define stream Sums (k string, s long);",
}
QUESTIONS = {
    "Limits": "from Limits select k, v",
    "Noted": "from Noted select k, v",
    "Held": "from Held select k, sum(v) as s group by k",
    "Bars": "from Bars within 0L, 9000000000000L per 'seconds' select k, m, s",
}
"""What is asked of a holder in the end."""

PLAYBACK = "@app:playback(idle.time='200 milliseconds', increment='300 milliseconds')\n"
COMPAT = "@app:compat('siddhi')\n"
REORDER = "@reorder(max.delay='30 milliseconds', late.stream='Late') "
FAST_SHARE, EVENTS_SHARE, PLAYBACK_SHARE = 0.35, 0.2, 0.1
COMPAT_SHARE, REORDER_SHARE = 0.15, 0.1
GAPS_MS = (0, 1, 1, 7, 20, 60, 150, 150, 400, 1300)
DELAYS_MS = (0, 0, 0, 0, 5, 40)


@dataclass(frozen=True)
class App:
    """Rules, what is sent to them, where the run is cut, and what it is asked in the end."""

    text: str
    steps: list[Step]
    cut: int
    questions: list[str]


def random_app(number: int) -> App:
    """An app of one to four queries and about thirty steps."""
    random = Random(number)
    kind = "fast" if random.random() < FAST_SHARE else "query"
    texts = [written(random, kind) for _ in range(random.randint(1, 4))]
    if random.random() < EVENTS_SHARE:
        texts.append(written(random, "events"))
    queries = numbered("\n".join(texts))
    has_idle, compat = random.random() < PLAYBACK_SHARE, random.random() < COMPAT_SHARE
    mode = (PLAYBACK if has_idle else "") + (COMPAT if compat else "")
    text = mode + _definitions(random, queries) + queries
    steps = random_steps(random, START_OF_SIDDHI_MS if compat else START_MS, has_idle)
    questions = [QUESTIONS[name] for name in QUESTIONS if f"{name} " in text]
    return App(text, steps, random.randint(0, len(steps)), questions)


def written(random: Random, name: str, choices: Mapping[str, Sequence[str]] = CHOICES) -> str:
    """A text that the choices allow for a name; targets are still called `{out}`."""

    def filled(found: re.Match[str]) -> str:
        return "{out}" if found[1] == "out" else written(random, found[1], choices)

    return re.sub(r"\{(\w+)\}", filled, random.choice(choices[name]))


def numbered(text: str) -> str:
    """A target of its own for each query, which a snapshot fills with no expired rows."""
    parts = REFUSED.sub(r"\1 insert", text).split("{out}")
    return "".join(f"{part}Out{n}" for n, part in enumerate(parts[:-1])) + parts[-1]


def _definitions(random: Random, queries: str) -> str:
    """Streams, and the holders that queries name."""
    late, a, b = (f"@key('k') define stream {name} {SCHEMA};\n" for name in ("Late", "A", "B"))
    streams = f"{late}{REORDER}{a}{b}" if random.random() < REORDER_SHARE else a + b
    return streams + "".join(f"{definition}\n" for definition in holders(queries))


def holders(queries: str, known: Mapping[str, str] = HOLDERS) -> list[str]:
    """The definitions of the holders that queries name."""
    return [text for name, text in known.items() if re.search(rf"\b{name}\b", queries)]


def random_steps(
    random: Random,
    now_ms: int,
    has_idle: bool = False,
    streams: Sequence[str] = "AAB",
    gaps_ms: Sequence[int] = GAPS_MS,
    delays_ms: Sequence[int] = DELAYS_MS,
) -> list[Step]:
    """Rows, some of them late, and time that passes; in the end five seconds of it."""
    steps: list[Step] = []
    for _ in range(random.randint(12, 45)):
        now_ms += random.choice(gaps_ms)
        kind = random.random()
        if has_idle and kind < 0.4:
            steps.append((WALL, now_ms, None))
        elif kind < 0.1:
            steps.append(("", now_ms, None))
        else:
            late_ms = random.choice(delays_ms)
            steps.append((random.choice(streams), now_ms - late_ms, _row(random, now_ms)))
    return [*steps, ("", now_ms + 5000, None)]


def _row(random: Random, now_ms: int) -> dict[str, Any]:
    return {
        "k": random.choice(("x", "x", "y", "y", "z", None)),
        "v": random.choice((0, 1, 2, 3, 4, 5, None)),
        "p": random.choice((0.1, 0.5, 1.5, 2.25, 3.125, 7.0, None)),
        "n": random.choice((0, 1, 2, None)),
        "b": random.choice((True, False, True, None)),
        "at": now_ms,
    }
