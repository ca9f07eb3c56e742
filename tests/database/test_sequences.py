"""SiddhiQL's sequences on every database, against our engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.jepc import NativeProvider
from cep.jepc.database import DatabaseProvider
from cep.jepc.provider import Event, Provider
from cep.plan import compile_rules
from tests.campaign import examples
from tests.database.conftest import NAMES
from tests.database.servers import url_for

HEAD = "define stream S (a int, d double); define stream R (a int); "
FIRST = ("", "[a > 1]", "[d > 0.5]", "[a is null]")
NEXT = (
    "", "[a > e1.a]", "[a - e1.a == 1]", "[d >= e1.d and a != 2]", "[not (a == e1.a)]",
    "[eventTimestamp(e1) % 2 == 0]",
)  # fmt: skip
SELECTED = "e1.a as x, {last}.d as y, e1.a + {last}.a as z, eventTimestamp() as t"
WITHIN = ("", " within 2 ms", " within 5 ms")
HAVING = ("", " having z > 2", " having x is null or y < 1.0")


@st.composite
def rules(draw: st.DrawFn) -> str:
    """Sequences of one to four events, and a query that reads one of them."""
    text = HEAD
    for number in range(draw(st.integers(1, 2))):
        later = range(2, draw(st.integers(2, 5)))
        states = [f"e1=S{draw(st.sampled_from(FIRST))}"]
        states += [f"e{place}=S{draw(st.sampled_from(NEXT))}" for place in later]
        selected = SELECTED.format(last=f"e{len(states)}")
        within, having = draw(st.sampled_from(WITHIN)), draw(st.sampled_from(HAVING))
        sequence = f"every {', '.join(states)}{within}"
        text += f"from {sequence} select {selected}{having} insert into T{number}; "
    return text + "from T0[x > 0] select x insert into U; "


ROWS = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 1, 1, 2, 6]),
        st.one_of(*[st.integers(0, 4)] * 6, st.none()),
        st.one_of(*[st.sampled_from([0.0, 0.5, 1.5])] * 6, st.none()),
    ),
    min_size=4,
    max_size=20,
)
"""Time since the event before, values."""


def told(provider: Provider, text: str, events: list[Event], size: int) -> dict[str, list[Any]]:
    """The results by stream, events pushed so many at a time."""
    plan = compile_rules(text, "rules")
    provider.change(plan, [query.into for query in plan.queries])
    found: dict[str, list[Any]] = {}
    for start in range(0, len(events), size):
        for one in provider.push(events[start : start + size]):
            found.setdefault(one.query, []).append((one.time_msc, tuple(one.values.values())))
    return found


@pytest.fixture(scope="module", params=NAMES)
def shared(request: pytest.FixtureRequest) -> Iterator[DatabaseProvider]:
    """A database for many plans, one after the other."""
    provider = DatabaseProvider(url_for(request), prefix="sequences_")
    yield provider
    provider._runner.clear()
    provider.close()


@settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
@given(rules(), ROWS, st.sampled_from([1, 3, 1_000]))
def test_generated(shared: DatabaseProvider, text: str, rows: Any, size: int) -> None:
    time, events = 1_000, []
    for step, *values in rows:
        time += step
        events.append(Event("S", time, tuple(values)))
    shared._runner.clear()
    expected = told(NativeProvider(jit=False), text, events, 1_000)
    assert told(shared, text, events, size) == expected


def test_a_sequence_is_a_join_of_rows() -> None:
    text = HEAD + "from every e1=S, e2=S[a > e1.a] within 2 ms select e2.a as x insert into T;"
    provider = DatabaseProvider()
    events = [Event("S", 1_000 + time, (a, 0.0)) for time, a in [(0, 1), (2, 2), (5, 3), (5, 4)]]
    assert told(provider, text, events, 2) == {"T": [(1_002, (2,)), (1_005, (4,))]}
    assert "a word of 2 rows, joined from new rows back row by row" in provider.explain()
    provider.close()


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("every e1=S -> e2=S", "patterns (`->`), which wait for an event however long"),
        ("e1=S, e2=S", "sequences without `every`, whose matches do not overlap"),
        ("every e1=S, e2=R", "sequences over several streams"),
        ("every e1=S, e2=S+", "sequences of more than single events"),
        ("every e1=S, not S for 5 sec", "sequences of more than single events"),
    ],
)
def test_what_is_refused(pattern: str, reason: str) -> None:
    provider = DatabaseProvider()
    text = f"{HEAD} from {pattern} select e1.a as x insert into T;"
    (found,) = provider.refusals(compile_rules(text, "rules")).values()
    assert found.startswith(f"notimpl: {reason}")
    provider.close()
