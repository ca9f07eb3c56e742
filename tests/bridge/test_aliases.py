"""Names of symbols that are others in a terminal than in rules, spool and archive."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt5bridge.aliases import STAR, AliasError, alias_table
from mt5bridge.grant import Grant
from mt5bridge.position import Position
from mt5bridge.records import DEAL
from mt5bridge.server import DEALS, Settings, ticks_of
from mt5bridge.server.survey import survey
from mt5bridge.wire import (
    Deals,
    Error,
    ErrorCode,
    Frame,
    Resume,
    Side,
    Signal,
    Symbols,
    TradeMode,
    Welcome,
)
from tests.bridge.dialog import SETTINGS, Dialog, symbol, ticks

WRITTEN = {
    "*.m": "*",
    "GOLD": "XAUUSD",
    "#*": "x*",
    "demo": {"*.pro": "*", "GOLD.m": "GOLD.m"},
    "demo/trader": {"A.m": "TRADED"},
}
SUFFIX = replace(SETTINGS, aliases=alias_table({"*.m": "*"}))
SIGNAL = Signal(7, 1, 10**12, 77, 0.1, 0.0, 0.0, Side.BUY, "Fade", "EURUSD")


def dialog_with(settings: Settings = SUFFIX, **more: object) -> Dialog:
    return Dialog(settings, **more)  # type: ignore[arg-type]


def errors(frames: list[Frame]) -> list[Error]:
    return [frame for frame in frames if isinstance(frame, Error)]


@pytest.mark.parametrize(
    ("identity", "name", "expected"),
    [
        ("other", "EURUSD.m", "EURUSD"),
        ("other", "EURUSD", "EURUSD"),
        ("other", "GOLD", "XAUUSD"),
        ("other", "GOLD.m", "GOLD"),  # once: what comes of it is not looked up again
        ("other", "#AAPL", "xAAPL"),
        ("other", ".m", ".m"),  # a star stands for something
        ("other", "EURUSD.pro", "EURUSD.pro"),
        ("demo", "EURUSD.pro", "EURUSD"),
        ("demo", "GOLD.m", "GOLD.m"),  # its own come first
        ("demo", "EURUSD.m", "EURUSD"),
        ("demo/trader", "A.m", "TRADED"),
        ("demo/trader", "EURUSD.pro", "EURUSD"),
        ("demos", "EURUSD.pro", "EURUSD.pro"),
    ],
)
def test_the_first_that_is_about_a_name_counts(identity: str, name: str, expected: str) -> None:
    assert alias_table(WRITTEN).of(identity).symbol_of(name) == expected


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("*.m", "X"), ("X", "*"), ("*.*", "*"), ("*", "**"), ("", "X"), ("X", ""), ("X", "a\nb"),
     ("X", "b" * 33), ("a\0", "X"), ("X", "\u200b")],
)  # fmt: skip
def test_aliases_that_mean_nothing_are_refused(theirs: str, ours: str) -> None:
    for written in ({theirs: ours}, {"demo": {theirs: ours}}):
        with pytest.raises(AliasError, match="=" if ours != "" else "0 bytes"):
            alias_table(written)


def test_a_name_that_becomes_none_is_no_alias() -> None:
    grown = alias_table({"*": f"{'x' * 30}*"}).of("demo")
    assert grown.symbol_of("AB") == "x" * 30 + "AB"
    with pytest.raises(AliasError, match="33 bytes"):
        grown.symbol_of("ABC")


names = st.text("AB.#", min_size=1, max_size=6)
patterns = st.tuples(st.text("AB.#", max_size=2), st.text("AB.#", max_size=2)).filter(any)


def plainly(theirs: str, ours: str, name: str) -> str:
    """By trying every text that a star could stand for."""
    if STAR not in theirs:
        return ours if theirs == name else name
    parts = {name[i:j] for i in range(len(name)) for j in range(i + 1, len(name) + 1)}
    fitting = [part for part in parts if theirs.replace(STAR, part) == name]
    return ours.replace(STAR, fitting[0]) if fitting else name


@given(patterns, patterns, names, st.booleans())
def test_an_alias_does_what_its_text_says(
    left: tuple[str, str], right: tuple[str, str], name: str, is_pattern: bool
) -> None:
    star = STAR if is_pattern else ""
    theirs, ours = star.join(left), star.join(right)
    assert alias_table({theirs: ours}).of("any").symbol_of(name) == plainly(theirs, ours, name)


def test_a_terminal_is_spoken_to_in_its_own_names() -> None:
    """Records come under the names of the rules, requests leave under the terminal's."""
    dialog = dialog_with()
    dialog.begin("EURUSD.m", "USDJPY")
    dialog.say(ticks(1, 3))
    dialog.say(ticks(1, 2, stream=2))
    assert [one.stream for one in dialog.batches] == [
        ("ticks", "EURUSD", "EURUSD.m"),
        ("ticks", "USDJPY"),
    ]
    assert dialog.traders[-1].symbols == ("EURUSD", "USDJPY")
    assert dialog.terminals.traders("EURUSD") == ("demo",)
    assert dialog.terminals.traders("EURUSD.m") == ()
    assert dialog.terminals.send("demo", SIGNAL) == ""
    assert dialog.due() == [replace(SIGNAL, symbol="EURUSD.m")]
    (told,) = dialog.status().terminals
    assert told.symbols == ["EURUSD", "USDJPY"] and told.names == {"EURUSD": "EURUSD.m"}
    assert [(one.symbol, one.name) for one in told.streams] == [
        ("", ""), ("EURUSD", "EURUSD.m"), ("USDJPY", ""),
    ]  # fmt: skip


def test_a_request_that_the_socket_did_not_take_is_named_once() -> None:
    dialog = dialog_with(replace(SETTINGS, aliases=alias_table({"EURUSD.m": "EURUSD", "X": "Y"})))
    dialog.begin("EURUSD.m")
    dialog.terminals.send("demo", SIGNAL)
    (sent,) = dialog.due()
    dialog.terminals.unsent(b"r", sent)
    assert dialog.due() == [sent]


def test_a_request_waits_until_its_symbol_has_a_name() -> None:
    """After a restart nobody knows what the terminal calls it before it says so."""
    dialog = dialog_with()
    dialog.begin("EURUSD.m")
    again = dialog_with(traders=dialog.traders)
    assert again.terminals.send("demo", SIGNAL) == ""
    again.greet()
    assert again.due() == []
    again.say(Symbols((symbol("USDJPY.m", 1),)))
    assert again.due() == []
    again.say(Symbols((symbol("EURUSD.m", 2),)))
    assert again.due() == [replace(SIGNAL, symbol="EURUSD.m")]


@pytest.mark.parametrize("is_together", [True, False])
def test_two_names_of_one_symbol_are_refused(is_together: bool) -> None:
    """Nothing is taken, the connection ends, and status says why and what to do."""
    dialog = dialog_with()
    both = symbol("EURUSD.m", 1), symbol("EURUSD", 2)
    dialog.greet()
    if not is_together:
        assert dialog.say(Symbols(both[:1])) == []
    (refusal,) = errors(dialog.say(Symbols(both if is_together else both[1:])))
    assert refusal.code is ErrorCode.NOT_ALLOWED
    assert "EURUSD.m and EURUSD are both EURUSD here: change [aliases]" in refusal.text
    (told,) = dialog.status().terminals
    assert not told.connected and told.names == ({} if is_together else {"EURUSD": "EURUSD.m"})
    assert "are both EURUSD" in dialog.status().complaints[-1]
    assert dialog.counters["refused_not_allowed"] == 1


def test_a_symbol_that_would_have_no_name_is_refused() -> None:
    dialog = dialog_with(replace(SETTINGS, aliases=alias_table({"*": f"{'x' * 30}*"})))
    dialog.greet()
    (refusal,) = errors(dialog.say(Symbols((symbol("ABC", 1),))))
    assert "33 bytes" in refusal.text and dialog.status().terminals[0].symbols == []


def test_another_program_may_have_other_names() -> None:
    """Names hold for a connection: the terminal may have been moved to another account."""
    dialog = dialog_with()
    dialog.begin("EURUSD.m")
    dialog.greet(instance=2)
    assert dialog.say(Symbols((symbol("EURUSD", 1),))) == []
    assert dialog.status().terminals[0].names == {}


def test_what_a_credential_names_are_the_names_of_the_rules() -> None:
    grants = {"desk": Grant(symbols=("EURUSD",), allow_real=True)}
    dialog = dialog_with(replace(SUFFIX, grants=grants))

    def say(frame: Frame) -> list[Frame]:
        from mt5bridge.wire import encode

        found = dialog.terminals.receive(b"r", [encode(frame)], dialog.now, "desk")
        return [reply for _, reply in found]

    from mt5bridge.simulator import simulated_hello

    say(simulated_hello("demo", 1))
    assert say(Symbols((symbol("EURUSD.m", 1),))) == []
    assert errors(say(Symbols((symbol("USDJPY.m", 2),))))[0].code is ErrorCode.NOT_ALLOWED


def deals_of(*symbols: bytes) -> Deals:
    records = np.zeros(len(symbols), DEAL)
    records["ticket"] = np.arange(1, len(symbols) + 1)
    records["time_msc"] = 1_700_000_000_000
    records["symbol"] = symbols
    return Deals(0, 0, 1, records)


def test_deals_have_the_names_of_the_rules() -> None:
    """Where a name would be that of another symbol here, and where it is no text, it stays."""
    dialog = dialog_with()
    dialog.begin("EURUSD.m")
    dialog.say(deals_of(b"EURUSD.m", b"GBPUSD.m", b"EURUSD", b"", b"\xff\xfe.m", b"USDJPY"))
    (batch,) = dialog.batches
    assert batch.stream == DEALS
    assert batch.records["symbol"].tolist() == [
        b"EURUSD", b"GBPUSD", b"EURUSD", b"", "\ufffd\ufffd".encode(), b"USDJPY",
    ]  # fmt: skip


def test_streams_go_on_where_they_stand_whatever_they_were_called() -> None:
    """The terminal numbers on: no record is asked for again, and none is taken for lost."""
    resumes = {
        ("demo", DEALS): Position(2, 900, 1),
        ("demo", ticks_of("EURUSD.m")): Position(40, 1_000, 3),
        ("demo", ticks_of("OLD", "USDJPY")): Position(7, 1_000, 1),
        ("demo", ticks_of("USDJPY")): Position(5, 900, 1),
    }
    dialog = dialog_with(resumes=resumes)
    (welcome,) = dialog.greet()
    assert isinstance(welcome, Welcome)
    assert set(welcome.streams) == {
        Resume(2, 900, 1, ""), Resume(40, 1_000, 3, "EURUSD.m"), Resume(7, 1_000, 1, "USDJPY"),
    }  # fmt: skip
    dialog.say(Symbols((symbol("EURUSD.m", 1), symbol("USDJPY", 2))))
    dialog.say(ticks(41, 1))
    dialog.say(ticks(8, 1, stream=2))
    assert [(one.stream, one.first) for one in dialog.batches] == [
        (("ticks", "EURUSD", "EURUSD.m"), 41), (("ticks", "USDJPY"), 8),
    ]  # fmt: skip


def test_without_aliases_nothing_is_held_or_copied() -> None:
    dialog = Dialog(traders=[], settings=SETTINGS)
    dialog.begin("EURUSD.m")
    dialog.say(deals_of(b"EURUSD.m"))
    assert dialog.batches[0].records["symbol"].tolist() == [b"EURUSD.m"]
    assert survey(dialog.terminals, "", 0, dialog.now).terminals[0].names == {}
    assert dialog.terminals.sessions["demo"].trades is TradeMode.LIVE
