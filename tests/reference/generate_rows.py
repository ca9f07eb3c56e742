"""Hypothesis strategies: input rows, and rule sets together with their input."""

from __future__ import annotations

from hypothesis import strategies as st

from cep.plan.expressions import Comparison, Constant, Logical
from cep.plan.nodes import Complex, Plan
from tests.reference.arrangements import arrangements
from tests.reference.expressions import Value
from tests.reference.generate import KEYS, rule_sets

SourceRow = tuple[str, int, dict[str, Value]]
"""Stream, time in ms UTC, attributes."""


@st.composite
def event_rows(draw: st.DrawFn, plan: Plan, rows_max: int = 30) -> list[SourceRow]:
    """Rows of `S`: noise, and stories that follow an arrangement of the plan through it."""
    noise = _noise().map(lambda row: [row])
    part = noise | _stories(plan.complexes[0], plan) if plan.complexes else noise
    parts = draw(st.lists(part, min_size=draw(st.sampled_from([1, 6, 12])), max_size=rows_max))
    rows = [row for part in parts for row in part]
    return draw(timed("S", rows[:rows_max]))


def _noise() -> st.SearchStrategy[dict[str, Value]]:
    return st.fixed_dictionaries(
        {
            "n": st.sampled_from([0, 1, 2, 3, 4] * 3 + [5, None]),
            "symbol": st.sampled_from(["A"] * 6 + ["B"] * 3 + ["C", None]),
        }
    )


@st.composite
def _stories(draw: st.DrawFn, found: Complex, plan: Plan) -> list[dict[str, Value]]:
    """What raises the events of one arrangement in order, for one key."""
    own = draw(st.sampled_from(KEYS))
    told = arrangements(found.pattern, lambda ref: (ref.event, ref.key or own))
    by_name = {event.name: event.condition for event in plan.events}
    rows: list[dict[str, Value]] = []
    for name, key in draw(st.sampled_from(told)).numbers:
        condition = by_name[name]
        condition = condition.left if isinstance(condition, Logical) else condition
        assert isinstance(condition, Comparison) and isinstance(condition.right, Constant)
        rows.append({"n": condition.right.value, "symbol": key})
    return rows


def timed_rows(
    stream: str, rows: st.SearchStrategy[dict[str, Value]], rows_max: int
) -> st.SearchStrategy[list[SourceRow]]:
    """Rows with times as `timed` makes them."""
    size = st.sampled_from([1, rows_max // 2, rows_max])
    lists = size.flatmap(lambda rows_min: st.lists(rows, min_size=rows_min, max_size=rows_max))
    return lists.flatmap(lambda drawn: timed(stream, drawn))


@st.composite
def timed(draw: st.DrawFn, stream: str, rows: list[dict[str, Value]]) -> list[SourceRow]:
    """Times that mostly rise slowly; in some lists they also jump and some rows are late."""
    calm = [1, 0, 1, 2, 0]
    step = st.sampled_from(draw(st.sampled_from([calm, calm * 4 + [30, 200, -1, -3, -20]])))
    now_msc, result = 1000, []
    for row in rows:
        step_ms = draw(step)
        result.append((stream, now_msc + step_ms, row))
        now_msc += max(0, step_ms)
    return result


def cases() -> st.SearchStrategy[tuple[Plan, list[SourceRow]]]:
    """A rule set and input for it."""
    return rule_sets().flatmap(lambda plan: st.tuples(st.just(plan), event_rows(plan)))
