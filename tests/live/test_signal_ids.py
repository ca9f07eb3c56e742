"""Ids of signals: the same for a record sent again, and never that of another signal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loguru import logger

from cep.engine.native import Compiled
from cep.live.config import Trading
from cep.live.effects import Effects
from cep.live.journal import Journal
from cep.live.pipeline import Caused, Pipeline
from cep.live.signals import as_signal, signal_id
from cep.plan import compile_rules
from mt5bridge.orders.request import described, opens
from mt5bridge.records import Records
from mt5bridge.spool import Group, RecordKind
from mt5bridge.wire import OrderKind, Side, Signal, SignalOrder
from tests.live.service import walks

NAMED = "s" + "0" * 32
OLD = "0" * 32
RULES = """@app:name('ids')
define stream Tick (symbol string, bid double, ask double);
from Tick select symbol, bid as price insert into Side;
from Tick select symbol, ask as price insert into Side;
define engine Tactical (queue = 1 min);
define event Even in Tactical for each symbol as every Side[price > 0] repeat allow;
define event First in Tactical as every Tick[bid > 0] repeat allow;
define complex Each in Tactical for each symbol as Even within 1 sec;
define complex Any in Tactical as First within 1 sec;
define signal Buying on Each buy 0.10 lots for 1000 hours;
define signal Selling on Each sell 0.10 lots for 1000 hours;
define signal Keyless on Any buy 'A' 0.10 lots for 1000 hours;
"""
SIGNALS = {"Buying", "Selling", "Keyless"}


def groups(
    ticks: dict[str, Records], size: int, skipped: int = 0, source: str = "demo"
) -> list[Group]:
    """Batches of so many ticks, one symbol after the other."""
    found: list[Group] = []
    ingest = 1 + skipped
    for symbol, records in ticks.items():
        for at in range(0, len(records), size):
            part = records[at : at + size]
            found.append(Group(ingest, RecordKind.TICKS, source, ("ticks", symbol), 1 + at, part))
            ingest += len(part)
    return found


def signals(rules: Compiled, folder: Path, found: Sequence[Group], spool: str) -> list[Signal]:
    effects = Effects(SIGNALS, Trading(send=True), Journal(None), None, spool=spool)
    Pipeline(rules.start(), effects.act_again).catch_up(found, effects.act_again)
    return effects.found_again


def test_ids_of_signals_depend_on_records_alone(tmp_path: Path) -> None:
    """Other batches, other ingest numbers: the same signals, several of one record too."""
    ticks = walks("AB", 60)
    ticks["B"]["time_msc"] += 3_600_000
    rules = Compiled(compile_rules(RULES, "ids.cep"), outputs=sorted(SIGNALS))
    whole, small = (
        signals(rules, tmp_path, groups(ticks, size, skipped), NAMED)
        for size, skipped in ((60, 0), (1, 12_345))
    )
    assert Counter(made.name for made in whole) == {"Buying": 240, "Selling": 240, "Keyless": 120}
    assert len({made.id for made in whole}) == len(whole) == 600
    assert sorted(made.id for made in whole) == sorted(made.id for made in small)
    known = {made.id: (made.name, made.symbol, made.time_msc) for made in whole}
    assert {made.id: (made.name, made.symbol, made.time_msc) for made in small} == known
    for other in (
        signals(rules, tmp_path, groups(ticks, 60), NAMED[:-1] + "1"),
        signals(rules, tmp_path, groups(ticks, 60, source="other"), NAMED),
        signals(rules, tmp_path, groups(ticks, 60), OLD),
    ):
        assert len(other) == 600 and not {made.id for made in other} & known.keys()


@dataclass
class Rows:
    """Output rows and the records that caused them."""

    orders: Any
    lines: list[dict[str, Any]]

    def dicts(self) -> list[dict[str, Any]]:
        return self.lines


def row(stream: str = "Buying", key: str | None = "A", **changes: Any) -> dict[str, Any]:
    usual = {"stream": stream, "key": key, "time_msc": 5, "valid_ms": None, "lots": 0.1,
             "stop_points": None, "target_points": None, "side": "buy", "symbol": "A"}  # fmt: skip
    return {**usual, **changes}


def made_of(
    lines: list[dict[str, Any]], orders: list[int], ingest: int = 10, effects: Effects | None = None
) -> list[Signal]:
    effects = effects or Effects(SIGNALS, Trading(send=True), Journal(None), None, spool=NAMED)
    found: list[Signal] = []
    ticks = np.zeros(9, [("time_msc", "<i8")])
    shown = [Group(ingest + 9 * number, RecordKind.TICKS, "demo", ("ticks", symbol), 1, ticks)
             for number, symbol in enumerate("AB")]  # fmt: skip
    effects.act(Caused(Rows(np.array(orders, np.int64), lines), shown), found.append)
    return found


def test_signals_of_one_record_are_told_apart() -> None:
    """By rule and by key, and the same signal of the same record by its number."""
    lines = [row(), row(), row("Selling"), row(key="B"), row(key=None), row(), row("Other")]
    found = made_of(lines, [12] * 7)
    assert len(found) == len({made.id for made in found}) == 6
    assert [made.id for made in made_of(lines[:6], [12, 12, 12, 12, 12, 12])] == [
        made.id for made in found
    ]
    apart = made_of([row(), row()], [12, 13])
    assert apart[0].id == found[0].id and apart[1].id not in {made.id for made in found}
    later = made_of([row(), row()], [22, 23], ingest=20)  # the same sequences in another place
    assert [made.id for made in later] == [made.id for made in apart]
    other = made_of([row(), row()], [12, 12 + 9])  # shown together: two streams, one sequence
    assert other[0].id == found[0].id != other[1].id
    names = ("Buying", "A", "demo", "ticks/B", 3, 0)
    assert other[1].id == signal_id(NAMED, *names)


def test_every_part_of_an_id_counts_and_no_two_parts_run_into_each_other() -> None:
    usual = (NAMED, "Fade", "A", "demo", "ticks/A", 7, 0)
    others = ("s" + "1" * 32, "Fad", "AB", "dem", "ticks/B", 70, 1)
    found = {signal_id(*usual)}
    for at, other in enumerate(others):
        found.add(signal_id(*usual[:at], other, *usual[at + 1 :]))  # type: ignore[arg-type]
    found.add(signal_id(NAMED, "FadeA", "", "demo", "ticks/A", 7, 0))
    found.add(signal_id(NAMED, "Fade", None, "demo", "ticks/A", 7, 0))
    assert len(found) == 10 and all(0 < number < 2**63 for number in found)


def test_spools_of_older_releases_keep_the_ids_they_have() -> None:
    """What such a release has sent must be known again after an upgrade: these are its ids."""
    assert signal_id(OLD, "Fade", "A", "demo", "ticks/A", 7) == 4088418261271155520
    assert signal_id("", "Wide", None, "demo", "ticks/A", 7, 1) == 5478062083685985676
    assert signal_id(NAMED, "Fade", "A", "demo", "ticks/A", 7) != 4088418261271155520


@pytest.mark.parametrize(
    ("changes", "text"),
    [({"lots": float("nan")}, "lots could not be computed"),
     ({"lots": float("inf")}, "lots could not be computed"),
     ({"stop_points": float("inf")}, "stop points could not be computed"),
     ({"lots": -1.0}, "lots is not above 0"),
     ({"target_points": float("nan")}, "target points could not be computed"),
     ({"symbol": "A\0"}, "zero byte"), ({"stop_points": 10**400}, "stop points could not be")],
)  # fmt: skip
def test_a_signal_that_cannot_be_sent_is_left_out_and_nothing_else(
    changes: dict[str, Any], text: str
) -> None:
    lines: list[str] = []
    sink = logger.add(lambda line: lines.append(str(line)))
    found = made_of([row(**changes), row("Selling")], [12, 12])
    logger.remove(sink)
    assert [made.name for made in found] == ["Selling"]
    (error,) = lines
    assert "signal Buying: " in error and text in error and "it is not sent" in error


def test_what_could_not_be_sent_is_counted() -> None:
    effects = Effects(SIGNALS, Trading(send=True), Journal(None), None, spool=NAMED)
    lines = [row(stop=None), row("Selling"), row(price=0.0)]
    assert [made.name for made in made_of(lines, [12] * 3, effects=effects)] == ["Selling"]
    assert effects.unusable.by_name() == {"signal Buying": {"unusable": 2}}


def test_a_signal_with_prices_is_an_order_of_its_own_kind() -> None:
    found = as_signal(row(order="limit", price=1.25, stop_distance=0.01, target=1.5), 5, 77, 60_000)
    assert isinstance(found, SignalOrder)
    assert (found.kind, found.price, found.stop, found.target) == (OrderKind.LIMIT, 1.25, 0, 1.5)
    assert (found.stop_distance, found.target_distance, found.id) == (0.01, 0.0, 5)


def test_what_changes_or_ends_what_is_there_opens_nothing() -> None:
    change = as_signal(row(side="modify", lots=None, stop_points=20, target=1.5), 5, 77, 60_000)
    assert isinstance(change, SignalOrder) and (change.kind, change.side) == (
        OrderKind.MODIFY, Side.CLOSE
    )  # fmt: skip
    assert (change.stop_points, change.target, change.lots, opens(change)) == (20, 1.5, 0, False)
    assert described(change) == "modify A stop 20 points target at 1.5"
    away = as_signal(row(side="modify", lots=None, stop_distance=0.002), 5, 77, 60_000)
    assert described(away) == "modify A stop by 0.002"
    cancel = as_signal(row(side="cancel", lots=None), 6, 77, 60_000)
    assert isinstance(cancel, SignalOrder) and cancel.kind is OrderKind.CANCEL
    assert described(cancel) == "cancel A" and not opens(cancel)


def test_a_close_says_how_much() -> None:
    found = as_signal(row(side="close", lots=0.2), 5, 77, 60_000)
    assert (type(found), found.lots) == (Signal, 0.2)


def test_a_signal_of_usual_size_is_made() -> None:
    made = as_signal(row(stop_points=30, lots=None, valid_ms=0), 5, 77, 60_000)
    assert (made.stop_points, made.lots, made.valid_until_msc) == (30.0, 0.0, 5)
