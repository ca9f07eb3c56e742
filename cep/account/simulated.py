"""The account of a simulated terminal, as an account's file says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cep.account.market import Market
from mt5bridge.broker import Specification
from mt5bridge.simulator.account import Account, specification
from mt5bridge.wire import Symbol

FIRST_TICKET = 1_000_001
WHOLE = (1.0,)


def account_at(
    market: Market, symbols: Mapping[str, Symbol], fills: Sequence[float] = WHOLE
) -> tuple[Account, dict[str, Symbol]]:
    """The account, which trades all of these symbols, and what its terminal tells of them.

    Orders are filled in the parts `fills`, if these are given. RateError where the profits of a
    symbol cannot be converted at the rates of the others.
    """
    parts = market.terms.fills if tuple(fills) == WHOLE else tuple(fills)
    account = Account(terms=replace(market.terms, fills=parts, first_ticket=FIRST_TICKET))
    told: dict[str, Symbol] = {}
    for name, symbol in symbols.items():
        known = market.described(name, specification(symbol))
        account.add(symbol, known)
        told[name] = _described(symbol, known)
    for name in symbols:
        account.convert(name, market.route(name, symbols))
    return account, told


def _described(symbol: Symbol, known: Specification) -> Symbol:
    """The symbol as the wire tells it, where the file says it otherwise."""
    return replace(
        symbol,
        point=known.point,
        tick_size=known.tick_size or known.point,
        contract_size=known.contract_size,
        volume_min=known.volume_min,
        volume_max=known.volume_max,
        volume_step=known.volume_step,
    )
