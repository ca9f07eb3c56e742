"""Runs know what an archive was told: merged with a file's keys, switched at the time it holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cep.backtest
import cep.sweep
from cep.account.account_file import AccountFile, SymbolPart
from cep.account.known import SpecificationError, known
from cep.account.market import Market, market_at
from cep.account.specifications import Version
from cep.archive import Archive, specify
from cep.backtest.assumptions import assumptions
from cep.backtest.manifest import manifest
from cep.backtest.trading import Trading
from mt5bridge.broker import Specification, Terms
from tests.backtest.archives import DAY_MS, START_MSC, SYMBOLS, imported
from tests.backtest.rules import KEYED
from tests.backtest.test_trading import as_ticks, session

LATER_MSC = START_MSC + DAY_MS // 4
SPAN = START_MSC, START_MSC + 2 * DAY_MS


def told(source: str, since_msc: int, symbol: str = "", **keys: object) -> Version:
    return Version(symbol=symbol, since_msc=since_msc, source=source, told=keys)


def part(*versions: Version, file: Path | None = None, **points: float) -> SymbolPart:
    account = known(file, versions, SPAN, points).account
    assert account is not None
    return account.symbols["X"]


def test_files_go_before_terminals_and_later_words_before_earlier_ones(tmp_path: Path) -> None:
    versions = [
        told("desk", START_MSC - 5, "X", contract_size=10, volume_min=1, point=0.1),
        told("", 0, "X", contract_size=30),
        told("desk", START_MSC - 1, "X", contract_size=20, volume_min=2),
        told("desk", SPAN[1] + 1, "X", volume_min=9),
    ]
    assert part(*versions) == SymbolPart(contract_size=30, volume_min=2, point=0.1)
    path = tmp_path / "account.toml"
    path.write_text("[symbols.X]\nvolume_min = 5\n")
    assert part(*versions, file=path) == SymbolPart(contract_size=30, volume_min=5, point=0.1)
    path.write_text("[symbols.'*']\nvolume_min = 6\n")
    assert part(*versions, file=path, X=0.5).volume_min == 6
    assert part(*versions, file=path, X=0.5).point == 0.5


def test_what_a_terminal_tells_first_counts_for_the_time_before() -> None:
    late = told("desk", LATER_MSC, "X", contract_size=10, swap_long=-1.0)
    later = told("desk", LATER_MSC + 1, "X", swap_long=-2.0)
    gone = told("desk", LATER_MSC + 2, "X", swap_long=None)
    found = known(None, [gone, later, late], SPAN)
    assert found.account is not None
    assert found.account.symbols["X"] == SymbolPart(contract_size=10, swap_long=-1.0)
    assert found.changes == {
        "X": (
            (LATER_MSC + 1, SymbolPart(contract_size=10, swap_long=-2.0)),
            (LATER_MSC + 2, SymbolPart(contract_size=10)),
        )
    }
    filed = known(None, [told("", LATER_MSC, "X", volume_min=7)], SPAN)
    assert filed.changes == {"X": ((LATER_MSC, SymbolPart(volume_min=7)),)}


def test_sizes_of_points_alone_are_no_account() -> None:
    found = known(None, [told("", 0, "X", point=0.1)], SPAN)
    assert (found.account, found.points, found.tellers) == (None, {"X": 0.1}, {"X": "a file"})


def test_one_account_is_taken_and_of_several_none_is_chosen(tmp_path: Path) -> None:
    money = told("", 0, balance=500.0)
    one = told("desk-1", START_MSC, currency="EUR", leverage=30)
    same = told("desk-2", LATER_MSC, currency="EUR", hedging=True)
    found = known(None, [money, one, same], SPAN).account
    assert found is not None
    assert (found.account.currency, found.account.leverage, found.account.hedging) == (
        "EUR", 30, True,
    )  # fmt: skip
    other = told("desk-2", LATER_MSC, leverage=100)
    with pytest.raises(SpecificationError, match=r"`leverage` is 30 by desk-1.*100 by desk-2") as e:
        known(None, [money, one, other], SPAN)
    assert "--account FILE with `leverage`" in e.value.hint
    path = tmp_path / "account.toml"
    path.write_text("[account]\nleverage = 50\nbalance = 500\n")
    filed = [money, one, other, told("", 0, leverage=50)]
    for more in (known(path, [one, other], SPAN), known(None, filed, SPAN)):
        assert more.account is not None and more.account.account.leverage == 50
        assert more.account.account.currency == "EUR"


def test_a_file_can_take_back_a_currency(tmp_path: Path) -> None:
    """The remedy of a run that has no rates."""
    path = tmp_path / "account.toml"
    path.write_text('[account]\ncurrency = ""\n')
    versions = [told("", 0, balance=500.0), told("desk", 0, currency="EUR")]
    found = known(path, versions, SPAN).account
    assert found is not None and (found.account.currency, found.account.balance) == ("", 500.0)


def test_an_account_whose_money_nobody_told_is_left_out() -> None:
    """Symbols that are told alone make no account either: nothing begins with money made up."""
    versions = [told("desk", 0, leverage=30), told("desk", 0, "X", contract_size=10)]
    found = known(None, versions, SPAN)
    assert (found.has_account, found.unused) == (False, ("desk",))
    market = market_at(found, Terms(), 0, 0.0)
    assert market.terms == Terms() and market.specification("X", 0.1).contract_size == 10
    note = " ".join(assumptions({"X": 0.1}, 60, None, market))
    assert "What desk told of the account is left out, as nobody told its balance" in note


def test_the_value_of_a_tick_counts_until_a_file_tells_a_contract_size(tmp_path: Path) -> None:
    terminal = told("desk", 0, "X", tick_size=0.25, contract_size=1, tick_value=12.5, point=0.25)

    def size(*versions: Version, file: Path | None = None) -> float:
        return (
            market_at(known(file, versions, SPAN), Terms(), 0, 0.0)
            .specification("X", 0.25)
            .contract_size
        )

    assert size(terminal) == 50.0
    assert size(terminal, told("desk", SPAN[0], "X", contract_size=2)) == 50.0
    assert size(terminal, told("", 0, "X", contract_size=20)) == 20.0
    assert size(terminal, told("", 0, "X", tick_value=5)) == 20.0
    path = tmp_path / "account.toml"
    path.write_text("[symbols.X]\ncontract_size = 30\n")
    assert size(terminal, file=path) == 30.0


def test_versions_that_do_not_go_together_are_named() -> None:
    versions = [told("a", 0, "X", volume_max=1), told("b", 0, "X", volume_min=2)]
    with pytest.raises(SpecificationError, match=r"told of X does not go together: .*volume_max"):
        known(None, versions, SPAN)


COSTS = ("commission_per_lot", "volume_min", "swap_long", "slippage_points")
steps = st.lists(st.tuples(st.sampled_from(COSTS), st.integers(0, 3)), max_size=4)


@given(st.integers(0, 10_000), steps, st.integers(1, 60))
def test_another_specification_holds_from_its_time_on(
    seed: int, changes: list[tuple[str, int]], batch: int
) -> None:
    """Beside an account that is told before each tick what holds then."""
    orders, rows = session(seed, 0.01)
    first = SymbolPart(point=0.01, swap_mode="money")
    parts, times = [first], np.linspace(1, rows[-1][1], len(changes) + 1)[1:].astype(int).tolist()
    for key, value in changes:
        parts.append(SymbolPart(**{"point": 0.01, "swap_mode": "money", key: value}))
    later = tuple(zip(times, parts[1:], strict=True))
    plain = Market(account=AccountFile(symbols={"X": first}))
    symbols = {"X": plain.specification("X", 0.01)}
    fast = Trading(orders, symbols, replace(plain, changes={"X": later}))
    slow = Trading(orders, symbols, plain)
    for at in range(0, len(rows), batch):
        fast.push(as_ticks(rows[at : at + batch]))
    waiting = list(later)
    for row in rows:
        while waiting and waiting[0][0] <= row[1]:
            slow.add("X", waiting.pop(0)[1].specification(Specification(0.01, 0.01), 0.0))
        slow.push(as_ticks([row]))
    assert fast.deals.tobytes() == slow.deals.tobytes()
    assert fast.retcodes.tolist() == slow.retcodes.tolist()
    assert (fast.trades, fast.money) == (slow.trades, slow.money)


def test_what_is_open_never_becomes_worth_something_else() -> None:
    for key, value in (("contract_size", 10.0), ("point", 0.1), ("swap_mode", "points")):
        then = SymbolPart(**{"point": 0.01, key: value})
        market = Market(
            account=AccountFile(symbols={"X": SymbolPart(point=0.01)}),
            changes={"X": ((LATER_MSC, then),)},
        )
        told_so = f"X: its {key} is .* {value} from 2023-11-15T06"
        with pytest.raises(SpecificationError, match=told_so):
            market.later("X", market.specification("X", 0.01))


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Known to its archive alone: points, commission that rises on the second day, an account."""
    found = imported(tmp_path_factory.mktemp("known"))
    rising = [told("desk", LATER_MSC, name, commission_per_lot=7.0) for name in SYMBOLS]
    earlier = [told("desk", START_MSC - 1, name, commission_per_lot=1.0) for name in SYMBOLS]
    always = [told("", 0, name, point=1e-5, contract_size=1.0) for name in SYMBOLS]
    specify(found, [*always, *earlier, *rising, told("", 0, balance=500.0)])
    return found


def test_a_run_pays_what_holds_at_each_deal_however_it_is_run(
    archive: Archive, tmp_path: Path
) -> None:
    """Orders behind the rules, rules that wait for the account, and a sweep."""
    run = cep.backtest.run(KEYED, archive.directory)
    deals = run.deals.to_pylist()
    assert {one["time_msc"] < LATER_MSC for one in deals} == {True, False}
    for one in deals:
        rate = 1.0 if one["time_msc"] < LATER_MSC else 7.0
        assert one["commission"] == pytest.approx(-rate * one["lots"], abs=0.005)
    path = tmp_path / "account.toml"
    path.write_text("[risk]\nlots_per_order = 100.0\n")
    judged = cep.backtest.run(KEYED, archive.directory, account=path)
    assert judged.finished.asked.has_account and judged.deals.equals(run.deals)
    swept = cep.sweep.run(
        "define parameter Width double = 1.0 range 0.5 to 2.0 step 0.5;" + KEYED,
        archive.directory, {"Width": "1"},
    )  # fmt: skip
    assert swept.rows[0].measures["net"] == run.metrics["results"]["all"]["net"]


def test_a_run_says_where_what_it_knows_comes_from(archive: Archive) -> None:
    run = cep.backtest.run(KEYED, archive.directory)
    notes = " ".join(run.finished.notes)
    assert "EURUSD 1e-05 (the archive has it from a file and desk)" in notes
    assert "told of EURUSD (a file and desk, 1 change in the run)" in notes
    found = manifest(run.finished, {})
    assert found["archive_specifications"]["by"]["EURUSD"] == "a file and desk"
    later = found["specifications"]["EURUSD"]["later"]
    assert [(one["since_msc"], one["commission_per_lot"]) for one in later] == [(LATER_MSC, 7.0)]
    assert run.metrics["account"]["start"] == 500.0


def test_a_run_without_signals_asks_nothing_of_the_archive(archive: Archive) -> None:
    plain = "define stream Tick (symbol string, bid double);\nfrom Tick select bid insert into Out;"
    run = cep.backtest.run(plain, archive.directory)
    assert run.finished.asked.market.account is None
