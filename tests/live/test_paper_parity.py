"""A day on paper and a backtest of its records: rows, orders and deals, byte for byte.

Its rules read their position, at each tick and fill.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from cep.cli import main
from cep.live.config import for_paper, read_config
from cep.parity.paper import compared
from mt5bridge.spool import Spool, Told, clock_group
from tests.live.service import address, archived, journal, play, terminal, walks, write_settings
from tests.live.test_paper import PaperService, file_of

RULES = """@app:name('paper')
define stream Tick (symbol string, bid double, ask double);
define stream Deal (symbol string, ticket long, order long, position long, magic long, side string,
                    entry string, lots double, price double, commission double, swap double,
                    profit double, fee double, comment string);
define position Mine;
from Tick join Mine on Tick.symbol == Mine.symbol
select Mine.symbol as symbol, Mine.position as position, Mine.side as side, Mine.lots as lots,
  Mine.entry as entry, Mine.gain as gain, math:abs(Mine.best - Mine.price) as given_back,
  Mine.worst as worst, Mine.profit as profit, Mine.age_ms as age_ms
insert into Held;
from MineFills as f join MineOrders as o on f.order == o.order
select o.symbol as symbol, o.lots as filled, o.fills as fills, o.price as price insert into Filled;
define event GaveBack for each symbol as Held[given_back > 0.00007];
define complex TurnedBack for each symbol as GaveBack within 1 sec;
define signal Trail on TurnedBack close for 1 min;
from Tick#window.time(20 sec) select symbol, bid, avg(bid) as ma group by symbol insert into Band;
from Tick#window.timeBatch(15 sec) select symbol, avg(bid) as mean, count() as n group by symbol
insert into Bars;
from Deal select symbol, side, entry, lots, price, commission, profit, comment insert into Dealt;
define event Above for each symbol as every Band[bid > ma + 0.00006] repeat allow;
define event Below for each symbol as every Band[bid < ma - 0.00006] repeat allow;
define event Closed for each symbol as every Deal[entry == 'out'] repeat allow;
define complex Turn for each symbol as Above followed by Below within 1 min;
define complex Again for each symbol as Closed followed by Above within 1 min;
define event Bar for each symbol as every Bars[n > 1] repeat allow;
define complex Ended for each symbol as Bar within 1 sec;
define signal Fade on Turn sell 0.10 lots stop 20 points target 20 points for 30 sec;
define signal Back on Again buy 0.20 lots for 5 min;
define signal Leave on Ended close for 1 hour;
define signal Dip on Band[bid < ma - 0.00008] buy risk 0.5 percent at limit bid - 0.00003
    stop by 0.0004 target at ma for 20 sec;
define signal Lift on Held[age_ms > 500] modify stop by 0.0005 for 10 sec;
define signal Drop on Bars[n > 1] cancel;
define signal Other on Again buy 'A' 0.05 lots stop 60 points for 2 min;
"""
NAMES = (
    "Dealt,Above,Below,Turn,Again,Bars,Ended,Fade,Back,Held,Filled,MineClosed,Trail,Dip,Lift,Drop"
)
STREAMS = NAMES.split(",")
MAGIC = 12
ACCOUNT = """
[account]
balance = 200.0
leverage = 30
stop_out_percent = 40
[symbols.A]
contract_size = 100000
volume_step = 0.01
commission_per_lot = 3.5
depth_lots = 0.06
filling_modes = ["return"]
slippage_points = 1.0
slippage_spread = 0.4
impact_points = 1.5
impact_lots = 0.2
impact_power = 0.5
slippage_range = 0.05
slippage_range_seconds = 10
slippage_random_points = 4
slippage_seed = 3
[symbols."*"]
contract_size = 10000
commission_per_mille = 0.02
"""


def lived(
    folder: Path, paper: dict[str, Any], names: Sequence[str] = "BA", account: str = ACCOUNT,
    **sections: dict[str, Any],
) -> Path:  # fmt: skip
    """A day on paper over TCP; its settings."""
    settings, first = planned(folder, paper, account, **sections), terminal(walks(names, 250))
    where = address(settings)
    with PaperService(settings):
        play(first, where, until=lambda: first.finished and b'"Leave"' in journal(settings))
        play(terminal(walks(names, 400)), where)  # what time has led to is executed here
    return settings


def planned(
    folder: Path, paper: dict[str, Any], account: str = ACCOUNT, **sections: dict[str, Any]
) -> Path:
    """The settings of such a day, with its rules and its account beside them."""
    settings = write_settings(
        folder,
        {
            "rules": {"numba": False, "streams": STREAMS},
            "state": {"clock_every_ms": 20},
            "paper": paper,
            "signals": {"magic": MAGIC},
            **sections,
        },
    )
    (folder / "rules.cep").write_text(RULES, encoding="utf-8")
    file_of(folder, account)
    return settings


def test_paper_and_backtest_come_to_the_same(tmp_path: Path) -> None:
    """At an account with costs, margin, latency and a risk guard."""
    paper = {"account": "account.toml", "latency_ms": 700, "hedging": True}
    risk = {"lots_per_symbol": 0.3, "orders_per_minute": 6, "loss_per_day": 30.0}
    settings = lived(tmp_path, paper, risk=risk)
    found = compared(for_paper(read_config(settings)), archived(settings))
    assert [one.text for one in found.differences] == []
    streams = {line.partition(b'"stream":"')[2].partition(b'"')[0] for line in found.lived.rows}
    assert {b"Dealt", b"Fade", b"Leave", b"Held", b"Filled", b"MineClosed", b"Trail"} <= streams
    assert len(found.lived.signals) > 3 and len(found.lived.deals) > 2
    assert {"Lift", "Drop"} <= {signal.name for signal in found.lived.signals}


def test_profits_are_converted_at_the_same_rates(tmp_path: Path) -> None:
    """By a pair that is traded, too: it is quoted from its first tick on, on both sides."""
    told = ACCOUNT.replace("[account]", '[account]\ncurrency = "USD"')
    told = told.replace("[symbols.A]", '[symbols.A]\nprofit_currency = "CHF"')
    told += 'profit_currency = "USD"\n'
    settings = lived(tmp_path, {"account": "account.toml"}, ("B", "A", "CHFUSD"), told)
    found = compared(for_paper(read_config(settings)), archived(settings))
    assert [one.text for one in found.differences] == []
    names = {signal.symbol for signal in found.lived.signals}
    assert {"A", "CHFUSD"} <= names and len(found.lived.deals) > 4


def test_the_command_compares_a_day_and_shows_what_differs(tmp_path: Path) -> None:
    settings = lived(tmp_path, {})
    before = sorted(path.name for path in (tmp_path / "spool").iterdir())
    result = parity(settings)
    assert result.exit_code == 0 and result.stdout.endswith(" deals, 0 differences\n")
    assert sorted(path.name for path in (tmp_path / "spool").iterdir()) == before
    with (tmp_path / "state" / "events.jsonl").open("ab") as rows:
        rows.write(b'{"stream":"Fade"}\n')
    result = parity(settings)
    assert result.exit_code == 1 and " 1 differences" in result.stdout
    assert 'lived {"stream":"Fade"}; again nothing' in result.stdout


def parity(settings: Path) -> Result:
    return CliRunner().invoke(main, ["parity", "--config", str(settings)])


def test_a_day_without_records_is_refused(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"rules": {"numba": False}})
    spool = Spool(tmp_path / "spool")
    spool.recover()
    assert spool.append(clock_group(1, ("daemon", ("clock",)), 1, Told.OWN, 1, 0))
    spool.close()
    result = parity(settings)
    assert result.exit_code == 2 and "no records" in result.output
    result = CliRunner().invoke(main, ["parity", str(tmp_path / "no"), "--config", str(settings)])
    assert result.exit_code == 2 and "no such folder" in result.output
