"""Definitions, annotations, partitions, variables."""

from __future__ import annotations

import pytest

from cep.lang import RuleError
from cep.plan import compile_rules
from cep.plan.expressions import Column, Comparison
from cep.plan.nodes import Origin, Partition, Playback, RangeKeys, Reorder, Trigger, ValueKey
from cep.plan.steps import Holder, Insert
from cep.plan.types import Type
from tests.plan.rules import STREAMS, plan, refused


def test_tables() -> None:
    found = plan("""@PrimaryKey('a', 'c') @Index('b') @Index('c')
    define table U (a int, b long, c string);""").tables[1]
    assert (found.primary_key, found.indexes) == ((0, 2), (1, 2))


@pytest.mark.parametrize(
    ("note", "message"),
    [
        ("@PrimaryKey('A')", "no attribute `A`"),
        ("@Index('b')", "no attribute `b`"),
        ("@PrimaryKey('')", "no attribute ``"),
        ("@PrimaryKey", "names no attribute"),
        ("@PrimaryKey('a') @PrimaryKey('c')", "written twice"),
        ("@PrimaryKey('a') @PrimaryKey('a')", "written twice"),
        ("@Index", "names one attribute, this one 0"),
        ("@Index('a', 'c')", "names one attribute, this one 2"),
        ("@PrimaryKey('a') @Index('a', 'a')", "names one attribute, this one 2"),
        ("@Index('a') @Index('c') @Index('a')", "`a` has an index already"),
    ],
)
def test_keys_that_are_not_there(note: str, message: str) -> None:
    assert message in refused(f"{note} define table U (a int, c long);").message


def test_names_of_keys_may_stand_between_spaces() -> None:
    table = plan("@PrimaryKey(' a', 'c ') @Index(' c ') define table U (a int, c long);").tables[1]
    assert (table.primary_key, table.indexes) == ((0, 1), (1,))


def test_named_windows() -> None:
    found = plan("""define window W (symbol string, n int) time(5 sec) output expired events;
    from S select symbol, n insert into W; from W select n insert into Out;
    from W join R#window.length(2) on W.symbol == R.symbol select R.n insert into Joined;""")
    (window,) = found.windows
    assert (window.output, window.window.name, window.window.constant(0)) == (
        "expired", "time", 5000)  # fmt: skip
    fill, read, joined = found.queries
    assert fill.output == Insert("W", "current", Holder.WINDOW)
    assert [one.holder for one in (*read.inputs, *joined.inputs)] == [
        Holder.WINDOW, Holder.WINDOW, Holder.STREAM]  # fmt: skip


def test_a_named_window_takes_no_window() -> None:
    error = refused("""define window W (n int) length(2);
    from W#window.length(2) select n insert into Out;""")
    assert "takes no window" in error.message


def test_triggers() -> None:
    found = plan("""define trigger Often at every 5 sec; define trigger Once at 'start';
    define trigger Noon at '0 0 12 * * ?'; from Often select triggered_time insert into Out;""")
    assert found.triggers == (
        Trigger("Often", 5000), Trigger("Once"), Trigger("Noon", cron="0 0 12 * * ?"))  # fmt: skip
    assert found.stream("Often").origin is Origin.TRIGGER
    assert "fields" in refused("define trigger X at 'sometimes';").message
    text = "define trigger X at 'start'; from S select t as triggered_time insert into X;"
    assert "own statement" in refused(text).message


def test_aggregations() -> None:
    (found,) = plan("""@purge(interval='10 min', @retentionPeriod(sec='3 min', min='all'))
    define aggregation A from S[ok] select symbol, avg(price) as mean, price as latest
    group by symbol aggregate by t every sec ... hour;""").aggregations
    assert found.schema.names == ("AGG_TIMESTAMP", "symbol", "mean", "latest")
    assert found.durations == ("sec", "min", "hour")
    assert found.by == Column(5, "t", Type.LONG)
    assert found.purge_every_ms == 600_000
    assert dict(found.retention_ms) == {"sec": 180_000, "hour": 30 * 86_400_000}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@purge(@retentionPeriod(sec='1 sec')) define aggregation A from S select sum(n) as x"
         " aggregate every sec ... day;", "must stay"),
        ("@PartitionById define aggregation A from S select n aggregate every sec ... day;",
         "between servers"),
        ("define aggregation A from S select lag(n) as x aggregate every sec ... day;", "`lag`"),
        ("define aggregation A from S select n aggregate by n every sec ... day;", "is an int"),
        ("define aggregation A from S#window.length(2) select n aggregate every day;", "no window"),
        ("define aggregation A from T select n aggregate every day;", "not a stream"),
    ],
)  # fmt: skip
def test_refused_aggregations(text: str, message: str) -> None:
    assert message in refused(text).message


def test_fault_streams() -> None:
    found = plan("""@OnError(action='stream') define stream F (a int);
    from !F select a, _error insert into Seen;""")
    fault = found.stream("!F")
    assert (fault.origin, fault.schema.names) == (Origin.FAULT, ("a", "_error"))
    assert found.stream("F").on_error == "stream"
    assert found.queries[0].source == "!F"
    assert "no fault stream" in refused("from !S select n insert into Out;").message
    assert "'store'" in refused("@OnError(action='store') define stream F (a int);").message


def test_streams_put_in_order() -> None:
    found = plan("""@reorder(max.delay='2 sec', late.stream='Late') define stream F (a int);
    from Late select a insert into Seen;""")
    assert found.stream("F").reorder == Reorder(2000, "Late")
    assert found.stream("Late").schema == found.stream("F").schema
    assert "max.delay" in refused("@reorder(late.stream='L') define stream F (a int);").message


def test_partitions() -> None:
    found = plan("""@purge(enable='true', interval='1 min', idle.period='1 hour')
    partition with (symbol of S, n > 5 as 'big' or n <= 5 as 'small' of R) begin
    from S select symbol, n insert into #Inner; from #Inner select n insert into Out;
    @info(name='mine') from R select n insert into Out2; end;
    from Out select n insert into Last;""")
    (partition,) = found.partitions
    assert isinstance(partition, Partition)
    assert (partition.idle_ms, partition.purge_every_ms) == (3_600_000, 60_000)
    value, ranges = partition.keys
    assert value == ValueKey("S", Column(0, "symbol", Type.STRING))
    assert isinstance(ranges, RangeKeys)
    assert [name for _, name in ranges.ranges] == ["big", "small"]
    assert isinstance(ranges.ranges[0][0], Comparison)
    assert [(query.name, query.partition, query.target) for query in found.queries] == [
        ("query1", "partition1", "partition1#Inner"),
        ("query2", "partition1", "Out"),
        ("mine", "partition1", "Out2"),
        ("query4", None, "Last"),
    ]
    assert found.stream("partition1#Inner").origin is Origin.INNER


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("from #Inner select n insert into Out;", "outside a partition"),
        ("partition with (symbol of S, n of S) begin from S select n insert into O; end;",
         "two keys"),
        ("partition with (n of X) begin from S select n insert into O; end;", "unknown stream"),
        ("partition with (n of S) begin from #I select n insert into O; end;", "unknown stream"),
        ("@purge(enable='true') partition with (n of S) begin from S select n insert into O; end;",
         "idle.period"),
        ("@purge(idle.period='soon') partition with (n of S) begin from S insert into O; end;",
         "must be a time"),
    ],
)  # fmt: skip
def test_refused_partitions(text: str, message: str) -> None:
    assert message in refused(text).message


def test_inner_streams_of_two_partitions_are_apart() -> None:
    one = "partition with (n of S) begin from S select {} insert into #I; end;"
    found = plan(one.format("n") + one.format("symbol"))
    assert [found.stream(f"partition{i}#I").schema.names for i in (1, 2)] == [("n",), ("symbol",)]


def test_a_query_in_parentheses() -> None:
    found = plan("""@info(name='outer') from (from S[ok] select symbol, n return)[n > 2]
    select n insert into Out;""")
    inner, outer = found.queries
    assert (inner.name, inner.target, outer.source) == ("outer.inner", "outer.inner", "outer.inner")
    assert found.stream("outer.inner").schema.names == ("symbol", "n")


def test_playback() -> None:
    assert plan("").playback is None
    assert compile_rules("@app:playback " + STREAMS).playback == Playback()
    text = "@app:playback(idle.time='100 millisecond', increment='2 sec') " + STREAMS
    assert compile_rules(text).playback == Playback(100, 2000)
    for wrong in ("increment='2'", "idle.time='1 sec'", "idle.time='', increment='2 sec'"):
        with pytest.raises(RuleError):
            compile_rules(f"@app:playback({wrong}) {STREAMS}")


def test_variables() -> None:
    text = "define stream ${name} (a int); from ${name}[a > ${least}] insert into Out;"
    found = compile_rules(text, variables={"name": "In", "least": "7"})
    assert found.queries[0].source == "In"
    with pytest.raises(RuleError, match="least") as raised:
        compile_rules(text, variables={"name": "In"})
    assert raised.value.column == text.index("${least}") + 1


@pytest.mark.parametrize("second", ["stream X (a int)", "table X (a int)", "trigger X at 'start'"])
def test_names_are_unique(second: str) -> None:
    assert "exists already" in refused(f"define stream X (a int); define {second};").message


def test_a_table_is_no_stream() -> None:
    for text in ("from T select n", "from every e1=T -> e2=S select e2.n"):
        assert "table" in refused(f"{text} insert into Out;").message
    assert "not a stream" in refused("define event E as T[ok];").message


def test_events_read_any_stream() -> None:
    found = plan("""define trigger Tick at every 1 sec; define event E as every Tick;
    from S#window.length(3) select symbol, avg(price) as mean insert into M;
    define event F for each symbol as M[mean > 2.0];""")
    assert [event.source for event in found.events] == ["Tick", "M"]
