"""What surrounds a daemon: log, metrics, health, alerts, its supervisor, new settings."""

from __future__ import annotations

import configparser
import json
import os
import re
import signal
import socket
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from click.testing import CliRunner
from loguru import logger
from prometheus_client.parser import text_string_to_metric_families

from cep.cli import main
from cep.daemon import Daemon, DaemonFailedError
from cep.demo.processes import free_port
from cep.live.alerts import (
    HELD_BACK,
    QUEUE_MAX,
    REPEATED,
    URLS_FROM,
    Alerts,
    Throttle,
    recipients_of,
)
from cep.live.config import Alerting, Config, ConfigError, Metrics, Rules, limits_of, read_config
from cep.live.endpoint import REQUESTS_MAX, address_of
from cep.live.limits import reached
from cep.live.settings_reload import (
    RELOADED,
    differing,
    is_reloaded,
    taken_over,
    with_loaded,
)
from cep.live.supervisor import Supervisor
from mt5bridge.clock import Now
from mt5bridge.server import Sink
from mt5bridge.troubles import Effect
from tests.live.service import (
    RULES,
    Service,
    address,
    play,
    process,
    status_of,
    terminal,
    wait_until,
    walks,
    write_settings,
)  # fmt: skip
from tests.live.test_config import ALL
from tests.live.test_config import toml as to_toml
from tests.waiting import LONG_S

ROOT = Path(__file__).parents[2]
SECRET = "s3cr3tt0ken"


@pytest.fixture(autouse=True)
def _log_is_as_before() -> Iterator[None]:
    yield
    logger.remove()
    logger.add(sys.stderr)


# -- metrics and health ----------------------------------------------------------------------------


def asked(port: int, path: str, host: str | None = None) -> HTTPResponse:
    link = HTTPConnection("127.0.0.1", port, timeout=LONG_S)
    link.request("GET", path, headers={} if host is None else {"Host": host})
    return link.getresponse()


def test_figures_and_health_are_told_over_http(tmp_path: Path) -> None:
    port = free_port()
    settings = write_settings(tmp_path, {"metrics": {"bind": f"127.0.0.1:{port}"}})
    with Service(settings) as service:
        play(terminal(walks("A", 200)), address(settings))
        wait_until(lambda: b'counter="ticks"} 200.0' in asked(port, "/metrics").read())
        text = asked(port, "/metrics").read().decode()
        families = {one.name: one for one in text_string_to_metric_families(text)}
        assert [one.value for one in families["mt5cep_healthy"].samples] == [1.0]
        (durable,) = families["mt5cep_terminal_records_durable"].samples
        assert durable.labels == {"terminal": "demo"} and durable.value >= 200.0
        found = asked(port, "/health")
        assert found.status == 200 and json.loads(found.read())["healthy"] is True
        service.daemon.troubles.report("disk", "no room", Effect.WAITS)
        wait_until(lambda: asked(port, "/health").status == 503)
        told = json.loads(asked(port, "/health").read())
        assert told["faults"] == ["disk: no room (waits)"] and not told["healthy"]
        service.daemon.troubles.clear("disk")
        wait_until(lambda: asked(port, "/health").status == 200)
        assert asked(port, "/else").status == 404
        assert asked(port, "/health", host="evil.example").status == 403
        assert asked(port, "/health", host="localhost:1").status == 200
        with pytest.raises(ConnectionError):
            socket.create_connection(("127.0.0.2", port))
    with pytest.raises(ConnectionError):
        asked(port, "/health")


def test_who_asks_and_says_nothing_disturbs_nobody(tmp_path: Path) -> None:
    port = free_port()
    settings = write_settings(tmp_path, {"metrics": {"bind": f"127.0.0.1:{port}"}})
    with Service(settings):
        links = [socket.create_connection(("127.0.0.1", port)) for _ in range(4 * REQUESTS_MAX)]
        play(terminal(walks("A", 200)), address(settings))
        for link in links:
            link.close()
        wait_until(lambda: _answers(port))
        assert status_of(settings) is not None


def _answers(port: int) -> bool:
    try:
        return asked(port, "/health").status == 200
    except (ConnectionError, OSError):
        return False


@pytest.mark.parametrize("bind", ["", "x", "127.0.0.1", "127.0.0.1:x", ":1", "127.0.0.1:70000"])
def test_an_address_for_figures_that_is_none_is_refused(bind: str) -> None:
    with pytest.raises(ConfigError, match="use an address such as"):
        address_of(Metrics(bind=bind))


def test_figures_are_told_to_others_only_if_wanted() -> None:
    with pytest.raises(ConfigError, match="other machines reach"):
        address_of(Metrics(bind="0.0.0.0:1"))
    assert address_of(Metrics(bind="0.0.0.0:1", allow_others=True)) == ("0.0.0.0", 1)
    assert address_of(Metrics(bind="[::1]:2")) == ("::1", 2)


def test_an_address_in_use_is_told_and_ends_the_start(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        settings = write_settings(tmp_path, {"metrics": {"bind": f"127.0.0.1:{port}"}})
        with process(settings, tmp_path / "log.txt") as daemon:
            assert daemon.wait(LONG_S) == 3
    assert f"cannot listen on 127.0.0.1:{port}" in (tmp_path / "log.txt").read_text()


# -- the supervisor --------------------------------------------------------------------------------


@contextmanager
def listener(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as found:
        found.bind(str(path))
        found.settimeout(LONG_S)
        yield found


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")
def test_systemd_is_told_that_it_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = write_settings(tmp_path)
    with listener(tmp_path / "n") as notified:
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "n"))
        monkeypatch.setenv("WATCHDOG_USEC", "300000")
        with process(settings, tmp_path / "log.txt") as daemon:
            assert notified.recv(100) == b"READY=1"
            assert [notified.recv(100) for _ in range(3)] == [b"WATCHDOG=1"] * 3
            os.kill(daemon.pid, signal.SIGTERM)
            while (told := notified.recv(100)) == b"WATCHDOG=1":
                pass
            assert told == b"STOPPING=1" and daemon.wait(LONG_S) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")
def test_signs_of_life_come_three_times_in_the_time_of_the_watchdog(tmp_path: Path) -> None:
    with listener(tmp_path / "n") as notified:
        keys = {"NOTIFY_SOCKET": str(tmp_path / "n"), "WATCHDOG_USEC": "3000000"}
        supervisor = Supervisor(keys)
        for ms in range(5_000, 8_000, 10):
            supervisor.look(Now(ms, 0))
        others = {**keys, "WATCHDOG_PID": "1"}
        Supervisor(others).look(Now(0, 0))
        Supervisor({"NOTIFY_SOCKET": str(tmp_path / "gone")}).ready()
        Supervisor({}).look(Now(0, 0))
        supervisor.stopping()
        told = [notified.recv(100) for _ in range(4)]
        assert told == [b"WATCHDOG=1"] * 3 + [b"STOPPING=1"]


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")
def test_that_it_stops_is_told_also_to_a_systemd_that_is_behind(tmp_path: Path) -> None:
    with listener(tmp_path / "n") as notified:
        keys = {"NOTIFY_SOCKET": str(tmp_path / "n"), "WATCHDOG_USEC": "3000"}
        supervisor = Supervisor(keys)
        for ms in range(1_000):  # no room for most of them, and nobody waits
            supervisor.look(Now(ms, 0))
        with ThreadPoolExecutor(1) as threads:
            threads.submit(supervisor.stopping)
            told = [notified.recv(100)]
            while told[-1] == b"WATCHDOG=1":
                told.append(notified.recv(100))
        assert told[-1] == b"STOPPING=1"


# -- files that are shipped ------------------------------------------------------------------------


def test_the_unit_has_what_the_daemon_needs() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(ROOT / "config/mt5cep.service", encoding="utf-8")
    service = unit["Service"]
    assert service["Type"] == "notify" and int(service["WatchdogSec"]) >= 30
    assert service["MemoryMax"] and service["RestartPreventExitStatus"] == "2"
    arguments = service["ExecStart"].split()[1:]
    assert arguments[0] in main.list_commands(None)  # type: ignore[arg-type]
    assert "MemoryDenyWriteExecute" not in service, "the engine makes machine code"


@pytest.mark.skipif(not Path("/usr/bin/systemd-analyze").exists(), reason="there is no systemd")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    text = (ROOT / "config/mt5cep.service").read_text(encoding="utf-8")
    text = text.replace("/opt/mt5cep/bin/mt5cep", sys.executable)
    (tmp_path / "mt5cep.service").write_text(text, encoding="utf-8")
    call = ["systemd-analyze", "verify", str(tmp_path / "mt5cep.service")]
    found = subprocess.run(call, capture_output=True, text=True, timeout=LONG_S)
    told = [line for line in found.stderr.splitlines() if "mt5cep.service" in line]
    assert not [line for line in told if "Unknown" in line or "ailed to parse" in line], told


def test_the_windows_service_calls_the_daemon() -> None:
    service = ElementTree.parse(ROOT / "config/mt5cep-service.xml").getroot()
    assert service.findtext("arguments", "").startswith("daemon --config ")
    assert service.find("onfailure") is not None and service.findtext("stoptimeout")


def test_the_container_runs_the_daemon_as_nobody_special() -> None:
    text = (ROOT / "config/Containerfile").read_text(encoding="utf-8")
    steps = dict(re.findall(r"^([A-Z]+) (.*)$", text, flags=re.MULTILINE))
    assert json.loads(steps["CMD"])[0] == "daemon" and steps["USER"] == "mt5cep"
    probe = json.loads(steps["HEALTHCHECK"].partition("CMD ")[2])
    assert probe[:2] == ["mt5cep", "status"]


# -- alerts ----------------------------------------------------------------------------------------


class Told:
    """A recipient that remembers, and waits if it is to."""

    name = "told"

    def __init__(self, is_reached: bool = True) -> None:
        self.texts: list[str] = []
        self.is_reached = is_reached
        self.goes_on = Event()
        self.goes_on.set()

    def tell(self, title: str, text: str) -> bool:
        assert self.goes_on.wait(LONG_S)
        self.texts.append(f"{title}: {text}")
        return self.is_reached


def test_an_alert_is_told_once_and_so_many_an_hour() -> None:
    throttle = Throttle(per_hour=3, repeat_ms=1_000)
    assert [throttle.stops("a", ms) for ms in (0, 999, 1_000)] == ["", REPEATED, ""]
    assert [throttle.stops(text, 1_500) for text in ("b", "c")] == ["", HELD_BACK]
    assert not throttle.stops("c", 3_600_000) and throttle.stops("d", 3_600_000) == HELD_BACK
    many = Throttle(per_hour=10_000, repeat_ms=1_000)
    assert not any(many.stops(str(n), 0) for n in range(5_000)) and len(many._known) == 256


def test_the_number_of_a_complaint_makes_it_no_other_text() -> None:
    throttle = Throttle(per_hour=20, repeat_ms=1_000)
    told = (
        "x (no. 1): bad",
        "x (no. 2): bad",
        "x (no. 4): bad",
        "y",
        "y (3 since this was last told)",
    )
    assert [throttle.stops(text, 0) for text in told] == ["", REPEATED, REPEATED, "", REPEATED]


def test_warnings_keep_no_error_back() -> None:
    """`status` tells those that were not sent, and why."""
    sink, told = Sink(), Told()
    alerts = Alerts(Alerting(level="WARNING", per_hour=1), [told], sink)
    for number in range(3):
        logger.warning("a peer, {}", number)
    logger.error("the disk")
    alerts.close()
    assert [text.rpartition(": ")[2] for text in told.texts] == [
        "a peer, 0", "the disk\n(2 more were held back before)",
    ]  # fmt: skip
    (found,) = reached(sink.counters, sink.reasons)
    assert (found.times, found.setting, found.reason) == (2, "[alerts] per_hour", "a peer, 2")


def test_entries_of_the_log_are_told_and_nobody_waits_for_it() -> None:
    sink, told = Sink(), Told()
    told.goes_on.clear()
    alerts = Alerts(Alerting(per_hour=1_000), [told], sink)
    logger.warning("not so bad")
    for number in range(2 * QUEUE_MAX):
        logger.error("failure {}\x1b", number)
    wait_until(lambda: sink.counters["alerts_dropped"] >= QUEUE_MAX - 1)
    told.goes_on.set()
    alerts.close()
    logger.error("after the end")
    assert QUEUE_MAX <= len(told.texts) <= QUEUE_MAX + 1
    assert told.texts[0].endswith(r"ERROR: failure 0\x1b")
    assert sink.counters["alerts_sent"] == len(told.texts)


def test_what_was_held_back_is_told_with_the_next_one() -> None:
    sink, told = Sink(), Told()
    alerts = Alerts(Alerting(), [told], sink)
    for text in ("a", "a", "a", "b"):
        logger.error(text)
    alerts.close()
    assert [text.rpartition("ERROR: ")[2] for text in told.texts] == [
        "a", "b\n(2 more were held back before)",
    ]  # fmt: skip
    assert sink.counters["alerts_repeated"] == 2 and not sink.counters["alerts_held_back"]


def test_an_alert_that_fails_leads_to_no_other() -> None:
    sink, told = Sink(), Told(is_reached=False)
    alerts = Alerts(Alerting(level="WARNING"), [told], sink)
    logger.warning("one")
    alerts.close()
    assert len(told.texts) == 1 and sink.counters["alerts_failed"] == 1


class Hook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append(json.loads(data))  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_args: Any) -> None:
        pass


@contextmanager
def webhook() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    server = HTTPServer(("127.0.0.1", 0), Hook)
    server.got = []  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"json://127.0.0.1:{server.server_port}/{SECRET}", server.got  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join(LONG_S)
        server.server_close()


def test_a_webhook_is_told_of_a_daemon_that_fails(tmp_path: Path) -> None:
    with webhook() as (url, got):
        settings = write_settings(tmp_path, {"alerts": {"urls": [url]}})
        with Service(settings) as service:
            service.daemon.troubles.report("disk", "no room", Effect.WAITS)
            wait_until(lambda: bool(got))
        assert "disk: no room" in got[0]["message"] and "ERROR" in got[0]["title"]
        found = CliRunner().invoke(main, ["alert", "hello", "--config", str(settings)])
        assert found.exit_code == 0 and found.output == "[alerts] urls, no. 1 (json): sent\n"
        assert got[-1]["message"] == "hello"
    found = CliRunner().invoke(main, ["alert", "--config", str(settings)])
    assert found.exit_code == 1 and "not sent" in found.output
    assert SECRET not in found.output


def test_what_goes_wrong_at_a_start_is_told(tmp_path: Path) -> None:
    """Alerts begin before anything is read: a daemon that comes up halted does not do so unseen."""
    with webhook() as (url, got):
        settings = write_settings(tmp_path, {"alerts": {"urls": [url]}})
        (tmp_path / "state" / "orders.journal").write_bytes(b"no line of a journal\n" * 2)
        with Service(settings) as service:
            assert service.daemon.outgoing.desk.book.halted is not None
            wait_until(lambda: bool(got))
        assert "orders.journal" in got[0]["message"] and "damaged" in got[0]["message"]


def test_what_ends_a_start_is_told(tmp_path: Path) -> None:
    with webhook() as (url, got):
        settings = write_settings(tmp_path, {"alerts": {"urls": [url]}})
        (tmp_path / "state" / "orders.journal").mkdir()
        daemon = Daemon(read_config(settings))
        with pytest.raises(DaemonFailedError):
            daemon.run(Event())
        assert any("orders.journal" in one["message"] for one in got)


def test_an_address_that_is_none_is_named_without_its_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URLS_FROM, f"json://localhost nonsense://{SECRET}")
    with pytest.raises(ConfigError, match=r"MT5CEP_ALERT_URLS, no. 2 \(nonsense\)") as problem:
        recipients_of(Alerting())
    assert SECRET not in str(problem.value)
    settings = write_settings(tmp_path, {"alerts": {"urls": [SECRET]}})
    monkeypatch.delenv(URLS_FROM)
    found = CliRunner().invoke(main, ["daemon", "--config", str(settings), "--check"])
    assert found.exit_code == 2 and SECRET not in found.output
    settings = write_settings(tmp_path)
    found = CliRunner().invoke(main, ["alert", "--config", str(settings)])
    assert found.exit_code == 2 and "nobody is to be told" in found.stderr


# -- new settings ----------------------------------------------------------------------------------


def test_every_setting_is_either_taken_over_or_waits(tmp_path: Path) -> None:
    old = Config(rules=Rules(file=Path("r")))
    path = tmp_path / "c.toml"
    path.write_text('log_level = "DEBUG"\n' + to_toml(ALL), encoding="utf-8")
    new = read_config(path)
    names = differing(old, new)
    assert {"log_level"} | {f"[{s}] {k}" for s, keys in ALL.items() for k in keys} == set(names)
    assert set(names) > RELOADED
    mixed = taken_over(old, new)
    assert set(differing(old, mixed)) == RELOADED
    assert set(differing(mixed, new)) == set(names) - RELOADED


def test_limits_of_rule_files_are_taken_over_and_the_rest_waits(tmp_path: Path) -> None:
    def read(lots: float, magic: int, *names: str) -> Config:
        tables = {
            f"rules.{name}": {"file": "r.cep", "magic": magic + n, "lots_per_order": lots}
            for n, name in enumerate(names)
        }
        path = tmp_path / "c.toml"
        path.write_text(to_toml({"rules": {"file": "r.cep"}, **tables}), encoding="utf-8")
        return read_config(path)

    old, new = read(1.0, 5, "one"), read(2.0, 6, "one", "two", "three")
    known = with_loaded(old, new, {"main", "one", "two"})
    assert known.rule_files.keys() == {"one", "two"}
    names = differing(known, new)
    taken = [name for name in names if is_reloaded(name)]
    assert "[rules.one] lots_per_order" in taken and "[rules.one] magic" not in taken
    mixed = taken_over(known, new)
    assert mixed.rule_files["one"].lots_per_order == 2.0
    assert mixed.rule_files["one"].magic == 5
    assert limits_of(mixed).named[1].limits.lots_per_order == 2.0
    assert "three" not in mixed.rule_files


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no such signal")
def test_a_hangup_reloads_rules_and_settings(tmp_path: Path) -> None:
    keys: dict[str, dict[str, Any]] = {"rules": {"watch_ms": 0}, "log": {"file": "a.log"}}
    settings = write_settings(tmp_path, keys)

    def log() -> str:
        return (tmp_path / "a.log").read_text() if (tmp_path / "a.log").exists() else ""

    bind = address(settings)
    with process(settings, tmp_path / "log.txt") as daemon:
        wait_until(lambda: "listening" in log())
        (tmp_path / "rules.cep").write_text(RULES.replace("20 sec", "21 sec"))
        os.kill(daemon.pid, signal.SIGHUP)
        wait_until(lambda: "new rules from record 1 on" in log())
        assert "settings taken over: none has changed" in log()
        more = {"risk": {"lots_per_day": 2.0}, "server": {"bind": bind, "symbols_max": 9}}
        write_settings(tmp_path, {**keys, **more})
        os.kill(daemon.pid, signal.SIGHUP)
        wait_until(lambda: "wait for a restart: [server] symbols_max\n" in log())
        assert "settings taken over: [risk] lots_per_day\n" in log()
        settings.write_text("nonsense")
        os.kill(daemon.pid, signal.SIGHUP)
        wait_until(lambda: "the settings stay as they are" in log())
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(LONG_S) == 0
