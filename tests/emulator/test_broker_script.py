"""What a script says to the broker is checked before a terminal is started."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from mt5bridge.emulator.broker_log import BrokerLogError, read_broker_log
from mt5bridge.emulator.broker_script import (
    ACTIONS,
    AMOUNTS,
    RANGES,
    SHARES,
    check_broker_command,
    check_broker_setting,
)
from mt5bridge.emulator.build import SHIM


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, "1..5") for key in RANGES),
        *((key, "0.25") for key in SHARES),
        *((key, "250") for key in AMOUNTS),
        ("reject", "10004:0.5:3"),
        ("reject", "10006"),
        ("comments", "cut:20"),
        ("comments", "replace:any text"),
        ("closed", "*"),
        ("open", "EURUSD,USDJPY"),
    ],
)
def test_settings_that_are_understood(key: str, value: str) -> None:
    check_broker_setting(key, value)
    if " " not in value:
        check_broker_command(f"{key}={value}")


@pytest.mark.parametrize(
    ("key", "value", "remedy"),
    [
        ("latency", "5", "latency_ms"),
        ("latency_ms", "5..1", "smaller number first"),
        ("latency_ms", "quick", "1..5"),
        ("lost", "2", "from 0 to 1"),
        ("stop_out", "-1", "0 or more"),
        ("reject", "404", "10004:0.5:3"),
        ("comments", "cut", "cut:31"),
    ],
)
def test_settings_that_are_not_say_what_would_be(key: str, value: str, remedy: str) -> None:
    with pytest.raises(ValueError, match=remedy):
        check_broker_setting(key, value)


@pytest.mark.parametrize("name", ACTIONS)
def test_every_action_has_an_example_that_is_understood(name: str) -> None:
    example = ACTIONS[name][1].split(" [")[0]
    check_broker_command(example)


@pytest.mark.parametrize("text", ["", "dance", "trade up EURUSD 1", "revise last price 1"])
def test_actions_that_are_not_understood(text: str) -> None:
    with pytest.raises(ValueError, match=r"nothing|has no action|write for example"):
        check_broker_command(text)


def test_python_and_cpp_know_the_same_settings_and_actions() -> None:
    settings = (SHIM / "broker" / "settings.cpp").read_text()
    commands = (SHIM / "broker" / "commands.cpp").read_text()
    assert all(f'{{"{key}"' in settings for key in (*RANGES, *SHARES, *AMOUNTS))
    assert settings.count("&Settings::") == len((*RANGES, *SHARES, *AMOUNTS))
    assert all(f'words[0] == "{name}"' in commands for name in ACTIONS)
    assert commands.count("words[0] == ") == len(ACTIONS)


def test_the_page_names_every_setting_and_action() -> None:
    page = (Path(__file__).parents[2] / "docs" / "emulator.md").read_text(encoding="utf-8")
    _, _, section = page.partition("## The broker")
    keys = (*RANGES, *SHARES, *AMOUNTS, "reject", "comments", "closed", "open")
    assert all(f"`{key}`" in section for key in keys)
    assert all(f"`{name}" in section for name in ACTIONS)


def test_a_log_with_foreign_records_is_refused(tmp_path: Path) -> None:
    for body, message in (
        (struct.pack("<qHB", 0, 1, 9), "kind 9"),
        (struct.pack("<qH", 0, 0) + b"rest", "4 bytes"),
    ):
        path = tmp_path / "broker.log"
        path.write_bytes(struct.pack("<II", len(body), zlib.crc32(body)) + body)
        with pytest.raises(BrokerLogError, match=message):
            read_broker_log(path)
