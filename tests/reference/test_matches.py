"""The definition of patterns and sequences, against matches worked out by hand."""

from __future__ import annotations

import pytest

from tests.reference.matches import (
    Condition,
    Earlier,
    Event,
    Every,
    Pair,
    Single,
    Spec,
    Step,
    matches,
)

A, B, C = Single("e1", "A"), Single("e2", "B"), Single("e3", "C")
HIGHER = Single("e2", "B", (Condition(">", Earlier("e1", "last")),))
RISING = Single("e2", "A", (Condition(">", Earlier("e2", "previous")),), 1, None)


def found(spec: Spec, text: str) -> list[list[int]]:
    """The values of each match in order of time; events are 1 ms apart."""
    events = [Event(item[0], number, int(item[1:])) for number, item in enumerate(text.split())]
    return [
        [event.p for one in spec.singles for event in taken.get(one.name, [])]
        for _, taken in matches(spec, events)
    ]


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        ("none", [[1, 3]]),
        ("first", [[1, 3], [2, 3], [5, 6]]),
        ("all", [[1, 3], [5, 6]]),
    ],
)
def test_every(every: Every, expected: list[list[int]]) -> None:
    assert found(Spec("pattern", every, (A, B)), "A1 A2 B3 B4 A5 B6") == expected


PATTERNS: list[tuple[tuple[Step, ...], str, list[list[int]]]] = [
    ((A, HIGHER), "A5 B3 B7", [[5, 7]]),
    ((A, Single("e2", "B", (), 2, 3), C), "A1 B2 C3 B4 C5", [[1, 2, 4, 5]]),
    ((A, Single("e2", "B", (), 0, 1), C), "A1 C5", [[1, 5]]),
    ((A, Pair("and", B, C)), "A1 C2 C3 B4", [[1, 4, 2]]),
    ((A, Pair("or", B, C)), "A1 C2 B3", [[1, 2]]),
]


@pytest.mark.parametrize(("steps", "text", "expected"), PATTERNS)
def test_patterns(steps: tuple[Step, ...], text: str, expected: list[list[int]]) -> None:
    assert found(Spec("pattern", "first", steps), text) == expected


def test_within() -> None:
    assert found(Spec("pattern", "first", (A, B), 1), "A1 A2 B3") == [[2, 3]]


SEQUENCES: list[tuple[tuple[Step, ...], str, list[list[int]]]] = [
    ((A, B), "A1 A2 B3 B4", [[2, 3]]),
    ((A, B), "A1 C9 B3", [[1, 3]]),
    ((A, Single("e2", "B", (), 0, None), C), "A1 B2 B3 C4 A5 C6", [[1, 2, 3, 4], [5, 6]]),
    ((A, RISING, Single("e3", "B")), "A9 A1 A2 A1 A5 B0", [[1, 5, 0]]),
]


@pytest.mark.parametrize(("steps", "text", "expected"), SEQUENCES)
def test_sequences(steps: tuple[Step, ...], text: str, expected: list[list[int]]) -> None:
    assert found(Spec("sequence", "first", steps), text) == expected
