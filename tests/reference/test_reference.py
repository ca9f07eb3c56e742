"""The binder's rules one by one, on hand-computed cases; each test quotes its rule."""

from __future__ import annotations

import pytest

from cep.plan.nodes import Engine, Repeat
from tests.reference.arrangements import arrangements
from tests.reference.engine import Reference
from tests.reference.expressions import Value
from tests.reference.plans import (
    both,
    compound,
    either,
    feed,
    followed_by,
    per_symbol,
    plan,
    ref,
    simple,
)

MINUTE_MS = 60_000
ARTICLE = followed_by(10, either(11, both(12, 13)))
"""10 followed by (11 or (12 and 13))"""

Rows = list[dict[str, Value]]


def entered(rows: Rows) -> list[tuple[Value, Value]]:
    """(event, time) of the rows of simple events."""
    return [(row["stream"], row["time_msc"]) for row in rows if "seq" in row]


def found(rows: Rows) -> list[tuple[Value, Value]]:
    """(arrangement, seq of each event) of the rows of complex events."""
    return [(row["arrangement"], row["events"]) for row in rows if "events" in row]


def main(**changes: object) -> list[Engine]:
    return [Engine(**{"name": "Main", "span_ms": 300_000} | changes)]  # type: ignore[arg-type]


class TestPreprocessing:
    def test_rising_edge(self) -> None:
        """1. Without `every`, an event is raised only on a rising edge: the condition was false
        (or unknown) for this key and is now true. It is re-armed when the condition is false again.
        """
        engine = Reference(plan(simple(1, every=False, repeat=Repeat.ALLOW)))
        rows = feed(engine, (1, 1), (2, 1), (3, 0), (4, 1))
        assert entered(rows) == [("e1", 1), ("e1", 4)]

    def test_null_is_false(self) -> None:
        """1. Null counts as false."""
        engine = Reference(plan(simple(1, every=False, repeat=Repeat.ALLOW)))
        assert entered(feed(engine, (1, 1), (2, None), (3, 1))) == [("e1", 1), ("e1", 3)]

    def test_an_edge_per_key(self) -> None:
        """1. ... the condition was false (or unknown) for this key and is now true."""
        engine = Reference(plan(per_symbol(1, every=False)))
        assert entered(feed(engine, (1, 1, "A"), (2, 1, "B"), (3, 1, "A"), (4, 1, None))) == [
            ("e1", 1),
            ("e1", 2),
        ]

    @pytest.mark.parametrize(
        ("repeat", "seqs"),
        [
            (Repeat.REJECT, [[1, 2]]),
            (Repeat.REFRESH, [[2, 3]]),
            (Repeat.ALLOW, [[2, 3]]),
        ],
    )
    def test_repetition(self, repeat: Repeat, seqs: list[list[int]]) -> None:
        """2. `repeat reject` (default): a raised event whose number is already in the queue is
        dropped and counted. `refresh`: the older occurrence leaves the queue, the new one enters
        unbound. `allow`: both stay (execution events).
        """
        engine = Reference(
            plan(simple(1, repeat=repeat), simple(2), compound(9, followed_by(1, 2)))
        )
        rows = feed(engine, (1, 1), (2, 1), (3, 2))
        assert [events for _, events in found(rows)] == seqs
        kept = [time_msc for _, time_msc, _ in engine.binders["Main"].rows()]
        assert kept == {"reject": [3, 1], "refresh": [3, 2], "allow": [3, 2, 1]}[repeat]
        assert engine.binders["Main"].counts["rejected"] == (repeat is Repeat.REJECT)

    def test_refreshed_is_unbound(self) -> None:
        """2. ... the older occurrence leaves the queue, the new one enters unbound."""
        rules = plan(
            simple(1, repeat=Repeat.REFRESH),
            simple(2, repeat=Repeat.ALLOW),
            compound(9, followed_by(1, 2)),
        )
        rows = feed(Reference(rules), (1, 1), (2, 2), (3, 2), (4, 1), (5, 2))
        assert found(rows) == [([1, 2], [1, 2]), ([1, 2], [4, 5])]

    def test_expire_comes_before_repetition(self) -> None:
        """The order on arrival is: expire (3), repetition (2), opposites (4), enter (5), match."""
        engine = Reference(plan(simple(1), engines=main(span_ms=10)))
        assert entered(feed(engine, (0, 1), (10, 1), (11, 1))) == [("e1", 0), ("e1", 11)]

    def test_a_dropped_event_evicts_nothing(self) -> None:
        """A dropped event evicts nothing."""
        rules = plan(
            simple(1, opposites=("e2",)),
            simple(2, opposites=("e1",), repeat=Repeat.ALLOW),
            engines=main(opposites="evict"),
        )
        engine = Reference(rules)
        feed(engine, (5, 1), (3, 2))
        assert engine.binders["Main"].rows() == [(1, 5, ())]
        assert engine.binders["Main"].counts["late"] == 1


class TestQueue:
    def test_expiry(self) -> None:
        """3. On arrival of event e at time t, events with time < t − span leave the queue (an event
        exactly `span` old stays).
        """
        engine = Reference(
            plan(simple(1), simple(2, repeat=Repeat.ALLOW), engines=main(span_ms=10))
        )
        feed(engine, (0, 1), (10, 2))
        assert [n for n, _, _ in engine.binders["Main"].rows()] == [2, 1]
        feed(engine, (11, 2))
        assert [n for n, _, _ in engine.binders["Main"].rows()] == [2, 2]

    def test_opposites_evict(self) -> None:
        """4. `opposites = 'evict'` (default): every queued event whose number is opposite to e's
        leaves.
        """
        engine = Reference(
            plan(
                simple(1, opposites=("e2",), repeat=Repeat.ALLOW),
                simple(2, opposites=("e1",)),
                simple(3),
                compound(9, followed_by(1, 3)),
            )
        )
        rows = feed(engine, (1, 1), (2, 1), (3, 2), (4, 3))
        assert [n for n, _, _ in engine.binders["Main"].rows()] == [3, 2]
        assert found(rows) == []
        assert engine.binders["Main"].counts["evicted"] == 2

    def test_opposites_validate(self) -> None:
        """4. `opposites = 'validate'`: they stay, and a match is refused when, for any of its
        simple events, an opposite stands later in the queue.
        """
        rules = plan(
            simple(1, opposites=("e2",), repeat=Repeat.ALLOW),
            simple(2, opposites=("e1",)),
            simple(3, repeat=Repeat.ALLOW),
            compound(9, followed_by(1, 3)),
            engines=main(opposites="validate"),
        )
        engine = Reference(rules)
        assert found(feed(engine, (1, 1), (3, 2), (4, 3))) == []
        assert found(feed(engine, (5, 1), (6, 3))) == [([1, 3], [4, 5])]

    def test_opposites_are_of_one_key(self) -> None:
        """18. Opposites and repetition compare events of the same key."""
        rules = plan(
            per_symbol(1, opposites=("e2",)),
            per_symbol(2, opposites=("e1",)),
            compound(9, followed_by(ref(1, "A"), ref(2, "B"))),
        )
        assert found(feed(Reference(rules), (1, 1, "A"), (2, 1, "B"), (3, 2, "B"))) == [
            ([1, 102], [1, 3])
        ]

    def test_ties_keep_arrival_order(self) -> None:
        """5. Then e enters. Queue order is arrival order; ties in time keep arrival order."""
        rules = plan(simple(1), simple(2), compound(9, followed_by(1, 2)))
        assert found(feed(Reference(rules), (1, 1), (1, 2))) == [([1, 2], [1, 2])]
        assert found(feed(Reference(rules), (1, 2), (1, 1))) == []

    def test_late_is_dropped(self) -> None:
        """5. Lateness is decided once for the source record: its event is counted and handled by
        the configured policy (`drop` by default ...).
        """
        engine = Reference(plan(simple(1), simple(2)))
        assert entered(feed(engine, (5, 1), (4, 2), (5, 2))) == [("e1", 5), ("e2", 5)]
        assert engine.binders["Main"].counts["late"] == 1

    def test_late_is_accepted(self) -> None:
        """5. ... or `accept` at its arrival position."""
        rules = plan(
            simple(1), simple(2), compound(9, followed_by(1, 2)), engines=main(late="accept")
        )
        engine = Reference(rules)
        rows = feed(engine, (5, 1), (4, 2))
        assert found(rows) == [([1, 2], [1, 2])]
        assert (rows[-1]["first_msc"], rows[-1]["time_msc"]) == (5, 4)
        assert engine.binders["Main"].counts["late"] == 0

    def test_lateness_is_that_of_the_record(self) -> None:
        """5. ... not against the queue: whether the newer record raised anything is no matter."""
        engine = Reference(plan(simple(1), simple(2)))
        assert entered(feed(engine, (5, 0), (4, 2), (5, 2))) == [("e2", 5)]

    def test_lateness_is_per_key(self) -> None:
        """5. Of what was lived a record is late by older ones of its key, in sorted history by all
        older ones; whether rules cross keys does not matter.
        """
        events = (per_symbol(1), per_symbol(2))
        keyed = plan(*events, compound(9, both(1, 2), key="symbol"))
        crossing = plan(*events, compound(9, both(ref(1, "A"), ref(2, "B"))))
        rows = ((5, 1, "A"), (4, 2, "B"))
        for rules in (keyed, crossing):
            assert len(entered(feed(Reference(rules, lived=True), *rows))) == 2
            assert len(entered(feed(Reference(rules), *rows))) == 1

    @pytest.mark.parametrize("is_crossing", [False, True])
    def test_expiry_is_per_key(self, is_crossing: bool) -> None:
        """5. Rule 3 looks at events of the same key only, with the clock of that key."""
        pattern = both(ref(1, "A"), ref(2, "A")) if is_crossing else both(1, 2)
        found_for = None if is_crossing else "symbol"
        rules = plan(
            *(per_symbol(1), per_symbol(2)),
            compound(9, pattern, key=found_for, within_ms=10),
            engines=main(span_ms=10),
        )
        engine = Reference(rules, lived=True)
        rows = feed(engine, (0, 1, "A"), (50, 1, "B"), (9, 2, "A"))
        assert found(rows) == [([1, 2], [1, 3])]

    def test_an_event_of_another_key_expires_none(self) -> None:
        """3 and 5. It leaves with the next event of its own key."""
        events = (per_symbol(1, repeat=Repeat.ALLOW), per_symbol(2))
        crossing = compound(9, both(ref(1, "A"), ref(2, "B")))
        engine = Reference(plan(*events, crossing, engines=main(span_ms=10)))
        feed(engine, (0, 1, "A"), (50, 2, "B"))
        assert len(engine.binders["Main"].rows()) == 2
        feed(engine, (51, 1, "A"))
        assert [time_msc for _, time_msc, _ in engine.binders["Main"].rows()] == [51, 50]

    def test_expiry_is_by_the_clock_of_the_records(self) -> None:
        """3. ... whether they raised an event or not: what else a file has changes no event."""
        rules = plan(
            *(simple(1), simple(2), compound(9, followed_by(1, 2), within_ms=10)),
            engines=main(span_ms=10, late="accept"),
        )
        assert found(feed(Reference(rules), (0, 1), (50, 0), (9, 2))) == []
        assert found(feed(Reference(rules), (0, 1), (10, 0), (9, 2))) == [([1, 2], [1, 2])]

    def test_within_is_from_the_earliest_to_the_latest(self) -> None:
        """10. Where late events are accepted, that need not be the first and the last."""
        rules = plan(
            *map(simple, (1, 2, 3)),
            compound(9, followed_by(1, followed_by(2, 3)), within_ms=4),
            engines=main(late="accept"),
        )
        assert found(feed(Reference(rules), (5, 1), (1, 2), (6, 3))) == []
        assert len(found(feed(Reference(rules), (5, 1), (2, 2), (6, 3)))) == 1

    def test_a_full_queue(self) -> None:
        """17. Memory is bounded by span and rate, and by a configured maximum with a counted,
        logged policy when it is hit.
        """
        again = [simple(n, repeat=Repeat.ALLOW) for n in (1, 2)]
        engine = Reference(plan(*again, engines=main(events_max=2)))
        feed(engine, (1, 1), (2, 1), (3, 2), (4, 1), (5, 2))
        held = [(number, time) for number, time, _ in engine.binders["Main"].rows()]
        assert held == [(2, 5), (1, 4), (2, 3), (1, 2)]
        assert engine.binders["Main"].counts["overflowed"] == 1


class TestArrangements:
    def test_of_the_article(self) -> None:
        """6. `10 followed by (11 or (12 and 13))` gives (10,11), (10,12,13), (10,13,12)."""
        assert _numbers(ARTICLE) == [("e10", "e11"), ("e10", "e12", "e13"), ("e10", "e13", "e12")]

    def test_interleavings(self) -> None:
        """6. `A and B` = all interleavings of the two (order inside each is kept)."""
        assert _numbers(both(followed_by(1, 2), 3)) == [
            ("e1", "e2", "e3"),
            ("e1", "e3", "e2"),
            ("e3", "e1", "e2"),
        ]

    def test_duplicates(self) -> None:
        """6. Duplicates are removed."""
        assert _numbers(either(both(1, 1), followed_by(1, 1))) == [("e1", "e1")]

    def test_every_path_is_matched(self) -> None:
        """6. ... the binder will look for 10, 11; 10, 12, 13; 10, 13, 12."""
        rules = plan(*map(simple, (10, 11, 12, 13)), compound(1, ARTICLE))
        for path in ([10, 11], [10, 12, 13], [10, 13, 12]):
            rows = feed(Reference(rules), *((t, n) for t, n in enumerate(path)))
            assert found(rows) == [(path, [*range(1, len(path) + 1)])]
        for wrong in ([11, 10], [12, 10, 13], [10, 12], [12, 13]):
            assert found(feed(Reference(rules), *((t, n) for t, n in enumerate(wrong)))) == []


class TestNegation:
    def test_gap(self) -> None:
        """7. `A followed by [not X] B` forbids X strictly between the last event of A and the first
        event of B, in every arrangement.
        """
        rules = plan(*map(simple, (1, 2, 3)), compound(9, followed_by(1, 2, absent=[3])))
        assert found(feed(Reference(rules), (1, 1), (2, 3), (3, 2))) == []
        assert found(feed(Reference(rules), (1, 3), (2, 1), (3, 2))) == [([1, 2], [2, 3])]

    def test_gap_among_interleaved_events(self) -> None:
        """7. ... in every arrangement: what `and` puts in between counts, too."""
        rules = plan(*map(simple, (1, 2, 3)), compound(9, both(followed_by(1, 2, absent=[3]), 3)))
        assert found(feed(Reference(rules), (1, 1), (2, 3), (3, 2))) == []
        assert found(feed(Reference(rules), (1, 1), (2, 2), (3, 3))) == [([1, 2, 3], [1, 2, 3])]

    def test_forbid(self) -> None:
        """7. `forbid X` forbids X between the first and the last event of the match, inclusive."""
        rules = plan(*map(simple, (1, 2, 3)), compound(9, followed_by(1, 2), forbid=(ref(3),)))
        assert found(feed(Reference(rules), (1, 1), (2, 3), (3, 2))) == []
        assert found(feed(Reference(rules), (1, 3), (2, 1), (3, 2))) == [([1, 2], [2, 3])]

    def test_forbid_is_inclusive(self) -> None:
        """7. ... inclusive: a match that contains the forbidden event is none."""
        rules = plan(
            *map(simple, (1, 2, 3)), compound(9, either(followed_by(1, 2), 3), forbid=(ref(3),))
        )
        assert found(feed(Reference(rules), (1, 3), (2, 1), (3, 2))) == [([1, 2], [2, 3])]


class TestMatching:
    def test_each_occurrence_needs_its_own_event(self) -> None:
        """8. The same number may occur more than once in an arrangement; each occurrence needs its
        own queued event.
        """
        rules = plan(simple(1, repeat=Repeat.ALLOW), compound(9, followed_by(1, 1)))
        rows = feed(Reference(rules), (1, 1), (2, 1), (3, 1), (4, 1))
        assert found(rows) == [([1, 1], [1, 2]), ([1, 1], [3, 4])]

    def test_the_last_event_is_the_arriving_one(self) -> None:
        """10. ... such that xk = e."""
        rules = plan(
            simple(1), simple(2), simple(3, repeat=Repeat.ALLOW), compound(9, followed_by(1, 2))
        )
        rows = feed(Reference(rules), (1, 1), (2, 2), (3, 3), (4, 3))
        assert [row["time_msc"] for row in rows if "events" in row] == [2]

    def test_within(self) -> None:
        """10. ... time(xk) − time(x1) ≤ within."""
        rules = plan(simple(1), simple(2), compound(9, followed_by(1, 2), within_ms=10))
        assert len(found(feed(Reference(rules), (0, 1), (10, 2)))) == 1
        assert found(feed(Reference(rules), (0, 1), (11, 2))) == []

    def test_the_latest_positions(self) -> None:
        """11. If there are several, take the one whose positions are latest, comparing xk, then
        xk−1, then xk−2, ... (backward matching, newest first).
        """
        rules = plan(
            simple(1, repeat=Repeat.ALLOW),
            simple(2, repeat=Repeat.ALLOW),
            simple(3),
            compound(9, followed_by(1, followed_by(2, 3))),
        )
        rows = feed(Reference(rules), (1, 1), (2, 1), (3, 2), (4, 1), (5, 2), (6, 3))
        assert found(rows) == [([1, 2, 3], [4, 5, 6])]

    def test_a_prefix_wins(self) -> None:
        """11. If one list of positions is a prefix of the other, the shorter match wins."""
        pattern = either(followed_by(1, followed_by(2, 3)), followed_by(2, 3))
        rules = plan(*map(simple, (1, 2, 3)), compound(9, pattern))
        assert found(feed(Reference(rules), (1, 1), (2, 2), (3, 3))) == [([2, 3], [2, 3])]

    def test_an_older_event_where_the_newest_is_refused(self) -> None:
        """11. Negations are part of the choice: an older event is taken when the newest one would
        violate a negation.
        """
        rules = plan(
            simple(1),
            simple(2, repeat=Repeat.ALLOW),
            simple(3),
            simple(4),
            compound(9, followed_by(followed_by(1, 2, absent=[4]), 3)),
        )
        rows = feed(Reference(rules), (1, 1), (2, 2), (3, 4), (4, 2), (5, 3))
        assert found(rows) == [([1, 2, 3], [1, 2, 5])]

    def test_one_match_per_arrival(self) -> None:
        """11. At most one match per complex event and arrival."""
        rules = plan(simple(1, repeat=Repeat.ALLOW), simple(2), compound(9, followed_by(1, 2)))
        assert len(found(feed(Reference(rules), (1, 1), (2, 1), (3, 2)))) == 1

    def test_binding(self) -> None:
        """12. A simple event can be bound to many complex events, and to each of them once."""
        rules = plan(
            simple(1),
            simple(2, repeat=Repeat.ALLOW),
            compound(8, followed_by(1, 2)),
            compound(9, both(2, 1)),
        )
        engine = Reference(rules)
        rows = feed(engine, (1, 1), (2, 2), (3, 2))
        assert [row["stream"] for row in rows] == ["e1", "e2", "c8", "c9", "e2"]
        assert engine.binders["Main"].rows() == [
            (2, 3, ()),
            (2, 2, (("c8", None), ("c9", None))),
            (1, 1, (("c8", None), ("c9", None))),
        ]

    def test_bound_once_per_key(self) -> None:
        """12. A match of a `for each` complex is per key, and so is what is bound to it."""
        rules = plan(simple(1), per_symbol(2), compound(9, followed_by(1, 2), key="symbol"))
        rows = feed(Reference(rules), (1, 1), (2, 2, "A"), (3, 2, "B"))
        assert found(rows) == [([1, 2], [1, 2]), ([1, 102], [1, 3])]


def _numbers(pattern: object) -> list[tuple[str, ...]]:
    spelled = arrangements(pattern, lambda named: (named.event, None))  # type: ignore[arg-type]
    return [tuple(name for name, _ in one.numbers) for one in spelled]
