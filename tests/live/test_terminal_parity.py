"""A day that a terminal traded, run again: rows and orders the same, fills beside each other."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from cep.account.market import Market
from cep.cli import main
from cep.live.config import read_config
from cep.live.outgoing import journal_path
from cep.parity.fills import Fill, Pair, Summary, lived_exits
from cep.parity.terminal import Here, Traded, traded
from mt5bridge.broker import Terms
from mt5bridge.orders import OrderJournal
from mt5bridge.orders.records import Requested
from mt5bridge.simulator import Account
from mt5bridge.wire import Side, Signal
from tests.live.service import (
    RULES,
    Service,
    address,
    archived,
    play,
    terminal,
    walks,
    write_settings,
)
from tests.live.test_rule_files import settings_of

TRADED = RULES.replace("0.10 lots for", "0.10 lots stop 15 points target 15 points for")
TRADED += """
define signal Lower on Turn modify stop by 0.0001 target by 0.0002 for 1000 hours;
define signal Drop on FilledTurn cancel for 1000 hours;
"""
POINTS = {"A": 1e-5, "B": 1e-5}


def lived(folder: Path) -> Path:
    """A day with a terminal over TCP on a hedging account; its settings."""
    settings = write_settings(folder, {"rules": {"numba": False}, "state": {"clock_every_ms": 20}})
    (folder / "rules.cep").write_text(TRADED, encoding="utf-8")
    with Service(settings) as service:
        found = terminal(walks("AB", 1_000), account=Account(hedging=True))
        play(found, address(settings), until=service.is_settled)
        # what was executed behind its last tick meets the market here
        play(terminal(walks("AB", 1_400), account=found.account), address(settings))
    return settings


def again(settings: Path, name: str = "main") -> Traded:
    here = Here(Market(Terms(hedging=True)), POINTS)
    return traded(read_config(settings), archived(settings), here, name)


def parity(settings: Path, *more: object) -> Result:
    given = ["parity", "--config", str(settings), "--hedging", *map(str, more)]
    return CliRunner().invoke(main, [*given, "--point", "A=0.00001", "--point", "B=0.00001"])


def test_a_day_with_a_terminal_is_lived_again(tmp_path: Path) -> None:
    """Rows byte for byte, orders by their numbers; what was dealt is told beside what is here."""
    settings = lived(tmp_path)
    found = again(settings)
    assert [one.text for one in found.differences] == []
    assert found.rows > 50 and found.orders > 5 and found.notes == []
    orders = [pair for pair in found.pairs if pair.what == "order"]
    changes = [pair for pair in found.pairs if pair.what == "change"]
    assert len(orders) + len(changes) == found.orders
    assert {one.signal.name for one in changes} == {"Lower", "Drop"}
    assert any(one.lived.why == one.again.why == "done" for one in changes)
    assert all(pair.terminal == "demo" and pair.lived.lots == 0.1 for pair in orders if
               pair.signal.name == "Fade" and pair.lived.lots)  # fmt: skip
    both = [pair for pair in orders if pair.are_both]
    assert len(both) > 5  # how late the terminal has dealt depends on the machine
    exits = [pair for pair in found.pairs if pair.what == "exit of"]
    assert any(pair.are_both for pair in exits)
    before = sorted(path.name for path in (tmp_path / "spool").iterdir())
    result = parity(settings, "--most", 3)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[1] == f"{found.rows:,} rows, {found.orders:,} orders, 0 differences"
    assert lines[2].startswith(f"fills: {sum(pair.are_both for pair in found.pairs):,} of both, ")
    assert lines[3].startswith("changes: ")
    assert lines[4].startswith("lived against again: price ")
    assert sorted(path.name for path in (tmp_path / "spool").iterdir()) == before


def test_what_differs_is_found(tmp_path: Path) -> None:
    """A row that the daemon did not write, an order with other lots, and one that is not there."""
    settings = lived(tmp_path)
    with (tmp_path / "state" / "events.jsonl").open("ab") as rows:
        rows.write(b'{"stream":"Fade"}\n')
    journal = OrderJournal(journal_path(read_config(settings)))
    asked = [one for one in journal.records if isinstance(one, Requested)]
    assert asked[0].signal is not None
    more = replace(asked[0], signal=dataclasses.replace(asked[0].signal, lots=0.7))
    journal.rewrite(
        more if one is asked[0] else one for one in journal.records if one is not asked[-1]
    )
    journal.close()
    found = again(settings)
    whats = [one.what for one in found.differences]
    assert whats == ["row", "order", "order"]
    assert found.differences[0].lived == '{"stream":"Fade"}'
    assert " 0.7 lots" in found.differences[1].lived
    assert " 0.7 lots" not in found.differences[1].again
    assert found.differences[2].lived == "nothing"
    assert found.differences[2].again.startswith(f"{asked[-1].id:016x} ")
    result = parity(settings)
    assert result.exit_code == 1 and ", 3 differences" in result.stdout


def signal(number: int, side: Side = Side.BUY) -> Signal:
    return Signal(number, 1, 2, 77, 0.1, 0.0, 0.0, side, "Fade", "A")


def pair(lived: Fill, again: Fill, *, is_buy: bool = True) -> Pair:
    return Pair("demo", signal(5), "order", lived, again, is_buy, 1e-5)


def test_worse_is_dearer_for_buys_and_cheaper_for_sells() -> None:
    here, there = Fill(0.1, 1.1, 1_000), Fill(0.1, 1.10003, 1_025)
    assert (pair(there, here).worse_points, pair(there, here).later_ms) == (3.0, 25)
    assert pair(there, here, is_buy=False).worse_points == -3.0
    assert pair(there, here).differs and not pair(here, here).differs
    refused = pair(here, Fill(why="no money (10019)"))
    assert refused.differs and refused.text.endswith("again not filled (no money (10019))")


def test_fills_are_summed_up() -> None:
    a, b, none = Fill(0.1, 1.1, 1_000), Fill(0.2, 1.10002, 1_010), Fill(why="rejected")
    pairs = [pair(b, a), pair(a, a), pair(a, none), pair(none, a), pair(none, none)]
    assert Summary(pairs).lines == [
        "fills: 2 of both, 1 only lived, 1 only again, 1 of neither",
        "lived against again: price +1.00 points worse on the mean (+0 to +2), +5 ms later "
        "(+0 to +10), +0.1 lots",
    ]


def test_changes_are_done_or_not() -> None:
    done, refused = Fill(why="done"), Fill(why="rejected: no such position")
    one = Pair("demo", signal(5), "change", done, refused, False, 1.0)
    too = Fill(why="no such position (10036)")
    same = Pair("demo", signal(6), "change", refused, too, False, 1.0)
    assert one.differs and not same.differs
    assert one.text.endswith("lived done; again rejected: no such position")
    assert Summary([one, same]).lines[1] == (
        "changes: 0 of both, 1 only lived, 0 only again, 1 of neither"
    )


def test_fills_in_parts_are_one() -> None:
    found = Fill.of([(0.1, 1.0, 30), (0.3, 2.0, 20), (0.0, 9.0, 1)])
    assert (found.lots, found.time_msc) == (0.4, 20) and found.price == pytest.approx(1.75)
    assert Fill.of([], "expired").text == "not filled (expired)"


def test_exits_belong_to_the_order_that_opened_the_position() -> None:
    def deal(position: int, comment: str, price: float) -> dict[str, Any]:
        return {"position_id": position, "comment": comment, "volume": 0.1, "price": price,
                "time_msc": 7}  # fmt: skip

    deals = [
        deal(1, f"{9:016x} Fade", 1.0), deal(2, "by hand", 1.0), deal(1, "[sl 1.1]", 1.1),
        deal(2, "[tp 2.0]", 2.0), deal(1, "so", 1.2),
    ]  # fmt: skip
    ((number, found),) = lived_exits(deals).items()
    assert (number, found.lots, found.time_msc) == (9, 0.2, 7)
    assert found.price == pytest.approx(1.15)


def test_each_rule_file_is_compared_by_its_name(tmp_path: Path) -> None:
    """Rows and orders of `[rules.quick]`, whose names and magic number are its own."""
    settings = settings_of(tmp_path)
    with Service(settings) as service:
        found = terminal(walks("AB", 700), account=Account())
        play(found, address(settings), until=service.is_settled)
    archive, here = archived(settings), Here(Market(), POINTS)
    both = [traded(read_config(settings), archive, here, name) for name in ("main", "quick")]
    assert [one.differences for one in both] == [[], []]
    assert all(one.orders > 3 and one.rows > 6 for one in both)
    assert {one.signal.name for one in both[1].pairs} == {"quick/Fade"}
    assert both[0].orders + both[1].orders == len({one.id for one in found.signals})
    assert all(f"{other.orders:,} orders of users, callbacks and other rule files" in one.notes[0]
               for one, other in (both, both[::-1]))  # fmt: skip
    told = parity(settings, "--rules", "quick")
    assert told.exit_code == 0 and f"{both[1].orders:,} orders, 0 differences" in told.stdout
    unknown = parity(settings, "--rules", "quck")
    assert unknown.exit_code == 2 and "there are main, quick" in unknown.stderr
