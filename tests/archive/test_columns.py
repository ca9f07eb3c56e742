"""Archives of before a column was there, and of after one that is unknown here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cep.archive import Archive, ArchiveError, compact, import_history, tables, verify
from cep.archive.manifest import File
from cep.archive.parts import part_batches, read_part
from cep.archive.schema import SCHEMAS
from cep.archive.store import checksum
from mt5bridge.history.block import TickBlock
from tests.backtest.archives import DAY_MS, START_MSC, walk

NEW = [
    pa.field("depth", pa.int64()),
    pa.field("fee", pa.float64()),
    pa.field("venue", pa.string()),
    pa.field("book", pa.dictionary(pa.int32(), pa.string())),
]


def rows(archive: Archive) -> pd.DataFrame:
    """All of an archive."""
    return pa.Table.from_batches(archive.read_batches()).to_pandas()


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    found = Archive(tmp_path / "archive")
    ticks = walk(np.random.default_rng(3), START_MSC, DAY_MS, 40)
    import_history(found, [TickBlock("A", ticks)])
    return found


def test_a_column_that_came_later_is_zero_in_older_files(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/backtest.md: "has 0 there, or no text"."""
    old = read_part(archive.store, archive.files()[0])
    wider = pa.schema([*SCHEMAS["ticks"], *NEW])
    monkeypatch.setitem(SCHEMAS, "ticks", wider)
    table = read_part(archive.store, archive.files()[0])
    assert table.schema == wider
    assert table.select(old.schema.names).to_pandas().equals(old.to_pandas())  # NaN is NaN
    told = {name: set(table[name].to_pylist()) for name in ("depth", "fee", "venue", "book")}
    assert told == {"depth": {0}, "fee": {0.0}, "venue": {""}, "book": {""}}
    (batch,) = part_batches(archive.store, archive.files()[0], ("venue", "bid"))
    assert batch.to_pandas().equals(table.select(["venue", "bid"]).to_pandas())


def test_old_and_new_files_become_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(tmp_path / "wider")
    with monkeypatch.context() as patch:
        narrow = SCHEMAS["ticks"].remove(SCHEMAS["ticks"].get_field_index("volume_real"))
        patch.setitem(SCHEMAS, "ticks", narrow)
        patch.setitem(tables.FIELDS, "ticks", ("bid", "ask", "last", "volume", "flags"))
        ticks = walk(np.random.default_rng(4), START_MSC, DAY_MS // 4, 40)
        import_history(archive, [TickBlock("A", ticks)])
    later = walk(np.random.default_rng(5), START_MSC + DAY_MS // 2, DAY_MS // 4, 40)
    import_history(archive, [TickBlock("A", later)])
    before = rows(archive)
    compact(archive)
    assert verify(archive).ok
    assert rows(archive).equals(before) and len(archive.files()) == 1  # NaN is NaN
    assert before["volume_real"].tolist() == [0.0] * 40 + [1.5] * 40


def rewritten(archive: Archive, table: pa.Table) -> File:
    """The archive's file with other columns, as another release would have written it."""
    (file,) = archive.files()
    pq.write_table(table, archive.path(file))
    data = archive.path(file).read_bytes()
    return File(**{**{name: getattr(file, name) for name in file.__struct_fields__},
                   "bytes": len(data), "checksum": checksum(data)})  # fmt: skip


def test_a_column_that_is_unknown_is_named(archive: Archive) -> None:
    table = read_part(archive.store, archive.files()[0])
    file = rewritten(archive, table.append_column("depth", pa.array([1] * table.num_rows)))
    with pytest.raises(ArchiveError, match=r"does not know \(depth\); install the newer release"):
        read_part(archive.store, file)


def test_a_column_of_another_type_is_told(archive: Archive) -> None:
    table = read_part(archive.store, archive.files()[0])
    place = table.column_names.index("bid")
    file = rewritten(archive, table.set_column(place, "bid", pa.array(["x"] * table.num_rows)))
    with pytest.raises(ArchiveError, match="its columns have other types"):
        read_part(archive.store, file)
