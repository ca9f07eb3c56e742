"""House rules of the tests themselves: no short deadline, no number of examples set in stone."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import pytest

from tests.conftest import ByFile
from tests.tidy.sources import dotted, sources
from tests.tidy.test_tidy import report

NAMED = {"timeout", "within_s", "rcvtimeo", "sndtimeo"}
"""Arguments and attributes that are deadlines."""
FIRST = {"wait", "join", "settimeout"}
"""Methods whose first argument is one."""
PAUSE_S = 1.0
"""Less is a pause between two looks, not a deadline."""
EXAMPLES_MAX = 12
"""So few examples need no sample."""


def test_no_deadline_is_a_number() -> None:
    """A slow machine is no fault: what must come is waited for with tests.waiting."""
    report(
        f"{source.place}:{line}: a deadline of its own; use LONG_S or LONG_MS of tests.waiting"
        for source in sources()
        if source.place.startswith("tests/")
        for line in deadlines(source.tree)
    )


def test_every_property_test_has_a_sample() -> None:
    report(
        f"{source.place}:{line}: use max_examples=examples(..) of tests.campaign"
        for source in sources()
        if source.place.startswith("tests/")
        for line in example_counts(source.tree)
    )


def deadlines(tree: ast.AST) -> Iterable[int]:
    """Lines in which a number stands where a deadline is meant."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found = [word.value for word in node.keywords if word.arg in NAMED]
            if isinstance(node.func, ast.Attribute) and node.func.attr in FIRST:
                found += node.args[:1]
        elif isinstance(node, ast.Assign):
            names = {dotted(target).rpartition(".")[2] for target in node.targets}
            found = [node.value] if names & NAMED else []
        else:
            continue
        if any(isinstance(one, ast.Constant) and number(one) >= PAUSE_S for one in found):
            yield node.lineno


def example_counts(tree: ast.AST) -> Iterable[int]:
    """Lines in which a property test names many examples as a plain number."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.keyword) or node.arg != "max_examples":
            continue
        if isinstance(node.value, ast.Constant) and number(node.value) > EXAMPLES_MAX:
            yield node.value.lineno


def number(node: ast.Constant) -> float:
    """0 if it is none."""
    return float(node.value) if isinstance(node.value, int | float) else 0.0


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("process.wait(20)", True),
        ("thread.join(10.0)", True),
        ("subprocess.run(command, timeout=60)", True),
        ("terminal.wait_journal('up', within_s=10)", True),
        ("peer.rcvtimeo = 10_000", True),
        ("process.wait(LONG_S)", False),
        ("pause.wait(0.005)", False),
        ("', '.join(names)", False),
    ],
)
def test_the_deadline_rule_itself(text: str, is_one: bool) -> None:
    assert bool(list(deadlines(ast.parse(text)))) is is_one


def test_the_example_rule_itself() -> None:
    assert list(example_counts(ast.parse("settings(max_examples=300)")))
    assert not list(example_counts(ast.parse("settings(max_examples=examples(300))")))


def test_files_that_start_spark_go_to_one_worker() -> None:
    def group(name: str) -> str:
        return object.__new__(ByFile)._split_scope(f"tests/{name}::test_it[a]")

    assert group("spark/test_replay.py") == group("demo/test_demo.py") == "spark"
    assert group("tidy/test_tidy.py") == "tests/tidy/test_tidy.py"
