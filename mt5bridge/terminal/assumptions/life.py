"""Events, and what is left of an expert whose chart or inputs change: measured by an expert."""

from __future__ import annotations

from mt5bridge.terminal.assumptions.base import REPORT, YES, Assumption, Between, Only
from mt5bridge.terminal.findings import Level

_PROBLEM = Level.PROBLEM
_PUBLISHER, _TRADER = "Publisher.mqh", "Orders/Trader.mqh"
_WAKEUPS, _TICKS = "Market/Wakeups.mqh", "TickEvents.mqh"
_RECEIVER = "SignalReceiver.mqh"
_CHARTCHANGE = 3
_EITHER = Only((True, False))

LIFE = (
    Assumption(
        "event.timer_step_us", "least time between two timers of 1 ms", "10 to 16 ms at best",
        Between(0, 100_000), (_PUBLISHER, _TRADER), "EventSetMillisecondTimer",
        "ticks of other symbols and orders wait for so long", varies=True,
    ),
    Assumption(
        "event.many_of_one_number", "how many of 100 custom events of one number come, when they "
        "are sent in one handler", "", Between(1, 100), (_WAKEUPS,),
        "merges waiting events of one number", "ticks of other symbols wait for the timer: tell us",
    ),
    Assumption(
        "event.whole", "number, lparam, dparam and sparam of a custom event come as they were sent",
        "they do", YES, (_WAKEUPS,), "CHARTEVENT_CUSTOM", "ticks of other symbols wait for the "
        "timer: tell us",
    ),
    Assumption(
        "life.globals_kept", "globals keep their values when the chart's period changes", "they do",
        YES, (_RECEIVER, _TRADER), "OnDeinit and OnInit|outlives them", REPORT,
    ),
    Assumption(
        "life.reason_of_ondeinit", "the reason that OnDeinit is told then", "REASON_CHARTCHANGE, 3",
        Only((_CHARTCHANGE,)), (_PUBLISHER,), "const int reason", REPORT,
    ),
    Assumption(
        "life.reason_in_oninit", "UninitializeReason in the OnInit after it",
        "the reason of the last OnDeinit", Only((_CHARTCHANGE,)), (_PUBLISHER,), "const int reason",
        REPORT,
    ),
    Assumption(
        "life.file_stays_open", "a file that OnDeinit has left open is open in the next OnInit", "",
        _EITHER, ("Orders/JournalFile.mqh", "Market/LedgerFile.mqh"), "FileClose", REPORT, _PROBLEM,
    ),
    Assumption(
        "life.timer_stays", "a timer that OnDeinit has not killed fires after the next OnInit", "",
        _EITHER, (_PUBLISHER, _TRADER), "EventKillTimer", REPORT,
    ),
)  # fmt: skip
