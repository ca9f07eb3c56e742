"""What the server refuses to start with."""

from __future__ import annotations

import pytest

from mt5bridge.server import Server, Settings, Sink, UnsafeBindError
from mt5bridge.server.settings import BindError, is_loopback
from tests.credentials import PASSWORDS


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


def test_an_address_that_others_reach_is_allowed_expressly() -> None:
    """12.2: a password that passes in the clear guards nothing from who listens in."""
    with pytest.raises(UnsafeBindError, match="not encrypted: whoever listens in"):
        Server(Settings(bind="tcp://*:*", passwords=PASSWORDS), Sink())
    Settings(bind="tcp://*:*", passwords=PASSWORDS, allow_insecure=True).check()


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_a_port_that_is_none_is_refused(host: str) -> None:
    """ZeroMQ would listen on another one."""
    for port in ("1", "65535", "*"):
        Settings(bind=f"tcp://{host}:{port}", passwords=PASSWORDS).check()
    for port in ("0", "-1", "65536", "99999", "4294972951", "x", "", "5655 ", "²"):
        with pytest.raises(BindError, match="use 1 to 65535"):
            Settings(bind=f"tcp://{host}:{port}", passwords=PASSWORDS).check()


@pytest.mark.parametrize("bind", ["tcp://127.0.0.1:*", "ipc:///tmp/x", "tcp://*:*"])
@pytest.mark.parametrize("allow_insecure", [False, True])
def test_no_setting_lets_in_whoever_comes(bind: str, allow_insecure: bool) -> None:
    """12.1: neither loopback nor `allow_insecure`."""
    with pytest.raises(ValueError, match="nobody could be let in"):
        Server(Settings(bind=bind, allow_insecure=allow_insecure), Sink())


@pytest.mark.parametrize(
    ("user", "password", "message"),
    [
        ("a", "", "the password of 'a' is empty"),
        ("a", " ", "the password of 'a' is empty"),
        ("", "b", "the user's name is empty"),
        ("a", "x" * 256, "the password of 'a' is too long: use at most 255 bytes"),
        ("€" * 86, "b", "is too long"),
        ("a\0", "b", "cannot be seen"),
        ("a", "b\n", "spaces at an end"),
    ],
)
def test_users_and_passwords_that_are_none(user: str, password: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(passwords={"good": "good", user: password}).check()


def test_a_password_that_is_refused_is_not_shown() -> None:
    with pytest.raises(ValueError, match="cannot be seen") as caught:
        Settings(passwords={"a": "secret\n"}).check()
    assert "secret" not in str(caught.value)


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
        Server(Settings(bind="tcp://127.0.0.1:*", passwords=PASSWORDS), Sink()) as server,
        pytest.raises(BindError, match=f"cannot listen on {server.address}.*another daemon"),
    ):
        Server(Settings(bind=server.address, passwords=PASSWORDS), Sink())


def test_passwords_are_not_shown() -> None:
    assert "secret" not in repr(Settings(passwords={"ea": "secret"}))
