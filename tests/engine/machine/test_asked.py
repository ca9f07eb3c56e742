"""On-demand queries on programs: the answers and the changes of the interpreter."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from cep.engine.native import Compiled, Run
from cep.interpreter.run import InterpretedRun
from cep.plan import Plan, compile_rules
from cep.plan.on_demand import build_on_demand

HOLDERS = """
define stream S (k string, v long, p double);
@PrimaryKey('k') define table T (k string, v long, p double);
@Index('v') define table U (k string, v long);
define aggregation G from S select k, sum(v) as s group by k aggregate every sec, min;
from S select k, v, p update or insert into T set T.v = v, T.p = p on T.k == k;
from S select k, v insert into U;
"""
WINDOWS = ["length(3)", "time(1 sec)", "lengthBatch(4)", "timeLength(1 sec, 3)", "sort(3, v)",
           "session(400, k)", "session(400, k, 300)", "session(700)", "frequent(2, k)",
           "lossyFrequent(0.3, 0.2, k)", "lengthJump(3, 2, k)", "delay(500)", "cron('* * * * * ?')",
           "hopping(1 sec, 500)", "expression('count() < 3')"]  # fmt: skip
QUESTIONS = [
    "from T select *",
    "from T on v > 2 select k, v * 2 as w",
    "from U select k, sum(v) as s group by k",
    "from U on U.v == 3 select k",
    "from G within 0L, 9999999999999L per 'sec' select *",
    "from G within 1000L, 5000L per 'min' select k, s order by s desc limit 1",
    "select 'zz' as k, 7L as v, 1.5 as p insert into T",
    "select 'zz' as k, 8L as v, 1.5 as p insert into T",
    "select 'q' as k, 1L as v insert into U",
    "delete U on U.v == 1",
    "update U set U.v = U.v + 1 on U.k == 'a'",
    "update T set T.k = 'b' on T.k == 'a'",
    "update T set T.k = 'n' on T.k == 'a'",
    "select 'e' as k, 9L as v, 0.5 as p update or insert into T set T.v = v on T.k == k",
    "select 'e' as k, 10L as v, 0.5 as p update or insert into T set T.v = v on T.k == k",
]


def answered(run: Run, reference: InterpretedRun, question: str, plan: Plan) -> tuple[Any, Any]:
    """What both say to a question: rows, or what is wrong with it."""
    query = build_on_demand(question, plan)

    def meant() -> list[dict[str, Any]]:
        names = query.schema.names
        found = reference.interpreter.ask(query) or []
        return [dict(zip(names, values, strict=True)) for values in found]

    said: list[Any] = []
    for ask in (lambda: run.ask(query), meant):
        try:
            said.append(ask())
        except ValueError as problem:
            said.append(str(problem))
    return said[0], said[1]


def assert_same_answers(text: str, questions: list[str], seed: int) -> int:
    """Ask between rows; how many rows were found."""
    plan = compile_rules(text)
    run, reference = Compiled(plan, jit=False, machine="always").start(), InterpretedRun(plan)
    assert run.machine is not None
    random, time, found = Random(seed), 1000, 0
    for place in range(40):
        row = {"k": random.choice("abcd"), "v": random.randrange(6), "p": random.random()}
        time += random.randrange(500)
        made = run.push_row("S", time, row).dicts()
        assert made == reference.push_row("S", time, row), place
        if place in (6, 7, 19, 39):
            for question in questions:
                own, meant = answered(run, reference, question, plan)
                assert own == meant, (place, question)
                found += len(own)
    assert run.dropped == reference.dropped
    return found


@pytest.mark.parametrize("seed", range(3))
def test_tables_and_aggregations_are_asked_and_changed(seed: int) -> None:
    """Rows that come between the questions meet what these have changed."""
    assert assert_same_answers(HOLDERS, [*QUESTIONS, *QUESTIONS[:6]], seed)


@pytest.mark.parametrize("window", WINDOWS)
def test_every_window_says_what_it_holds(window: str) -> None:
    text = (
        f"define stream S (k string, v long, p double);\n"
        f"define window W (k string, v long) {window} output all events;\n"
        "from S select k, v insert into W;\nfrom W select k, count() as c insert into O;\n"
    )
    questions = ["from W select *", "from W on v > 1 select k, count() as n group by k"]
    assert assert_same_answers(text, questions, 1)


def test_what_is_wrong_with_a_question_is_said() -> None:
    assert assert_same_answers(HOLDERS, ["from G within 5L, 1L per 'sec' select *"], 1) > 0
