"""`replay` on Spark: stage 1 a key at a time in its tasks, from files of that key's rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from cep.archive.paths import encode_name
from cep.backtest.parts import Job
from cep.engine.distributed import Merge, is_distributable, run_part
from cep.engine.native import Compiled
from cep.engine.rows import Rows
from cep.replay import INGEST, Source, batches, replay

PARTS = "place long, part binary"


def replay_on_spark(
    spark: SparkSession,
    rules: Compiled,
    sources: list[Source],
    folder: Path,
    until_msc: int | None = None,
) -> Iterator[Rows]:
    """Output rows of `cep.replay.replay`; `folder` takes the rows of each key meanwhile.

    Rules that cannot be run a key at a time run in this process, in sequence: all that mind the
    time that passes `until_msc` are among them.
    """
    if is_distributable(rules) is not None:
        yield from replay(rules, sources, until_msc=until_msc)
        return
    key = rules.stages.by.key
    assert key is not None
    keys = keys_in_order(sources, key)
    places = [write_key(folder, place, key, name, sources) for place, name in enumerate(keys)]
    known = [name for name in keys if name is not None]
    job = msgspec.json.encode(Job.of(rules, known, ()))
    frame = spark.createDataFrame([(place,) for place in places], "place long")
    spread = frame.repartition(max(1, min(len(places), spark.sparkContext.defaultParallelism)))
    parts = spread.mapInArrow(partial(run_places, job, str(folder)), PARTS).collect()
    merge = Merge(rules, known)
    yield merge.push((row.place, bytes(row.part)) for row in sorted(parts))


def keys_in_order(sources: list[Source], key: str) -> list[str | None]:
    """Every key of the input, in order of its first row; None where a row has none."""
    first: dict[str | None, int] = {}
    for source in sources:
        values = source.table[key].combine_chunks().dictionary_encode(null_encoding="encode")
        names = values.dictionary.to_pylist()
        codes, places = np.unique(values.indices.to_numpy(), return_index=True)
        for code, place in zip(codes.tolist(), places.tolist(), strict=True):
            order = int(source.order[place])
            first[names[code]] = min(order, first.get(names[code], order))
    return sorted(first, key=lambda name: first[name])


def rows_file(folder: Path, place: int, stream: str) -> Path:
    return folder / f"{place}-{encode_name(stream)}.parquet"


def write_key(folder: Path, place: int, key: str, name: str | None, sources: list[Source]) -> int:
    """Write one key's rows of every stream, with their places in the order; the key's place."""
    for source in sources:
        column = source.table[key]
        mine = pc.is_null(column) if name is None else pc.equal(column, name)
        table = source.table.append_column(INGEST, pa.array(source.order))
        pq.write_table(table.filter(mine), rows_file(folder, place, source.stream.name))
    return place


def run_places(job: bytes, folder: str, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """In a Spark worker: stage 1 over the files of each key."""
    decoded = msgspec.json.decode(job, type=Job)
    rules = decoded.compiled()
    for batch in rows:
        for place in batch["place"].to_pylist():
            run = rules.start(decoded.keys)
            part = run_part(run, batches(run, read_key(rules, Path(folder), place)))
            yield pa.RecordBatch.from_pydict({"place": [place], "part": [part]})


def read_key(rules: Compiled, folder: Path, place: int) -> list[Source]:
    """The streams of one key as `write_key` left them."""
    sources = []
    for stream in rules.plan.sources:
        path = rows_file(folder, place, stream.name)
        if path.exists():
            table = pq.read_table(path)
            sources.append(Source(stream, table, table[INGEST].to_numpy()))
    return sources
