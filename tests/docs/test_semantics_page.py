"""`docs/semantics.md` says of every case and engine what the tests of the cases hold it to."""

from __future__ import annotations

import pytest

from tests.docs import semantics_page
from tests.docs.semantics_page import CASES, ENGINES, answers


def test_the_page_is_what_the_engines_say() -> None:
    """Else run `python -m tests.docs.semantics_page`."""
    assert semantics_page.PAGE.read_text(encoding="utf-8") == semantics_page.text()


def test_every_case_has_its_line() -> None:
    page = semantics_page.PAGE.read_text(encoding="utf-8")
    assert [name for name in CASES if f"(`{name}`)" not in page] == []


def test_what_is_not_answered_has_a_reason() -> None:
    bare = [
        (name, engine)
        for name in CASES
        for engine, answer in answers(name).items()
        if answer.does in ("partly", "refuses", "differs") and not answer.why
    ]
    assert bare == []


@pytest.mark.parametrize(
    ("name", "engine", "does"),
    [
        ("refused-name", "interpreter", "refuses"),
        ("aggregates-exact", "sqlite", "refuses"),
        ("arithmetic", "postgresql", "partly"),
        ("late-per-key", "native", "yes"),
        ("late-per-key", "spark", "refuses"),
        ("keys", "spark", "yes"),
        ("stages", "interpreter", "yes"),
        ("window-length", "spark", "in sequence"),
    ],
)
def test_each_answer_is_told_apart(name: str, engine: str, does: str) -> None:
    assert engine in ENGINES
    assert answers(name)[engine].does == does
