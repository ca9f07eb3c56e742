"""Functions that see which record is under way: the same whenever the same records come again."""

from __future__ import annotations

from typing import Any

import pytest

from cep.engine.native import Compiled
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from cep.plan.nodes import Plan

STREAMS = "define stream S (k string, v int); "
NAMED = "from S select k, UUID() as id, UUID() as other insert into Named; "
TIMED = (
    "from S#window.timeBatch(1 sec) select k, currentTimeMillis() as now, UUID() as id "
    "insert into Timed; "
)
PARTITIONED = (
    "partition with (k of S) begin from S select k, UUID() as id insert into Parted; end; "
)
MORE = "from S[v > 0] select v, UUID() as id insert into More; "
ROWS = [
    (0, "a", 1), (0, "b", 2), (400, "a", 0), (-300, "b", 3), (900, "a", 4), (1700, "b", 0),
]  # fmt: skip


def rows() -> list[tuple[str, int, dict[str, Any]]]:
    return [("S", 1_700_000_000_000 + at, {"k": k, "v": v}) for at, k, v in ROWS]


def interpreted(plan: Plan) -> list[dict[str, Any]]:
    run = InterpretedRun(plan)
    return [made for row in rows() for made in run.push_row(*row)]


def native(plan: Plan) -> list[dict[str, Any]]:
    run = Compiled(plan, jit=False).start()
    return [made for row in rows() for made in run.push_row(*row).dicts()]


def of(found: list[dict[str, Any]], stream: str) -> list[dict[str, Any]]:
    return [row for row in found if row["stream"] == stream]


@pytest.mark.parametrize("text", [NAMED, TIMED, PARTITIONED, NAMED + TIMED])
def test_two_runs_and_all_engines_agree(text: str) -> None:
    plan = compile_rules(STREAMS + text)
    found = interpreted(plan)
    assert found == interpreted(plan)
    for stream in plan.derived:
        assert of(found, stream) == of(native(plan), stream) != []


def test_names_are_all_different() -> None:
    found = interpreted(compile_rules(STREAMS + NAMED + NAMED + PARTITIONED + MORE))
    names = [value for row in found for name, value in row.items() if name in ("id", "other")]
    assert len(set(names)) == len(names) > 20


def test_other_rules_change_no_name() -> None:
    alone = interpreted(compile_rules(STREAMS + NAMED + TIMED))
    more = interpreted(compile_rules(STREAMS + MORE + NAMED + PARTITIONED + TIMED))
    for stream in ("Named", "Timed"):
        assert of(more, stream) == of(alone, stream) != []


@pytest.mark.parametrize(
    ("before", "source", "is_same"),
    [
        ("from S select * insert into T; ", "T", True),
        ("from S select * insert into T; from T select k, v insert into U; ", "U", True),
        ("from S[v > 0] select * insert into T; ", "T", False),
        ("from S select * insert into T; from S[v > 3] select * insert into T; ", "T", False),
    ],
)
def test_a_stream_that_is_passed_on_as_it_is_changes_no_name(
    before: str, source: str, is_same: bool
) -> None:
    alone = interpreted(compile_rules(STREAMS + NAMED))
    behind = interpreted(compile_rules(STREAMS + before + NAMED.replace("S ", f"{source} ")))
    ids, others = ({row["id"] for row in of(found, "Named")} for found in (alone, behind))
    assert (ids == others, bool(ids & others)) == (is_same, is_same)


def test_a_further_column_changes_no_name() -> None:
    """Of the several rows that one record makes."""
    text = "from S#window.lengthBatch(2) select k, UUID() as id insert into Named;"
    plain, wider = (
        interpreted(compile_rules(STREAMS + one))
        for one in (text, text.replace(" insert", ", UUID() as other insert"))
    )
    assert [row["id"] for row in wider] == [row["id"] for row in plain]
    assert len({name for row in wider for name in (row["id"], row["other"])}) == 2 * len(plain) > 6


def test_the_current_time_is_that_of_what_is_under_way() -> None:
    found = of(interpreted(compile_rules(STREAMS + TIMED)), "Timed")
    assert {row["now"] - 1_700_000_000_000 for row in found} == {1000}


def test_a_batch_of_records_names_as_one_record_at_a_time() -> None:
    plan = compile_rules(STREAMS + NAMED + TIMED)
    run = Compiled(plan, jit=False).start()
    columns: dict[str, list[Any]] = {
        "k": [k for _, k, _ in ROWS],
        "v": [v for _, _, v in ROWS],
    }
    times = [1_700_000_000_000 + at for at, _, _ in ROWS]
    together = run.push("S", columns, times).dicts()
    for stream in plan.derived:
        assert of(together, stream) == of(native(plan), stream)


def test_a_snapshot_goes_on_with_the_names() -> None:
    plan = compile_rules(STREAMS + NAMED + TIMED)
    expected = interpreted(plan)
    first, second = InterpretedRun(plan), InterpretedRun(plan)
    made = [one for row in rows()[:3] for one in first.push_row(*row)]
    second.interpreter.restore(first.interpreter.snapshot())
    assert made + [one for row in rows()[3:] for one in second.push_row(*row)] == expected
