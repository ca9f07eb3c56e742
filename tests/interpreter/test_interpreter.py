"""The frame: order of execution, clock, errors, triggers, partitions, reordering, callbacks."""

from __future__ import annotations

from typing import Any

import pytest

from cep.interpreter.interpreter import Interpreter
from cep.interpreter.snapshot import SnapshotError
from cep.plan import compile_rules
from cep.plan.functions import register, unregister
from cep.plan.types import Type


class App:
    """An interpreter that notes what comes out of queries and streams."""

    def __init__(self, rules: str, *names: str, playback: bool = True) -> None:
        self.interpreter = Interpreter(compile_rules(rules), playback=playback)
        self.out: list[Any] = []
        for name in names:
            if name[0].isupper() or name[0] == "!":
                self.interpreter.on_stream(name, self._stream(name))
            else:
                self.interpreter.on_query(name, self._query(name))

    def _stream(self, name: str) -> Any:
        return lambda rows: self.out.append((name, [(row.time, *row.values) for row in rows]))

    def _query(self, name: str) -> Any:
        def told(time_ms: int, current: Any, expired: Any) -> None:
            shown = [None if rows is None else [row.values for row in rows]
                     for rows in (current, expired)]  # fmt: skip
            self.out.append((name, time_ms, *shown))

        return told

    def send(self, stream: str, *rows: tuple[Any, ...]) -> App:
        """Rows as (time, values ..), as one chunk."""
        self.interpreter.send(stream, [(row[0], row[1:]) for row in rows])
        return self

    def taken(self) -> list[Any]:
        out, self.out = self.out, []
        return out


DAY_MS = 86_400_000


S = "define stream S (k string, v long); "


def joined(*parts: str) -> str:
    """Rules of several statements."""
    return " ".join(parts)


def test_a_query_downstream_runs_before_the_next_query_of_the_same_stream() -> None:
    app = App(
        joined(
            S,
            "@info(name='a') from S select v insert into M;",
            "@info(name='b') from S select v insert into N;",
            "@info(name='c') from M select v insert into P;",
        ),
        "a", "b", "c",
    )  # fmt: skip
    app.send("S", (1, "x", 7))
    assert [name for name, *_ in app.taken()] == ["a", "c", "b"]


def test_rows_sent_together_are_one_chunk() -> None:
    app = App(S + "@info(name='q') from S select sum(v) as total insert into O;", "q")
    app.send("S", (1, "x", 1), (2, "x", 2))
    assert app.taken() == [("q", 2, [[3]], None)]


def test_selection_by_group_order_limit_and_offset() -> None:
    rules = S + (
        "@info(name='q') from S#window.lengthBatch(5) select k, sum(v) as total group by k "
        "having total > 1 order by total desc limit 2 offset 1 insert into O;"
    )
    app = App(rules, "q")
    app.send("S", (1, "a", 1), (1, "b", 5), (1, "c", 3), (1, "d", 4), (1, "e", 9))
    assert app.taken()[-1] == ("q", 1, [["b", 5], ["d", 4]], None)


@pytest.fixture
def failing() -> Any:
    def fail_on_seven(value: int) -> int:
        if value == 7:
            raise ValueError("seven")
        return value

    register("test:unlucky", [Type.LONG], Type.LONG, fail_on_seven)
    yield
    unregister("test:unlucky")


FAILING = "@info(name='bad') from S[test:unlucky(v) > 0] select v insert into O; "
GOOD = "@info(name='good') from S select v insert into P;"


def test_a_failing_query_loses_its_row_and_the_others_go_on(failing: None) -> None:
    app = App(S + FAILING + GOOD, "bad", "good")
    app.send("S", (1, "x", 7)).send("S", (2, "x", 8))
    assert [(name, rows) for name, _, rows, _ in app.taken()] == [
        ("good", [[7]]), ("bad", [[8]]), ("good", [[8]]),
    ]  # fmt: skip


def test_in_siddhi_mode_a_failing_query_keeps_the_row_from_later_ones(failing: None) -> None:
    app = App("@app:compat('siddhi') " + S + FAILING + GOOD, "bad", "good")
    app.send("S", (1, "x", 7)).send("S", (2, "x", 8))
    assert [(name, rows) for name, _, rows, _ in app.taken()] == [("bad", [[8]]), ("good", [[8]])]


def test_a_fault_stream_gets_the_row_and_the_error(failing: None) -> None:
    app = App("@OnError(action='STREAM') " + S + FAILING, "!S")
    app.send("S", (1, "x", 7))
    assert app.taken() == [("!S", [(1, "x", 7, "ValueError: seven")])]


def test_triggers_follow_the_clock_of_the_rows() -> None:
    app = App(
        S
        + "define trigger Begin at 'start'; define trigger Tick at every 1 sec; "
        + "define trigger Minute at '0 * * * * ?';",
        "Begin", "Tick", "Minute",
    )  # fmt: skip
    app.send("S", (DAY_MS + 58_500, "x", 1))
    assert app.taken() == [("Begin", [(DAY_MS + 58_500, DAY_MS + 58_500)])]
    app.send("S", (DAY_MS + 60_500, "x", 1))
    fired = (("Tick", 59_500), ("Minute", 60_000), ("Tick", 60_500))
    assert app.taken() == [(name, [(DAY_MS + ms, DAY_MS + ms)]) for name, ms in fired]


def test_without_playback_only_advance_moves_the_clock() -> None:
    app = App(S + "define trigger Tick at every 1 sec;", "Tick", playback=False)
    app.interpreter.start(0)
    app.send("S", (5000, "x", 1))
    assert app.taken() == []
    app.interpreter.advance(2000)
    assert app.taken() == [("Tick", [(1000, 1000)]), ("Tick", [(2000, 2000)])]


def test_idle_time_moves_the_clock_of_playback() -> None:
    rules = "@app:playback(idle.time='100 millisecond', increment='2 sec') " + S
    app = App(rules + "define trigger Tick at every 2 sec;", "Tick")
    app.interpreter.wall(1_000)
    app.send("S", (0, "x", 1))
    app.interpreter.wall(1_099)
    assert app.taken() == []
    app.interpreter.wall(1_250)
    assert app.taken() == [("Tick", [(2000, 2000)]), ("Tick", [(4000, 4000)])]


PARTITION = (
    "partition with (k of S) begin @info(name='q') from S select k, count() as n insert into #I; "
    "@info(name='r') from #I select k, n insert into O; end;"
)


def test_each_key_counts_on_its_own() -> None:
    app = App(S + PARTITION, "O")
    app.send("S", (1, "a", 0), (2, "a", 0), (3, None, 0), (4, "b", 0))
    assert app.taken() == [("O", [(2, "a", 2)]), ("O", [(4, "b", 1)])]


def test_idle_keys_are_purged() -> None:
    purge = "@purge(enable='true', interval='1 sec', idle.period='2 sec') "
    app = App(S + purge + PARTITION, "O")
    app.send("S", (0, "a", 0)).send("S", (1500, "b", 0)).send("S", (3100, "c", 0))
    app.taken()
    app.send("S", (3200, "a", 0)).send("S", (3300, "b", 0))
    assert app.taken() == [("O", [(3200, "a", 1)]), ("O", [(3300, "b", 2)])]


def test_ranges_overlap_and_streams_without_key_reach_every_instance() -> None:
    app = App(
        joined(
            S,
            "define stream T (w long);",
            "partition with (v > 10 as 'big' or v > 5 as 'some' of S) begin",
            "@info(name='q') from S select v insert into O;",
            "@info(name='t') from T select count() as n insert into P; end;",
        ),
        "O", "P",
    )  # fmt: skip
    app.send("T", (0, 1)).send("S", (1, "x", 20)).send("S", (2, "x", 6)).send("S", (3, "x", 1))
    assert app.taken() == [("O", [(1, 20)]), ("O", [(1, 20)]), ("O", [(2, 6)])]
    app.send("T", (4, 1))
    assert app.taken() == [("P", [(4, 1)]), ("P", [(4, 1)])]


def test_rows_out_of_order_wait_and_late_ones_are_told() -> None:
    rules = (
        "define stream L (k string, v long); @reorder(max.delay='100 millisecond', "
        "late.stream='L') " + S + "@info(name='q') from S select v insert into O;"
    )
    app = App(rules, "O", "L")
    app.send("S", (1000, "x", 1)).send("S", (950, "x", 2)).send("S", (1080, "x", 3))
    assert app.taken() == [("O", [(950, 2)])]
    app.send("S", (900, "x", 4))
    assert app.taken() == [("L", [(900, "x", 4)])]
    app.interpreter.advance(1150)
    assert app.taken() == [("O", [(1000, 1)])]
    app.interpreter.close()
    assert app.taken() == [("O", [(1080, 3)])]


def test_unknown_names_are_told() -> None:
    interpreter = Interpreter(compile_rules(S))
    with pytest.raises(KeyError, match="no stream 'X'"):
        interpreter.send("X", [(1, ["a", 1])])
    with pytest.raises(KeyError, match="no query 'q'"):
        interpreter.on_query("q", lambda *_: None)


def test_a_snapshot_of_other_rules_is_refused_by_name() -> None:
    saved = Interpreter(compile_rules("@app:name('one') " + S)).snapshot()
    other = Interpreter(compile_rules("@app:name('two') " + S + GOOD))
    with pytest.raises(SnapshotError, match=r"'one'.*not of 'two'"):
        other.restore(saved)
    with pytest.raises(SnapshotError, match="damaged"):
        other.restore(b"no snapshot")


BATCHES = (
    "partition with (k of S) begin from S#window.timeBatch(1 sec) select k, v insert into O; end;"
)


def test_each_key_ends_its_own_time_batch() -> None:
    app = App(S + BATCHES, "O", playback=False)
    app.interpreter.start(0)
    app.send("S", (0, "a", 1))
    app.interpreter.advance(500)
    app.send("S", (500, "b", 2))
    app.interpreter.advance(4000)
    assert app.taken() == [("O", [(0, "a", 1)]), ("O", [(500, "b", 2)])]


def test_in_siddhi_mode_the_keys_share_the_end_of_a_time_batch() -> None:
    app = App("@app:compat('siddhi') " + S + BATCHES, "O", playback=False)
    app.interpreter.start(0)
    app.send("S", (0, "a", 1))
    app.interpreter.advance(500)
    app.send("S", (500, "b", 2))
    app.interpreter.advance(4000)
    assert app.taken() == [("O", [(0, "a", 1)])]


def test_a_snapshot_rate_takes_expired_rows_whatever_is_inserted() -> None:
    rules = S + "from S#window.length(1) select v output snapshot every 1 sec insert into O;"
    app = App(rules, "O", playback=False)
    app.interpreter.start(0)
    app.send("S", (0, "a", 1), (0, "a", 2))
    app.interpreter.advance(1000)
    assert app.taken() == [("O", [(0, 2)])]
