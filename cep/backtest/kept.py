"""Parts of time that are kept from run to run: the next one works at what is new alone.

A part is known by all that it follows from: rules, functions and code, keys in their order, the
records it reads, by the checksums of the archive's manifest, and where it is cut. So nothing else
is ever taken for it, and what nobody asks for any more may be deleted.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from cep.archive.ingest import INGEST_BITS
from cep.backtest.by_time import cuts_at_silences
from cep.backtest.code import code_hash
from cep.backtest.errors import BacktestError
from cep.backtest.parts import Job, PartRow, Task
from cep.backtest.selection import Selection
from cep.plan.memory import Memory
from cep.plan.nodes import Plan
from mt5bridge.spool.disk import replace_file

DAY_MS = 86_400_000
Found = list[PartRow]


class Entry(msgspec.Struct, frozen=True):
    """What stands beside the bytes of parts: their hash, and where each lies."""

    sha256: str
    rows: list[PartRow]


class Kept:
    """A folder of parts. `taken` and `made` count tasks, `damaged` those that were kept in vain."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.taken = self.made = self.damaged = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise BacktestError(f"{folder}: {problem}", "name a folder that can be made") from None

    def find(self, job: Job, task: Task) -> Found | None:
        """What a task has come to before; None where that is not known, or damaged."""
        name = name_of(job, task)
        data = self._folder / f"{name}.parts"
        try:
            entry = msgspec.json.decode(self._index(name).read_bytes(), type=Entry)
            is_whole = _hash(data.read_bytes()) == entry.sha256
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError):
            is_whole = False
        if not is_whole:
            self.damaged += 1
            return None
        self.taken += 1
        return [msgspec.structs.replace(row, file=str(data)) for row in entry.rows]

    def keep(self, job: Job, task: Task, found: Found) -> None:
        """Keep what a task has come to; the bytes first, so that a crash leaves no half of it."""
        self.made += 1
        name, data = name_of(job, task), Path(found[0].file).read_bytes() if found else b""
        replace_file(self._folder / f"{name}.parts", data)
        replace_file(self._index(name), msgspec.json.encode(Entry(_hash(data), found)))

    def _index(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def __str__(self) -> str:
        text = f"{self.taken:,} of {self.taken + self.made:,} parts were kept, {self.made:,} run"
        return f"{text}; {self.damaged:,} were damaged" if self.damaged else text


def name_of(job: Job, task: Task) -> str:
    """Names what a task comes to: the hash of all that it follows from."""
    period, read = task.period, task.selection
    past = len(job.cuts) + 1 if period.past is None else period.past
    files = sorted((file.path, file.rows, file.checksum) for file in read.files)
    what = (
        code_hash(),
        msgspec.structs.replace(job, cuts=(), ends_msc=(), folder=""),
        [(index, *job.end(index)) for index in range(past) if _is_read(job, index, read)],
        (task.place, task.symbol, period, read.from_msc, read.to_msc, read.hidden, files),
    )
    return _hash(msgspec.json.encode(what))


def _is_read(job: Job, index: int, read: Selection) -> bool:
    """Whether a slice may hold a record that is read: it ends behind where reading begins."""
    if read.from_msc is None or index >= len(job.cuts):
        return True
    return job.cuts[index] >> INGEST_BITS >= read.from_msc


def day_cuts(selection: Selection, plan: Plan, memory: Memory) -> list[int]:
    """A cut at each midnight (UTC) behind the first day, the last one behind all records, or, where
    only a silence will do, at the first one behind each.

    So a day is the same part whatever days follow.
    """
    first, last = selection.interval_msc
    midnights = range(first // DAY_MS + 1, last // DAY_MS + 2)
    cuts = [day * DAY_MS << INGEST_BITS for day in midnights]
    if memory.silence_ms:
        return cuts_at_silences(cuts, selection, plan, memory.silence_ms)
    return cuts


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
