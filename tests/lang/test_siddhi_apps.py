"""Apps of Siddhi's own test suite: what Siddhi can read is read, and formatting keeps it."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cep.lang import RuleError, format_rules, parse, parse_on_demand

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "conformance" / "siddhi"
needs_cases = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"the recorded Siddhi cases are not at {FOLDER}"
)
UNREADABLE = "Syntax error in SiddhiQL"
DEFINED_LATE = "mismatched input 'define' expecting <EOF>"
"""Siddhi wants definitions in front of queries; here they may be mixed."""


class App(NamedTuple):
    """`message` is what Siddhi said of an app it refused."""

    case: str
    text: str
    message: str


def cases(file: str) -> list[dict[str, Any]]:
    with (FOLDER / file).open() as lines:
        return [json.loads(line) for line in lines]


@functools.cache
def apps() -> tuple[App, ...]:
    found = [
        App(case["id"], app["text"], app.get("error_message", ""))
        for case in cases("clocked.jsonl")
        for app in case["apps"]
    ]
    found += [App(case["id"], case["app"], "") for case in cases("replay.jsonl")]
    found += [App(case["question"], case["app"], "") for case in cases("probes.jsonl")]
    return tuple(found)


@needs_cases
def test_what_siddhi_can_read_is_read() -> None:
    wrong = []
    for app in apps():
        if UNREADABLE not in app.message:
            try:
                parse(app.text)
            except RuleError as error:
                wrong.append((app.case, str(error)))
    assert not wrong
    assert len(apps()) > 2_000


@needs_cases
def test_what_siddhi_cannot_read_is_refused() -> None:
    unreadable = [app for app in apps() if UNREADABLE in app.message]
    late = [app for app in unreadable if DEFINED_LATE in app.message]
    for app in unreadable:
        if app not in late:
            with pytest.raises(RuleError):
                parse(app.text)
    assert (len(unreadable) >= 5, len(late)) == (True, 1)


@needs_cases
def test_formatting_keeps_the_meaning_and_settles() -> None:
    for text in {app.text for app in apps() if UNREADABLE not in app.message}:
        formatted = format_rules(text)
        assert parse(formatted) == parse(text)
        assert format_rules(formatted) == formatted


@needs_cases
def test_on_demand_queries_are_read() -> None:
    steps = [step for case in cases("clocked.jsonl") for step in case["steps"]]
    texts = {step["text"] for step in steps if step["op"] == "query"}
    for text in texts:
        parse_on_demand(text)
    assert len(texts) > 30
