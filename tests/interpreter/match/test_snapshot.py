"""A snapshot at any event, restored into a new match, goes on alike."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.interpreter.codec import pack, unpack
from tests.campaign import examples
from tests.interpreter.match.feed import START_MS, Feed
from tests.interpreter.timers import take_over_clock
from tests.reference.generate_matches import Case, columns, match_cases, source


def moved(feed: Feed, text: str, selected: str) -> Feed:
    """A new match with the state of another."""
    other = Feed(text, selected)
    other.part.restore(unpack(pack(feed.part.state())))
    take_over_clock(other.shared, feed.shared)
    return other


def check(text: str, selected: str, events: list[str], cut: int) -> None:
    whole = Feed(text, selected).start().feed(" ".join(events))
    first = Feed(text, selected).start().feed(" ".join(events[:cut]))
    second = moved(first, text, selected).feed(" ".join(events[cut:]))
    assert first.batches + second.batches == whole.batches
    assert first.times + second.times == whole.times


@settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))
@given(match_cases(), st.data())
def test_generated(case: Case, data: st.DataObject) -> None:
    events, now_ms = [], START_MS
    for event in case.events:
        events += [f"+{event.time - now_ms}", f"{event.stream}{event.p}"]
        now_ms = event.time
    cut = data.draw(st.integers(0, len(events)))
    check(source(case.spec), columns(case.spec), events, cut)


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("every e1=A -> not B for 1 sec", "e1"),
        ("not A for 1 sec -> e2=B", "e2"),
        ("every e1=A -> not B for 1 sec and e2=C", "e1 e2"),
        ("not B for 1 sec and e2=C", "e2"),
        ("every (not B and e1=A) -> e2=C", "e1 e2"),
        ("every e1=A, not B for 1 sec, e2=C", "e1 e2"),
        ("every e1=A*, e2=B", "e1[0] e2"),
    ],
)
def test_absence(text: str, selected: str) -> None:
    events = "+600 A1 +400 C2 +600 B3 A4 +1000 C5 B6 A7 +300 B8 C9 +2000 B1 A2 C3 +1000 B4".split()
    for cut in range(len(events) + 1):
        check(text, selected, events, cut)


def test_partials_that_wait_at_two_states_stay_one() -> None:
    feed = Feed("e1=A<1:> -> e2=B", "e1[last] e2").start().feed("A1")
    other = moved(feed, "e1=A<1:> -> e2=B", "e1[last] e2")
    assert other.feed("A2 A3 B4").batches == [[[3, 4]]]
