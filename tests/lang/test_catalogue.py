"""The error catalogue: every rule text in `errors/` is refused with exactly the text below it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from cep.lang import RuleError
from cep.plan import compile_rules

FOLDER = Path(__file__).parent / "errors"


class Case(NamedTuple):
    title: str
    rules: str
    rendered: str


def load(path: Path) -> list[Case]:
    """The cases of a file: title line, rules, `---`, what is printed; `======` between cases."""
    cases = []
    for block in path.read_text().split("======\n"):
        head, rendered = block.split("\n---\n")
        title, rules = head.split("\n", 1)
        cases.append(Case(title.removeprefix("# "), rules, rendered.rstrip("\n")))
    return cases


CASES = [
    pytest.param(case, id=f"{path.stem}: {case.title}")
    for path in sorted(FOLDER.glob("*.txt"))
    for case in load(path)
]


@pytest.mark.parametrize("case", CASES)
def test_error(case: Case) -> None:
    with pytest.raises(RuleError) as caught:
        compile_rules(case.rules, "rules.cep")
    assert str(caught.value) == case.rendered


@pytest.mark.parametrize("case", CASES)
def test_place_is_inside_the_text(case: Case) -> None:
    with pytest.raises(RuleError) as caught:
        compile_rules(case.rules, "rules.cep")
    lines = case.rules.split("\n")
    for error in caught.value.errors:
        assert error.source == "rules.cep"
        line = lines[error.line - 1]
        assert 1 <= error.column <= len(line)
        assert 1 <= error.length <= len(line) - error.column + 1


def test_every_subject_has_cases() -> None:
    assert len(CASES) > 230
