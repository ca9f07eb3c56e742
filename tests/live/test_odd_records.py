"""Records of impossible times and numbers: stored and archived, and nothing stops for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cep.archive import verify
from cep.engine.native import Compiled
from cep.live.pipeline import Pipeline
from cep.live.signals import as_signal
from cep.plan import compile_rules
from mt5bridge.records import DEAL, TICK, Records
from mt5bridge.server import DEALS, Batch, ticks_of
from mt5bridge.spool import read
from mt5bridge.validate import Span, deal_quality, tick_quality
from mt5bridge.wire import TIME_MSC_MAX, TIME_MSC_MIN, decode, encode
from tests.live.timed import Life, archived, backtested

NOW_MSC = 1_700_000_000_000
UNTIL_MSC = NOW_MSC + 86_400_000
FAR_MSC = (2**63 - 1, 253_402_300_799_999, 253_402_300_800_000, -1, -62_135_596_800_001, -(2**63))
OFFSET_MS = -7_200_000
RULES = Compiled(
    compile_rules(
        """@app:name('odd')
define stream Tick (symbol string, bid double, ask double, last double, volume double, flags long);
define stream Deal (symbol string, ticket long, order long, magic long, position long, lots double,
                    price double, profit double, fee double, reason long, comment string,
                    side string, entry string);
from Tick select symbol, bid, volume, flags, count() as n group by symbol insert into Seen;
from Tick#window.time(4 sec) select symbol, sum(bid) as held group by symbol insert into Held;
from Deal select * insert into Dealt;
define engine Tactical (queue = 1 min);
define event Up in Tactical for each symbol as Seen[bid > 1.0];
define event Big in Tactical for each symbol as Held[held > 2.0];
define complex Both in Tactical for each symbol as Up followed by Big within 1 min;
define signal Buy on Both buy 0.10 lots for 1000000000 hours;
""",
        "odd",
    ),
    jit=False,
)


def ticks(*times_msc: int) -> Records:
    made = np.zeros(len(times_msc), TICK)
    made["time_msc"] = times_msc
    made["bid"], made["ask"] = 1.5, 1.6
    return made


def odd_deals() -> Records:
    """Each number at its ends, each text full of bytes that are none."""
    made = np.zeros(len(FAR_MSC) + 2, DEAL)
    for name in DEAL.names or ():
        kind = DEAL[name].kind
        if kind == "u":
            made[name][1:-1:2] = np.iinfo(DEAL[name]).max
        elif kind == "i":
            made[name][:-1:2] = np.iinfo(DEAL[name]).min
            made[name][1:-1:2] = np.iinfo(DEAL[name]).max
        elif kind == "f":
            made[name][:-1] = np.resize([np.nan, np.inf, -np.inf, 1e308], len(made) - 1)
        else:
            made[name][:-1] = b"\xff\xfe\xed\xa0\x80" * 20
    made["time_msc"][:-2] = FAR_MSC
    made["time_msc"][-2:] = NOW_MSC
    made["kind"], made["revision"] = 0, 0
    return made


class Market(Life):
    """A life whose batches are marked as a session marks them."""

    def give(self, records: Records, first: int, utc_offset_ms: int = OFFSET_MS) -> None:
        is_tick = records.dtype == TICK
        stream = ticks_of("A") if is_tick else DEALS
        span = Span.of(utc_offset_ms, UNTIL_MSC)
        quality = tick_quality(records, 0, span)[0] if is_tick else None
        marks = deal_quality(records, span) if quality is None else quality
        assert self.intake.on_batch(
            Batch("demo", stream, first, records, marks, utc_offset_ms, NOW_MSC)
        )
        self.pipeline.flush()


@pytest.mark.parametrize("time_msc", [*FAR_MSC, NOW_MSC])
def test_a_signal_of_any_time_can_be_sent(time_msc: int) -> None:
    """Rules over what an older version has stored meet times that are marked today."""
    row = {
        "stream": "Buy", "time_msc": time_msc, "valid_ms": 10**9 * 3_600_000, "lots": 0.1,
        "stop_points": None, "target_points": None, "side": "buy", "symbol": "A",
    }  # fmt: skip
    signal = as_signal(row, 1, 77, 60_000)
    assert TIME_MSC_MIN <= signal.time_msc <= signal.valid_until_msc <= TIME_MSC_MAX
    assert decode(encode(signal)) == signal


@pytest.fixture
def market(tmp_path: Path) -> Market:
    return Market(tmp_path, RULES.start())


def test_rules_go_on_behind_times_that_cannot_be(market: Market, tmp_path: Path) -> None:
    """6.9: what rules see is stored with the records, so a backtest sees the same."""
    market.give(ticks(NOW_MSC, *FAR_MSC, NOW_MSC + 1_000), 1)
    market.give(ticks(NOW_MSC + 2_000), 9)
    market.give(odd_deals(), 1)
    market.spool.close()
    assert sum(b'"stream":"Seen"' in line for line in market.lines) == 3
    assert sum(b'"stream":"Dealt"' in line for line in market.lines) == 2
    assert any(b'"stream":"Buy"' in line for line in market.lines)
    archive = archived(tmp_path)
    report = verify(archive)
    assert (report.rows, report.problems) == (9 + len(odd_deals()), ())
    assert list(backtested(archive, RULES)) == market.lines


def test_times_that_are_before_1970_only_as_utc_cannot_be_either(market: Market) -> None:
    """6.9: rules have UTC, and none before 1970; a server in the east has such times for hours."""
    east_ms = 7_200_000
    market.give(ticks(east_ms - 1, 0, NOW_MSC + east_ms), 1, east_ms)
    dealt = odd_deals()[-2:]
    dealt["time_msc"] = [east_ms - 1, NOW_MSC + east_ms]
    market.give(dealt, 1, east_ms)
    market.spool.close()
    assert sum(b'"stream":"Seen"' in line for line in market.lines) == 1
    assert sum(b'"stream":"Dealt"' in line for line in market.lines) == 1


def test_the_newest_stored_time_is_one_that_can_be(market: Market) -> None:
    """Else what waits to be sent again would count as expired."""
    market.give(ticks(NOW_MSC, *FAR_MSC), 1)
    market.give(ticks(*FAR_MSC), 8)
    market.spool.close()
    pipeline = Pipeline(RULES.start(), lambda _caused: None)
    assert pipeline.catch_up(read(market.spool.directory), lambda _caused: None) == (
        13,
        NOW_MSC - OFFSET_MS,
    )


def test_a_spool_of_nothing_but_far_times_is_archived(market: Market, tmp_path: Path) -> None:
    market.give(ticks(*FAR_MSC), 1)
    market.spool.close()
    report = verify(archived(tmp_path))
    assert (report.rows, report.problems) == (len(FAR_MSC), ())
