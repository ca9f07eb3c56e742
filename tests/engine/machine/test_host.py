"""What Python computes for a program: functions without source, those of the user, own names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from loguru import logger

from cep.engine.compiled import Compiled
from cep.engine.machine.program import Program
from cep.plan import compile_rules
from cep.plan.functions import SCALARS, Scalar, register
from cep.plan.types import Type
from tests.engine.machine.compared import Record, Told, assert_same, assert_same_lived
from tests.functions.test_every_scalar import STATEMENT, calls, compilable

T0 = 1_700_000_000_000
STREAM = "define stream S (k string, n int, x double, y double, t long, f bool);\n"
RECORDS: list[Record] = [
    ("S", T0 + 100 * n, [
        None if n % 7 == 3 else "ab"[n % 2] + "x" * (n % 3),
        n - 9,
        None if n % 5 == 2 else n * 0.75 - 6.0,
        1.5,
        n % 6,
        None if n % 11 == 5 else n % 2 == 0,
    ])
    for n in range(24)
]  # fmt: skip


class ThreeError(ValueError):
    """What the user's function raises."""


def twice_but_three(value: int) -> int:
    if value == 3:
        raise ThreeError("three is not twice anything")
    return 2 * value


def longest(text: str | None, number: float | None, truth: bool | None) -> str:
    return f"{text}/{number}/{truth}"


@pytest.fixture(autouse=True)
def functions() -> Iterator[None]:
    register("hosted:twice", [Type.LONG], Type.LONG, twice_but_three)
    register("hosted:longest", [Type.STRING, Type.DOUBLE, Type.BOOL], Type.STRING, longest)
    yield


def program(text: str) -> Program:
    rules = Compiled(compile_rules(STREAM + text), jit=False, machine="always")
    made = rules.as_program("sorted")
    assert made is not None and made.program is not None, rules.why_not_whole
    return made.program


def why_not(text: str) -> str:
    rules = Compiled(compile_rules(STREAM + text), jit=False, machine="always")
    assert rules.whole is None
    return rules.why_not_whole


@pytest.mark.parametrize("one", SCALARS, ids=lambda one: one.name)
def test_every_function_gives_what_it_gives_in_the_interpreter(one: Scalar) -> None:
    for call in compilable(one):
        rules = STATEMENT.format(call=call)
        if "createSet" in call:
            assert "objects" in why_not(rules)
        else:
            assert assert_same(STREAM + rules, RECORDS) > 0 or "regexp" in call or "replace" in call


def test_some_functions_are_only_there_in_python() -> None:
    """Else nothing is tried above."""
    hosted = {
        one.name
        for one in SCALARS
        for call in list(calls(one))[:1]
        if one.native is None and "createSet" not in call
    }
    assert {"str:upper", "math:exp", "UUID"} <= hosted


@pytest.mark.parametrize(
    "rules",
    [
        "from S[str:length(k) > 1]#window.length(3) select k, str:lower(k) as l, sum(t) as s"
        " group by k insert into O;",
        "from e1=S[str:contains(k, 'a')] -> e2=S[str:length(e1.k) == str:length(k)]"
        " select str:concat(e1.k, e2.k) as c insert into O;",
        "from S select k, math:exp(sum(x)) as e, sum(math:exp(x)) as s having e > 0.1"
        " insert into O;",
        "partition with (k of S) begin from S select str:upper(k) as u, count() as n"
        " insert into O; end;",
        "define table T (k string, n long); from S select str:upper(k) as k, t as n"
        " update or insert into T set T.n = n on T.k == k;"
        "from S join T on str:upper(S.k) == T.k select T.k as k, T.n as n insert into O;",
    ],
)
def test_calls_stand_anywhere(rules: str) -> None:
    assert assert_same(STREAM + rules, RECORDS, T0 + 60_000) > 0


@pytest.mark.parametrize(
    "rules",
    [
        "from S#window.session(300, k) select str:upper(k) as u, count() as n group by k"
        " insert all events into O;",
        "from S#window.sort(3, k) select str:lower(k) as l insert all events into O;",
        "from S#window.lengthBatch(5) select k, str:upper(k) as u order by k insert into O;",
    ],
)
def test_texts_of_records_are_put_in_order_beside(rules: str) -> None:
    assert assert_same(STREAM + rules, RECORDS, T0 + 60_000) > 0


@pytest.mark.parametrize(
    "rules",
    [
        "from S select UUID() as a, UUID() as b, k insert into O;",
        "from S#window.lengthBatch(4) select UUID() as a, t insert into O;",
        "from S#window.time(300) select UUID() as a, k insert expired events into O;",
        "from S select k, t insert into P; from P select UUID() as a insert into O;",
    ],
)
def test_names_of_their_own_are_the_same(rules: str) -> None:
    assert assert_same(STREAM + rules, RECORDS, T0 + 60_000) > 0


@pytest.mark.parametrize(
    "rules",
    [
        "from S[hosted:twice(t) > 2] select k insert into O;",
        "from S[x > 0.0][hosted:twice(t) > 2] select k insert into O;",
        "from S[hosted:twice(t) > 2 and x > 0.0] select k insert into O;",
        "from S#window.length(5) select k, hosted:twice(sum(t)) as w insert into O;",
        "from S#window.lengthBatch(4) select k, t insert into P;"
        "from P select k, hosted:twice(t) as w insert into O;",
        "from S select hosted:longest(k, x, f) as w insert into O;",
        "from S[str:regexp(k, 'a.*')] select k insert into O;",
        "partition with (k of S) begin from S select hosted:twice(t) as w insert into O; end;",
    ],
)
def test_what_a_function_fails_on_is_lost_as_in_the_interpreter(rules: str) -> None:
    """Only the rows of this reader: others get theirs, and the run goes on."""
    rules += "from S select count() as n insert into Beside;"
    assert assert_same(STREAM + rules, RECORDS, T0 + 60_000) > len(RECORDS)


def test_a_pattern_that_is_none_loses_all() -> None:
    rules = "from S[str:regexp(k, 'a(')] select k insert into O;"
    assert assert_same(STREAM + rules, RECORDS) == 0


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ("from S[x > 0.0 or hosted:twice(t) > 2] select k insert into O;", "may fail there"),
        ("from S select ifThenElse(f, hosted:twice(t), 0l) as v insert into O;", "may fail there"),
        ("from S select str:concat(UUID(), k) as v insert into O;", "names of its own there"),
        ("from S[str:length(UUID()) > 2] select k insert into O;", "names of its own there"),
        ("from S select str:upper(k) as u, k order by u insert into O;", "orders texts"),
        (
            "from S select str:upper(k) as k, t insert into P;"
            "from P select k, t order by k insert into O;",
            "orders texts",
        ),
        (
            "from S select str:upper(k) as k insert into P;"
            "from P#window.session(1 sec, k) select k insert expired events into O;",
            "orders texts",
        ),
        (
            "define table T (k string, n string); @info(name='q') from S select str:upper(k) as k"
            " insert into P; @PrimaryKey('k', 'n') define table W (k string, n string);"
            " from P select k, k as n insert into W; from S join W select W.k as k insert into O;",
            "orders texts",
        ),
        ("from S select createSet(k) as v insert into O;", "objects"),
    ],
)
def test_what_it_cannot_do_as_often_as_the_interpreter_is_named(rules: str, reason: str) -> None:
    assert reason in why_not(rules)


def test_only_what_has_no_source_is_left_to_python() -> None:
    made = program("from S select math:abs(x) as a, math:exp(x) as b, x + 1.0 as c insert into O;")
    assert [one.node.function for one in made.hosted] == ["math:exp"]


def test_calls_while_time_passes_for_some_keys() -> None:
    rules = (
        "from S#window.time(1 sec) select str:upper(k) as u, UUID() as w insert all events into O;"
    )
    steps: list[Record | Told] = [*RECORDS[:20], Told(T0 + 2_500, ("a",), T0), *RECORDS[20:]]
    assert assert_same_lived(STREAM + rules, steps, T0 + 60_000) > 0


def test_calls_from_machine_code() -> None:
    rules = (
        "from S[hosted:twice(t) > 2] select str:concat(k, x, n, f) as c, math:ln(x) as l,"
        " UUID() as u insert into O;"
    )
    assert assert_same(STREAM + rules, RECORDS, jit=True) > 0


def test_what_interrupts_a_call_ends_the_run() -> None:
    """Nothing passes through machine code: it is raised when the rows are done."""

    def interrupted(value: int) -> int:
        raise KeyboardInterrupt

    register("hosted:interrupted", [Type.LONG], Type.LONG, interrupted)
    rules = "from S select hosted:interrupted(t) as v insert into O;"
    with pytest.raises(KeyboardInterrupt):
        assert_same(STREAM + rules, RECORDS)


def test_rows_are_written_to_the_log() -> None:
    rules = (
        "@info(name = 'q') from S#log('warn', 'seen', true)[t > 3]#log('error', 'left', false)"
        " select k insert into O;"
    )
    said: list[str] = []
    sink = logger.add(lambda line: said.append(str(line)), format="{level} {message}")
    try:
        assert assert_same(STREAM + rules, RECORDS[:6]) == 2
    finally:
        logger.remove(sink)
    mine = [line for line in said if "q: " in line]
    assert [line.split(" ", 1)[0] for line in mine] == ["WARNING"] * 4 + ["WARNING", "ERROR"] * 2
    assert mine[0].startswith("WARNING q: seen, Row(1700000000000, CURRENT, ['a', -9, -6.0, 1.5")
