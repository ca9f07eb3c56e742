"""`mt5cep credential`: what it says, and a daemon that takes over what changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from cep.live.config import ConfigError, read_config
from cep.live.credentials import admitted, store_of
from mt5bridge.credential import Credential, read_credential
from mt5bridge.curve import read_identity
from mt5bridge.grant import Grant
from mt5bridge.simulator import RefusedError
from tests.credentials import CREDENTIAL
from tests.live.service import Service, address, play, terminal, wait_until, walks, write_settings


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["credential", *map(str, words)])


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    return write_settings(tmp_path)


def test_add_list_export_remove(settings: Path, tmp_path: Path) -> None:
    found = run(
        "add", "desk", "--config", settings, "--role", "trade", "--identity", "1@Demo",
        "--account", "1@Demo", "--symbol", "EURUSD", "--lots-per-order", "0.5",
    )  # fmt: skip
    assert found.exit_code == 0 and "credential export desk" in found.output
    password = store_of(read_config(settings)).held("desk").credential.password
    listed = run("ls", "--config", settings).output
    assert [line.split()[0] for line in listed.splitlines()] == ["name", "mt5bridge", "desk"]
    told = json.loads(run("ls", "--config", settings, "--json").output)
    assert [one["name"] for one in told] == ["desk"]
    assert told[0]["roles"] == ["trade"] and told[0]["account"] == 1
    assert told[0]["allow_real"] is False
    copy = tmp_path / "copy.txt"
    exported = run("export", "desk", copy, "--config", settings)
    assert read_credential(copy) == Credential("desk", password)
    assert password not in found.output + listed + exported.output
    assert "not overwritten" in run("export", "desk", copy, "--config", settings).output
    assert run("rotate", "desk", "--config", settings).exit_code == 0
    assert store_of(read_config(settings)).held("desk").credential.password != password
    assert run("rm", "desk", "--config", settings).exit_code == 0
    assert "no credential desk" in run("rm", "desk", "--config", settings).output


@pytest.mark.parametrize("account", ["1", "@Demo", "x@Demo", "1@", "0@Demo"])
def test_an_account_that_is_none(settings: Path, account: str) -> None:
    found = run("add", "desk", "--config", settings, "--account", account)
    assert found.exit_code == 2 and "LOGIN@SERVER" in found.output


def test_a_user_that_is_there_already(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"server": {"users": {"desk": "word"}}})
    for name in ("desk", "mt5bridge"):
        found = run("add", name, "--config", settings)
        assert found.exit_code == 2 and "already" in found.output
    config = read_config(settings)
    store_of(config).add("desk", Grant())
    with pytest.raises(ConfigError, match="credential rm desk"):
        admitted(config, CREDENTIAL)


def test_a_running_daemon_takes_over_what_changes(settings: Path) -> None:
    with Service(settings) as service:
        run("add", "desk", "--config", settings, "--identity", "A")
        held = store_of(read_config(settings)).held("desk").credential
        wait_until(lambda: "desk" in service.server.settings.passwords)
        with pytest.raises(RefusedError, match="for identity A"):
            play(terminal(walks("A", 5), identity="B"), address(settings), held)
        play(terminal(walks("A", 5), identity="A"), address(settings), held)
        run("rm", "desk", "--config", settings)
        wait_until(lambda: "desk" not in service.server.settings.passwords)
        with pytest.raises(RefusedError, match="user or password"):
            play(terminal(walks("A", 5), identity="A"), address(settings), held)
        assert service.counters["refused_not_allowed"] == 1


def test_a_program_comes_by_curve(tmp_path: Path) -> None:
    """The file holds all that it needs; new keys send it away."""
    settings = write_settings(tmp_path, {"server": {"curve_bind": "tcp://127.0.0.1:*"}})
    run("add", "desk", "--config", settings, "--identity", "A")
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    made = run("curve", "desk", first, "--config", settings)
    assert made.exit_code == 0 and "curve_bind" not in made.output
    with Service(settings) as service:
        where = service.server.curve_address
        play(terminal(walks("A", 5), identity="A"), where, read_identity(first))
        made = run("curve", "desk", second, "--config", settings)
        keys = read_identity(second).keys
        assert keys.secret not in made.output
        wait_until(lambda: service.server.settings.curve_keys == {"desk": keys.public})
        with pytest.raises(RefusedError, match="user or password"):
            play(terminal(walks("A", 5), identity="A"), where, read_identity(first))
        play(terminal(walks("A", 9), identity="A"), where, read_identity(second))
        rows = ["simulate", "--connect", where, "--credential", str(second), "--identity", "A/x"]
        found = CliRunner().invoke(main, [*rows, "--random", "A", "--count", "10", "--stay", "0"])
        assert found.exit_code == 0, found.output


def test_curve_says_what_is_missing(settings: Path, tmp_path: Path) -> None:
    assert "no credential desk" in run("curve", "desk", tmp_path / "x", "--config", settings).output
    run("add", "desk", "--config", settings)
    assert "set `curve_bind`" in run("curve", "desk", tmp_path / "x", "--config", settings).output
    found = run("curve", "desk", tmp_path / "x", "--config", settings)
    assert found.exit_code == 2 and "not overwritten" in found.output
