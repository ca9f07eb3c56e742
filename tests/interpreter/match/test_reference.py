"""Generated patterns and sequences give what they mean by definition."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from tests.campaign import examples
from tests.interpreter.match.feed import START_MS as FEED_START_MS
from tests.interpreter.match.feed import Feed
from tests.reference.generate_matches import START_MS, Case, Values, columns, match_cases, source
from tests.reference.matches import matches

Row = tuple[int, int, Values]


def found_by_definition(case: Case) -> list[Row]:
    """Per match the event that completed it, its time, what is selected."""
    found = matches(case.spec, case.events)
    return [(one[0], case.events[one[0]].time - START_MS, case.values(one)) for one in found]


def found_by_interpreter(case: Case) -> list[Row]:
    assert START_MS == FEED_START_MS
    feed = Feed(source(case.spec), columns(case.spec)).start()
    rows: list[Row] = []
    for number, event in enumerate(case.events):
        feed.feed(f"+{event.time - feed.now_ms} {event.stream}{event.p}")
        values = [value for batch in feed.batches for value in batch]
        rows += [(number, time, row) for time, row in zip(feed.times, values, strict=True)]
        feed.batches, feed.times = [], []
    return rows


@settings(max_examples=examples(1200), deadline=None, suppress_health_check=list(HealthCheck))
@given(match_cases())
def test_interpreter(case: Case) -> None:
    """Matches of one event come in order; where a state collects, the order is not defined."""
    found, expected = found_by_interpreter(case), found_by_definition(case)
    if any(one.is_counted for one in case.spec.singles):
        found, expected = sorted(found, key=repr), sorted(expected, key=repr)
    assert found == expected
