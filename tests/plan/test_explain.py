"""What `explain` says."""

from __future__ import annotations

from pathlib import Path

import pytest

from cep.plan import compile_rules
from cep.plan.explain import explain

FOLDER = Path(__file__).parent


@pytest.mark.parametrize("name", ["explained", "streams"])
def test_the_whole_text(name: str) -> None:
    rules = (FOLDER / f"{name}.cep").read_text()
    assert explain(compile_rules(rules)) + "\n" == (FOLDER / f"{name}.txt").read_text()


def test_matrices_are_cut_and_the_total_is_said() -> None:
    events = "".join(f"define event E{i} as S[n == {i}];" for i in range(10))
    pattern = " and ".join(f"E{i}" for i in range(10))
    rules = f"define stream S (n int); {events} define complex C as {pattern} within 1 min;"
    lines = explain(compile_rules(rules), arrangements_max=2).split("\n")
    start = lines.index("complex events")
    assert lines[start + 2 :] == [
        "    3,628,800 arrangements, latest event first",
        "      10  9   8  7  6  5  4  3  2  1",
        "      9   10  8  7  6  5  4  3  2  1",
        "      ... 2 of them shown",
    ]


def test_a_plan_without_events() -> None:
    text = explain(compile_rules("define stream S (n int); from S insert into T;"))
    assert "complex events" not in text
    assert "query1: S -> T" in text
