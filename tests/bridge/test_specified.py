"""What terminals tell of symbols and accounts is handed on as far as they are believed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mt5bridge.aliases import alias_table
from mt5bridge.clock import Now
from mt5bridge.grant import Grant, Role
from mt5bridge.server import Settings, Sink, Specified
from mt5bridge.server.terminals import Terminals
from mt5bridge.simulator import simulated_hello
from mt5bridge.wire import (
    Error,
    ErrorCode,
    Frame,
    Hello,
    Properties,
    Symbols,
    TradeMode,
    encode,
)
from tests.bridge.dialog import SETTINGS, symbol
from tests.wire.samples import FRAMES

HELLO = simulated_hello("demo", 1)
PUBLISHER = replace(HELLO, trades=TradeMode.NONE)
NAMED = Grant(account=HELLO.account, server=HELLO.server)
TOLD = FRAMES["properties"][1]
assert isinstance(TOLD, Properties)


class Heard:
    """A server's terminals, and what one of them has told."""

    def __init__(self, grant: Grant | None = None, aliases: dict[str, str] | None = None) -> None:
        self.told: list[Specified] = []
        self.sink = Sink(on_specified=self.told.extend)
        settings: Settings = replace(SETTINGS, aliases=alias_table(aliases or {}))
        if grant is not None:
            settings = replace(settings, grants={"u": grant})
        self.terminals = Terminals(settings, self.sink, {})

    def say(self, *frames: Frame) -> list[Frame]:
        """The answers to the last of them."""
        answers: list[Frame] = []
        for frame in frames:
            found = self.terminals.receive(b"r", [encode(frame)], Now(1_000, 5_000), "u")
            answers = [answer for _, answer in found]
        return answers

    @property
    def names(self) -> list[str]:
        return [one.symbol for one in self.told]


def symbols(*names: str) -> Symbols:
    return Symbols(tuple(symbol(name, at) for at, name in enumerate(names, 1)))


def test_symbols_and_account_are_told_under_the_names_of_the_rules() -> None:
    heard = Heard(aliases={"*.m": "*"})
    assert heard.say(HELLO, symbols("EURUSD.m", "B"), replace(TOLD, stream=1)) == []
    assert heard.names == ["EURUSD", "B", "", "EURUSD"]
    assert {(one.identity, one.arrival_msc) for one in heard.told} == {("demo", 5_000)}
    assert heard.told[2].part == HELLO and heard.told[3].part == TOLD


@pytest.mark.parametrize(
    ("grant", "hello", "names"),
    [
        (None, HELLO, ["A", ""]),
        (None, PUBLISHER, ["A"]),  # it may name any account
        (NAMED, PUBLISHER, ["A", ""]),
        (Grant(), PUBLISHER, ["A"]),
        (Grant(roles=(Role.TRADE,)), HELLO, [""]),
        (Grant(roles=(Role.READ,)), PUBLISHER, []),
    ],
)
def test_who_is_believed(grant: Grant | None, hello: Hello, names: list[str]) -> None:
    heard = Heard(grant)
    assert heard.say(hello, symbols("A")) == [] and heard.names == names


def test_who_has_only_greeted_tells_nothing() -> None:
    """Names can be made up without end."""
    heard = Heard(NAMED)
    heard.say(HELLO, symbols())
    assert heard.names == []


def test_symbols_that_are_refused_tell_nothing() -> None:
    heard = Heard(Grant(symbols=("A",)))
    heard.say(HELLO)
    (refused,) = heard.say(symbols("A", "B"))
    assert isinstance(refused, Error) and refused.code is ErrorCode.NOT_ALLOWED
    assert heard.names == []


def test_properties_need_a_number_and_the_right_to_publish() -> None:
    heard = Heard()
    (unknown,) = heard.say(HELLO, TOLD)
    assert isinstance(unknown, Error) and unknown.code is ErrorCode.UNKNOWN_STREAM
    heard = Heard(Grant(roles=(Role.TRADE,)))
    heard.say(HELLO, symbols("A"))
    (refused,) = heard.say(TOLD)
    assert isinstance(refused, Error) and refused.code is ErrorCode.NOT_ALLOWED
    assert heard.names == [""] and not heard.terminals.connected()
