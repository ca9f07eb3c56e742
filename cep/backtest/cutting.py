"""Whether anything that a run makes of its records depends on those that come later.

The run is made once over all records, and once for each of some cuts over those up to a record:
what was made by then must be the same. Files that functions read cannot be cut: they are named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Unpack

import msgspec

from cep.backtest.account_tables import deals_table, orders_table
from cep.backtest.asked import Asked, asked
from cep.backtest.cuts import Place, cut_places, records_before
from cep.backtest.options import Options, rules_text
from cep.backtest.options import whole as whole_number
from cep.backtest.row_file import RowFile
from cep.backtest.simulate import Outcome
from cep.backtest.work import Advance, Progress, Work, no_progress
from cep.functions.files import load_texts, loaded_files
from cep.functions.reads import Read, is_below, watched

CUTS, SEED = 10, 1


@dataclass(frozen=True, slots=True)
class Cuts:
    """How many, and by which chance; `known` are files that functions may read."""

    count: int = CUTS
    seed: int = SEED
    known: Collection[Path] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """The first of the `what` (row, order, deal) that is another one when a run ends at `cut`.

    `number` counts from 1. `whole` and `short` are both as JSON, of the
    run over all records and of that up to the cut; empty where there is none. `ingest` is the
    record that caused it.
    """

    cut: Place
    what: str
    number: int
    ingest: int
    whole: str
    short: str

    @property
    def stream(self) -> str:
        """Of a row, or the signal of an order or deal; empty for a deal without one."""
        found = msgspec.json.decode(self.whole or self.short)
        return found.get("stream") or found.get("signal") or ""


@dataclass(frozen=True, slots=True)
class Lookahead:
    """What came of the cuts.

    `repeats` says whether the same cut made again gave the same; None where nothing differs.
    `told` is what makes some of it uncertain.
    """

    cuts: list[Place]
    differences: list[Difference]
    reads: list[Read]
    repeats: bool | None
    rows: int
    orders: int
    deals: int
    told: list[str]

    @property
    def looks_ahead(self) -> bool:
        """Whether anything was found."""
        return bool(self.differences or self.reads)


def lookahead(
    rules: Path | str,
    archive: Path | str,
    *,
    cuts: int = CUTS,
    seed: int = SEED,
    known: Collection[Path | str] = (),
    **options: Unpack[Options],
) -> Lookahead:
    """Run rules, the path of a file or their text, over an archive, and over the beginnings of it.

    Options are those of `cep.backtest.run`. RuleError, BacktestError or ArchiveError says what
    cannot be.
    """
    wanted = Cuts(cuts, seed, [Path(one) for one in known])
    return look(rules_text(rules), archive, options, wanted)


def look(
    text: tuple[str, str],
    archive: Path | str,
    options: Options,
    cuts: Cuts,
    progress: Progress = no_progress,
) -> Lookahead:
    """As `lookahead`, of a text and its name."""
    whole_number("cuts", cuts.count, 1)
    with watched() as reads:
        load_texts(loaded_files())  # again: what they read meanwhile is seen, too
        whole = asked(text, archive, options)
        places = cut_places(whole.selection, whole.plan, cuts.count, cuts.seed)
        total = whole.selection.rows + sum(records_before(whole.selection, one) for one in places)
        with progress(total) as advance, _Whole(whole, places, advance) as run:
            run.run()
            differences = [one for place in places if (one := run.difference(place))]
            repeats = None
            if differences:
                repeats = run.difference(differences[0].cut) == differences[0]
    unknown = [read for read in reads if not is_below(read.what, cuts.known)]
    counts = (run.file.rows, len(run.orders), len(run.deals))
    return Lookahead(places, differences, unknown, repeats, *counts, list(_notes(whole)))


class _Whole:
    """The run over all records, and those that end earlier beside it."""

    def __init__(self, whole: Asked, places: list[Place], advance: Advance) -> None:
        self._asked, self._advance = whole, advance
        self.file = RowFile([place.ingest for place in places])

    def __enter__(self) -> _Whole:
        self.file.__enter__()
        return self

    def run(self) -> None:
        """Over all records; before any other."""
        self._work = Work(self._asked, shows_rows=True, has_report=False)
        self._work.take(self._work.in_this_process(self._advance), [self.file.take])
        outcome = self._work.finish(is_tried=False).outcome
        self._points = {**self._asked.points, **outcome.points}
        self.orders, self.deals = _orders(outcome), _deals(outcome)

    def __exit__(self, *error: Any) -> None:
        self.file.__exit__(*error)

    def difference(self, place: Place) -> Difference | None:
        """The first that differs when the run ends at a place."""
        against = self.file.against(place.ingest)
        selection = self._asked.selection.until(place.ingest)
        short = replace(self._asked, selection=selection, points=self._points)
        work = Work(short, shows_rows=True, has_report=False, rules=self._work.rules)
        work.take(work.in_this_process(self._advance), [against.take])
        against.ended()
        if against.found is not None:
            number, *both = against.found
            ingest, _, _ = (both[0] or both[1]).partition(" ")
            texts = [text.partition(" ")[2] for text in both]
            return Difference(place, "row", number, int(ingest), *texts)
        outcome = work.finish(is_tried=False).outcome
        pairs = (("order", self.orders, _orders(outcome)), ("deal", self.deals, _deals(outcome)))
        found = (_first(place, *pair) for pair in pairs)
        return next((one for one in found if one is not None), None)


Made = list[Mapping[str, Any]]


def _first(place: Place, what: str, whole: Made, short: Made) -> Difference | None:
    """The first order or deal that is not the same, of those made up to a place."""
    made = [one for one in whole if one["ingest"] <= place.ingest]
    for number, pair in enumerate(zip_longest(made, short), 1):
        if not _are_same(*pair):
            texts = ["" if one is None else msgspec.json.encode(one).decode() for one in pair]
            ingest = next(one["ingest"] for one in pair if one is not None)
            return Difference(place, what, number, ingest, *texts)
    return None


def _are_same(whole: Mapping[str, Any] | None, short: Mapping[str, Any] | None) -> bool:
    """Whether two orders or deals are; what an order was not answered yet may come later."""
    if whole is None or short is None:
        return whole is short
    is_open = short.get("retcode") == 0
    return all(
        whole[name] == value or (value != value and whole[name] != whole[name])
        for name, value in short.items()
        if not (is_open and name in ("retcode", "answer"))
    )


def _orders(outcome: Outcome) -> Made:
    """The orders in the order of what caused them; their numbers put those without ticks last."""
    found: Made = orders_table(outcome).drop_columns(["number"]).to_pylist()
    return sorted(found, key=lambda order: int(order["ingest"]))


def _deals(outcome: Outcome) -> Made:
    found: Made = deals_table(outcome).to_pylist()
    return found


def _notes(whole: Asked) -> Iterator[str]:
    """What no cut shows."""
    later = [mark for mark in ("outlier", "gap") if mark in (whole.said["reject"] or ())]
    if later:
        yield (
            f"--reject {','.join(later)}: `archive doctor` has marked these with a look at the "
            "ticks behind them, which no cut takes back"
        )
