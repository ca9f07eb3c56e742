"""What rules see of their position in a backtest is what its trades say."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path

import pytest

from cep.backtest import run
from cep.plan import compile_rules
from cep.sweep.sweep import Bench, Job
from tests.backtest.archives import SYMBOLS, imported
from tests.backtest.rules import BANDS, REVERSALS, TICK

DEAL = """
define stream Deal (symbol string, ticket long, order long, position long, magic long, side string,
  entry string, lots double, price double, commission double, swap double, profit double,
  fee double);
"""
TRAILING = """
from Tick join Mine on Tick.symbol == Mine.symbol
select Mine.symbol as symbol, Mine.gain as gain, math:abs(Mine.best - Mine.price) as given_back
insert into Watched;
define event GaveBack for each symbol as Watched[gain > 0.0 and given_back > 0.00009];
define complex TurnedBack for each symbol as GaveBack within 1 sec;
define signal Leave on TurnedBack close for 1 hour;
"""
RULES = "".join(
    (TICK, DEAL, "define position Mine;define position Theirs magic 6;", BANDS, REVERSALS, TRAILING)
)
ACCOUNT = """
[account]
balance = 1000000.0
hedging = true
[symbols."*"]
contract_size = 100000
commission_per_lot = 4.0
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    imported(folder, rows=400)
    return folder / "archive"


def test_closed_positions_are_the_trades(archive: Path, tmp_path: Path) -> None:
    """Of an account that hedges each trade is a position: prices, money and times.

    The orders' magic number is that of the run, and none of another position.
    """
    account = tmp_path / "account.toml"
    account.write_text(ACCOUNT, encoding="utf-8")
    point = dict.fromkeys(SYMBOLS, 1e-5)
    found = run(RULES, archive, account=account, magic=5, point=point)
    trades = [row for row in found.trades.to_pylist() if row["reason"] != "end of data"]
    closed = found.rows["MineClosed"].to_pylist()
    assert len(closed) == len(trades) > 20 and len(found.rows["Leave"])
    assert len(found.rows["TheirsFills"]) == 0 < len(found.rows["MineFills"])
    assert {trade["reason"] for trade in trades} == {"stop", "target", "close"}
    names = {
        "symbol": "symbol", "side": "side", "lots": "lots", "open_price": "entry",
        "close_price": "exit", "opened_msc": "opened_msc", "closed_msc": "closed_msc",
        "net": "profit",
    }  # fmt: skip
    key = itemgetter("closed_msc", "symbol", "opened_msc")
    for trade, position in zip(sorted(trades, key=key), sorted(closed, key=key), strict=True):
        for theirs, ours in names.items():
            wanted = trade[theirs]
            is_number = isinstance(wanted, float)
            assert position[ours] == (pytest.approx(wanted) if is_number else wanted), trade
        best = min if trade["side"] == "sell" else max
        # the tick that reaches a target may be better than that
        assert position["best"] == best(position["best"], trade["best_price"], position["entry"])


def test_variants_of_a_sweep_have_the_number_of_the_run(archive: Path) -> None:
    text = f"define parameter Least double = 1.0;{RULES}"
    bench = Bench(Job((text, "rules"), str(archive), {"magic": 5}))
    expected = compile_rules(text, parameters={"Least": 2.0}, magic=5)
    assert bench.variant({"Least": 2.0}).plan == expected != compile_rules(text)
