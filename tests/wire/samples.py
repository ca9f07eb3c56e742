"""One frame of each type, and records, with telling values."""

from __future__ import annotations

import numpy as np

from mt5bridge.records import DEAL, TICK, Records
from mt5bridge.wire import (
    Account,
    AccountMode,
    Ack,
    Ask,
    Asked,
    Bound,
    Bye,
    Challenge,
    Deals,
    Durable,
    Entry,
    Error,
    ErrorCode,
    Event,
    Field,
    FieldKind,
    Frame,
    Halt,
    Heartbeat,
    Hello,
    Lost,
    LostReason,
    Mark,
    Order,
    OrderKind,
    OrderSide,
    Proof,
    Properties,
    Recount,
    Resend,
    Resume,
    Side,
    Signal,
    SignalOrder,
    SignalResult,
    SignalStatus,
    Standing,
    Subscribe,
    Subscribed,
    SwapMode,
    Symbol,
    Symbols,
    Ticks,
    TradeMode,
    TradeSession,
    Wanted,
    Welcome,
)

TIME_MSC = 1_700_000_000_123
OFFSET_MS = 7_200_000


def some_ticks(count: int = 2) -> Records:
    """Ticks 250 ms apart."""
    ticks = np.zeros(count, TICK)
    ticks["time_msc"] = TIME_MSC + 250 * np.arange(count)
    ticks["time"] = ticks["time_msc"] // 1000
    ticks["bid"] = 1.25 + 0.5 * np.arange(count)
    ticks["ask"] = 1.5 + 0.5 * np.arange(count)
    ticks["flags"] = 6
    return ticks


def some_deals() -> Records:
    """One partial fill."""
    deals = np.zeros(1, DEAL)
    values = {
        "ticket": 2**63 + 5,
        "order": 77,
        "time_msc": TIME_MSC,
        "magic": 42,
        "position_id": 77,
        "volume": 0.25,
        "price": 1.5,
        "commission": -0.5,
        "type": 1,
        "reason": 3,
        "revision": 1,
        "kind": 1,
        "symbol": b"EURUSD",
        "comment": "für Gold".encode(),
        "external_id": b"X-1",
    }
    for name, value in values.items():
        deals[name] = value
    return deals


_EURUSD = Symbol(1, 5, 3, 0.00001, 0.00001, 100_000.0, 0.01, 500.0, 0.01, "EURUSD")

FRAMES: dict[str, tuple[str, Frame]] = {
    "hello": (
        "a hedging demo account that trades, server two hours ahead of UTC",
        Hello(
            0x0123456789ABCDEF,
            10_000_001,
            TIME_MSC,
            OFFSET_MS,
            100,
            AccountMode.HEDGING,
            1,
            TradeMode.LIVE,
            "10000001@Broker-Demo",
            "Broker Ltd",
            "Broker-Demo",
            "USD",
            "publisher 1.0",
        ),
    ),
    "welcome": (
        "40 ticks of EURUSD and 2 deals are on disk",
        Welcome(
            9,
            TIME_MSC,
            1000,
            5000,
            65_536,
            "mt5bridge",
            (Resume(2, TIME_MSC, 1, ""), Resume(40, TIME_MSC - 1, 3, "EURUSD")),
        ),
    ),
    "symbols": ("EURUSD is stream 1", Symbols((_EURUSD,))),
    "properties": (
        "stream 1 costs swap in points, three nights' on Wednesdays, and is closed at midnight",
        Properties(
            1,
            20,
            5,
            SwapMode.POINTS,
            3,
            -6.5,
            1.25,
            1.0,
            "USD",
            (TradeSession(1445, 2875), TradeSession(2885, 4315)),
        ),
    ),
    "ticks": ("two ticks of stream 1, sequences 41 and 42", Ticks(1, OFFSET_MS, 41, some_ticks())),
    "deals": (
        "sequence 3: the first update of a partial fill, ticket above 2^63",
        Deals(0, OFFSET_MS, 3, some_deals()),
    ),
    "heartbeat": (
        "42 ticks taken and 41 sent, 3 deals taken and sent, round trip 850 microseconds, "
        "all before the last second sent",
        Heartbeat(7, TIME_MSC, OFFSET_MS, 850, TIME_MSC - 1_000, (Mark(0, 3, 3), Mark(1, 42, 41))),
    ),
    "ack": (
        "deals to 3 and stream 1 to 42 are on disk",
        Ack((Durable(0, 3), Durable(1, 42))),
    ),
    "resend": ("stream 1 lacks 43 to 50", Resend(1, 43, 50)),
    "lost": (
        "stream 1 cannot send 43 to 44 again",
        Lost(1, 43, 44, LostReason.NOT_IN_TICK_BASE, "recount"),
    ),
    "signal": (
        "sell 0.1 lots of EURUSD, stop 200 points, target 400, valid for a minute",
        Signal(
            0xFEDCBA9876543210,
            TIME_MSC,
            TIME_MSC + 60_000,
            42,
            0.1,
            200.0,
            400.0,
            Side.SELL,
            "Fade",
            "EURUSD",
        ),
    ),
    "signal_order": (
        "a sell stop at 1.25 for a minute, stop 0.002 above it, target at 1.2, at a risk of 1.5 %",
        SignalOrder(
            0xFEDCBA9876543211,
            TIME_MSC,
            TIME_MSC + 60_000,
            42,
            0.1,
            0.0,
            0.0,
            Side.SELL,
            "Fade",
            "EURUSD",
            OrderKind.STOP,
            1.25,
            0.0,
            1.2,
            0.002,
            0.0,
            1.5,
        ),
    ),
    "signal_order_modify": (
        "a stop 0.002 away from the market, for all that the magic number holds",
        SignalOrder(
            0xFEDCBA9876543212,
            TIME_MSC,
            TIME_MSC + 60_000,
            42,
            0.0,
            0.0,
            0.0,
            Side.CLOSE,
            "Trail",
            "EURUSD",
            OrderKind.MODIFY,
            0.0,
            0.0,
            0.0,
            0.002,
            0.0,
            0.0,
        ),
    ),
    "signal_result": (
        "a first fill of 0.06 lots at 1.25",
        SignalResult(
            0xFEDCBA9876543210,
            2**63 + 5,
            77,
            TIME_MSC,
            0.06,
            1.25,
            10_010,
            SignalStatus.PARTIAL,
            "",
        ),
    ),
    "error": (
        "a second terminal with the same identity",
        Error(ErrorCode.IDENTITY_IN_USE, "10000001@Broker-Demo is connected already"),
    ),
    "bye": ("an orderly end, with a text that is not ASCII", Bye("tschüß €")),
    "challenge": ("128 random bits", Challenge("00112233445566778899aabbccddeeff")),
    "proof": ("256 bits that only who knows the password can tell", Proof("0123456789abcdef" * 4)),
    "account": (
        "two positions and a pending order; everything allows trading",
        Account(TIME_MSC, 10_000.0, 0.0, -12.5, 9_987.5, 220.0, 9_767.5, 2, 1, 31),
    ),
    "order": (
        "a buy limit of 0.3 lots of EURUSD at 1.25, stop 1.2, target 1.3, valid for a minute",
        Order(
            0x7EDCBA9876543210,
            TIME_MSC,
            TIME_MSC + 60_000,
            42,
            0,
            0.3,
            1.25,
            1.2,
            1.3,
            20,
            OrderKind.LIMIT,
            OrderSide.BUY,
            "by hand",
            "EURUSD",
        ),
    ),
    "ask": (
        "were these two executed?",
        Ask((Asked(0x7EDCBA9876543210), Asked(0xFEDCBA9876543210))),
    ),
    "halt": ("the kill switch is on", Halt(1, "news at noon")),
    "recount": (
        "a minute of stream 1 holds 42 ticks in the tick base, none behind sequence 42",
        Recount(1, 42, 1_699_999_980_000, 1_700_000_040_000, 42),
    ),
    "subscribe": (
        "all events of engine Main, and Reversal, of which the 41st has come",
        Subscribe(
            77,
            (
                Entry(Wanted.ENGINE, 0, "Main"),
                Entry(Wanted.NAMED, 0, "Reversal"),
                Entry(Wanted.KNOWN, 41, "Reversal"),
            ),
        ),
    ),
    "subscribed": (
        "43 Reversals so far, and no Breakout",
        Subscribed(77, (Standing(43, "Reversal", "Main"), Standing(0, "Breakout", "Main"))),
    ),
    "event": (
        "the 42nd Reversal, of a row of Band with a field of each kind and a row not remembered",
        Event(
            42,
            TIME_MSC + 500,
            TIME_MSC,
            "Reversal",
            "Main",
            "EURUSD",
            (
                Bound(
                    7,
                    TIME_MSC,
                    "AboveUpper",
                    "Band",
                    "EURUSD",
                    (
                        Field(FieldKind.NULL, 0, 0.0, "none", ""),
                        Field(FieldKind.BOOL, 1, 0.0, "rising", ""),
                        Field(FieldKind.WHOLE, -(2**63), 0.0, "count", ""),
                        Field(FieldKind.NUMBER, 0, 1.25, "bid", ""),
                        Field(FieldKind.TEXT, 0, 0.0, "symbol", "für €"),
                    ),
                ),
                Bound(9, 0, "BelowMa", "Band", "EURUSD", ()),
            ),
        ),
    ),
}
