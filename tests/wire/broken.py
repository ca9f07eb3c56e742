"""Frames that must be refused, each for one reason."""

from __future__ import annotations

import struct
from typing import TypeAlias
from zlib import crc32

from mt5bridge.wire import Reason, encode
from tests.wire.samples import FRAMES

Broken: TypeAlias = tuple[Reason, str, bytes]

_TRADES_AT = 16 + 8 + 8 + 8 + 4 + 4 + 1 + 1  # places of fields in a frame
_STATUS_AT = 16 + 8 + 8 + 8 + 8 + 8 + 8 + 4
_LOTS_AT = 16 + 5 * 8
_SWAP_MODE_AT = 16 + 3 * 4
_STREAMS_AT = 16 + 8 + 8 + 4 + 4 + 4 + (2 + len("mt5bridge")) + 4
_KIND_AT = _LOTS_AT + 4 * 8 + 4


def broken_frames() -> dict[str, Broken]:
    """Frames that must be refused, by file name."""
    return {
        **broken_shapes(),
        **broken_trading(),
        **broken_bounds(),
        **broken_orders(),
        **broken_signal_orders(),
        **broken_events(),
        **broken_properties(),
    }


def broken_shapes() -> dict[str, Broken]:
    """Headers, lengths, checksums and texts that are wrong."""
    bye = encode(FRAMES["bye"][1])
    challenge, proof = encode(FRAMES["challenge"][1]), encode(FRAMES["proof"][1])
    resend = encode(FRAMES["resend"][1])
    return {
        "bad_magic": (Reason.BAD_MAGIC, "another protocol's first bytes", b"GET " + bye[4:]),
        "bad_version": (Reason.WRONG_VERSION, "version 1", bye[:4] + b"\1" + bye[5:]),
        "bad_short_header": (Reason.TRUNCATED, "15 bytes", bye[:15]),
        "bad_short_body": (Reason.TRUNCATED, "the last byte is missing", bye[:-1]),
        "bad_long_body": (Reason.TRAILING_BYTES, "one byte too many", bye + b"\0"),
        "bad_length": (
            Reason.OVERSIZED,
            "body length 1,048,577",
            bye[:8] + struct.pack("<I", 1_048_577) + bye[12:],
        ),
        "bad_checksum": (
            Reason.BAD_CHECKSUM,
            "one bit of the body is flipped",
            bye[:-1] + bytes([bye[-1] ^ 1]),
        ),
        "bad_flags": (Reason.BAD_FLAGS, "flags 1", sealed(bye, {6: 1})),
        "bad_type": (Reason.UNKNOWN_TYPE, "type 99", sealed(bye, {5: 99})),
        "bad_text": (Reason.BAD_TEXT, "a text that is not UTF-8", sealed(bye, {18: 0xFF})),
        "bad_zero_in_text": (Reason.BAD_TEXT, "a zero byte in a text", sealed(bye, {18: 0})),
        "bad_nonce": (Reason.BAD_VALUE, "a nonce with a G", sealed(challenge, {18: ord("G")})),
        "bad_proof": (Reason.BAD_VALUE, "a proof in capitals", sealed(proof, {-1: ord("F")})),
        "bad_interval": (Reason.BAD_VALUE, "RESEND of 43 to 0", sealed(resend, {28: 0})),
        "bad_text_length": (
            Reason.TRUNCATED,
            "a text longer than the body",
            sealed(bye, {16: 200}),
        ),
        "bad_body_end": (
            Reason.TRAILING_BYTES,
            "a body longer than its fields",
            sealed(bye, {16: 3}),
        ),
    }


def broken_trading() -> dict[str, Broken]:
    """Values that cannot be, in frames about trading and recounts."""
    account = encode(FRAMES["account"][1])
    recount = encode(FRAMES["recount"][1])
    return {
        "bad_trades": (
            Reason.BAD_VALUE,
            "HELLO with trades 3",
            sealed(encode(FRAMES["hello"][1]), {_TRADES_AT: 3}),
        ),
        "bad_status": (
            Reason.BAD_VALUE,
            "SIGNAL_RESULT with status 9",
            sealed(encode(FRAMES["signal_result"][1]), {_STATUS_AT: 9}),
        ),
        "bad_account": (
            Reason.BAD_VALUE,
            "ACCOUNT whose balance is infinite",
            sealed(account, dict(zip(range(24, 32), struct.pack("<d", float("inf")), strict=True))),
        ),
        "bad_ask": (Reason.BAD_VALUE, "ASK for nothing", sealed(empty_ask(), {})),
        "bad_halt": (
            Reason.BAD_VALUE,
            "HALT with halted 2",
            sealed(encode(FRAMES["halt"][1]), {16: 2}),
        ),
        "bad_recount": (
            Reason.BAD_VALUE,
            "RECOUNT of an interval that ends before it begins",
            sealed(recount, {43: 0x80}),
        ),
        "bad_recount_stream": (
            Reason.BAD_VALUE,
            "RECOUNT of the deals",
            sealed(recount, {16: 0}),
        ),
    }


def broken_bounds() -> dict[str, Broken]:
    """Numbers that fit their field and nothing else."""
    heartbeat = encode(FRAMES["heartbeat"][1])
    symbols = encode(FRAMES["symbols"][1])
    result = encode(FRAMES["signal_result"][1])
    signal = encode(FRAMES["signal"][1])
    largest, infinite = b"\xff" * 8, struct.pack("<d", float("inf"))
    return {
        "bad_mark": (
            Reason.BAD_VALUE,
            "HEARTBEAT: 2^64 - 1 ticks were sent",
            sealed(heartbeat, _at(len(heartbeat) - 8, largest)),
        ),
        "bad_complete": (
            Reason.BAD_VALUE,
            "HEARTBEAT that promises ticks up to the year 292 million",
            sealed(heartbeat, _at(16 + 24, b"\xff" * 7 + b"\x7f")),
        ),
        "bad_ack": (
            Reason.BAD_VALUE,
            "ACK of 2^64 - 1 ticks",
            sealed(encode(FRAMES["ack"][1]), _at(16 + 4 + 12 + 4, largest)),
        ),
        "bad_welcome": (
            Reason.BAD_VALUE,
            "WELCOME: 2^64 - 1 deals are on disk",
            sealed(encode(FRAMES["welcome"][1]), _at(_STREAMS_AT, largest)),
        ),
        "bad_time": (
            Reason.BAD_VALUE,
            "HELLO behind the year 9999",
            sealed(encode(FRAMES["hello"][1]), _at(32, struct.pack("<q", 253_402_300_800_000))),
        ),
        "bad_valid_until": (
            Reason.BAD_VALUE,
            "SIGNAL that is good for 300 million years",
            sealed(signal, _at(32, struct.pack("<q", 2**63 - 1))),
        ),
        "bad_symbol": (
            Reason.BAD_VALUE,
            "SYMBOLS with an infinite point",
            sealed(symbols, _at(32, infinite)),
        ),
        "bad_result_lots": (
            Reason.BAD_VALUE,
            "SIGNAL_RESULT of no number of lots",
            sealed(result, _at(48, struct.pack("<d", float("nan")))),
        ),
        "bad_result_price": (
            Reason.BAD_VALUE,
            "SIGNAL_RESULT at an infinite price",
            sealed(result, _at(56, infinite)),
        ),
    }


def _at(place: int, raw: bytes) -> dict[int, int]:
    return dict(zip(range(place, place + len(raw)), raw, strict=True))


def broken_orders() -> dict[str, Broken]:
    """Orders that lack what their kind needs."""
    order = encode(FRAMES["order"][1])
    return {
        "bad_order_kind": (Reason.BAD_VALUE, "ORDER of kind 6", sealed(order, {_KIND_AT: 6})),
        "bad_order_side": (
            Reason.BAD_VALUE,
            "ORDER: a buy limit without a side",
            sealed(order, {_KIND_AT + 1: 2}),
        ),
        "bad_order_lots": (
            Reason.BAD_VALUE,
            "ORDER: a buy limit of no lots",
            sealed(order, dict.fromkeys(range(_LOTS_AT, _LOTS_AT + 8), 0)),
        ),
        "bad_order_price": (
            Reason.BAD_VALUE,
            "ORDER: a buy limit without a price",
            sealed(order, dict.fromkeys(range(_LOTS_AT + 8, _LOTS_AT + 16), 0)),
        ),
        "bad_order_stop": (
            Reason.BAD_VALUE,
            "ORDER with a negative sl",
            sealed(order, {_LOTS_AT + 23: order[_LOTS_AT + 23] | 0x80}),
        ),
        "bad_order_cancel": (
            Reason.BAD_VALUE,
            "ORDER: cancel without a ticket",
            sealed(order, {_KIND_AT: 4}),
        ),
    }


def broken_signal_orders() -> dict[str, Broken]:
    """Signals that say prices which cannot be, or deal nothing and say too much."""
    signal = encode(FRAMES["signal_order"][1])
    change = encode(FRAMES["signal_order_modify"][1])
    return {
        "bad_signal_order_kind": (
            Reason.BAD_VALUE,
            "SIGNAL_ORDER that closes",
            sealed(signal, {len(signal) - 49: 5}),
        ),
        "bad_signal_order_lots": (
            Reason.BAD_VALUE,
            "SIGNAL_ORDER: a modify of lots",
            sealed(change, {16 + 39: 0x3F}),
        ),
        "bad_signal_order_cancel": (
            Reason.BAD_VALUE,
            "SIGNAL_ORDER: a cancel with a stop",
            sealed(change, {len(change) - 49: 4}),
        ),
        "bad_signal_order_modify": (
            Reason.BAD_VALUE,
            "SIGNAL_ORDER: a modify that buys",
            sealed(change, {16 + 56: 0}),
        ),
        "bad_signal_order_price": (
            Reason.BAD_VALUE,
            "SIGNAL_ORDER: a market order at a price",
            sealed(signal, {len(signal) - 49: 0}),
        ),
        "bad_signal_order_side": (
            Reason.BAD_VALUE,
            "SIGNAL_ORDER: a sell stop that buys, sells or does neither",
            sealed(signal, {16 + 56: 2}),
        ),
        "bad_signal_order_stop": (
            Reason.BAD_VALUE,
            "SIGNAL_ORDER with a negative stop distance",
            sealed(signal, {len(signal) - 17: signal[-17] | 0x80}),
        ),
    }


def broken_events() -> dict[str, Broken]:
    """Subscriptions and complex events that cannot be."""
    subscribe = encode(FRAMES["subscribe"][1])
    event = encode(FRAMES["event"][1])
    number = struct.pack("<d", 1.25)
    return {
        "bad_subscribe": (
            Reason.BAD_VALUE,
            "SUBSCRIBE to all events of a name",
            sealed(subscribe, {16 + 8 + 4: 0}),
        ),
        "bad_subscribe_number": (
            Reason.BAD_VALUE,
            "SUBSCRIBE to an engine with a number",
            sealed(subscribe, {16 + 8 + 4 + 1: 5}),
        ),
        "bad_event_number": (Reason.BAD_VALUE, "EVENT number 0", sealed(event, {16: 0})),
        "bad_event_field": (
            Reason.BAD_VALUE,
            "EVENT with a field of an infinite number",
            sealed(event, _at(event.index(number), struct.pack("<d", float("inf")))),
        ),
    }


def broken_properties() -> dict[str, Broken]:
    """What cannot be known of a symbol."""
    found = encode(FRAMES["properties"][1])
    last = len(found) - 8
    return {
        "bad_properties_mode": (
            Reason.BAD_VALUE,
            "PROPERTIES of swap mode 5",
            sealed(found, {_SWAP_MODE_AT: 5}),
        ),
        "bad_properties_day": (
            Reason.BAD_VALUE,
            "PROPERTIES of an eighth day",
            sealed(found, {_SWAP_MODE_AT + 1: 7}),
        ),
        "bad_properties_swap": (
            Reason.BAD_VALUE,
            "PROPERTIES: swaps without end",
            sealed(found, _at(_SWAP_MODE_AT + 2, struct.pack("<d", float("inf")))),
        ),
        "bad_properties_session": (
            Reason.BAD_VALUE,
            "PROPERTIES: a session of two days",
            sealed(found, _at(last, struct.pack("<II", 4_300, 4_321))),
        ),
        "bad_properties_order": (
            Reason.BAD_VALUE,
            "PROPERTIES: a session before the one before it",
            sealed(found, _at(last, struct.pack("<II", 0, 10))),
        ),
    }


def empty_ask() -> bytes:
    """An ASK that lists no id, which cannot be made as a frame."""
    head = encode(FRAMES["ask"][1])[:8] + struct.pack("<I", 4)
    return head + bytes(4) + bytes(4)


def sealed(data: bytes, changes: dict[int, int]) -> bytes:
    """A frame with some bytes changed and a checksum that fits."""
    changed = bytearray(data)
    for at, byte in changes.items():
        changed[at] = byte
    changed[12:16] = struct.pack("<I", crc32(changed[16:], crc32(changed[:12])))
    return bytes(changed)
