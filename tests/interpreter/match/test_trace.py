"""What the trace is told."""

from __future__ import annotations

from cep.interpreter.match import Outcome
from cep.interpreter.rows import Row
from tests.interpreter.match.feed import Feed


def told(text: str, events: str) -> list[tuple[str, str]]:
    feed = Feed(text, "e1").start()
    lines: list[tuple[str, str]] = []

    def trace(place: str, outcome: str, partial: Row | None) -> None:
        assert place.startswith("/q/")
        lines.append((place.removeprefix("/q/"), str(outcome)))

    feed.shared.trace = trace
    feed.feed(events)
    return lines


def test_taken_refused_matched() -> None:
    text = "every e1=A[p > 1][p < 9] -> e2=B"
    assert told(text, "A1 A9 A5 B2") == [
        ("e1", "condition 1 failed"),
        ("e1", "condition 2 failed"),
        ("e1", Outcome.TAKEN),
        ("e2", Outcome.TAKEN),
        ("e2", Outcome.MATCHED),
    ]


def test_expired() -> None:
    assert told("every e1=A -> e2=B within 1 sec", "A1 +2000 B2") == [
        ("e1", Outcome.TAKEN),
        ("e2", Outcome.EXPIRED),
    ]


def test_broken() -> None:
    assert ("e2", Outcome.BROKEN) in told("every e1=A, e2=B", "A1 A2 B3")


def test_absent_and_forbidden() -> None:
    assert told("every e1=A -> not B for 1 sec", "A1 B2 A3 +1000") == [
        ("e1", Outcome.TAKEN),
        ("B", Outcome.TAKEN),
        ("B", Outcome.FORBIDDEN),
        ("e1", Outcome.TAKEN),
        ("B", Outcome.ABSENT),
        ("B", Outcome.MATCHED),
    ]
