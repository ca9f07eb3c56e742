"""More of Siddhi's answers, to rules of our own: joins with batches, sessions, extremes, types.

`siddhi_areas.jsonl` has the form of the recorded cases, and `by_default`: whether the default mode
gives the answer too, or deviates because it mends a defect.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.cases import Case, read
from tests.conformance.compiled import compiled, is_for_the_interpreter
from tests.conformance.drivers import InterpreterDriver
from tests.conformance.results import evaluate

CASES = Path(__file__).with_name("siddhi_areas.jsonl")


@cache
def cases() -> dict[str, tuple[Case, bool]]:
    lines = CASES.read_text().splitlines()
    defaults = [json.loads(line)["by_default"] for line in lines]
    return {
        case.id: (case, by_default) for case, by_default in zip(read(CASES), defaults, strict=True)
    }


@pytest.mark.parametrize("name", cases())
def test_siddhis_mode_gives_its_answer(name: str) -> None:
    case, _ = cases()[name]
    assert evaluate(case, InterpreterDriver, compat="siddhi").lines == []


@pytest.mark.parametrize("name", cases())
def test_the_default_mode_deviates_where_it_says_so(name: str) -> None:
    case, by_default = cases()[name]
    assert (not evaluate(case, InterpreterDriver).lines) == by_default


@pytest.mark.parametrize("name", [name for name, (_, by_default) in cases().items() if by_default])
def test_what_compiles_gives_the_answer_too(name: str) -> None:
    case, _ = cases()[name]
    if not is_for_the_interpreter(case):
        assert evaluate(case, compiled, merged=True).lines == []
