"""Apps of Siddhi's own tests: what it takes is built, what it refuses is refused."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cep.lang import RuleError
from cep.plan import build_on_demand, compile_rules
from tests.conformance.extensions import register_all

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "conformance" / "siddhi"
pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"recorded cases of Siddhi are not at {FOLDER}"
)
CIRCLES = ("query.table.JoinTableTestCase.testTableJoinQuery6",)
"""Two queries feed each other: refused, but with `@app:compat('siddhi')`."""


@cache
def cases(file: str) -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(line) for line in (FOLDER / file).read_text().splitlines())


@pytest.fixture(autouse=True)
def extensions() -> None:
    """The functions that Siddhi's tests register."""
    register_all()


def texts(case: dict[str, Any]) -> list[str]:
    return [app["text"] for app in case["apps"]] if "apps" in case else [case["app"]]


def problem(text: str) -> str:
    """Why an app is refused; empty when it is not."""
    try:
        compile_rules(text)
    except RuleError as error:
        assert error.line >= 1
        return error.render()
    return ""


@pytest.mark.parametrize("file", ["clocked.jsonl", "replay.jsonl"])
def test_what_siddhi_takes_is_built(file: str) -> None:
    golden = [case for case in cases(file) if case.get("class", "golden") == "golden"]
    assert len(golden) > 800
    refused = {case["id"]: why for case in golden for text in texts(case) if (why := problem(text))}
    assert tuple(refused) == CIRCLES, "\n".join(refused.values())


def test_circles_are_built_as_siddhi_does_when_asked() -> None:
    (case,) = (case for case in cases("clocked.jsonl") if case["id"] in CIRCLES)
    assert compile_rules("@app:compat('siddhi') " + texts(case)[0]).queries


def test_what_siddhi_refuses_is_refused() -> None:
    errors = [case for case in cases("clocked.jsonl") if case["class"] == "error"]
    assert len(errors) > 150
    taken = [case["id"] for case in errors if not any(map(problem, texts(case)))]
    assert taken == []


def test_on_demand_queries() -> None:
    asked = 0
    for case in cases("clocked.jsonl"):
        queries = [step for step in case["steps"] if step["op"] == "query"]
        if case["class"] == "golden" and queries:
            plans = [compile_rules(text) for text in texts(case)]
            for step in queries:
                plan = plans[step.get("app", 0)]
                asked += 1
                if "error" in step:
                    with pytest.raises(RuleError):
                        build_on_demand(step["text"], plan)
                else:
                    build_on_demand(step["text"], plan)
    assert asked > 50


def test_probes() -> None:
    """One-question apps: refused exactly where the recorded answer is an error."""
    differ = [
        case["question"]
        for case in cases("probes.jsonl")
        if ("rror" in str(case["answer"]) or "xception" in str(case["answer"]))
        != bool(problem(case["app"]))
    ]
    assert differ == []
