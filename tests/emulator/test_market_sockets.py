"""The sockets: the terminal's rules, and every fault of a script."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.emulator.terminal import Result
from tests.emulator.market import needs_compiler, run, texts
from tests.emulator.peer import Manner, peer

pytestmark = needs_compiler
PATTERN = bytes(i % 251 for i in range(100_000))
CLOSED = "closed, error 5270"


def talk(folder: Path, port: int, *lines: str, **inputs: object) -> Result:
    chosen = " ".join(f"{key}={value}" for key, value in inputs.items())
    result = run(folder, *lines, f"attach SocketProbe Port={port} {chosen}")
    assert result.exit_code == 0, result.journal
    return result


def struck(result: Result, fault: str) -> int:
    assert result.stats is not None
    return result.stats.faults[fault]


def test_bytes_go_out_and_come_back(tmp_path: Path) -> None:
    with peer() as echo:
        result = talk(tmp_path, echo.port)
    assert texts(result, "SocketProbe") == [
        "read unconnected -1 error 5273",
        "sent 100000 in 1 calls",
        "received 100000 wrong 0",
        CLOSED,
    ]
    assert bytes(echo.received) == PATTERN
    assert result.stats is not None
    assert result.stats.sockets["sent"] == result.stats.sockets["received"] == 100_000


def test_short_sends_and_dummy_answers_change_nothing(tmp_path: Path) -> None:
    with peer() as echo:
        result = talk(tmp_path, echo.port, "sockets short=0.9 dummy=0.5 trickle=1")
    assert texts(result, "SocketProbe")[2:] == ["received 100000 wrong 0", CLOSED]
    assert bytes(echo.received) == PATTERN
    assert struck(result, "short") >= 2
    assert struck(result, "trickle") >= 1


def test_an_empty_socket_says_one_byte_and_the_read_waits(tmp_path: Path) -> None:
    with peer() as echo:
        result = talk(tmp_path, echo.port, ReadFirst="true", ReadMs=50)
    assert "dummy 1 read -1 error 0 waited 1" in texts(result, "SocketProbe")
    assert "received 100000 wrong 0" in texts(result, "SocketProbe")


@pytest.mark.parametrize("at", [1, 1_000, 99_999])
def test_a_connection_breaks_in_the_middle(tmp_path: Path, at: int) -> None:
    with peer() as echo:
        result = talk(tmp_path, echo.port, f"sockets cut_after={at}")
    assert f"send failed after {at} bytes, -1 error 5273 connected 0" in texts(
        result, "SocketProbe"
    )
    assert PATTERN[:at].startswith(echo.received)  # what was under way may be lost
    assert struck(result, "cut") == 1


def test_a_connection_breaks_while_reading(tmp_path: Path) -> None:
    with peer() as echo:
        result = talk(tmp_path, echo.port, "sockets cut_after_read=5000")
    assert "readable error 5273 after 5000 bytes" in texts(result, "SocketProbe")


def test_a_peer_that_closes(tmp_path: Path) -> None:
    with peer(Manner.CLOSE) as rude:
        result = talk(tmp_path, rude.port, Bytes=100)
    assert "readable error 5273 after 0 bytes" in texts(result, "SocketProbe")


def test_a_peer_that_does_not_read_stalls_the_sender_until_its_timeout(tmp_path: Path) -> None:
    with peer(Manner.STALL) as deaf:
        result = talk(tmp_path, deaf.port, "sockets send_buffer=4096", Bytes=20_000_000)
    failed = next(text for text in texts(result, "SocketProbe") if "send failed" in text)
    assert failed.endswith("-1 error 5273 connected 0")
    assert result.stats is not None
    assert 200_000 < result.stats.program("SocketProbe").handler("OnStart").longest_us < 5_000_000


def test_a_stall_by_script(tmp_path: Path) -> None:
    with peer() as echo:
        result = talk(tmp_path, echo.port, "sockets stall=1")
    assert "send failed after 0 bytes, -1 error 5273 connected 0" in texts(result, "SocketProbe")
    assert struck(result, "stalled") == 1


def test_a_silent_connection_swallows_bytes_and_breaks_later(tmp_path: Path) -> None:
    with peer() as echo:
        result = talk(tmp_path, echo.port, "sockets silence=1 silence_ms=100")
    printed = texts(result, "SocketProbe")
    assert "sent 100000 in 1 calls" in printed
    assert "readable error 5273 after 0 bytes" in printed
    assert not echo.received


def test_nobody_listens(tmp_path: Path) -> None:
    with peer() as gone:
        port = gone.port
    assert "connect error 5272" in texts(talk(tmp_path, port), "SocketProbe")


def test_a_refusal_by_script(tmp_path: Path) -> None:
    with peer() as echo:
        result = talk(tmp_path, echo.port, "sockets refuse=1")
    assert "connect error 5272" in texts(result, "SocketProbe")
    assert echo.connections == 0


def test_only_listed_addresses_are_allowed(tmp_path: Path) -> None:
    with peer() as echo:
        refused = talk(tmp_path / "refused", echo.port, "sockets allowed=example.org,localhost")
        served = talk(tmp_path / "served", echo.port, "sockets allowed=localhost,127.0.0.1")
    assert "connect error 4014" in texts(refused, "SocketProbe")
    assert "received 100000 wrong 0" in texts(served, "SocketProbe")


def test_there_are_none_in_the_strategy_tester(tmp_path: Path) -> None:
    result = talk(tmp_path, 1, "tester", Exhaust="true")
    assert texts(result, "SocketProbe") == ["created 0 error 4014"]


def test_a_program_has_128_sockets(tmp_path: Path) -> None:
    result = talk(tmp_path, 1, Exhaust="true")
    left = "OnDeinit has left open: 128 sockets"
    assert texts(result, "SocketProbe") == ["created 128 error 5271", left]


def test_the_seed_decides(tmp_path: Path) -> None:
    calls = []
    for index, seed in enumerate((5, 5, 6)):
        with peer() as echo:
            result = talk(tmp_path / str(index), echo.port, f"seed {seed}", "sockets short=0.8")
        calls.append(next(text for text in texts(result, "SocketProbe") if "calls" in text))
    assert calls[0] == calls[1] != calls[2]
