"""`replay --backend spark` gives what the native replay gives, byte for byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from cep.dropped import Dropped
from cep.engine.native import Compiled
from cep.plan import compile_rules
from cep.replay import Source, in_order, replay
from cep.spark.replay import keys_in_order, replay_on_spark

RULES = """
@key('venue')
define stream Quote (venue string, price double, size int);
@key('venue')
define stream Fill (venue string, comment string);
from Quote#window.time(1 sec)
select venue, price, avg(price) as a, sum(size) as s group by venue insert into Band;
define engine One (queue = 5 sec);
define engine Two (queue = 20 sec) from One;
define event Up in One for each venue as Band[price > a];
define event Down in One for each venue as Band[price < a] repeat allow;
define event Done in One for each venue as every Fill[comment != 'x'] repeat refresh;
define complex Turn in One for each venue as Up followed by (Down or Done) within 3 sec;
define complex Both in Two as Turn('A') and Turn('B') within 10 sec;
define signal Go on Both buy 'A' 1.0 lots;
from Turn select key, number insert into Turns;
"""
CROSSING = "define stream Quote (venue string, price double, size int);\n" + (
    "from Quote select count() as n insert into Total;"
)


LATE = """@key('venue') define stream Quote (venue string, n int);
define event Hit for each venue as every Quote[n == 1];
"""


def sources(rules: str, rows: int = 400) -> list[Source]:
    generator = np.random.default_rng(5)
    plan = compile_rules(rules)
    made = {
        "time_msc": np.sort(generator.integers(1000, 20_000, rows)),
        "venue": pa.array(generator.choice(["B", "A", "C"], rows)),
        "price": generator.integers(1, 9, rows) / 4,
        "size": generator.integers(0, 5, rows).astype(np.int32),
        "comment": pa.array(generator.choice(["x", "y", "z"], rows)),
    }
    tables = []
    for stream in plan.sources:
        part = slice(None) if stream.name == "Quote" else slice(None, None, 7)
        columns = {name: made[name][part] for name in ("time_msc", *stream.schema.names)}
        tables.append((stream, pa.table(columns)))
    return in_order(tables)


@pytest.mark.spark
@pytest.mark.parametrize("rules", [RULES, CROSSING], ids=["per key", "crossing"])
def test_same_rows_as_native(spark: SparkSession, tmp_path: Path, rules: str) -> None:
    compiled = Compiled(compile_rules(rules), jit=False)
    made = sources(rules)
    dropped: list[Dropped] = []
    alone = replay(compiled, made, ended=dropped.append)
    native = [line for rows in alone for line in rows.json_lines()]
    spread = replay_on_spark(spark, compiled, made, tmp_path, ended=dropped.append)
    assert [line for rows in spread for line in rows.json_lines()] == native
    assert len(native) > 300
    assert dropped[0] == dropped[1] and bool(dropped[0]) is (rules == RULES)


@pytest.mark.spark
def test_records_that_may_be_late_are_judged_by_those_of_all_keys(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Of one key alone the second would be none."""
    plan = compile_rules(LATE)
    times, venues = np.array([2000, 1000, 3000]), pa.array(["A", "B", "B"])
    table = pa.table({"ingest": np.arange(3), "time_msc": times, "venue": venues, "n": [1, 1, 1]})
    made, compiled = in_order([(plan.sources[0], table)]), Compiled(plan, jit=False)
    dropped: list[Dropped] = []
    spread = replay_on_spark(spark, compiled, made, tmp_path, ended=dropped.append)
    assert [row["key"] for rows in spread for row in rows.dicts()] == ["A", "B"]
    assert dropped[0].by_name() == {"event Hit": {"late": 1}}


def test_keys_come_in_order_of_their_first_row() -> None:
    made = sources(RULES)
    first = made[0].table["venue"].to_pylist()
    assert keys_in_order([("venue", one) for one in made]) == list(dict.fromkeys(first))
