"""What terminals tell of symbols and accounts is kept once, in words that an account's file has."""

from __future__ import annotations

import errno
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.account.specifications import FILE, Version, check, decode
from cep.live import specifications
from cep.live.specifications import Specifications
from cep.live.told import words_of
from mt5bridge.server import Specified
from mt5bridge.simulator import simulated_hello, simulated_symbol
from mt5bridge.spool.disk import Disk
from mt5bridge.wire import AccountMode, Hello, Properties, SwapMode, Symbol, TradeSession
from tests.campaign import examples
from tests.durability.recording import Fault, recording
from tests.live.service import (
    Service,
    address,
    play,
    status_of,
    terminal,
    wait_until,
    walks,
    write_settings,
)
from tests.specifications import held
from tests.wire.samples import FRAMES
from tests.wire.strategies import bodies

EURUSD = simulated_symbol("EURUSD")
HELLO = simulated_hello("desk", 1)
TOLD = FRAMES["properties"][1]
assert isinstance(TOLD, Properties)
DAY = 1_440
WORDS = {
    "point": 0.00001, "tick_size": 0.00001, "contract_size": 100_000.0, "volume_min": 0.01,
    "volume_max": 100.0, "volume_step": 0.01, "filling_modes": ["fok", "ioc"],
}  # fmt: skip


def part(told: Symbol | Properties | Hello, at: int = 5, identity: str = "desk") -> Specified:
    symbol = "" if isinstance(told, Hello) else "EURUSD"
    return Specified(identity, symbol, told, at)


def kept(folder: Path) -> list[Version]:
    """The lines of a file, as the archive reads them."""
    path = folder / FILE
    return [decode(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def of_file(folder: Path, most: int = 1 << 20, disk: Disk | None = None) -> Specifications:
    return Specifications(folder, most, disk)


def tell(found: Specifications, *parts: Specified) -> None:
    found.take(parts)
    found.close()


# -- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (EURUSD, WORDS),
        (replace(EURUSD, point=0.0, contract_size=1e13), {
            name: word for name, word in WORDS.items() if name not in ("point", "contract_size")
        }),
        (replace(EURUSD, filling_modes=2), WORDS | {"filling_modes": ["ioc"]}),
        (replace(EURUSD, filling_modes=0), WORDS | {"filling_modes": ["return"]}),
        (replace(EURUSD, volume_min=2.0, volume_max=1.0), {
            name: word for name, word in WORDS.items() if not name.startswith("volume")
        }),
        (HELLO, {"hedging": False, "currency": "USD", "leverage": 100.0}),
        (replace(HELLO, currency="usd", leverage=0, account_mode=AccountMode.HEDGING), {
            "hedging": True
        }),
        (TOLD, {
            "stops_level_points": 20.0, "freeze_level_points": 5.0, "profit_currency": "USD",
            "swap_mode": "points", "swap_long": -6.5, "swap_short": 1.25,
            "swap_triple_day": "wednesday", "sessions": ["monday-tuesday 00:05-23:55"],
        }),
        (replace(TOLD, swap_mode=SwapMode.UNTOLD, profit_currency="", sessions=()), {
            "stops_level_points": 20.0, "freeze_level_points": 5.0
        }),
        (replace(TOLD, swap_mode=SwapMode.NONE, profit_currency="$", sessions=()), {
            "stops_level_points": 20.0, "freeze_level_points": 5.0, "swap_mode": "none"
        }),
    ],
)  # fmt: skip
def test_frames_say_words_of_an_account_file(
    told: Symbol | Properties | Hello, words: dict[str, Any]
) -> None:
    assert words_of(told).words == words


def test_the_value_of_a_tick_is_told_in_the_currency_of_profits_alone() -> None:
    """In another it is what it is at the rate of a moment."""
    told = replace(TOLD, profit_currency="USD", tick_value=12.5)
    assert words_of(told, "USD").words["tick_value"] == 12.5
    for one, currency in ((told, "EUR"), (told, ""), (replace(told, tick_value=0.0), "USD")):
        spoken = words_of(one, currency)
        assert "tick_value" not in spoken.words and "tick_value" in spoken.names
    assert "tick_value" not in words_of(replace(told, profit_currency=""), "").words


def test_sessions_are_told_by_days_that_are_alike() -> None:
    def day(number: int, *spans: tuple[int, int]) -> list[TradeSession]:
        return [TradeSession(number * DAY + a, number * DAY + b) for a, b in spans]

    sessions = [*day(0, (1_385, 1_440)), *day(1, (0, 720), (780, 1_440)),
                *day(2, (0, 720), (780, 1_440)), *day(4, (0, 720), (780, 1_440))]  # fmt: skip
    found = words_of(replace(TOLD, sessions=tuple(sessions))).words["sessions"]
    assert found == [
        "sunday 23:05-24:00",
        "monday-tuesday 00:00-12:00", "monday-tuesday 13:00-24:00",
        "thursday 00:00-12:00", "thursday 13:00-24:00",
    ]  # fmt: skip
    whole = tuple(TradeSession(at * DAY, at * DAY + DAY) for at in range(7))
    found = words_of(replace(TOLD, sessions=whole)).words["sessions"]
    assert found == ["sunday-saturday 00:00-24:00"]


@settings(max_examples=examples(200))
@given(st.one_of(bodies(Symbol), bodies(Properties), bodies(Hello)))
def test_whatever_is_told_can_be_read_again(told: Symbol | Properties | Hello) -> None:
    """And a key without a word is one that the frame speaks of."""
    spoken = words_of(told)
    check(Version(symbol="" if isinstance(told, Hello) else "X", source="d", told=spoken.words))
    assert spoken.words.keys() <= spoken.names


# -- the file ------------------------------------------------------------------------------------


def test_what_is_told_is_kept_once_also_after_a_restart(tmp_path: Path) -> None:
    tell(of_file(tmp_path), part(EURUSD), part(HELLO))
    assert {one.symbol: one.told for one in kept(tmp_path)} == {
        "EURUSD": WORDS, "": {"hedging": False, "currency": "USD", "leverage": 100.0},
    }  # fmt: skip
    before = (tmp_path / FILE).read_bytes()
    tell(of_file(tmp_path), part(EURUSD, at=6), part(HELLO, at=6))
    assert (tmp_path / FILE).read_bytes() == before
    tell(of_file(tmp_path), part(replace(EURUSD, volume_min=0.1), at=7), part(EURUSD, 8, "other"))
    *_, newest, other = kept(tmp_path)
    assert (newest.since_msc, newest.source) == (7, "desk")
    assert held(kept(tmp_path), "EURUSD", "desk") == WORDS | {"volume_min": 0.1}
    assert (other.source, other.told) == ("other", WORDS)


def test_what_symbols_do_not_speak_of_stays_as_it_was_told(tmp_path: Path) -> None:
    """A terminal that comes back tells its symbols first; swaps are not taken back by that."""
    tell(of_file(tmp_path), part(EURUSD), part(TOLD))
    (whole,) = kept(tmp_path)
    assert whole.told == WORDS | words_of(TOLD).words
    tell(of_file(tmp_path), part(EURUSD, at=6))
    assert kept(tmp_path) == [whole]
    tell(of_file(tmp_path), part(replace(TOLD, swap_mode=SwapMode.UNTOLD), at=7))
    found = held(kept(tmp_path), "EURUSD", "desk")
    assert not [name for name in found if name.startswith("swap")]
    assert found["sessions"] == ["monday-tuesday 00:05-23:55"] and found["point"] == 0.00001


def test_of_what_waits_the_newest_counts(tmp_path: Path) -> None:
    found = of_file(tmp_path)
    found.take([part(replace(EURUSD, digits=9, point=at), at=at) for at in range(1, 10)])
    tell(found)
    (only,) = kept(tmp_path)
    assert (only.since_msc, only.told["point"]) == (9, 9.0)


def test_a_clock_that_is_set_back_does_not_undo_what_was_told(tmp_path: Path) -> None:
    tell(of_file(tmp_path), part(EURUSD, at=100))
    tell(of_file(tmp_path), part(replace(EURUSD, point=0.5), at=50))
    assert held(kept(tmp_path), "EURUSD", "desk")["point"] == 0.5


def test_a_symbol_that_would_mean_all_is_not_kept(tmp_path: Path) -> None:
    tell(of_file(tmp_path), Specified("desk", "*", replace(EURUSD, name="*"), 1), part(EURUSD))
    assert [one.symbol for one in kept(tmp_path)] == ["EURUSD"]


@pytest.mark.parametrize("torn", [b'{"symbol":"EU', b"\0" * 40, b'{"symbol":"X"}\n{"told":{}}\n'])
def test_a_torn_end_is_cut(tmp_path: Path, torn: bytes) -> None:
    tell(of_file(tmp_path), part(EURUSD))
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole + torn)
    found = of_file(tmp_path)
    assert (tmp_path / FILE).read_bytes() == whole
    tell(found, part(HELLO))
    assert [one.symbol for one in kept(tmp_path)] == ["EURUSD", ""]


def test_it_does_not_grow_beyond_its_limit(tmp_path: Path) -> None:
    """By a terminal that changes its symbols all the time; what is known stays known."""
    told: Counter[str] = Counter()

    def complain(name: str, text: str) -> None:
        assert text.startswith("desk: EURUSD: ") and "is full" in text
        told[name] += 1

    found = of_file(tmp_path, most=2_000)
    for at in range(1, 50):
        found.take([part(replace(EURUSD, point=float(at)), at=at)])
        assert found.write()
    found.look(complain)
    lines = kept(tmp_path)
    assert (tmp_path / FILE).stat().st_size <= 2_000 and len(lines) > 3
    assert told == {"specifications_reached": 49 - len(lines)}
    newest = lines[-1].told["point"]
    tell(found, part(replace(EURUSD, point=newest)))
    found.look(complain)
    assert told == {"specifications_reached": 49 - len(lines)}


class Counting(Disk):
    """Counts what it is asked to do."""

    calls = 0

    def open(self, path: Path) -> int:
        self.calls += 1
        return super().open(path)

    def write_at(self, file: int, data: bytes, offset: int) -> None:
        self.calls += 1
        super().write_at(file, data, offset)

    def sync(self, file: int) -> None:
        self.calls += 1
        super().sync(file)


def test_who_tells_waits_for_no_disk_and_thousands_are_written_in_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(specifications, "PARTS_A_TURN", 4)
    disk = Counting()
    found = of_file(tmp_path, disk=disk)
    found.take([replace(part(EURUSD), symbol=f"S{at}") for at in range(10)])
    assert disk.calls == 0
    written = []
    while not found.write():
        written.append(len(kept(tmp_path)))
    assert written == [4, 8] and len(kept(tmp_path)) == 10
    calls = disk.calls
    assert found.write() and disk.calls == calls, "nothing waits"


def test_without_room_it_is_tried_again(tmp_path: Path) -> None:
    with recording(tmp_path) as disk:
        found = of_file(tmp_path)
        disk.arm(Fault(1, errno.ENOSPC, "write_at", FILE))
        found.take([part(EURUSD, at=1)])
        with pytest.raises(OSError, match=FILE):
            found.write()
        found.take([part(replace(EURUSD, point=0.5), at=2)])
        tell(found)
    (only,) = kept(tmp_path)
    assert (only.since_msc, only.told["point"]) == (2, 0.5)


# -- the daemon ----------------------------------------------------------------------------------


def test_a_daemon_keeps_what_terminals_tell(tmp_path: Path) -> None:
    """Once, also where a second one hears it, however much of it is on the disk at a time."""
    aliases = {"aliases": {'"*.m"': "*"}}
    config = write_settings(tmp_path, aliases)
    for _ in range(2):
        with Service(config) as service:
            play(terminal(walks(["A.m", "B"], 50), instance=1), address(config))
            wait_until(lambda: {one.symbol for one in kept(tmp_path / "spool")} == {"A", "B", ""})
    assert service.failure is None
    found = kept(tmp_path / "spool")
    words = [(one.symbol, key) for one in found for key in one.told]
    assert len(words) == len(set(words)) and {symbol for symbol, _ in words} == {"A", "B", ""}
    assert {one.source for one in found} == {"demo"}
    assert held(found, "A", "demo")["contract_size"] == 100_000.0
    account = {"hedging": False, "currency": "USD", "leverage": 100.0}
    assert held(found, "", "demo") == account
    assert min(one.since_msc for one in found) > 1_600_000_000_000


def test_a_daemon_says_what_it_has_no_room_for(tmp_path: Path) -> None:
    """On the disk, which may come back, and in the file, which is a limit."""
    config = write_settings(tmp_path, {"spool": {"specifications_max_mib": 1}})
    many = [replace(part(EURUSD), symbol=f"S{at}") for at in range(5_000)]
    with recording(tmp_path) as disk, Service(config) as service:
        disk.arm(Fault(1, errno.ENOSPC, "write_at", FILE, 1 << 60))
        service.daemon.specifications.take(many[:1])
        wait_until(lambda: bool((told := status_of(config)) and told.troubles))
        told = status_of(config)
        assert told is not None and [one.effect for one in told.troubles] == ["goes on"]
        play(terminal(walks("A", 50)), address(config))
        disk.arm(None)
        wait_until(lambda: bool((told := status_of(config)) and not told.troubles))
        service.daemon.specifications.take(many)
        wait_until(lambda: service.counters.get("specifications_reached", 0) > 0)
    assert (tmp_path / "spool" / FILE).stat().st_size <= 1 << 20
