"""Defects of Siddhi: repaired by default, reproduced with `@app:compat('siddhi')`."""

from __future__ import annotations

import pytest

from tests.interpreter.match.feed import Batch, rows

REPAIRED: dict[str, tuple[str, str, str, Batch, Batch]] = {
    "a late row does not age a match": (
        "every e1=A -> e2=B within 1 sec",
        "e1 e2",
        "A1 B2@-1500",
        [[1, 2]],
        [],
    ),
    "one slow in an earlier state is dropped, though it waits behind a younger one": (
        "every e1=A -> e2=B[p > e1.p] -> e3=C[p > 5] within 1 sec",
        "e1 e2 e3",
        "A5 +600 A1 B2 +100 B6 C1 +400 C9",
        [[1, 2, 9]],
        [[1, 2, 9], [5, 6, 9]],
    ),
    "`and` alone, with the side last that is named first": (
        "every (e1=A and e2=B)",
        "e1 e2",
        "B1 A2 A3 B4",
        [[2, 1], [3, 4]],
        [[3, 4]],
    ),
    "a sequence that ends in +": (
        "every e1=A, e2=B+",
        "e1 e2[0]",
        "A1 B2 B3 A4 B5",
        [[1, 2], [4, 5]],
        [],
    ),
    "a sequence that ends in a count": (
        "every e1=A, e2=B<2:3>",
        "e1 e2[0] e2[1]",
        "A1 B2 B3 B4 A5 B6",
        [[1, 2, 3]],
        [],
    ),
    "a count of two in a sequence": (
        "every e1=A<2:>, e2=B",
        "e1[0] e1[last] e2",
        "A1 A2 A3 B4",
        [[1, 3, 4]],
        [],
    ),
    "a sequence of three that ends in *": (
        "every e1=A, e2=B, e3=C*",
        "e1 e2 e3[0]",
        "A1 B2",
        [[1, 2, None]],
        [],
    ),
    "`every` on one state behind a first event that is too old": (
        "e1=A -> every e2=B within 1 sec",
        "e1 e2",
        "A1 B2 +1500 B3",
        [[1, 2]],
        [[1, 2], [1, 3]],
    ),
    "an `or` that is complete does not begin again when it is too old": (
        "every (e1=A or e2=B) -> e3=C within 1 sec",
        "e1 e2 e3",
        "A1 +1500 A2 C3",
        [[2, None, 3]],
        [[2, None, 3], [2, None, 3]],
    ),
    "a count that has its least number does not begin again when it is too old": (
        "every e1=A<2:3> -> e2=B within 1 sec",
        "e1[0] e1[1] e2",
        "A1 A2 +1500 A3 A4 B5",
        [[3, 4, 5]],
        [[3, 4, 5], [3, 4, 5]],
    ),
    "a leading absence beside `and` does not age a match": (
        "not A for 1 sec and e2=B -> e3=C within 5 sec",
        "e2 e3",
        "+1000 B1 C2",
        [[1, 2]],
        [],
    ),
}


@pytest.mark.parametrize("name", REPAIRED)
def test_repaired(name: str) -> None:
    text, select, events, expected, of_siddhi = REPAIRED[name]
    assert rows(text, select, events) == expected
    assert rows(text, select, events, compat=True) == of_siddhi
