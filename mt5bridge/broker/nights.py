"""Swap: what positions cost or bring that are open when the server's day ends."""

from __future__ import annotations

from mt5bridge.broker.codes import NO_SWAP, SATURDAY, SUNDAY, SWAP_MONEY, SWAP_POINTS
from mt5bridge.broker.money import money
from mt5bridge.broker.rates import converted
from mt5bridge.broker.state import Record, State

DAY_MS = 86_400_000
FIRST_WEEKDAY = 4
"""1970 began on a Thursday."""
DAYS_OF_YEAR = 360.0


def day_of(account: Record, time_msc: int) -> int:
    """The server's day of a time of the ticks, counted from 1970."""
    return int((time_msc + account["server_ahead_ms"]) // DAY_MS)


def night_msc(account: Record, day: int) -> int:
    """When a day ends, by the clock of the ticks."""
    return int((day + 1) * DAY_MS - account["server_ahead_ms"])


def nights(day: int, triple_day: int) -> int:
    """How often the night behind a day counts: those of the weekend with one of the week."""
    weekday = (day + FIRST_WEEKDAY) % 7
    if weekday in (SATURDAY, SUNDAY):
        return 0
    return 3 if weekday == triple_day else 1


def pass_nights(state: State) -> None:
    """Charge all positions for the days that have ended."""
    account = state.account[0]
    today = day_of(account, account["time_msc"])
    for row in range(account["positions"]):
        position = state.positions[row]
        symbol = state.symbols[position["symbol"]]
        for day in range(position["day"], today):
            count = nights(day, symbol["swap_triple_day"])
            if symbol["swap_mode"] != NO_SWAP and count > 0:
                amount = count * swap_of(state, symbol, position)
                position["swap"] = money(account, position["swap"] + amount)
        position["day"] = max(position["day"], today)


def swap_of(state: State, symbol: Record, position: Record) -> float:
    """What one night brings, in the account's money; costs are negative."""
    rate = symbol["swap_long"] if position["side"] > 0 else symbol["swap_short"]
    if symbol["swap_mode"] == SWAP_MONEY:
        return float(rate * position["lots"])
    size = position["lots"] * symbol["contract_size"]
    if symbol["swap_mode"] == SWAP_POINTS:
        return float(converted(state, symbol, rate * symbol["point"] * size))
    price = symbol["bid"] if position["side"] > 0 else symbol["ask"]
    return float(converted(state, symbol, size * price * rate / 100.0 / DAYS_OF_YEAR))
