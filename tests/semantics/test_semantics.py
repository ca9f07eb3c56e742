"""Every case on every back end, and the loader's own errors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet

from cep.lang.errors import RuleError
from tests import campaign
from tests.semantics.back_ends import BACK_ENDS, DIFFERS
from tests.semantics.loader import BackEnd, Case, CaseError, load_cases, parse_case

CASES = load_cases()
ACCEPTED = [case for case in CASES if case.refused is None]
REFUSED = [case for case in CASES if case.refused is not None]


def runs() -> Iterator[ParameterSet]:
    """Every case on every back end; one in five of those in machine code is not the campaign's."""
    for number, case in enumerate(ACCEPTED):
        for name, back_end in BACK_ENDS.items():
            make = campaign.only if name == "native" and number % 5 else pytest.param
            differs = case.name in DIFFERS.get(name, {})
            yield make(case, back_end, differs, id=f"{case.name}-{name}")


@pytest.mark.parametrize(("case", "back_end", "differs"), list(runs()))
def test_case(case: Case, back_end: BackEnd, differs: bool) -> None:
    """What differs is listed, and is struck off the list when it no longer does."""
    rows = back_end(case.plan(), case.rows_in, case.mode)
    assert (case.observed(rows) != case.expected) == differs, case.title


def test_what_differs_are_cases() -> None:
    assert {name for cases in DIFFERS.values() for name in cases} <= {one.name for one in ACCEPTED}


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_refusal(case: Case) -> None:
    with pytest.raises(RuleError) as refusal:
        case.plan()
    assert case.refused is not None and case.refused in str(refusal.value)


def test_titles_are_unique() -> None:
    titles = [case.title for case in CASES]
    assert len(set(titles)) == len(titles) > 0


HEAD = "title: t\nwhy: w\nrules:\n    define stream S (n int);\n"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("title: t\nwhy: w\nrules:\nout:\n", None),
        ("title: t\n", "case:1"),
        (HEAD + "in:\n    1 S n=1\n", "case:1"),
        (HEAD + "out:\nrefused: both\n", "case:1"),
        (HEAD + "outcome:\n", "case:5"),
        (HEAD + "mode: mixed\nout:\n", "case:5"),
        (HEAD + "in:\n    soon S n=1\nout:\n", "case:6"),
        (HEAD + "in:\n    1 S n\nout:\n", "case:6"),
        (HEAD + "in:\nout:\n    1 S n=one\n", "case:7"),
    ],
)
def test_a_broken_file_is_named_with_its_line(text: str, place: str | None) -> None:
    if place is None:
        assert parse_case(text, "case").rows_out == ()
        return
    with pytest.raises(CaseError, match=place):
        parse_case(text, "case")


def test_rows_are_compared_with_their_types() -> None:
    case = parse_case(HEAD + "out S:\n    1 S n=1 d=1.0 l=[1, 2]\n", "case")
    row = {"stream": "S", "time_msc": 1, "kind": "current", "n": 1, "d": 1.0, "l": [1, 2]}
    assert case.observed([row, {"stream": "T"}]) == case.expected
    assert case.observed([row | {"d": 1}]) != case.expected
