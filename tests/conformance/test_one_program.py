"""Recorded apps as one program: nearly all of them are, and give the interpreter's rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from cep.engine.native import Compiled
from cep.interpreter.run import InterpretedRun
from cep.lang.errors import RuleError
from cep.plan import Plan, compile_rules
from tests.campaign import sampled
from tests.conformance.cases import T0, Case
from tests.conformance.compiled import is_for_the_interpreter
from tests.conformance.extensions import register_all
from tests.conformance.runs import _row
from tests.conformance.test_conformance import FILES, cases, needs_cases

EXEMPT = {
    "a condition of a window that is no constant": "a script",
    "values that are objects": "objects",
    "it works on objects": "objects",
    "a fault stream": "objects: errors are some",
    "all rows that a state has collected": "lists",
    "idle time of `@app:playback`": "idle time",
}
"""Reasons why an app is none, and under which exemption of `docs/engine.md` they fall."""
SHARE_LEAST = 0.98


@cache
def apps(file: str) -> tuple[tuple[Case, int, Plan], ...]:
    """The apps of a file that are not refused, with their cases and numbers there."""
    register_all()
    return tuple(_apps(file))


def _apps(file: str) -> Iterator[tuple[Case, int, Plan]]:
    for case in cases(file):
        for number, text in enumerate(() if case.refused else case.apps):
            try:
                yield case, number, compile_rules(text)
            except RuleError:
                continue


def as_program(plan: Plan) -> Compiled:
    return Compiled(plan, jit=False, machine="always")


@needs_cases
def test_all_but_a_few_are_one_program() -> None:
    """At least 98 % of those that are not exempt."""
    reasons: Counter[str] = Counter()
    whole = 0
    for file in FILES:
        for _, _, plan in apps(file):
            rules = as_program(plan)
            whole += rules.whole is not None
            if rules.whole is None:
                reasons[rules.why_not_whole.rpartition(": ")[2]] += 1
    others = sum(count for reason, count in reasons.items() if reason not in EXEMPT)
    assert whole / (whole + others) >= SHARE_LEAST, reasons


@needs_cases
@pytest.mark.parametrize("file", FILES)
def test_programs_give_the_rows_of_the_interpreter(file: str) -> None:
    differing = []
    for case, number, plan in sampled(apps(file)):
        rules = as_program(plan)
        if rules.whole is not None and not is_for_the_interpreter(case):
            made, meant = both(case, number, plan, rules)
            if made != meant:
                differing.append(case.id)
    assert not differing


def both(case: Case, app: int, plan: Plan, rules: Compiled) -> tuple[list[Any], list[Any]]:
    """The rows of an app as a program, and interpreted; then what each has dropped."""
    run, reference = rules.start(mode="sorted"), InterpretedRun(plan)
    wall_ms = T0
    made: list[Any] = []
    meant: list[Any] = []
    names = {stream.name for stream in plan.sources}

    def pass_time() -> None:
        if plan.playback is None:
            made.extend(run.advance(wall_ms).dicts())
            meant.extend(reference.advance(wall_ms))

    for step in case.steps:
        if step["op"] == "sleep":
            wall_ms += step["ms"]
            pass_time()
        elif step.get("app", 0) != app:
            continue
        elif step["op"] == "start":
            pass_time()
        elif step["op"] == "send" and step["stream"] in names:
            schema = plan.stream(step["stream"]).schema
            row = _row(step.get("event") or step, schema)
            time_ms = (step.get("event") or step).get("ts", wall_ms)
            columns = {name: [value] for name, value in zip(schema.names, row, strict=True)}
            made += run.push(step["stream"], columns, [time_ms]).dicts()
            meant += reference.push(step["stream"], time_ms, row)
            pass_time()
    return [*made, run.dropped], [*meant, reference.dropped]
