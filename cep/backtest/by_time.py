"""One symbol over a long time as several tasks: slices in a row, each behind a warm-up.

What has to be read before a slice follows from the plan (`cep.plan.remembered`): then its rows are
those of a run over all records, byte for byte. What the rules remember without end cannot be
divided, and is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from cep.archive.ingest import INGEST_BITS
from cep.archive.parts import int64
from cep.backtest.places import at_times
from cep.backtest.records import shown_tables
from cep.backtest.selection import Selection
from cep.backtest.slices import rows_before
from cep.engine.kernels.state import Ints
from cep.engine.native import Compiled
from cep.engine.stages import KEYED
from cep.plan.memory import Memory
from cep.plan.nodes import Plan
from cep.plan.remembered import remembered

MARGIN_MS = 1_000
"""Read in front of what is needed: a full millisecond's records have numbers of later ones."""
WARM_UPS = 5
"""How many times as long as the warm-up behind it a period is: else that would be most of it."""
SEARCH_DAYS = 10
"""How far behind a wanted cut a silence is looked for: no market is open longer than a week."""


class Period(msgspec.Struct, frozen=True):
    """Slices of one symbol, `first` to below `past` (None: all that follow), the how many-th ones.

    Records are read from `from_msc` on, None: all there are.
    """

    number: int = 0
    first: int = 0
    past: int | None = None
    from_msc: int | None = None


ALL = Period()


def memory_apart(rules: Compiled) -> Memory:
    """What the part of sorted rules remembers that is run a symbol at a time."""
    first, _ = rules.in_parts("sorted")
    if first.program is not None:
        return remembered(rules.plan).plan
    stages = first.stages
    names = [one.name for one in rules.plan.operators if stages.operator(one) == KEYED]
    return remembered(rules.plan).of([*names, *(one.name for one in stages.engines(KEYED))])


def read_in(selection: Selection, period: Period, cuts: Sequence[int]) -> Selection:
    """The records of a symbol that a period needs, and a few more in front of them."""
    past = period.past
    to_msc = None if past is None else cuts[past - 1] >> INGEST_BITS
    from_msc = None if period.from_msc is None else period.from_msc - MARGIN_MS
    return selection.between(from_msc, to_msc)


class Periods:
    """The periods of a symbol. Of its records only the times near cuts are read."""

    def __init__(self, selection: Selection, plan: Plan, memory: Memory) -> None:
        self._times = Times(selection, plan)
        self._files = selection.files
        self._memory = memory

    def at(self, cuts: Sequence[int], rows_min: int = 0) -> list[Period]:
        """A period may begin at each cut, ingest numbers, and does wherever it can know what the
        rules remember, but for a warm-up that would begin before the period in front of it does.

        With `rows_min` a period has about so many records at least, and is worth its warm-up.
        """
        begins: list[tuple[int, int | None]] = [(0, None)]
        for place, cut in enumerate(cuts, 1):
            begun = None if begins[-1][1] is None else cuts[begins[-1][0] - 1]
            if rows_min and self._rows(begun, cut) < rows_min:
                continue
            from_msc = self._warm_up(cut >> INGEST_BITS)
            if from_msc is None or (begun is not None and from_msc < begun >> INGEST_BITS):
                continue
            warm_up = self._rows(from_msc << INGEST_BITS, cut) if rows_min else 0
            if not rows_min or self._rows(begun, cut) >= WARM_UPS * warm_up:
                begins.append((place, from_msc))
        ends = [*(first for first, _ in begins[1:]), None]
        return [
            Period(number, first, past, from_msc)
            for number, ((first, from_msc), past) in enumerate(zip(begins, ends, strict=True))
        ]

    def _rows(self, begin: int | None, end: int) -> float:
        """About how many records there are from one ingest number, None: the first, to another."""
        before = rows_before(self._files, np.array([begin or 0, end]))
        return float(before[1] - before[0])

    def _warm_up(self, cut_msc: int) -> int | None:
        """From when on to read for what begins at a cut; None: nothing can begin there."""
        last_msc = self._times.back(cut_msc, 1)
        if last_msc is None:
            return cut_msc
        if self._memory.forever or cut_msc - last_msc <= self._memory.silence_ms:
            return None
        return self._memory.begins_msc(last_msc, self._back)

    def _back(self, at_msc: int, rows: int, source: str) -> int:
        found = self._times.back(at_msc, rows, source)
        return at_msc if found is None else found


class Times:
    """The times of the records that rules see; of files that nobody asks for none is read."""

    def __init__(self, selection: Selection, plan: Plan) -> None:
        self._selection = selection
        self._sources = [stream.name for stream in plan.sources]
        self._read: dict[str, Ints] = {}

    def back(self, at_msc: int, rows: int, source: str | None = None) -> int | None:
        """The time of the record that is so many back before a time, of one source or all; of the
        first one where there are not so many, None where there is none.
        """
        sources = self._sources if source is None else [source]
        found = np.empty(0, np.int64)
        files = [
            (file.last_msc, name, file)
            for name in sources
            for file in self._selection.stream(name).files
            if file.first_msc < at_msc
        ]
        for last_msc, name, file in sorted(files, key=lambda one: -one[0]):
            if len(found) >= rows and last_msc < found[-rows]:
                break
            times = self._of(name, file.path)
            found = np.sort(np.concatenate([found, times[times < at_msc][-rows:]]))
        return int(found[-min(rows, len(found))]) if len(found) else None

    def first_after_silence(self, at_msc: int, silence_ms: int) -> int | None:
        """The time of the first record at or behind a time that comes after a silence which is
        longer; None where there is none for days.
        """
        until_msc = at_msc + SEARCH_DAYS * 86_400_000
        last_msc = self.back(at_msc, 1)
        for times in self._days(at_msc, until_msc):
            if last_msc is not None:
                times = np.concatenate([[last_msc], times])
            longer = np.flatnonzero(np.diff(times) > silence_ms)
            if len(longer):
                return int(times[longer[0] + 1])
            last_msc = int(times[-1])
        return None

    def _days(self, from_msc: int, until_msc: int) -> Iterator[Ints]:
        """The times from one on, a date at a time, in order."""
        dates: dict[str, list[tuple[str, str]]] = {}
        for name in self._sources:
            for file in self._selection.stream(name).files:
                if file.last_msc >= from_msc and file.first_msc < until_msc:
                    dates.setdefault(file.date, []).append((name, file.path))
        for _, files in sorted(dates.items()):
            times = np.sort(np.concatenate([self._of(*file) for file in files]))
            times = times[times >= from_msc]
            if len(times):
                yield times

    def _of(self, name: str, path: str) -> Ints:
        """The times in one file, in order."""
        if path not in self._read:
            part = self._selection.stream(name)
            files = tuple(file for file in part.files if file.path == path)
            part = msgspec.structs.replace(part, files=files)
            tables = [int64(table, "time_msc") for table in shown_tables(part, name, set())]
            self._read[path] = np.sort(np.concatenate([np.empty(0, np.int64), *tables]))
        return self._read[path]


def cuts_at_silences(
    cuts: Sequence[int], selection: Selection, plan: Plan, silence_ms: int
) -> list[int]:
    """Cuts of history, each moved on to where no symbol has had a record for longer than that."""
    times = Times(selection, plan)
    found = set()
    for cut in at_times(cuts):
        time_msc = times.first_after_silence(cut >> INGEST_BITS, silence_ms)
        if time_msc is not None:
            found.add(time_msc << INGEST_BITS)
    return sorted(found)
