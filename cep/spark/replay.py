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
from cep.dropped import Ended, nobody
from cep.engine.apart import begun_apart, is_distributable
from cep.engine.distributed import Merge
from cep.engine.native import Compiled
from cep.engine.part import run_part
from cep.engine.rows import Rows
from cep.replay import INGEST, Source, batches, replay

PARTS = "place long, part binary"


def replay_on_spark(
    spark: SparkSession,
    rules: Compiled,
    sources: list[Source],
    folder: Path,
    until_msc: int | None = None,
    ended: Ended = nobody,
) -> Iterator[Rows]:
    """Output rows of `cep.replay.replay`; `folder` takes the rows of each key meanwhile.

    Rules that cannot be run a key at a time run in this process, in sequence: all that mind the
    time that passes `until_msc` are among them. So do records that may be late, since each is
    judged by those of all keys before it.
    """
    if is_distributable(rules) is not None or not are_in_order(sources):
        yield from replay(rules, sources, until_msc=until_msc, ended=ended)
        return
    keyed = _keyed(rules, sources)
    keys = keys_in_order(keyed)
    places = [write_key(folder, place, name, keyed) for place, name in enumerate(keys)]
    known = [name for name in keys if name is not None]
    job = msgspec.json.encode(Job.of(rules, known))
    frame = spark.createDataFrame([(place,) for place in places], "place long")
    spread = frame.repartition(max(1, min(len(places), spark.sparkContext.defaultParallelism)))
    parts = spread.mapInArrow(partial(run_places, job, str(folder)), PARTS).collect()
    merge = Merge(rules, known)
    yield merge.push((row.place, bytes(row.part)) for row in sorted(parts))
    ended(merge.dropped)


def are_in_order(sources: list[Source]) -> bool:
    """Whether no record is older than one before it."""
    orders = np.concatenate([one.order for one in sources])
    times = np.concatenate([one.table["time_msc"].to_numpy() for one in sources])
    return bool((np.diff(times[np.argsort(orders)]) >= 0).all())


def _keyed(rules: Compiled, sources: list[Source]) -> list[tuple[str, Source]]:
    """The sources that have a key, and its name; nothing reads the others."""
    keys = rules.in_parts("sorted")[0].stages.by.keys
    return [(keys[one.stream.name], one) for one in sources if one.stream.name in keys]


def keys_in_order(keyed: list[tuple[str, Source]]) -> list[str | None]:
    """Every key of the input, in order of its first row; None where a row has none."""
    first: dict[str | None, int] = {}
    for key, source in keyed:
        values = source.table[key].combine_chunks().dictionary_encode(null_encoding="encode")
        names = values.dictionary.to_pylist()
        codes, places = np.unique(values.indices.to_numpy(), return_index=True)
        for code, place in zip(codes.tolist(), places.tolist(), strict=True):
            order = int(source.order[place])
            first[names[code]] = min(order, first.get(names[code], order))
    return sorted(first, key=lambda name: first[name])


def rows_file(folder: Path, place: int, stream: str) -> Path:
    return folder / f"{place}-{encode_name(stream)}.parquet"


def write_key(folder: Path, place: int, name: str | None, keyed: list[tuple[str, Source]]) -> int:
    """Write one key's rows of every stream, with their places in the order; the key's place."""
    for key, source in keyed:
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
            run = begun_apart(rules, decoded.keys, "sorted")
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
