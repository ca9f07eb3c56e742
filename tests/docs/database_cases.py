"""What is asked of each database for `docs/database.md`: rules by what they show."""

from __future__ import annotations

from cep.jepc.queries import (
    Aggregate,
    Aggregator,
    Correlator,
    CountWindow,
    Filter,
    Input,
    PatternMatcher,
    PatternSymbol,
    Query,
    Stream,
    TimeWindow,
)
from cep.plan.functions import AGGREGATORS as FUNCTIONS
from cep.plan.functions import EXAMPLE
from cep.plan.windows import WINDOWS as KINDS

STREAMS = f"""
{EXAMPLE}
define stream R (k string, n int);
"""

QUERIES = {
    "filters, projections": "from S[n > 1] select k, x * 2 as d insert into O;",
    "queries that read queries":
        "from S[n > 1] select k, x insert into M; from M[x > 1] select k insert into O;",
    "aggregates in a window": "from S#window.time(5 sec) select count() as c insert into O;",
    "aggregates without a window": "from S select count() as c insert into O;",
    "`group by`": "from S#window.time(5 sec) select k, count() as c group by k insert into O;",
    "`having`":
        "from S#window.time(5 sec) select count() as c having c > 3 insert into O;",
    "operations on aggregates":
        "from S#window.time(5 sec) select sum(x) / count() as m insert into O;",
    "a filter in front of a window":
        "from S[n > 1]#window.time(5 sec) select count() as c insert into O;",
    "a filter behind a window":
        "from S#window.time(5 sec)[n > 1] select count() as c insert into O;",
    "`join`":
        "from S#window.time(5 sec) join R#window.time(5 sec) on S.k == R.k and S.n > R.n"
        " select S.k as k insert into O;",
    "`join` of windows of rows":
        "from S#window.length(5) join R#window.length(9) on S.n == R.n"
        " select S.k as k insert into O;",
    "`left outer join`, `right outer join`, `full outer join`":
        "from S#window.time(5 sec) left outer join R#window.time(5 sec) on S.k == R.k"
        " select S.k as k insert into O;",
    "`unidirectional`":
        "from S#window.time(5 sec) unidirectional join R#window.time(5 sec) on S.k == R.k"
        " select S.k as k insert into O;",
    "aggregates of a join":
        "from S#window.time(5 sec) join R#window.time(5 sec) on S.k == R.k"
        " select count() as c insert into O;",
    "patterns `->`":
        "from every a=S -> b=S[n > a.n] within 5 sec select a.n as n insert into O;",
    "sequences `,`":
        "from every a=S, b=S[n > a.n] within 5 sec select a.n as n insert into O;",
    "logical patterns, absence":
        "from every a=S -> not R for 1 sec select a.n as n insert into O;",
    "`order by`, `limit`, `offset`":
        "from S#window.time(5 sec) select n order by n limit 3 insert into O;",
    "`output .. every`": "from S select n output last every 1 sec insert into O;",
    "`insert expired events into`":
        "from S#window.time(5 sec) select n insert expired events into O;",
    "`partition with`":
        "partition with (k of S) begin from S select k, count() as c insert into O; end;",
    "tables": "define table T (k string); from S select k insert into T;",
    "named windows":
        "define window W (n int) time(5 sec); from S select n insert into W;"
        " from W select n insert into O;",
    "`define aggregation`":
        "define aggregation A from S select k, sum(x) as s group by k aggregate by t every sec;"
        " from S join A on S.k == A.k within 0L, 9L per 'seconds' select A.s as s insert into O;",
    "`define trigger`": "define trigger T at every 1 sec; from T select 1 as n insert into O;",
    "stream functions, such as `#bollinger`":
        "from S#bollinger(x, 20) select x insert into O;",
    "several queries into one stream":
        "from S select n insert into O; from R select n insert into O;",
    "attributes of `object`":
        "define stream Q (o object); from Q select o insert into O;",
    "`@app:compat('siddhi')`": "@app:compat('siddhi') from S select n insert into O;",
    "`define event`, `define complex`, `define signal`":
        "define event E for each k as S[n > 1];",
}  # fmt: skip
"""Statements and clauses."""

_CALLS = {one.name: one.example for one in KINDS}
_CALLS["lengthJump(n, jump, key)"] = "lengthJump(5, 1, k)"
WINDOWS = {
    f"`{name}`": f"from S#window.{call} select n, count() as c insert into O;"
    for name, call in _CALLS.items()
}
"""Each window, in front of an aggregate."""

AGGREGATORS = {
    f"`{one.name}`": f"from S#window.time(5 sec) select {one.example} as v insert into O;"
    for one in FUNCTIONS
}
"""Each aggregator, over a window of time."""

_TIME = TimeWindow(5_000)


def _both(*more: Input) -> Correlator:
    left, right = Stream("s").window(_TIME), Stream("r").window(_TIME)
    return Correlator([left.named("l"), right.named("r"), *more], "l.n == r.n")


def _matcher(pattern: str, gaps: bool = False, sets: bool = True) -> PatternMatcher:
    symbols = {
        "x": PatternSymbol("n > 1", {"z": "n"} if sets else {}),
        "y": PatternSymbol("n > z" if sets else "n > 2"),
    }
    variables, output = ({"z": "int"}, ["z"]) if sets else ({}, [])
    return PatternMatcher(
        Stream("s"), pattern, 5_000, symbols, variables, output, "invisible" if gaps else "none"
    )


SCHEMAS = {"s": {"k": "string", "n": "int"}, "r": {"k": "string", "n": "int"}}
OBJECTS: dict[str, Query] = {
    "`Correlator` of two inputs": _both(),
    "`Correlator` of three": _both(Stream("s").window(_TIME).named("t")),
    "`Correlator` over windows with a jump": Correlator(
        [Stream("s").window(TimeWindow(5_000, 1_000)).named("l"),
         Stream("r").window(_TIME).named("r")],
        "l.n == r.n",
    ),
    "`Correlator` over rows of each key": Correlator(
        [Stream("s").window(CountWindow(5, by=("k",))).named("l"),
         Stream("r").window(CountWindow(5, by=("k",))).named("r")],
        "l.n == r.n",
    ),
    "`Aggregator` of a `Correlator`": Aggregator(_both(), {"c": Aggregate("count")}),
    "`Aggregator` of a `PatternMatcher`": Aggregator(
        _matcher("x y").window(_TIME), {"c": Aggregate("count")}
    ),
    "`Filter` of a window of rows": Filter(Stream("s").window(CountWindow(5)), "n > 1"),
    "`PatternMatcher`, finite: `x y? \\| y{2}`": _matcher("x y? | y{2}"),
    "`PatternMatcher`, endless: `x y+`": _matcher("x y+"),
    "`PatternMatcher` with invisible gaps": _matcher("x y", gaps=True, sets=False),
    "`PatternMatcher` with invisible gaps and variables": _matcher("x y", gaps=True),
}  # fmt: skip
"""Queries of the interface."""
