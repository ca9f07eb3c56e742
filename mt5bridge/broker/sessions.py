"""When symbols are traded: sessions of the server's week."""

from __future__ import annotations

from mt5bridge.broker.nights import DAY_MS, FIRST_WEEKDAY
from mt5bridge.broker.state import State

WEEK_MS = 7 * DAY_MS


def is_open(state: State, symbol: int) -> bool:
    """Whether the symbol in a row is traded now."""
    account = state.account[0]
    now_ms = account["time_msc"] + account["server_ahead_ms"] + FIRST_WEEKDAY * DAY_MS
    has_sessions, week_ms = False, now_ms % WEEK_MS
    for row in range(len(state.sessions)):
        session = state.sessions[row]
        if session["symbol"] == symbol:
            has_sessions = True
            if session["from_ms"] <= week_ms < session["to_ms"]:
                return True
    return not has_sessions
