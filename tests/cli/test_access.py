"""Credentials make themselves and are found: `--init`, the first start, `simulate`."""

from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from loguru import logger

from cep.cli import daemon as daemon_command
from cep.cli import main
from cep.cli.access import access, reachable
from cep.cli.errors import UserError
from cep.daemon import Daemon
from cep.dropped import Dropped
from cep.live.config import credential_path, read_config
from cep.live.state_folder import hold
from mt5bridge.credential import USER, Credential, ensure_credential, read_credential
from mt5bridge.server import Sink
from tests.live.service import Service, write_settings

OWN = Credential(USER, "from the environment")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the checkout are here."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MT5CEP_PASSWORD", raising=False)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


def test_init_writes_what_a_daemon_starts_with(tmp_path: Path) -> None:
    done = run("daemon", "--init")
    assert done.exit_code == 0, done.output
    assert "wrote daemon.toml\nwrote rules.cep\n" in done.output
    assert "credential.txt" in done.output and "mt5cep terminal install" in done.output
    secret = read_credential(tmp_path / "state" / "credential.txt").password
    assert secret not in done.output
    checked = run("daemon", "--check")
    assert checked.exit_code == 0 and "fine; rules start" in checked.output


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    run("daemon", "--init", "--config", "a/daemon.toml")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert len(before) == 3
    again = run("daemon", "--init", "--config", "a/daemon.toml")
    assert again.exit_code == 2 and "are not overwritten" in again.stderr
    assert "delete the old one" in again.stderr
    (tmp_path / "a" / "daemon.toml").unlink()
    (tmp_path / "a" / "rules.cep").write_text("-- mine\n")
    assert "rules.cep" not in run("daemon", "--init", "--config", "a/daemon.toml").output
    assert (tmp_path / "a" / "rules.cep").read_text() == "-- mine\n"
    after = {path: path.read_bytes() for path in before if path.name != "rules.cep"}
    assert after.items() <= before.items()


def test_init_for_settings_that_are_there_makes_the_credential(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    credential_path(read_config(settings)).unlink()
    before = settings.read_bytes()
    done = run("daemon", "--init", "--config", settings)
    assert done.exit_code == 0 and "daemon.toml\n" not in done.output
    assert settings.read_bytes() == before
    assert ensure_credential(credential_path(read_config(settings))) is False


def test_init_makes_no_credential_beside_a_daemon(tmp_path: Path) -> None:
    """The daemon that runs would let nobody in with it."""
    settings = write_settings(tmp_path)
    config = read_config(settings)
    credential_path(config).unlink()
    daemon = hold(config.state.folder)
    try:
        done = run("daemon", "--init", "--config", settings)
    finally:
        os.close(daemon)
    assert done.exit_code == 2 and "end the daemon" in done.stderr
    assert not credential_path(config).exists()
    assert run("daemon", "--init", "--config", settings).exit_code == 0


def test_init_names_settings_and_a_credential_that_are_damaged(tmp_path: Path) -> None:
    (tmp_path / "daemon.toml").write_text("[rules\n")
    broken = run("daemon", "--init")
    assert broken.exit_code == 2 and "daemon.toml: not TOML" in broken.stderr
    settings = write_settings(tmp_path)
    credential_path(read_config(settings)).write_bytes(b"")
    damaged = run("daemon", "--init")
    assert damaged.exit_code == 2 and "credential.txt: empty or damaged" in damaged.stderr
    both = run("daemon", "--init", "--check")
    assert both.exit_code == 2 and "which of both?" in both.stderr


def test_without_settings_the_places_are_named() -> None:
    for command in (["daemon"], ["orders", "ls"], ["terminal", "doctor"]):
        done = run(*command)
        assert done.exit_code == 2
        assert "neither daemon.toml nor config/daemon.toml is here" in done.stderr
        assert "`mt5cep daemon --init`" in done.stderr


def test_the_first_start_makes_the_credential_and_simulate_finds_it(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    path = credential_path(read_config(settings))
    path.unlink()
    path.parent.rmdir()
    with Service(settings) as service:
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        done = run("simulate", "--random", "A", "--count", 100, "--stay", 0)
        assert done.exit_code == 0, done.output
        assert "100 ticks acknowledged" in done.stdout
        copy = tmp_path / "copy.txt"
        copy.write_bytes(path.read_bytes())
        copy.chmod(0o600)
        for way in (["--config", settings], ["--credential", copy]):
            done = run("simulate", *way, "--random", "B", "--count", 10, "--identity", way[0])
            assert done.exit_code == 0, done.output
        assert service.counters["connections"] == 3
    made = read_credential(path)
    with Service(settings):
        assert read_credential(path) == made, "a restart keeps it"


def test_simulate_with_another_daemons_credential_says_what_to_do(tmp_path: Path) -> None:
    settings = write_settings(tmp_path / "one")
    other = write_settings(tmp_path / "two")
    file = credential_path(read_config(other))
    file.unlink()
    ensure_credential(file)
    with Service(settings) as service:
        done = run(
            "simulate", "--config", other, "--connect", service.server.address, "--random", "A"
        )
        assert done.exit_code == 2
        assert "it is not this daemon's credential" in done.stderr
        assert "help: name the daemon's settings with --config" in done.stderr
        assert not service.server.terminals.sessions


@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [(b"", 0o600, "empty or damaged"), (None, 0o644, "run `chmod 600")],
)
def test_a_daemon_with_a_bad_credential_does_not_start(
    tmp_path: Path, content: bytes | None, mode: int, message: str
) -> None:
    settings = write_settings(tmp_path)
    path = credential_path(read_config(settings))
    if content is not None:
        path.write_bytes(content)
    path.chmod(mode)
    for check in (["--check"], []):
        done = run("daemon", "--config", settings, *check)
        assert done.exit_code == 2 and message in done.stderr and str(path) in done.stderr
    with pytest.raises(ValueError, match=message):
        Daemon(read_config(settings)).run(threading.Event())
    assert not (tmp_path / "spool").exists()


def test_check_makes_nothing(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    path = credential_path(read_config(settings))
    path.unlink()
    assert run("daemon", "--config", settings, "--check").exit_code == 0
    assert not path.exists()


def test_as_whom_a_client_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, then a user with the environment, then settings; never a command line."""
    with pytest.raises(UserError, match="lets nobody in without one"):
        access(None, None, None, None)
    with pytest.raises(UserError, match="no password for the user a"):
        access(None, None, None, "a")
    settings = write_settings(tmp_path)
    of_settings = read_credential(credential_path(read_config(settings)))
    assert access(None, None, None, None).credential == of_settings, "daemon.toml is here"
    monkeypatch.setenv("MT5CEP_PASSWORD", OWN.password)
    assert access(None, None, None, None).credential == OWN
    assert access(None, None, None, "a").credential == Credential("a", OWN.password)
    assert access(None, settings, None, None).credential == of_settings
    file = tmp_path / "copy"
    ensure_credential(file)
    assert access(None, settings, file, "a").credential == read_credential(file)
    assert access("tcp://h:1", None, None, None).address == "tcp://h:1"
    assert access(None, None, None, None).address == read_config(settings).server.bind
    (tmp_path / "daemon.toml").write_text("[rules\n")
    assert access("tcp://h:1", None, file, None).address == "tcp://h:1", "need not be read"


@pytest.mark.parametrize(
    ("bind", "address"),
    [
        ("tcp://127.0.0.1:5655", "tcp://127.0.0.1:5655"),
        ("tcp://*:5655", "tcp://127.0.0.1:5655"),
        ("tcp://0.0.0.0:1", "tcp://127.0.0.1:1"),
        ("tcp://[::]:1", "tcp://[::1]:1"),
        ("ipc:///tmp/x", "ipc:///tmp/x"),
    ],
)
def test_where_a_client_of_this_machine_connects(bind: str, address: str) -> None:
    assert reachable(bind) == address


def test_no_password_is_an_option() -> None:
    done = run("simulate", "--random", "A", "--password", "secret")
    assert done.exit_code == 2 and "No such option" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has modes of files")
@pytest.mark.parametrize(("mode", "told"), [(0o644, True), (0o600, False)])
def test_passwords_in_settings_that_others_read_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, told: bool
) -> None:
    class Idle:
        """A daemon that ends at once."""

        sink, dropped = Sink(), Dropped()

        def run(self, _stop: threading.Event) -> None: ...

    monkeypatch.setattr(daemon_command, "_made", lambda *_, **__: Idle())
    monkeypatch.setattr("signal.signal", lambda *_: None)
    settings = write_settings(tmp_path, {"server": {"users": {"trader": "pa55word"}}})
    settings.chmod(mode)
    done = run("daemon", "--config", settings)
    logger.remove()  # it writes to this run's standard error
    logger.add(sys.stderr)
    assert done.exit_code == 0, done.output
    assert (f"run `chmod 600 {settings}`" in done.stderr) is told
    assert "pa55word" not in done.output


def test_a_damaged_copy_is_taken_anew_and_the_daemons_own_is_left_alone(tmp_path: Path) -> None:
    copy = tmp_path / "copy.txt"
    missing = run("simulate", "--random", "A", "--credential", copy)
    copy.write_bytes(b"mt5bridge credential 1\nuser a")
    copy.chmod(0o600)
    damaged = run("simulate", "--random", "A", "--credential", copy)
    (tmp_path / "data" / "MQL5").mkdir(parents=True)
    installed = run("terminal", "install", "--folder", tmp_path / "data", "--credential", copy)
    for found, what in ((missing, "no such file"), (damaged, "damaged"), (installed, "damaged")):
        assert found.exit_code == 2 and f"copy.txt: {what}" in found.stderr.replace("empty or ", "")
        assert "copy credential.txt of the daemon's state folder" in found.stderr
        assert "--init" not in found.stderr


def test_who_is_not_let_in_is_told_of_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = write_settings(tmp_path)
    monkeypatch.setenv("MT5CEP_PASSWORD", "wrong")
    with Service(settings):
        found = run("simulate", "--random", "A", "--config", settings, "--user", "nobody")
    assert found.exit_code == 2 and "user or password is wrong" in found.stderr
    assert "help: name the daemon's settings with --config, or its credential" in found.stderr
    assert "--identity" not in found.stderr


@pytest.mark.parametrize("address", ["foo", "tcp://h", "tcp://h:0", "tcp://h:65536", "http://h:1"])
def test_what_is_no_address_is_refused(address: str) -> None:
    found = run("simulate", "--random", "A", "--connect", address)
    assert found.exit_code == 2
    assert f"error: --connect {address}: no address\nhelp: write it as tcp://" in found.stderr
