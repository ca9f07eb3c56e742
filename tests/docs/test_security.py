"""`SECURITY.md`: every promise names the tests that hold it, and these are there."""

from __future__ import annotations

import ast
import functools
import re

import pytest

from tests.docs.pages import ROOT

PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
PROMISES = dict(
    re.findall(
        r"^\| (?!promise|---)([^|]+) \| ([^|]+) \|$", SECTIONS["What is defended"], re.MULTILINE
    )
)
_TEST = re.compile(r"`(tests/\w+/test_\w+\.py)::(test_\w+)`")


@functools.cache
def names_in(file: str) -> frozenset[str]:
    """The tests that a file defines."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_names_tests_that_are_there(promise: str) -> None:
    named = _TEST.findall(PROMISES[promise])
    assert named and ", ".join(f"`{file}::{test}`" for file, test in named) == PROMISES[promise]
    assert [test for file, test in named if test not in names_in(file)] == []


def test_every_line_is_a_promise() -> None:
    lines = [line for line in SECTIONS["What is defended"].splitlines() if line.startswith("|")]
    assert len(lines) == len(PROMISES) + 2 > 20, "head and rule are none"


def test_it_says_what_a_threat_model_must() -> None:
    assert list(SECTIONS) == [
        "Report a weakness",
        "What is protected",
        "Who is trusted",
        "What is defended",
        "What is not defended yet",
    ]
    assert all(text.strip() for text in SECTIONS.values())
