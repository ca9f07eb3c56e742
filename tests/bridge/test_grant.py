"""What a credential does not allow is refused with the reason, counted, and takes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mt5bridge.clock import Now
from mt5bridge.credential import Credential
from mt5bridge.grant import ANYTHING, Grant, Pace, Role
from mt5bridge.server import Batch, Settings, Sink, Trader
from mt5bridge.server.terminals import Terminals
from mt5bridge.simulator import RefusedError, simulated_hello, simulated_symbol, simulated_terminal
from mt5bridge.wire import (
    Ask,
    Bye,
    Error,
    ErrorCode,
    Frame,
    Hello,
    Order,
    OrderKind,
    OrderSide,
    Side,
    Signal,
    Subscribe,
    Symbols,
    Ticks,
    TradeMode,
    Welcome,
    encode,
)
from tests.bridge.link import numbered_ticks
from tests.bridge.live import SETTINGS, Daemon, run, walks
from tests.credentials import CREDENTIAL, PASSWORDS
from tests.wire.samples import FRAMES

NOW = Now(1_000, 5_000)
HELLO = simulated_hello("demo", 1)
PUBLISHER = replace(HELLO, trades=TradeMode.NONE)
SIGNAL = FRAMES["signal"][1]
ORDER = FRAMES["order"][1]
assert isinstance(SIGNAL, Signal) and isinstance(ORDER, Order)
BUY = replace(SIGNAL, id=7, side=Side.BUY, symbol="EURUSD", lots=0.1)
MARKET = replace(ORDER, id=8, kind=OrderKind.MARKET, side=OrderSide.BUY, symbol="EURUSD", lots=0.1)


class Door:
    """A server's terminals, and a credential `bound` of one user; no sockets."""

    def __init__(self, grant: Grant) -> None:
        self.batches: list[Batch] = []
        self.sink = Sink(on_batch=self._take)
        self.settings = Settings(passwords={"u": "p", "own": "q"}, grants={"u": grant})
        self.terminals = Terminals(self.settings, self.sink, {})

    def _take(self, batch: Batch) -> bool:
        self.batches.append(batch)
        return True

    def say(self, frame: Frame, route: bytes = b"1", user: str = "u") -> list[Frame]:
        answers = self.terminals.receive(route, [encode(frame)], NOW, user)
        return [answer for to, answer in answers if to == route]

    def due(self) -> list[Frame]:
        return [frame for _, frame in self.terminals.outgoing()]


def refused(frames: list[Frame]) -> str:
    (error,) = frames
    assert isinstance(error, Error) and error.code is ErrorCode.NOT_ALLOWED
    return error.text


HELLOS: dict[str, tuple[Grant, Hello, str]] = {
    "identity": (Grant(identity="other"), HELLO, "for identity other"),
    "identity_begins_alike": (Grant(identity="dem"), HELLO, "for identity dem"),
    "login": (Grant(account=1, server="Simulated-Demo"), HELLO, "for account 1@Simulated-Demo"),
    "server": (Grant(account=10_000_001, server="Else"), HELLO, "not 10000001@Simulated-Demo"),
    "real": (Grant(), replace(HELLO, demo=0), "a real one"),
    "trade": (Grant(roles=(Role.PUBLISH,)), HELLO, "`trade`"),
    "dry_run": (Grant(roles=(Role.READ,)), replace(HELLO, trades=TradeMode.DRY_RUN), "`trade`"),
    "publish": (Grant(roles=(Role.TRADE,)), PUBLISHER, "`publish`"),
}


@pytest.mark.parametrize("case", HELLOS)
def test_who_is_not_what_the_credential_says(case: str) -> None:
    grant, hello, why = HELLOS[case]
    door = Door(grant)
    text = refused(door.say(hello))
    assert why in text and "'u'" in text and hello.identity in text
    assert door.sink.counters["refused_not_allowed"] == 1
    assert not door.terminals.sessions, "it takes no place"
    assert isinstance(door.say(replace(hello, demo=1), b"2", "own")[0], Welcome), (
        "others may still come as it"
    )
    text = refused(door.say(hello))
    assert len(door.terminals.connected()) == 1 and "not allowed" not in text


def test_who_is_what_it_says() -> None:
    exact = Grant(identity="demo", account=10_000_001, server="Simulated-Demo")
    for name in ("demo", "demo/trader"):
        assert isinstance(Door(exact).say(replace(HELLO, identity=name))[0], Welcome)
    real = replace(HELLO, demo=0)
    assert isinstance(Door(Grant(allow_real=True)).say(real)[0], Welcome)
    assert isinstance(Door(Grant()).say(HELLO, user="own")[0], Welcome), (
        "the daemon's own: anything"
    )
    assert "nobody has said" in refused(Door(Grant()).say(real, user="own"))
    assert Settings().grant_of("own") == ANYTHING


def test_a_connection_does_not_become_another_one() -> None:
    door = Door(Grant(identity="demo"))
    door.say(HELLO)
    refused(door.say(replace(HELLO, identity="other"), user=""))
    assert not door.terminals.connected(), "it has to come again"
    assert isinstance(door.say(HELLO)[0], Welcome)


@pytest.mark.parametrize("is_away", [True, False])
def test_who_only_reads_takes_no_identity_that_trades(is_away: bool) -> None:
    """Whoever has not the role `trade` changes nothing that is known of a terminal that trades."""
    for roles in ((Role.READ,), (Role.PUBLISH, Role.READ)):
        door = Door(Grant(roles=roles))
        told: list[Trader] = []
        door.sink.on_trader = told.append
        door.say(HELLO, user="own")
        door.say(Symbols((simulated_symbol("EURUSD"),)))
        if is_away:
            door.say(Bye(""))
        text = refused(door.say(PUBLISHER, b"2"))
        assert "it trades" in text and "u/dashboard" in text and "terminals forget demo" in text
        assert [trader.trades for trader in told] == [HELLO.trades], "the desk has heard of nothing"
        assert door.terminals.traders("EURUSD") == ("demo",), "it is sent what is meant for it"
        assert door.terminals.send("demo", BUY) == ""
        assert isinstance(door.say(HELLO, b"3", "own")[0], Welcome), "nobody keeps it out"
        assert isinstance(door.say(replace(PUBLISHER, identity="u/dashboard"), b"4")[0], Welcome)


def test_who_only_reads_takes_no_identity_that_publishes() -> None:
    door = Door(Grant(roles=(Role.READ,)))
    door.say(PUBLISHER, user="own")
    door.say(Symbols((simulated_symbol("EURUSD"),)))
    door.say(Ticks(1, 0, 1, numbered_ticks(1)))
    door.say(Bye(""))
    text = refused(door.say(PUBLISHER, b"2"))
    assert "it publishes" in text and "u/dashboard" in text
    assert isinstance(door.say(PUBLISHER, b"3", "own")[0], Welcome)


def test_who_trades_no_more_comes_to_publish_when_it_is_forgotten() -> None:
    door = Door(Grant(roles=(Role.PUBLISH,)))
    door.say(HELLO, user="own")
    door.say(Bye(""))
    refused(door.say(PUBLISHER, b"2"))
    assert door.terminals.forget("demo") == ""
    assert isinstance(door.say(PUBLISHER, b"3")[0], Welcome)


def test_symbols_outside_are_refused_whole() -> None:
    door = Door(Grant(symbols=("EURUSD",)))
    door.say(HELLO)
    both = tuple(replace(simulated_symbol(n), stream=i) for i, n in ((1, "EURUSD"), (2, "GOLD")))
    assert "GOLD is not one of the credential's: EURUSD" in refused(door.say(Symbols(both)))
    assert not door.terminals.connected() and not door.terminals.sessions["demo"].symbols
    door.say(HELLO)
    assert door.say(Symbols(both[:1])) == []


def test_who_only_trades_publishes_nothing() -> None:
    door = Door(Grant(roles=(Role.TRADE,)))
    door.say(HELLO)
    door.say(Symbols((simulated_symbol("EURUSD"),)))
    assert "`publish`" in refused(door.say(Ticks(1, 0, 1, numbered_ticks(1))))
    assert door.batches == [] and not door.terminals.connected()


def test_who_may_not_read_gets_no_events() -> None:
    door = Door(Grant(roles=(Role.PUBLISH,)))
    door.say(PUBLISHER)
    assert "`read`" in refused(door.say(Subscribe(0, ())))
    reader = Door(Grant(roles=(Role.READ,)))
    assert isinstance(reader.say(PUBLISHER)[0], Welcome)
    assert not any(isinstance(one, Error) for one in reader.say(Subscribe(0, ())))
    reader.say(Symbols((simulated_symbol("EURUSD"),)))
    assert "`publish`" in refused(reader.say(Ticks(1, 0, 1, numbered_ticks(1))))


def test_requests_beyond_are_not_sent() -> None:
    door = Door(Grant(symbols=("EURUSD", "GOLD"), lots_per_order=0.1, orders_per_minute=2))
    door.say(HELLO)
    door.say(Symbols((simulated_symbol("EURUSD"),)))
    beyond = (
        replace(BUY, lots=0.11),
        replace(BUY, lots=0.0),
        replace(MARKET, lots=5.0),
        replace(BUY, symbol="SILVER"),
        replace(MARKET, symbol="SILVER", kind=OrderKind.CLOSE, side=OrderSide.NONE),
    )
    assert all(door.terminals.send("demo", one) for one in beyond)
    assert not door.terminals.send("demo", BUY)
    assert not door.terminals.send("demo", BUY), "one request"
    assert not door.terminals.send("demo", MARKET)
    assert door.terminals.send("demo", replace(BUY, id=9)), "the third within a minute"
    close = replace(BUY, id=10, side=Side.CLOSE, lots=9.0)
    assert not door.terminals.send("demo", close), "what closes is not limited"
    assert door.due() == [BUY, MARKET, close]
    assert door.sink.counters["signals_refused"] == len(beyond) + 1


def test_the_pace_is_of_a_minute() -> None:
    pace = Pace()
    at = [replace(BUY, time_msc=time) for time in (0, 59_999, 60_000, 60_001)]
    assert [bool(pace.refuses(one, 1)) for one in at] == [False, True, False, True]
    assert not any(pace.refuses(one, 0) for one in at)


def test_what_waited_for_another_holder_is_asked_about() -> None:
    door = Door(Grant(symbols=("GOLD",)))
    door.say(HELLO, b"1", "own")
    door.say(Symbols((simulated_symbol("EURUSD"),)), b"1", "own")
    assert not door.terminals.send("demo", BUY)
    door.terminals.gone(b"1")
    assert isinstance(door.say(HELLO, b"2", "u")[0], Welcome)
    (asked,) = door.due()
    assert isinstance(asked, Ask) and asked.ids[0].id == BUY.id


def test_a_credential_that_changes_sends_away_whom_it_concerns() -> None:
    door = Door(Grant())
    door.say(HELLO, b"1")
    door.say(replace(HELLO, identity="mine"), b"2", "own")
    same = replace(door.settings, grants={"u": Grant(identity="demo")})
    assert door.terminals.change_credentials(same) == []
    for settings, why in (
        (replace(same, grants={"u": Grant(identity="x")}), "for identity x"),
        (replace(same, passwords={"u": "new", "own": "q"}), "changed or removed"),
        (replace(same, passwords={"own": "q"}), "changed or removed"),
    ):
        door.terminals.change_credentials(same)
        door.say(HELLO, b"1")
        ((route, told),) = door.terminals.change_credentials(settings)
        assert route == b"1" and why in refused([told])
        assert door.terminals.connected() == ("mine",)


def test_over_tcp_the_user_is_who_was_let_in() -> None:
    """The identity is the terminal's word; the user is the authenticator's."""
    settings = replace(
        SETTINGS, passwords={**PASSWORDS, "other": "x"},
        grants={CREDENTIAL.user: Grant(identity="A")},
    )  # fmt: skip
    with Daemon(settings) as daemon:
        with pytest.raises(RefusedError, match="for identity A"):
            run(simulated_terminal(walks("E", 10), identity="B"), daemon)
        run(simulated_terminal(walks("E", 10), identity="A"), daemon)
        other = Credential("other", "x")
        run(simulated_terminal(walks("E", 10), identity="B"), daemon, other)
        assert {identity for identity, _ in daemon.stored} == {"A", "B"}
