"""What must hold for all generated input: of the reference itself, and of what is generated."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from itertools import combinations, permutations

import pytest
from hypothesis import HealthCheck, Phase, assume, find, given, settings
from hypothesis import strategies as st

from cep.plan.arrangements import arrangements as listed
from cep.plan.nodes import Both, Either, Leaf, Pattern, Plan, Ref, leaves
from cep.plan.separable import separability
from cep.plan.types import Type
from tests.campaign import examples
from tests.reference.aggregates import aggregate
from tests.reference.arrangements import arrangements
from tests.reference.engine import Reference
from tests.reference.expressions import NULL_LONG, Value, wrap
from tests.reference.generate import rule_sets
from tests.reference.generate_queries import query_plans, query_rows
from tests.reference.generate_rows import SourceRow, cases

Rows = list[dict[str, Value]]

FEW = settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
DOUBLES = st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=8)


def run(plan: Plan, rows: list[SourceRow], keys: tuple[str, ...] = ()) -> Rows:
    engine = Reference(plan, keys)
    return [output for row in rows for output in engine.push(*row)]


@FEW
@given(DOUBLES)
def test_aggregates_round_once(values: list[float]) -> None:
    def double(function: str) -> Value:
        return aggregate(function, Type.DOUBLE, [*values, None])

    assert double("sum") == math.fsum(values)
    assert double("avg") == statistics.mean(values)
    assert double("stdDev") == statistics.pstdev(values)


@FEW
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_sums_of_longs_wrap(values: list[int]) -> None:
    one_by_one = 0
    for value in values:
        one_by_one = wrap(one_by_one + value, 64)
    expected = None if one_by_one == NULL_LONG else one_by_one
    assert aggregate("sum", Type.LONG, list(values)) == expected


@FEW
@given(rule_sets())
def test_arrangements_are_what_the_pattern_accepts(plan: Plan) -> None:
    for found in plan.complexes:
        named = leaves(found.pattern)
        words = {w for n in range(1, len(named) + 1) for w in permutations(named, n)}
        accepted = {word for word in words if accepts(found.pattern, word)}
        assert set(listed(found.pattern, 10_000)) == accepted
        spelled = arrangements(found.pattern, lambda ref: (ref.event, ref.key))
        assert {one.numbers for one in spelled} == {
            tuple((ref.event, ref.key) for ref in word) for word in accepted
        }


def accepts(pattern: Pattern, word: tuple[Ref, ...]) -> bool:
    """Rule 6 read as a test of one word."""
    if isinstance(pattern, Leaf):
        return word == (pattern.ref,)
    if isinstance(pattern, Either):
        return accepts(pattern.left, word) or accepts(pattern.right, word)
    places = range(len(word))
    sizes = range(1, len(word))
    splits = [c for n in sizes for c in combinations(places, n)]
    if not isinstance(pattern, Both):
        splits = [tuple(range(n)) for n in sizes]
    return any(
        accepts(pattern.left, tuple(word[i] for i in split))
        and accepts(pattern.right, tuple(word[i] for i in places if i not in split))
        for split in splits
    )


@FEW
@given(cases())
def test_matches_keep_the_rules(case: tuple[Plan, list[SourceRow]]) -> None:
    plan, rows = case
    complexes = {found.name: found for found in plan.complexes}
    bound: set[tuple[Value, Value, int]] = set()
    for row in run(plan, rows):
        if "events" not in row:
            continue
        found = complexes[str(row["stream"])]
        time_msc, first_msc, seqs = row["time_msc"], row["first_msc"], row["events"]
        assert isinstance(time_msc, int) and isinstance(first_msc, int) and isinstance(seqs, list)
        assert time_msc - first_msc <= found.within_ms
        assert seqs == sorted(set(seqs))
        once = {(found.name, row["key"], seq) for seq in seqs}
        assert not once & bound
        bound |= once


@FEW
@given(cases(), st.sampled_from("AB"))
def test_a_separable_plan_gives_each_key_its_own_answer(
    case: tuple[Plan, list[SourceRow]], key: str
) -> None:
    """Of records in order: in sorted history a late one is late by those of all keys."""
    plan, rows = case
    rows = sorted(rows, key=lambda row: row[1])
    found = separability(plan)
    operators_are_keyed = all(found.is_keyed(operator) for operator in plan.operators)
    assume(found.key == "symbol" and operators_are_keyed)
    keys = ("A", "B", "C")
    alone = [row for row in rows if row[2]["symbol"] == key]
    assert of_key(run(plan, rows, keys), key) == of_key(run(plan, alone, keys), key)


def of_key(rows: Rows, key: str) -> Rows:
    """Rows of one key without the places in the common sequence."""
    mine = [row for row in rows if key in (row.get("key"), row.get("symbol"))]
    return [{name: row[name] for name in row if name not in ("seq", "events")} for row in mine]


@FEW
@given(query_plans(), query_rows())
def test_values_fit_their_types(plan: Plan, rows: list[SourceRow]) -> None:
    for row in run(plan, rows):
        schema = plan.stream(str(row["stream"])).schema
        assert list(row) == ["stream", "time_msc", "kind", *schema.names]
        for attribute in schema.attributes:
            value = row[attribute.name]
            assert value is None or is_of(value, attribute.type)


def is_of(value: Value, type_: Type) -> bool:
    match type_:
        case Type.INT | Type.LONG:
            bits = 32 if type_ is Type.INT else 64
            return isinstance(value, int) and wrap(value, bits) == value
        case Type.FLOAT | Type.DOUBLE:
            return isinstance(value, float) and not math.isnan(value)
        case Type.BOOL:
            return isinstance(value, bool)
        case _:
            return isinstance(value, str)


REACHED: dict[str, Callable[[Reference, Rows], bool]] = {
    "three events in one match": lambda _, rows: longest(rows) >= 3,
    "found by the second engine": lambda _, rows: any(
        str(row["stream"]).startswith("Next") and "events" in row for row in rows
    ),
    "a signal": lambda _, rows: any("side" in row for row in rows),
    "keyed and crossing engines": lambda engine, _: (
        len({binder.is_keyed for binder in engine.binders.values()}) == 2
    ),
} | {
    reason: lambda engine, _, reason=reason: any(
        binder.counts[reason] for binder in engine.binders.values()
    )
    for reason in ("expired", "rejected", "refreshed", "evicted", "late", "overflowed")
}


def longest(rows: Rows) -> int:
    found = [row["events"] for row in rows if "events" in row]
    return max((len(seqs) for seqs in found if isinstance(seqs, list)), default=0)


@pytest.mark.parametrize("what", REACHED)
def test_generated_cases_reach(what: str) -> None:
    """A generator that never gets there proves nothing."""

    def reaches(case: tuple[Plan, list[SourceRow]]) -> bool:
        plan, rows = case
        engine = Reference(plan)
        output = [output for row in rows for output in engine.push(*row)]
        return REACHED[what](engine, output)

    generating = settings(
        max_examples=examples(1000), database=None, phases=[Phase.generate], derandomize=True
    )
    find(cases(), reaches, settings=generating)
