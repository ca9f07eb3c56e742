"""What terminals tell of symbols and accounts, as far as they are believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt5bridge.grant import Grant, Role
from mt5bridge.wire import Hello, Properties, Symbol, TradeMode


@dataclass(frozen=True, slots=True)
class Specified:
    """A part of what a terminal has told of a symbol, under its name here, or with no name of the
    account that it is bound to. `currency` is that of the account, as HELLO has it.
    """

    identity: str
    symbol: str
    part: Symbol | Properties | Hello
    arrival_msc: int
    currency: str = ""


def specified(
    hello: Hello, grant: Grant, symbols: Sequence[Symbol], arrival_msc: int
) -> list[Specified]:
    """What HELLO and SYMBOLS tell: of symbols if the credential may publish, and of an account
    that it names or that is traded on. Who has only greeted tells nothing.
    """
    found = [
        Specified(hello.identity, one.name, one, arrival_msc)
        for one in symbols
        if grant.may(Role.PUBLISH)
    ]
    is_bound = hello.trades is not TradeMode.NONE or grant.names_account(hello)
    if symbols and is_bound:
        found.append(Specified(hello.identity, "", hello, arrival_msc))
    return found
