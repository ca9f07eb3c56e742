"""Apps of Siddhi's own test suite: none is mis-read, and what Siddhi refuses is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cep.lang import RuleError
from cep.plan import compile_rules

CASES = Path(__file__).parents[3] / "shared" / "conformance" / "siddhi" / "clocked.jsonl"


def apps() -> Iterator[tuple[str, str, bool]]:
    """Case id, app text, and whether Siddhi accepts it."""
    if not CASES.exists():
        pytest.skip(f"the recorded Siddhi cases are not at {CASES}")
    with CASES.open() as lines:
        for line in lines:
            case = json.loads(line)
            for app in case["apps"]:
                yield case["id"], app["text"], not app.get("error")


def test_what_siddhi_accepts_is_compiled_or_refused_as_not_built() -> None:
    wrong = []
    compiled = 0
    for name, text, accepted in apps():
        if accepted:
            try:
                compile_rules(text)
                compiled += 1
            except RuleError as raised:
                odd = [e for e in raised.errors if "is not supported yet" not in e.message]
                wrong += [(name, str(error)) for error in odd]
    assert not wrong
    assert compiled >= 60


def test_what_siddhi_refuses_is_refused() -> None:
    wrong = []
    for name, text, accepted in apps():
        if not accepted:
            try:
                compile_rules(text)
                wrong.append((name, text))
            except RuleError:
                pass
    assert not wrong
