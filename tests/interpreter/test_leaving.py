"""What time lets go happens when it is due, whatever comes next."""

from __future__ import annotations

import pytest

from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules


@pytest.mark.parametrize(
    ("query", "time_msc"),
    [
        ("from S#window.delay(1 min) select x insert into O;", 2_000),
        ("from S#window.time(1 min) select x insert expired events into O;", 62_000),
        ("from S#window.timeLength(1 min, 9) select x insert expired events into O;", 62_000),
    ],
)
def test_rows_that_leave_have_a_time_that_no_other_stream_decides(
    query: str, time_msc: int
) -> None:
    streams = "define stream S (x double); define stream Other (y double);"
    run = InterpretedRun(compile_rules(f"{streams} {query}"), ["O"])
    run.push("S", 2_000, [1.0])
    (row,) = run.push("Other", 64_000, [1.0])
    assert row["time_msc"] == time_msc
