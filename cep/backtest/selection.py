"""Which archived records a backtest reads: a fixed list of files and a range of time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches

import msgspec

from cep.archive import Archive, File, Mode
from cep.archive.schema import CLOCK, DEALS, TICKS
from cep.backtest.errors import BacktestError
from cep.market import DEAL_STREAM, TICK_STREAM
from cep.plan.nodes import Plan

STORED = {TICK_STREAM: TICKS, DEAL_STREAM: DEALS}
"""The archive's name of each source stream, in the order of records that share a number."""


class Stretch(msgspec.Struct, frozen=True):
    """Records from one ingest number to another, both included, and how they came."""

    mode: Mode
    first_ingest: int
    last_ingest: int


class Selection(msgspec.Struct, frozen=True):
    """Files at a place and the times wanted of them, `from_msc` <= time_msc < `to_msc`.

    The files are those of one manifest, so that all tasks of a run read the same. `clock` are
    those that say how time passed without records; ticks with a mark of `hidden` are left out.
    Records behind `last_ingest` are not read, as if they were still to come.
    """

    place: str
    files: tuple[File, ...]
    from_msc: int | None = None
    to_msc: int | None = None
    clock: tuple[File, ...] = ()
    hidden: int = 0
    last_ingest: int | None = None

    @property
    def symbols(self) -> list[str]:
        """Their symbols, in the order of their names."""
        return sorted({file.symbol for file in self.files})

    @property
    def rows(self) -> int:
        """Rows of the files; some may lie outside the range."""
        return sum(file.rows for file in self.files)

    @property
    def interval_msc(self) -> tuple[int, int]:
        """First and last time of the files, cut to the range."""
        files = self.files or self.clock
        first, last = min(file.first_msc for file in files), max(file.last_msc for file in files)
        low = first if self.from_msc is None else max(first, self.from_msc)
        return low, last if self.to_msc is None else min(last, self.to_msc - 1)

    @property
    def span_ms(self) -> int:
        first, last = self.interval_msc
        return last - first

    @property
    def stretches(self) -> list[Stretch]:
        """How the records came, in order, without overlaps.

        Where history was imported beside what was lived, the recorded watermarks count: lived.
        """
        by_mode: dict[Mode, list[Stretch]] = {Mode.LIVED: [], Mode.SORTED: []}
        for file in (*self.files, *self.clock):
            assert file.mode is not None, "a manifest that is read has modes"
            by_mode[file.mode].append(Stretch(file.mode, file.first_ingest, file.last_ingest))
        lived = sorted(by_mode[Mode.LIVED], key=lambda one: one.first_ingest)
        rest = [part for one in by_mode[Mode.SORTED] for part in _without(one, lived)]
        return _joined([*lived, *rest])

    @property
    def is_lived(self) -> bool:
        """Whether any of it came as it was lived."""
        return any(one.mode is Mode.LIVED for one in self.stretches)

    @property
    def ends_sorted(self) -> bool:
        """Whether the last of it is history, behind which nothing comes."""
        return self.last_ingest is None and self.stretches[-1].mode is Mode.SORTED

    def stream(self, name: str) -> Selection:
        """The part that feeds the source stream of that name."""
        return self._with(file for file in self.files if file.stream == STORED[name])

    def without(self, name: str) -> Selection:
        """All but what feeds the source stream of that name."""
        files = tuple(file for file in self.files if file.stream != STORED[name])
        return msgspec.structs.replace(self, files=files)

    def by_symbol(self) -> dict[str, Selection]:
        """One selection a symbol, in the order of their names; none has a clock."""
        found: dict[str, list[File]] = {symbol: [] for symbol in self.symbols}
        for file in self.files:
            found[file.symbol].append(file)
        return {symbol: self._with(files) for symbol, files in found.items()}

    def only(self, symbols: Collection[str]) -> Selection:
        """The files of some symbols."""
        return self._with(file for file in self.files if file.symbol in symbols)

    def after(self, ingest: int) -> Selection:
        """The files that hold anything after an ingest number."""
        return self._with(file for file in self.files if file.last_ingest > ingest)

    def between(self, from_msc: int | None, to_msc: int | None) -> Selection:
        """The part in a range of time, too."""
        low = max((one for one in (from_msc, self.from_msc) if one is not None), default=None)
        high = min((one for one in (to_msc, self.to_msc) if one is not None), default=None)
        files = (
            file
            for file in self.files
            if (low is None or file.last_msc >= low) and (high is None or file.first_msc < high)
        )
        return msgspec.structs.replace(self, files=tuple(files), from_msc=low, to_msc=high)

    def until(self, ingest: int | None) -> Selection:
        """The same up to an ingest number, this one included; None: to the end.

        Symbols, and how the records came, stay those of all: files that are not read count.
        """
        return msgspec.structs.replace(self, last_ingest=ingest)

    def whole(self) -> Selection:
        """All that its files hold, whenever it was."""
        return msgspec.structs.replace(self, from_msc=None, to_msc=None, last_ingest=None)

    def read_of(self, files: Iterable[File]) -> list[File]:
        """Those that hold anything that is read."""
        last = self.last_ingest
        return [file for file in files if last is None or file.first_ingest <= last]

    def _with(self, files: Iterable[File]) -> Selection:
        return msgspec.structs.replace(self, files=tuple(files), clock=())


def select(
    archive: Archive,
    plan: Plan,
    symbols: Collection[str] | None = None,
    from_msc: int | None = None,
    to_msc: int | None = None,
    hidden: int = 0,
) -> Selection:
    """What the plan's source streams read of `archive`; BacktestError when that is nothing."""
    if from_msc is not None and to_msc is not None and from_msc >= to_msc:
        raise BacktestError("the range of time ends before it begins", "let --from be before --to")
    check_symbols(archive, symbols or ())
    files = [
        file
        for stream in plan.sources
        for file in archive.files(STORED[stream.name], symbols, from_msc, to_msc)
    ]
    clock = tuple(archive.files(CLOCK, None, from_msc, to_msc))
    if not files and (plan.sources or not clock):
        raise BacktestError(f"no records{_range_text(archive, plan)}", "see `mt5cep archive ls`")
    files.sort(key=lambda file: (file.first_ingest, file.symbol, file.path))
    return Selection(archive.store.place, tuple(files), from_msc, to_msc, clock, hidden)


def _joined(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Stretches in order, neighbours of one mode as one."""
    found: list[Stretch] = []
    for one in sorted(stretches, key=lambda one: one.first_ingest):
        if found and found[-1].mode is one.mode:
            last = max(found[-1].last_ingest, one.last_ingest)
            found[-1] = Stretch(one.mode, found[-1].first_ingest, last)
        else:
            found.append(one)
    return found


def _without(one: Stretch, others: Iterable[Stretch]) -> Iterator[Stretch]:
    """What others, which are in order, leave of a stretch."""
    first = one.first_ingest
    for other in others:
        if first < other.first_ingest <= one.last_ingest:
            yield Stretch(one.mode, first, other.first_ingest - 1)
        if other.first_ingest <= one.last_ingest:
            first = max(first, other.last_ingest + 1)
    if first <= one.last_ingest:
        yield Stretch(one.mode, first, one.last_ingest)


def check_symbols(archive: Archive, symbols: Iterable[str]) -> None:
    """BacktestError for a symbol of which the archive has nothing."""
    known = sorted(
        {file.symbol for file in archive.manifest.files if file.stream in STORED.values()}
    )
    for symbol in symbols:
        if symbol not in known:
            raise BacktestError(
                f"the archive has no symbol {symbol}", similar_symbol(symbol, known)
            )


def similar_symbol(symbol: str, known: list[str]) -> str:
    """What may be meant by the name of a symbol that is not known."""
    lower = {name.lower(): name for name in known}
    close = get_close_matches(symbol.lower(), lower, n=1)
    if close:
        return f"did you mean {lower[close[0]]}?"
    return f"it has {', '.join(known[:12]) or 'no symbols'}{', ...' if len(known) > 12 else ''}"


def _range_text(archive: Archive, plan: Plan) -> str:
    """What is there, when nothing of it was asked for."""
    names = {STORED[stream.name] for stream in plan.sources}
    dates = [file.date for file in archive.manifest.files if file.stream in names]
    words = " or ".join(sorted(names)) or "record of the clock"
    if not dates:
        return f": {archive.address} holds no {words}"
    return f" in the range: {archive.address} holds {words} from {min(dates)} to {max(dates)}"
