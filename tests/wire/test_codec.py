"""Encoding and decoding: round trips, limits, and nothing but WireError on bad bytes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mt5bridge.records import DEAL, TICK
from mt5bridge.wire import (
    ASKED_MAX,
    BODY_BYTES_MAX,
    DEALS_MAX,
    SESSIONS_MAX,
    SYMBOLS_MAX,
    TICKS_MAX,
    TIME_MSC_MAX,
    TIME_MSC_MIN,
    Ack,
    Asked,
    Bye,
    Deals,
    Durable,
    Error,
    ErrorCode,
    Frame,
    Heartbeat,
    Mark,
    OrderKind,
    OrderSide,
    Reason,
    Resend,
    Resume,
    Signal,
    Symbol,
    Symbols,
    Ticks,
    TradeSession,
    WireError,
    decode,
    encode,
)
from mt5bridge.wire.codec import HEADER_BYTES
from mt5bridge.wire.layout import TEXT_BYTES_MAX
from tests.wire.broken import sealed
from tests.wire.samples import FRAMES, some_ticks
from tests.wire.strategies import frames

_SIZES = (2**32 - 1, 2**32 - 1, 1e308, 0.0, 1e308, 1e308, 1e308, 0.0)
_MANY = tuple(TradeSession(at, at + 1) for at in range(SESSIONS_MAX + 1))


def _symbols(count: int) -> tuple[Symbol, ...]:
    return (Symbol(1, *_SIZES, "EURUSD.of.some.broker"),) * count


@given(frames())
def test_round_trip(frame: Frame) -> None:
    data = encode(frame)
    decoded = decode(data)
    assert type(decoded) is type(frame)
    assert encode(decoded) == data


@given(frames(), st.data())
def test_flipped_bits_are_noticed(frame: Frame, data: st.DataObject) -> None:
    """3.1: the checksum covers header and body, so no single flipped bit passes."""
    raw = bytearray(encode(frame))
    bit = data.draw(st.integers(0, 8 * len(raw) - 1))
    raw[bit // 8] ^= 1 << bit % 8
    with pytest.raises(WireError):
        decode(bytes(raw))


@given(frames(), st.dictionaries(st.integers(0, 200), st.integers(0, 255), max_size=6))
def test_any_body_is_a_frame_or_a_wire_error(frame: Frame, changes: dict[int, int]) -> None:
    """3.2 with a checksum that fits: what is accepted is written back byte for byte."""
    data = encode(frame)
    inside = {HEADER_BYTES + at: byte for at, byte in changes.items()}
    mutated = sealed(data, {at: byte for at, byte in inside.items() if at < len(data)})
    try:
        decoded = decode(mutated)
    except WireError:
        return
    assert encode(decoded) == mutated


@given(st.binary(max_size=200))
@example(b"")
@example(b"MT5B" + bytes(12))
def test_any_bytes_are_a_wire_error(data: bytes) -> None:
    with pytest.raises(WireError):
        decode(data)


@given(frames(), st.integers(1, 100))
def test_cut_frames_are_truncated(frame: Frame, missing: int) -> None:
    data = encode(frame)
    with pytest.raises(WireError, match="truncated"):
        decode(data[: max(0, len(data) - missing)])


def test_records_are_views() -> None:
    """Decoding copies no record, and nobody can write through the view."""
    data = encode(Ticks(1, 0, 1, some_ticks()))
    records = decode(data).records
    assert not records.flags.owndata
    assert not records.flags.writeable
    assert np.shares_memory(records, np.frombuffer(data, np.uint8))


@pytest.mark.parametrize(
    ("cls", "dtype", "records_max"), [(Ticks, TICK, TICKS_MAX), (Deals, DEAL, DEALS_MAX)]
)
def test_record_limits(cls: type[Ticks], dtype: np.dtype, records_max: int) -> None:
    """11.1"""
    stream = 1 if cls is Ticks else 0
    largest = encode(cls(stream, 0, 1, np.zeros(records_max, dtype)))
    assert len(largest) <= HEADER_BYTES + BODY_BYTES_MAX
    for count in (0, records_max + 1):
        with pytest.raises(WireError, match="bad_value"):
            cls(stream, 0, 1, np.zeros(count, dtype))


def test_body_limit() -> None:
    """11.1"""
    with pytest.raises(WireError) as caught:
        encode(Symbols(_symbols(SYMBOLS_MAX)))
    assert caught.value.reason is Reason.OVERSIZED


def test_requests_that_are_equal_have_their_own_bytes() -> None:
    """The newest one's are remembered, by what it is, not by what it is equal to."""
    one = next(frame for _, frame in FRAMES.values() if isinstance(frame, Signal))
    other, minus = replace(one, id=one.id + 1), replace(one, lots=-0.0)
    zero = replace(one, lots=0.0)
    expected = [encode(replace(frame)) for frame in (one, other, zero, minus)]
    assert len(set(expected)) == 4 and zero == minus
    for frames_now in ((one, other, zero, minus), (one, one, other, one), (minus, zero, zero)):
        assert [decode(encode(frame)) for frame in frames_now] == [*frames_now]
        again = [encode(frame) for frame in frames_now]
        assert again == [encode(replace(frame)) for frame in frames_now]
    too_long = replace(one, name="x" * (TEXT_BYTES_MAX + 1))
    for _ in range(2):
        with pytest.raises(WireError):
            encode(too_long)


def test_text_limit() -> None:
    """1.3"""
    assert decode(encode(Bye("x" * TEXT_BYTES_MAX))) == Bye("x" * TEXT_BYTES_MAX)
    for text in ("x" * (TEXT_BYTES_MAX + 1), "a\0b", "\ud800"):
        with pytest.raises(WireError, match="bad_text"):
            encode(Bye(text))


@given(st.text())
def test_errors_can_quote_anything(text: str) -> None:
    data = encode(Error.of(ErrorCode.BAD_FRAME, text * 50))
    assert isinstance(decode(data), Error)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("resend", {"first": 0}),
        ("resend", {"last": 2**63}),
        ("ticks", {"first": 2**63 - 1}),
        ("ticks", {"stream": 0}),
        ("deals", {"stream": 1}),
        ("ticks", {"utc_offset_ms": 86_400_001}),
        ("hello", {"identity": ""}),
        ("hello", {"identity": "line\nbreak"}),
        ("hello", {"identity": "x" * 129}),
        ("hello", {"identity": "zero\u200bwidth"}),
        ("account", {"equity": float("nan")}),
        ("order", {"price": 0.0}),
        ("order", {"lots": 0.0}),
        ("order", {"side": OrderSide.NONE}),
        ("order", {"tp": -1.0}),
        ("order", {"kind": OrderKind.MODIFY}),
        ("order", {"kind": OrderKind.CANCEL}),
        ("order", {"kind": OrderKind.CLOSE, "symbol": ""}),
        ("ask", {"ids": ()}),
        ("ask", {"ids": (Asked(1),) * (ASKED_MAX + 1)}),
        ("halt", {"halted": 2}),
        ("recount", {"stream": 0}),
        ("recount", {"sequence": 2**63}),
        ("recount", {"to_msc": 0}),
        ("signal", {"lots": float("nan")}),
        ("signal", {"lots": -0.1}),
        ("signal", {"stop_points": float("inf")}),
        ("signal", {"valid_until_msc": TIME_MSC_MAX + 1}),
        ("order", {"time_msc": TIME_MSC_MIN - 1}),
        ("hello", {"time_msc": 2**63 - 1}),
        ("welcome", {"time_msc": -(2**63)}),
        ("heartbeat", {"time_msc": TIME_MSC_MAX + 1}),
        ("heartbeat", {"complete_msc": TIME_MSC_MIN - 1}),
        ("account", {"time_msc": TIME_MSC_MIN - 1}),
        ("recount", {"from_msc": TIME_MSC_MIN - 1}),
        ("recount", {"to_msc": TIME_MSC_MAX + 1}),
        ("signal_result", {"time_msc": TIME_MSC_MAX + 1}),
        ("signal_result", {"lots": -0.01}),
        ("signal_result", {"lots": float("inf")}),
        ("signal_result", {"price": float("nan")}),
        ("symbols", {"symbols": _symbols(SYMBOLS_MAX + 1)}),
        ("properties", {"stream": 0}),
        ("properties", {"swap_triple_day": 7}),
        ("properties", {"swap_long": float("nan")}),
        ("properties", {"swap_short": float("-inf")}),
        ("properties", {"tick_value": -1.0}),
        ("properties", {"profit_currency": "x" * 33}),
        ("properties", {"profit_currency": "U\nSD"}),
        ("properties", {"sessions": (TradeSession(5, 9), TradeSession(8, 10))}),
        ("properties", {"sessions": (TradeSession(5, 9), TradeSession(1, 2))}),
        ("properties", {"sessions": _MANY}),
        ("heartbeat", {"marks": (Mark(1, 0, 0),) * (SYMBOLS_MAX + 2)}),
        ("ack", {"streams": (Durable(1, 1),) * (SYMBOLS_MAX + 2)}),
    ],
)
def test_values_out_of_range(name: str, changes: dict[str, object]) -> None:
    """11.1, 2.1"""
    with pytest.raises(WireError, match="bad_value"):
        replace(FRAMES[name][1], **changes)


@pytest.mark.parametrize(
    ("entry", "changes"),
    [
        (Mark(1, 0, 0), {"taken": 2**63}),
        (Mark(1, 0, 0), {"passed": 2**64 - 1}),
        (Durable(1, 1), {"sequence": 2**63}),
        (Resume(1, 0, 0, ""), {"durable": 2**63}),
        (TradeSession(0, 1_440), {"to_minute": 0}),
        (TradeSession(0, 1_440), {"to_minute": 1_441}),
        (TradeSession(8_640, 10_080), {"to_minute": 10_081}),
        (_symbols(1)[0], {"point": float("nan")}),
        (_symbols(1)[0], {"volume_max": float("inf")}),
        (_symbols(1)[0], {"contract_size": -1.0}),
    ],
)
def test_entries_out_of_range(entry: object, changes: dict[str, object]) -> None:
    """11.1"""
    with pytest.raises(WireError, match="bad_value"):
        replace(entry, **changes)  # type: ignore[type-var]


def test_bounds_themselves_are_in_range() -> None:
    """11.1: lists as long as they may be fit a body, whatever their names are."""
    largest = Symbol(2**32 - 1, *_SIZES, "😀" * 8)
    marks = (Mark(2**32 - 1, 2**63 - 1, 2**63 - 1),) * (SYMBOLS_MAX + 1)
    for frame in (
        Heartbeat(2**64 - 1, TIME_MSC_MAX, 0, 2**32 - 1, 0, marks),
        Ack((Durable(2**32 - 1, 2**63 - 1),) * (SYMBOLS_MAX + 1)),
        replace(
            FRAMES["welcome"][1],
            streams=(Resume(2**63 - 1, 2**63 - 1, 2**32 - 1, largest.name),) * (SYMBOLS_MAX + 1),
        ),
        replace(FRAMES["signal_result"][1], price=-37.63, time_msc=TIME_MSC_MIN),
    ):
        assert decode(encode(frame)) == frame


def test_the_number_that_is_none_is_named() -> None:
    for name, changes, value in (
        ("signal_result", {"price": float("nan")}, "nan"),
        ("account", {"equity": float("-inf")}, "-inf"),
    ):
        with pytest.raises(WireError, match=f"bad_value: {value} is no finite number$"):
            replace(FRAMES[name][1], **changes)


def test_numbers_that_do_not_fit() -> None:
    with pytest.raises(WireError, match="bad_value: Durable"):
        encode(Ack((Durable(2**32, 1),)))


def test_wrong_dtype_is_refused() -> None:
    with pytest.raises(WireError, match="bad_value"):
        encode(Ticks(1, 0, 1, np.zeros(2, DEAL)))


def test_unknown_code_is_refused() -> None:
    signal = FRAMES["signal"][1]
    assert isinstance(signal, Signal)
    side_at = HEADER_BYTES + 4 * 8 + 3 * 8
    with pytest.raises(WireError, match="bad_value: side 3"):
        decode(sealed(encode(signal), {side_at: 3}))


def test_a_resend_of_one_record() -> None:
    assert decode(encode(Resend(1, 5, 5))) == Resend(1, 5, 5)
