"""The recorded answers of the real Siddhi, all of them; deviations are listed with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from tests.campaign import sampled
from tests.conformance.cases import FOLDER, Case, read
from tests.conformance.compiled import compiled, is_for_the_interpreter
from tests.conformance.deviations import deviations
from tests.conformance.drivers import InterpreterDriver
from tests.conformance.extensions import register_all
from tests.conformance.results import evaluate

FILES = ("clocked", "replay", "probes")
needs_cases = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"recorded conformance cases are not at {FOLDER}"
)


@cache
def cases(file: str) -> Sequence[Case]:
    return tuple(read(FOLDER / f"{file}.jsonl"))


@needs_cases
@pytest.mark.parametrize("file", FILES)
def test_every_recorded_answer_is_given(file: str) -> None:
    """By default, or, where a deviation is listed, in Siddhi's mode."""
    register_all()
    tried = sampled(cases(file))
    results = [evaluate(case, InterpreterDriver, file) for case in tried]
    assert not [f"{item.case.area} {item.case.id}" for item in results if not item.passed]
    differing = {f"{file}:{item.case.id}" for item in results if item.known is not None}
    listed = {f"{file}:{case.id}" for case in tried} & deviations().keys()
    assert listed == differing, "listed as deviations, but they agree"


@needs_cases
@pytest.mark.parametrize("file", FILES)
def test_what_compiles_gives_the_recorded_answers(file: str) -> None:
    """The same on the native engine, in plain Python; batches of one step are taken together."""
    register_all()
    results = [
        evaluate(case, compiled, file, merged=True)
        for case in sampled(cases(file))
        if not is_for_the_interpreter(case)
    ]
    assert not [f"{item.case.area} {item.case.id}" for item in results if not item.passed]


@needs_cases
def test_every_listed_deviation_is_a_case() -> None:
    known = {f"{file}:{case.id}" for file in FILES for case in cases(file)}
    assert deviations().keys() <= known
    assert all(known.reason for known in deviations().values())
