"""Clocks, and the tick base."""

from __future__ import annotations

from mt5bridge.terminal.assumptions.base import NONE, REPORT, YES, Assumption, Between, Only
from mt5bridge.terminal.findings import Level

_PROBLEM = Level.PROBLEM
_CLOCK, _FEED = "Market/ServerClock.mqh", "Market/FeedClock.mqh"
_BASE, _RECOUNT, _PUMP = "Market/TickBase.mqh", "Market/TickRecount.mqh", "Market/TickPump.mqh"
_CURSOR = "Market/TickCursor.mqh"
_START = "Market/TickStart.mqh"
_UNTRUSTED = "do not trust its streams to be complete; tell us, with the file `probe.json`"

MARKET = (
    Assumption(
        "clock.backwards", "how often steady clocks go back in a tenth of a second", "never", NONE,
        (_CLOCK, _PUMP), "GetMicrosecondCount", REPORT, _PROBLEM,
    ),
    Assumption(
        "clock.microsecond_step_us", "least step of GetMicrosecondCount", "",
        Between(1, 1_000), ("Link/Connection.mqh", _PUMP), "GetMicrosecondCount",
        "let BlockMs and PumpMicroseconds be longer than this", varies=True,
    ),
    Assumption(
        "clock.tick_count_step_ms", "least step of GetTickCount64", "10 to 16 ms", Between(1, 16),
        (_CLOCK,), "GetTickCount64", "times of heartbeats are less exact by so much", varies=True,
    ),
    Assumption(
        "clock.gmt_second_ms", "between two flips of TimeGMT's second, by the steady clock", "",
        Between(800, 1_200), (_CLOCK,), "TimeGMT",
        "let the machine set its clock by the network; times of heartbeats are less exact",
        varies=True,
    ),
    Assumption(
        "clock.server_offset_odd_s", "how far the trade server's time is from a quarter hour's "
        "offset", "", Between(-60, 60), (_CLOCK,), "OFFSET_STEP_S",
        "let the machine set its clock by the network", varies=True,
    ),
    Assumption(
        "clock.current_ahead_s", "how far the newest quote is ahead of the trade server's time", "",
        Between(0, 2), (_FEED,), "TimeCurrent", "let the machine set its clock by the network",
        varies=True,
    ),
    Assumption(
        "tick.zero_is_newest", "CopyTicks from 0 gives the newest ticks", "it does", YES,
        (_BASE, _START), r"MathMax\(\(long\)1|COPY_TICKS_ALL, 0,", REPORT,
    ),
    Assumption(
        "tick.ordered", "ticks come in order of time", "from the past to the present", YES,
        (_CURSOR, _PUMP), "time_msc", _UNTRUSTED, _PROBLEM,
    ),
    Assumption(
        "tick.time_is_msc", "a tick's time is its time_msc in seconds", "the same time", YES,
        ("Market/TickHash.mqh",), "time_msc", REPORT,
    ),
    Assumption(
        "tick.same_ms_most", "most ticks of one millisecond among the newest", "",
        Between(1, 1_024), (_BASE, _CURSOR, _START), "TICK_BASE_FULL|m_taken|START_TICKS_MAX",
        _UNTRUSTED, varies=True,
    ),
    Assumption(
        "tick.from_inclusive", "CopyTicks from a millisecond gives all ticks of it", "", YES,
        (_CURSOR, _BASE), "from_msc|from this millisecond", _UNTRUSTED, _PROBLEM,
    ),
    Assumption(
        "tick.asked_one", "ticks that come when one is asked for", "1", Only((1,)), (_BASE,),
        "asked", _UNTRUSTED, _PROBLEM,
    ),
    Assumption(
        "tick.range_inclusive", "CopyTicksRange from and to a millisecond gives all ticks of it",
        "", YES, (_RECOUNT, _PUMP), "CopyTicksRange", _UNTRUSTED, _PROBLEM,
    ),
    Assumption(
        "tick.range_keeps_out", "and no ticks before it", "", YES, (_RECOUNT, _PUMP),
        "CopyTicksRange", _UNTRUSTED, _PROBLEM,
    ),
    Assumption(
        "tick.fewer_than_asked", "CopyTicks gives what there is if that is less", "it does", YES,
        (_BASE,), "asked", _UNTRUSTED, _PROBLEM,
    ),
    Assumption(
        "tick.fewer_than_asked_error", "GetLastError then", "errors tell of a timeout", NONE,
        (_BASE,), "error == 0", "the publisher would take no tick: tell us", _PROBLEM,
    ),
    Assumption(
        "tick.empty_range", "CopyTicksRange where there are none", "", NONE, (_RECOUNT,),
        "CopyTicksRange", "recounts of quiet intervals fail: tell us", _PROBLEM,
    ),
    Assumption(
        "tick.empty_range_error", "GetLastError then", "", NONE, (_RECOUNT,),
        r"GetLastError\(\) == 0", "recounts of quiet intervals fail: tell us", _PROBLEM,
    ),
    Assumption(
        "tick.unknown_symbol", "CopyTicks of a symbol that is none", "-1", Only((-1,)), (_BASE,),
        "count >= 0", REPORT,
    ),
    Assumption(
        "tick.unknown_symbol_fails", "GetLastError tells of it", "an error", YES, (_BASE,),
        "GetLastError", REPORT,
    ),
    Assumption(
        "tick.copy_us", "how long CopyTicks of the newest ticks takes", "", Between(0, 5_000),
        (_PUMP,), "us_max", "publish fewer symbols in this terminal", varies=True,
    ),
)  # fmt: skip
