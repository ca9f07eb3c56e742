"""Output rows as columns of Arrow: the same as of their dictionaries."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.backtest.records import ingest_of
from cep.backtest.tables import Tables, by_stream, schemas
from cep.engine.native import Compiled
from cep.engine.rows import Rows
from cep.plan import compile_rules
from tests.campaign import examples

PLAN = compile_rules("""
define stream S (k string, i int, l long, f float, d double, b bool);
from S select k, i, l, f, d, b, str:concat(k, 'x') as t, i / 0 as nothing insert into Out;
define event Any for each k as every S[d >= 0.0] repeat allow;
define event All as every S[d < 0.0] repeat allow;
define complex Two for each k as Any followed by Any within 1 min;
from Two select key, Any.d as d, Any.k as word insert into Twos;
""")
WANTED = schemas(PLAN, ["Out", "Any", "All", "Two", "Twos"])
REALS = st.one_of(st.none(), st.floats(width=32))
ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, "", "a", "ü"]),
        st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1)),
        st.one_of(st.none(), st.integers(-(2**63) + 1, 2**63 - 1)),
        REALS, st.one_of(REALS, st.floats()), st.one_of(st.none(), st.booleans()),
    ),
    max_size=12,
)  # fmt: skip


def by_dictionaries(rows: Rows) -> dict[str, pa.Table]:
    """Slow and plain: row by row."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in WANTED}
    for ingest, row in zip(ingest_of(rows.orders).tolist(), rows.dicts(), strict=True):
        found[row["stream"]].append({"ingest": ingest, **row})
    return {
        name: pa.Table.from_pylist(members, schema=WANTED[name])
        for name, members in found.items()
        if members
    }


@settings(max_examples=examples(60), deadline=None)
@given(ROWS)
def test_columns_are_those_of_the_dictionaries(values: list[tuple[Any, ...]]) -> None:
    run = Compiled(PLAN, jit=False, outputs=list(WANTED)).begun(mode="sorted")
    names = PLAN.stream("S").schema.names
    columns = {name: [row[at] for row in values] for at, name in enumerate(names)}
    rows = run.push("S", columns, list(range(1_000, 1_000 + len(values))))
    expected = by_dictionaries(rows)
    found = dict(by_stream(rows, WANTED))
    assert found.keys() == expected.keys()
    for name, table in found.items():
        table.validate(full=True)
        assert table == expected[name], name


@settings(max_examples=examples(20), deadline=None)
@given(ROWS, st.integers(1, 4), st.integers(1, 6))
def test_a_file_is_that_of_its_rows_whatever_pieces_they_came_in(
    tmp_path_factory: pytest.TempPathFactory,
    values: list[tuple[Any, ...]],
    size: int,
    group: int,
) -> None:
    names = PLAN.stream("S").schema.names
    found = []
    for step in (size, max(1, len(values))):
        folder = tmp_path_factory.mktemp("tables")
        run = Compiled(PLAN, jit=False, outputs=list(WANTED)).begun(mode="sorted")
        with pytest.MonkeyPatch.context() as patch, Tables(folder, PLAN, list(WANTED)) as tables:
            patch.setattr("cep.backtest.tables.GROUP_ROWS", group)
            for first in range(0, len(values), step):
                piece = values[first : first + step]
                columns = {name: [row[at] for row in piece] for at, name in enumerate(names)}
                tables.take(run.push("S", columns, list(range(first, first + len(piece)))))
        found.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert found[0] == found[1]
    out = pq.ParquetFile(io.BytesIO(found[0]["Out.parquet"])).metadata
    rows = [out.row_group(number).num_rows for number in range(out.num_row_groups)]
    assert sum(rows) == len(values) and all(count == group for count in rows[:-1])
