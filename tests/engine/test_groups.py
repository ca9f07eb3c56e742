"""The hash table of groups is a dictionary, however it grows and whatever the groups are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.jit import plain
from cep.engine.kernels.groups import bucket_of, group_row
from cep.engine.kernels.state import GROUPS, GROUPS_FULL, GROUPS_LIMIT, STATUS, Ints
from cep.engine.memory import FIRST_GROUPS, hashed, make_room
from cep.engine.native import Compiled
from cep.engine.stage_run import StageRun
from cep.plan.build import compile_rules
from tests.campaign import examples

RULES = """
define stream S (symbol string, n int);
from S select symbol, n, count() as seen group by symbol, n insert into Seen;
"""
COMPILED = Compiled(compile_rules(RULES, "groups.cep"), jit=False)
KINDS = st.integers(1, 3) | st.integers(1, 2**31).map(lambda row: 1 + (row << 16))
VALUES = st.integers(0, 30) | st.integers(-(2**63), 2**63 - 1)
COUNT = 20_000
find = plain(group_row)


def rows_of(groups: list[tuple[int, int]]) -> Iterator[int]:
    """The row of each group, the state growing as in a run."""
    stage = COMPILED.start().runner
    for kind, value in groups:
        if stage.state.gi[0, GROUPS] > stage.state.gi[0, GROUPS_LIMIT]:
            grow(stage)
        yield int(find(stage.state, kind, value))


def grow(stage: StageRun) -> None:
    stage.state.gi[0, STATUS] = GROUPS_FULL
    stage.state = make_room(stage.state, stage.compiled.needs)


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.tuples(KINDS, VALUES), max_size=4 * FIRST_GROUPS))
def test_groups_keep_their_rows_as_in_a_dictionary(groups: list[tuple[int, int]]) -> None:
    known: dict[tuple[int, int], int] = {}
    asked = groups + groups[::-1]
    wanted = [known.setdefault(group, len(known)) for group in asked]
    assert list(rows_of(asked)) == wanted


@settings(max_examples=examples(50), deadline=None)
@given(st.sets(st.tuples(KINDS, VALUES), max_size=64))
def test_a_table_made_at_once_holds_each_group_where_it_is_looked_for(
    groups: set[tuple[int, int]],
) -> None:
    table = hashed(numbered(np.array(sorted(groups), np.int64).reshape(-1, 2)), 128)
    stage = COMPILED.start().runner
    state = stage.state._replace(ht=table)
    assert [find(state, *group) for group in sorted(groups)] == list(range(len(groups)))
    assert (table[:, 2] != 0).sum() == len(groups)


def numbered(groups: Ints) -> Ints:
    return np.column_stack([groups, 1 + np.arange(len(groups))])


@pytest.mark.parametrize("inner", [1, 2, 25, 200])
def test_groups_within_groups_stand_close_to_their_first_bucket(inner: int) -> None:
    """The number of the outer group counts, too: else 25,000 orders of two symbols share 256."""
    outer, value = np.divmod(np.arange(COUNT), inner)
    groups = np.column_stack([1 + ((1 + outer) << 16), value])
    size = 1 << (2 * COUNT).bit_length()
    table = hashed(numbered(groups), size)
    first = plain(bucket_of)(groups[:, 0], groups[:, 1], size)
    places = np.empty(COUNT, np.int64)
    places[table[table[:, 2] != 0, 2] - 1] = np.flatnonzero(table[:, 2])
    assert ((places - first) & (size - 1)).max() < 100
