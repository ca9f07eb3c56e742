"""`mt5cep terminal` as its user sees it."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from cep.demo.processes import free_port
from cep.live.config import credential_path, read_config
from cep.live.credentials import store_of
from mt5bridge.client import Connection
from mt5bridge.credential import Credential, read_credential, write_credential
from mt5bridge.grant import Grant
from mt5bridge.server.status import Status, write_status
from mt5bridge.simulator import Runner, Walk, random_walk, simulated_terminal
from mt5bridge.terminal.folders import Machine
from mt5bridge.troubles import Effect, Trouble
from tests.credentials import CREDENTIAL
from tests.live.service import Service, play, terminal, walks, write_settings
from tests.terminal.machines import (
    HEX,
    OTHER_HEX,
    data_folder,
    program_folder,
    terminals,
    windows,
)
from tests.waiting import LONG_S

BEATING = {"server": {"heartbeat_ms": 200}}
"""Settings with which a daemon hears of a terminal's clock at once."""


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, ["terminal", *arguments])


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """This machine is a made-up one."""
    found = windows(tmp_path / "machine")
    monkeypatch.setattr(Machine, "here", lambda: found)
    monkeypatch.chdir(tmp_path)
    return found


def test_install_into_the_one_terminal_tells_the_clicks(machine: Machine) -> None:
    folder = data_folder(terminals(machine) / HEX, "C:\\Program Files\\Broker MT5")
    done = run("install")
    assert done.exit_code == 0, done.output
    for text in ("Broker MT5", str(folder), "files added", "127.0.0.1", "Algo Trading",
                 "Tools > Options > Expert Advisors", "Compile (F7)"):  # fmt: skip
        assert text in done.output
    assert (folder / "MQL5/Include/Mt5Bridge/Version.mqh").is_file()
    again = run("install")
    assert "unchanged" in again.output and "added" not in again.output


def test_with_several_terminals_the_user_chooses(machine: Machine) -> None:
    folders = [data_folder(terminals(machine) / name) for name in (HEX, OTHER_HEX)]
    asked = run("install")
    assert asked.exit_code == 2
    assert "2 terminals found" in asked.stderr and "--folder" in asked.stderr
    assert all(str(folder) in asked.output for folder in folders)
    assert not any((folder / "MQL5/Include/Mt5Bridge").exists() for folder in folders)
    assert run("install", "--all").exit_code == 0
    assert all((folder / "MQL5/Include/Mt5Bridge").exists() for folder in folders)


def test_a_folder_that_is_found_is_known_by_any_path_to_it(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = data_folder(terminals(machine) / HEX, "C:\\Program Files\\Broker MT5")
    monkeypatch.chdir(folder.parent)
    done = run("install", "--folder", HEX, "--folder", str(folder / "MQL5"))
    assert done.output.count(f"  {folder}\n") == 1 and "ACCOUNT@SERVER/" not in done.output


def test_portable_terminals_elsewhere_differ_and_are_examined(
    machine: Machine, tmp_path: Path
) -> None:
    names: list[str] = []
    for number in "12":
        folder = program_folder(tmp_path / number / "MT5")
        done = run("install", "--folder", str(folder))
        assert done.exit_code == 0, done.output
        names += re.findall(r"its publisher is ACCOUNT@SERVER/(MT5-\w+)", done.output)
    assert len(set(names)) == 2
    assert run("install", "--uninstall", "--folder", str(folder)).exit_code == 0
    settings = write_settings(
        tmp_path / "d", {"server": {"bind": f"tcp://127.0.0.1:{free_port()}"}}
    )
    of_none = run("doctor", "--config", str(settings), "--json", "--wait", "0")
    assert "sources missing" not in findings(of_none)
    of_one = run("doctor", "--config", str(settings), "--json", "--wait", "0", "--folder",
                 str(folder))  # fmt: skip
    assert str(folder) in findings(of_one)["sources missing"]["subject"]


def test_a_dry_run_and_the_way_back(machine: Machine) -> None:
    folder = data_folder(terminals(machine) / HEX)
    planned = run("install", "--dry-run", "--folder", str(folder))
    assert "would be added" in planned.output
    assert not (folder / "MQL5/Include/Mt5Bridge").exists()
    run("install")
    version = folder / "MQL5/Include/Mt5Bridge/Version.mqh"
    version.write_text("// mine\n", encoding="utf-8")
    kept = run("install")
    assert "kept, as it was edited: Include/Mt5Bridge/Version.mqh" in kept.output
    removed = run("install", "--uninstall")
    assert removed.exit_code == 0 and "removed" in removed.output
    assert "left: Include/Mt5Bridge/Version.mqh" in removed.output
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["Version.mqh"]


def test_where_no_terminal_is_the_remedy_is_told(machine: Machine, tmp_path: Path) -> None:
    assert "--folder" in run("install").stderr
    wrong = run("install", "--folder", str(tmp_path))
    assert wrong.exit_code == 2 and "Open Data Folder" in wrong.stderr
    assert run("install", "--all", "--folder", str(tmp_path)).exit_code == 2


def findings(done: Result) -> dict[str, dict[str, str]]:
    """Findings of a `--json` run by name."""
    return {one["name"]: one for one in map(json.loads, done.stdout.splitlines())}


@contextmanager
def simulated(address: str) -> Iterator[None]:
    """A simulated terminal that stays connected."""
    stop = threading.Event()
    found = simulated_terminal({"EURUSD": random_walk(Walk(100))})
    with Connection(address, CREDENTIAL) as connection:
        runner = Runner(found, connection)
        thread = threading.Thread(target=runner.run, args=(stop, lambda: False))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            connection.wake()
            thread.join(LONG_S)


@pytest.mark.usefixtures("machine")
def test_doctor_of_a_running_daemon(tmp_path: Path) -> None:
    settings = write_settings(tmp_path / "d", BEATING)
    with Service(settings) as service, simulated(service.server.address):
        done = run("doctor", "--config", str(settings), "--json", "--wait", str(LONG_S))
    found = findings(done)
    assert {"address", "daemon", "terminal", "stream", "round trip"} <= found.keys()
    assert found.keys() & {"clock", "clock differs"}  # a simulator lives in its ticks' time
    assert done.exit_code == int(any(one["level"] == "problem" for one in found.values()))
    assert all(one["remedy"] for one in found.values() if one["level"] != "ok")


@pytest.mark.usefixtures("machine")
def test_doctor_without_a_daemon_listens_and_takes_nothing(tmp_path: Path) -> None:
    settings = write_settings(tmp_path / "d", BEATING)
    ticks = walks("A", 500)
    with Service(settings) as service:
        play(terminal(ticks, identity="first"), service.server.address)
        address = service.server.address
    before = {path: path.read_bytes() for path in (tmp_path / "d" / "spool").iterdir()}
    with simulated(address):
        done = run("doctor", "--config", str(settings), "--json", "--wait", str(LONG_S))
    found = findings(done)
    assert {"no daemon", "terminal"} <= found.keys()
    after = {path: path.read_bytes() for path in (tmp_path / "d" / "spool").iterdir()}
    assert after == before


@pytest.mark.usefixtures("machine")
def test_doctor_tells_why_the_last_daemon_has_ended(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    status = Status(program="p", version="1", pid=1, bind="b", since_msc=0, written_msc=5)
    trouble = Trouble("spool-commit", "Input/output error", Effect.ENDS, 4)
    (tmp_path / "state").mkdir(exist_ok=True)
    write_status(
        tmp_path / "state" / "status.json", msgspec.structs.replace(status, troubles=[trouble])
    )
    done = run("doctor", "--config", str(settings), "--json", "--wait", "0.1")
    found = findings(done)["daemon ended"]
    assert "Input/output error" in found["seen"] and found["level"] == "problem"


@pytest.mark.usefixtures("machine")
def test_doctor_names_what_bars_it(tmp_path: Path) -> None:
    import zmq

    settings = write_settings(
        tmp_path / "d", {"server": {"bind": f"tcp://127.0.0.1:{free_port()}"}}
    )
    alone = run("doctor", "--config", str(settings), "--wait", "0.2")
    assert alone.exit_code == 1 and "no terminal is connected" in alone.output
    assert "1 problem" in alone.output and "Tools > Options" in alone.output
    with zmq.Context() as context, context.socket(zmq.ROUTER) as other:
        other.bind(settings.read_text().split('bind = "')[1].split('"')[0])
        taken = run("doctor", "--config", str(settings), "--json", "--wait", "0.2")
    assert taken.exit_code == 1 and "address taken" in findings(taken)


def test_a_wrong_settings_file_is_bad_input(tmp_path: Path) -> None:
    done = run("doctor", "--config", str(tmp_path / "none.toml"))
    assert done.exit_code == 2 and "no such file" in done.stderr


@pytest.mark.parametrize("wait", ["nan", "-1", "soon"])
def test_a_wrong_time_to_wait_is_bad_input(tmp_path: Path, wait: str) -> None:
    done = run("doctor", "--config", str(tmp_path / "none.toml"), "--wait", wait)
    assert done.exit_code == 2
    assert "'--wait'" in done.output


def credential_of(folder: Path) -> Path:
    """Where the programs of a terminal look for it."""
    return folder / "MQL5" / "Files" / "Mt5Bridge" / "credential.txt"


def test_install_gives_the_daemons_credential(machine: Machine, tmp_path: Path) -> None:
    folder = data_folder(terminals(machine) / HEX)
    settings = write_settings(tmp_path / "d")
    unknown = run("install")
    assert unknown.exit_code == 0 and not credential_of(folder).exists()
    assert "no credential given" in unknown.output and "install --config FILE" in unknown.output
    planned = run("install", "--config", str(settings), "--dry-run")
    assert "credential would be added" in planned.output and not credential_of(folder).exists()
    done = run("install", "--config", str(settings))
    assert "credential added: Files/Mt5Bridge/credential.txt" in done.output
    assert read_credential(credential_of(folder)) == CREDENTIAL
    assert CREDENTIAL.password not in done.output
    if os.name == "posix":
        assert credential_of(folder).stat().st_mode & 0o777 == 0o600
    assert "credential unchanged" in run("install", "--config", str(settings)).output


def test_install_makes_the_credential_of_a_daemon_that_never_ran(
    machine: Machine, tmp_path: Path
) -> None:
    folder = data_folder(terminals(machine) / HEX)
    settings = write_settings(tmp_path)  # here, as daemon.toml
    kept = credential_path(read_config(settings))
    kept.unlink()
    assert "would be added" in run("install", "--dry-run").output and not kept.exists()
    done = run("install")
    assert f"made the daemon's credential, {kept.relative_to(tmp_path)}" in done.output.replace(
        f"{tmp_path}{os.sep}", ""
    )
    assert read_credential(credential_of(folder)) == read_credential(kept)


def test_install_mends_a_credential_and_uninstall_takes_it_back(
    machine: Machine, tmp_path: Path
) -> None:
    folder = data_folder(terminals(machine) / HEX)
    copy = tmp_path / "copy.txt"
    write_credential(copy, CREDENTIAL)
    credential_of(folder).parent.mkdir(parents=True)
    for content in (b"", b"mt5bridge credential 1\nuser a\npassword b\n"):
        credential_of(folder).write_bytes(content)
        assert "credential updated" in run("install", "--credential", str(copy)).output
        assert read_credential(credential_of(folder)) == CREDENTIAL
    copy.write_bytes(b"")
    damaged = run("install", "--credential", str(copy))
    assert damaged.exit_code == 2 and "copy.txt: empty or damaged" in damaged.stderr
    assert "credential would be removed" in run("install", "--uninstall", "--dry-run").output
    assert "credential removed" in run("install", "--uninstall").output
    assert not credential_of(folder).parent.exists()
    assert "no credential is there" in run("install", "--uninstall").output


def test_install_gives_a_users_credential(machine: Machine, tmp_path: Path) -> None:
    """One that allows only some things, without a copy of it on the way; the doctor knows it."""
    folder = data_folder(terminals(machine) / HEX)
    settings = write_settings(tmp_path / "d", {"server": {"users": {"ea": "a-secret-of-its-own"}}})
    store = store_of(read_config(settings))
    store.add("desk", Grant(account=1, server="S"))
    unknown = run("install", "--config", str(settings), "--user", "other")
    assert unknown.exit_code == 2 and "no credential other; there are: desk" in unknown.output
    for user, password in (
        ("desk", store.held("desk").credential.password),
        ("ea", "a-secret-of-its-own"),
    ):
        done = run("install", "--config", str(settings), "--user", user)
        assert done.exit_code == 0 and password not in done.output
        assert read_credential(credential_of(folder)) == Credential(user, password)
        told = findings(run("doctor", "--config", str(settings), "--json", "--wait", "0"))
        assert f"is the daemon's, of {user}" in told["credential"]["seen"]
    both = run("install", "--user", "desk", "--credential", str(credential_of(folder)))
    assert both.exit_code == 2 and "which of both" in both.output


def test_doctor_compares_credentials(machine: Machine, tmp_path: Path) -> None:
    folder = data_folder(terminals(machine) / HEX)
    settings = write_settings(tmp_path / "d")
    kept = credential_path(read_config(settings))

    def found() -> dict[str, dict[str, str]]:
        done = run("doctor", "--config", str(settings), "--json", "--wait", "0")
        return {name: one for name, one in findings(done).items() if "credential" in name}

    assert found() == {}, "our sources are not there"
    run("install")
    assert found().keys() == {"credential missing"}
    assert "mt5cep terminal install --config FILE" in found()["credential missing"]["remedy"]
    run("install", "--config", str(settings))
    assert found().keys() == {"credential"}
    write_credential(kept, Credential("mt5bridge", "new"))
    assert found().keys() == {"credential other"}
    credential_of(folder).write_bytes(b"")
    assert "damaged" in found()["credential other"]["seen"]
    kept.unlink()
    assert found().keys() == {"no credential"}
    assert "--init" in found()["no credential"]["remedy"]
    assert not kept.exists()
