"""Rows of tables by ticket or symbol; -1: there is none."""

from __future__ import annotations

from mt5bridge.broker.state import State


def position_row(state: State, ticket: int) -> int:
    for row in range(state.account[0]["positions"]):
        if state.positions[row]["ticket"] == ticket:
            return row
    return -1


def position_in(state: State, symbol: int) -> int:
    """The oldest position of a symbol; on a netting account the only one."""
    for row in range(state.account[0]["positions"]):
        if state.positions[row]["symbol"] == symbol:
            return row
    return -1


def order_row(state: State, ticket: int) -> int:
    for row in range(state.account[0]["orders"]):
        if state.orders[row]["ticket"] == ticket:
            return row
    return -1


def room_for_position(state: State, ticket: int) -> int:
    """The row of a new position among the others by its ticket, which may be of an old order."""
    account = state.account[0]
    row = int(account["positions"])
    account["positions"] += 1
    while row > 0 and state.positions[row - 1]["ticket"] > ticket:
        state.positions[row] = state.positions[row - 1]
        row -= 1
    return row


def remove_position(state: State, row: int) -> None:
    """Take a row out; the others keep their order."""
    account = state.account[0]
    account["positions"] -= 1
    for at in range(row, account["positions"]):
        state.positions[at] = state.positions[at + 1]


def remove_order(state: State, row: int) -> None:
    """Take a row out; the others keep their order."""
    account = state.account[0]
    account["orders"] -= 1
    for at in range(row, account["orders"]):
        state.orders[at] = state.orders[at + 1]
