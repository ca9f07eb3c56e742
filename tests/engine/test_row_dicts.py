"""Many rows as dictionaries, by a function written for their names."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.row_dicts import dictionaries
from tests.campaign import examples

names = st.lists(st.sampled_from(["a", "b", "time_msc", "row", "v0", "it's", "größe"]), unique=True)


@settings(max_examples=examples(50))
@given(names=names, count=st.integers(0, 5))
def test_as_row_by_row(names: list[str], count: int) -> None:
    empty = {"stream": "S", **dict.fromkeys(names)}
    columns = [[(name, row) for row in range(count)] for name in names] or [[None] * count]
    chosen = tuple(names) or ("alone",)
    meant = [
        empty | {name: column[row] for name, column in zip(chosen, columns, strict=True)}
        for row in range(count)
    ]
    made = dictionaries(empty, chosen, columns)
    assert made == meant
    assert [list(row) for row in made] == [list(row) for row in meant]
