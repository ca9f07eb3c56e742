"""What the server refuses to start with."""

from __future__ import annotations

import pytest

from mt5bridge.server import Server, Settings, Sink, UnsafeBindError
from mt5bridge.server.settings import BindError, is_loopback


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        ("tcp://127.0.0.1:5655", True),
        ("tcp://127.8.8.8:*", True),
        ("tcp://[::1]:5655", True),
        ("tcp://localhost:5655", True),
        ("ipc:///tmp/x", True),
        ("tcp://*:5655", False),
        ("tcp://0.0.0.0:5655", False),
        ("tcp://192.168.1.5:5655", False),
        ("tcp://eth0:5655", False),
    ],
)
def test_loopback(address: str, loopback: bool) -> None:
    assert is_loopback(address) is loopback


def test_open_address_needs_authentication() -> None:
    """12.1"""
    with pytest.raises(UnsafeBindError, match="whoever connects could trade"):
        Server(Settings(bind="tcp://*:0"), Sink())
    Settings(bind="tcp://*:0", passwords={"ea": "secret"}).check()
    Settings(bind="tcp://*:0", allow_insecure=True).check()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"window_records": 0}, "window_records = 0: use 1 or more"),
        ({"timeout_ms": 1_500}, "timeout_ms = 1500: use at least twice heartbeat_ms"),
        ({"symbols_max": 20_000}, "symbols_max = 20000: use 1 to 16384"),
    ],
)
def test_settings_errors_name_the_remedy(changes: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**changes).check()


def test_an_address_in_use_is_named() -> None:
    with (
        Server(Settings(bind="tcp://127.0.0.1:*"), Sink()) as server,
        pytest.raises(BindError, match=f"cannot listen on {server.address}.*another daemon"),
    ):
        Server(Settings(bind=server.address), Sink())


def test_passwords_are_not_shown() -> None:
    assert "secret" not in repr(Settings(passwords={"ea": "secret"}))
