"""Rules that begin anew, brought to where they would be had they lived what the archive has.

Nobody acts on what they find there, and it is not in the journal, which begins with the spool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from loguru import logger

from cep.archive import Archive
from cep.archive.groups import Earlier, Place
from cep.engine.native import Run
from cep.engine.rows import Row
from cep.live.config import Config
from cep.live.feed import MarketFeed
from cep.live.pipeline import Caused
from mt5bridge.spool import Group, Spool

DAY_MS = 86_400_000
GROUPS_AT_ONCE = 1_024


class WarmUpError(ValueError):
    """Rules raise at what the archive has."""


class WarmUp:
    """How far they have come, for whoever asks from another thread."""

    def __init__(self, config: Config, spool: Spool, first: Group | None) -> None:
        """`first` is the first group of the spool. ArchiveError when the archive cannot be read."""
        assert config.archive.folder is not None, "the settings were checked"
        archive = Archive(config.archive.folder)
        newest_msc = max((file.last_msc for file in archive.manifest.files), default=0)
        first_msc = newest_msc + 1
        if first is not None and first.width and len(first.near_msc):
            first_msc = int(first.near_msc[0])
        from_msc = first_msc - round(config.rules.warm_up_days * DAY_MS)
        number = first.ingest if first is not None else spool.next_ingest
        place = Place(spool.recovered.spool, number, first_msc, from_msc)
        self._earlier = Earlier(archive, place)
        self.records = 0
        self.records_max = self._earlier.rows_max

    def feed(
        self,
        run: Run,
        take: Callable[[list[Row], Caused], None],
        going: Callable[[Iterable[Group]], Iterable[Group]] = lambda groups: groups,
    ) -> None:
        """Show a run all of it; `take` is told what they find. WarmUpError names the place.

        `going` hands the groups on, and may end it.
        """
        feed = MarketFeed(run)
        for groups in _chunks(going(self._earlier)):
            try:
                for rows, causes in feed.feed(groups):
                    caused = Caused(rows, causes)
                    take(rows.dicts(), caused)
            except MemoryError:
                raise
            except Exception as problem:
                raise WarmUpError(_told(groups, problem)) from problem
            self.records += sum(group.width for group in groups)
        self.records_max = self.records
        logger.info("warmed up on {} records of the archive", self.records)


def _chunks(groups: Iterable[Group]) -> Iterator[list[Group]]:
    rest = iter(groups)
    while chunk := list(islice(rest, GROUPS_AT_ONCE)):
        yield chunk


def _told(groups: list[Group], problem: Exception) -> str:
    ends = groups[0], groups[-1]
    places = " to ".join(f"{one.source} {' '.join(one.stream)} {one.sequence}" for one in ends)
    return (
        f"the rules raise at archived records, {places}: {type(problem).__name__}: {problem}; mend "
        "them, or let them begin with the spool: leave out warm_up_days"
    )
