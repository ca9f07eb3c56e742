"""Limits of what a peer or a file can make grow: each has a setting, a counter and a reason."""

from __future__ import annotations

import os
import socket
from collections import deque
from contextlib import ExitStack
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from cep.cli import main
from cep.live.complex_events import ComplexEvents, Remembered
from cep.live.config import Config, read_config
from cep.live.health import faults
from cep.live.limits import LIMITS, reached
from cep.live.memory import MEMORY, Memory, memory_bytes
from cep.live.rules import load_plan
from cep.live.rules_file import RulesFile
from cep.live.rules_log import RulesLog, Since
from cep.live.set_aside import remove_oldest
from cep.plan.rule_file import BYTES_MAX, RuleFileError, read_rule_file
from mt5bridge.clock import Now
from mt5bridge.records import DEAL, TICK
from mt5bridge.server import DEALS, Batch, Sink, ticks_of
from mt5bridge.server.status import STALE_MS, Status, write_status
from mt5bridge.troubles import Effect, Troubles
from mt5bridge.validate import ALL_GOOD
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

ROOT = Path(__file__).parents[2]
TICKS = """define stream Tick (symbol string, bid double);
from Tick select symbol insert into Mid;
"""


def keys() -> set[str]:
    found = set()
    for field in msgspec.structs.fields(Config):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            found |= {f"[{field.name}] {key.name}" for key in msgspec.structs.fields(field.type)}
        else:
            found.add(field.name)
    return found


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.counter)
def test_every_limit_has_a_setting_and_a_documented_counter(limit: object) -> None:
    assert isinstance(limit, type(LIMITS[0]))
    section, _, names = limit.setting.rpartition("] ")
    for name in names.split(", "):
        assert (f"{section}] {name}" if section else name) in keys()
    page = (ROOT / "docs/operate.md").read_text(encoding="utf-8")
    assert f"`{limit.counter}`" in page.partition("**Counters**")[2].partition('<a id="status">')[0]


def test_limits_that_were_reached_are_told_with_their_newest_reason() -> None:
    sink = Sink()
    sink.complain("symbols_refused", "the first")
    sink.complain("symbols_refused", "x" * 5_000)
    (found,) = reached(sink.counters, sink.reasons)
    assert (found.counter, found.times) == ("symbols_refused", 2)
    assert found.setting == "[server] symbols_max" and found.reason == "x" * 1_000


def test_connections_beyond_the_limit_keep_no_terminal_out(tmp_path: Path) -> None:
    """Those that wait longest without being let in make room; terminals that are there stay."""
    settings = write_settings(tmp_path, {"server": {"connections_max": 8}})
    host, port = address(settings).removeprefix("tcp://").split(":")
    links: deque[socket.socket] = deque()

    def knock() -> bool:
        """One more asks for nothing; this end has thirty at most."""
        links.append(socket.create_connection((host, int(port))))
        if len(links) > 30:
            links.popleft().close()
        return True

    with Service(settings) as service, ExitStack() as stack:
        stack.callback(lambda: [link.close() for link in links])
        for _ in range(30):
            knock()
        wait_until(lambda: service.counters.get("connections_refused", 0) >= 20)
        play(terminal(walks("A", 200)), address(settings), until=knock)
        assert service.counters["ticks"] == 200
        wait_until(lambda: bool((found := status_of(settings)) and found.limits))
        found = CliRunner().invoke(main, ["status", "--config", str(settings)])
        assert found.exit_code == 0 and found.output.endswith("healthy\n")
        assert "notice: [server] connections_max: connections were ended" in found.output


def test_a_rule_file_that_is_too_large_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "rules.cep"
    with path.open("wb") as file:
        file.truncate(BYTES_MAX + 1)
    for command in ("check", "explain", "fmt"):
        found = CliRunner().invoke(main, [command, str(path)])
        assert found.exit_code == 2 and "larger than 8,192 KiB" in found.stderr
    found = CliRunner().invoke(main, ["check", "-"], input="x" * (BYTES_MAX + 1))
    assert found.exit_code == 2 and "<stdin>: larger than" in found.stderr
    path.write_text("x" * 100)
    assert read_rule_file(path, 100) == "x" * 100
    with pytest.raises(RuleFileError, match="another file than you meant"):
        read_rule_file(path, 99)


def test_a_daemon_neither_starts_with_nor_takes_a_rule_file_too_large(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"rules": {"file_max_kib": 4, "watch_ms": 50}})
    rules = tmp_path / "rules.cep"
    with Service(settings) as service:
        rules.write_text(RULES + "-- " + "x" * 60_000_000)
        wait_until(lambda: service.counters.get("rules_refused", 0) >= 1)
        play(terminal(walks("A", 200)), address(settings))
        rules.write_text(RULES + "-- the same again\n")
    found = CliRunner().invoke(main, ["daemon", "--config", str(settings), "--check"])
    assert found.exit_code == 0
    rules.write_text(RULES + "-- " + "x" * 5_000)
    found = CliRunner().invoke(main, ["daemon", "--config", str(settings), "--check"])
    assert found.exit_code == 2 and f"{rules}: larger than 4 KiB" in found.stderr


def test_a_rule_file_too_large_is_complained_of_once_for_each_change(tmp_path: Path) -> None:
    path, told = tmp_path / "r.cep", []
    path.write_text("old")
    file = RulesFile(path, "old", 10, 5, lambda name, text: told.append((name, text)))
    path.write_text("too long")
    assert [file.look(ms) for ms in range(10, 100, 10)] == [None] * 9
    assert [name for name, _ in told] == ["rules_refused"]
    path.write_text("short")
    assert [file.look(ms) for ms in range(100, 130, 10)] == [None, "short", None]


def test_the_log_of_rules_keeps_what_a_restart_needs(tmp_path: Path) -> None:
    log = RulesLog(tmp_path / "x.rules")
    log.begin(Since(0, "first"))
    for number in range(1, 100):
        log.add(Since(10 * number, f"rules {number}"), oldest=10 * number - 25)
    assert [entry.ingest for entry in log.entries] == [960, 970, 980, 990]
    assert RulesLog(tmp_path / "x.rules").at(965) == Since(960, "rules 96")


def test_beyond_the_limit_of_memory_terminals_keep_what_they_have() -> None:
    sink, troubles = Sink(), Troubles()
    memory = Memory(1, sink, troubles)
    memory.look(Now(0, 0))
    (found,) = troubles
    assert (found.name, found.effect) == (MEMORY, Effect.WAITS) and "memory_max_mib" in found.text
    memory.look(Now(2_000, 0))
    assert sink.counters["memory_reached"] == 1
    memory._most = 2 * memory_bytes()
    memory.look(Now(2_500, 0))
    assert troubles.stops, "it is looked at once a second"
    memory.look(Now(3_100, 0))
    assert not troubles.stops
    none = Troubles()
    Memory(0, sink, none).look(Now(9_000, 0))
    assert not list(none)


def test_of_files_that_were_set_aside_the_newest_are_kept(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"state": {"bad_files": 3}})
    config, sink, inbox = read_config(settings), Sink(), tmp_path / "state" / "inbox"
    inbox.mkdir(mode=0o700)
    (tmp_path / "spool").mkdir()
    names = ("state/x-{}-0.state.bad", "state/orders-{}.journal", "spool/{}.cut")
    for number in range(10):
        for name in names:
            path = tmp_path / name.format(number)
            path.write_text("")
            os.utime(path, ns=(number, number))
    (tmp_path / "state" / "orders.journal").write_text("")
    remove_oldest(config, sink.complain)
    for name in names:
        found = {path.name for path in tmp_path.glob(name.replace("{}", "[0-9]"))}
        assert found == {Path(name.format(number)).name for number in (7, 8, 9)}
    assert sink.counters["bad_files_removed"] == 21
    with Service(settings) as service:
        for number in range(10):  # the daemon is halted by each, for it may have been a halt
            (inbox / f"{number}.json").write_text("{}")
        wait_until(lambda: not list(inbox.glob("*.json")))
        wait_until(lambda: service.counters.get("bad_files_removed", 0) == 7)
        assert len(list(inbox.glob("*.bad"))) == 3
        wait_until(lambda: service.daemon.outgoing.desk.guard.is_halted)


def test_deals_wait_when_rules_remember_too_many_texts(tmp_path: Path) -> None:
    """Ticks do not: their only texts are symbols, which have a limit of their own."""
    settings = write_settings(
        tmp_path, {"rules": {"texts_max": 1, "streams": ["Mid"]}, "signals": {"send": False}}
    )
    deals = Batch("demo", DEALS, 1, np.zeros(1, DEAL), ALL_GOOD, 0, 0)
    ticks = Batch("demo", ticks_of("B"), 1, np.zeros(1, TICK), ALL_GOOD, 0, 0)
    with Service(settings) as service:
        play(terminal(walks("A", 200)), address(settings))
        daemon = service.daemon
        assert daemon._has_room_for(ticks) and not daemon._has_room_for(deals)
        assert service.counters["texts_reached"] == 1
        daemon.rules.plan = load_plan(daemon.config, TICKS)
        assert daemon._has_room_for(deals), "rules that read no deals get no texts of them"


def test_attributes_of_simple_events_are_forgotten_beyond_the_limit() -> None:
    told: list[str] = []
    events = ComplexEvents(10, 3, lambda name, _text: told.append(name))
    for number in range(5):
        events._keep_newest(Remembered("E", number, 0, "A", "Tick", "", {}))
    assert [one.sequence for one in events._remembered.values()] == [2, 3, 4]
    assert told == ["bindings_forgotten"] * 2


def test_the_status_says_what_fails(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    call = ["status", "--config", str(settings)]
    found = CliRunner().invoke(main, call)
    assert (found.exit_code, found.output) == (1, "no daemon runs with these settings\n")
    with process(settings, tmp_path / "log.txt") as daemon:
        wait_until(lambda: status_of(settings) is not None)
        found = CliRunner().invoke(main, call)
        assert found.exit_code == 0 and f"process {daemon.pid}" in found.output
        whole = CliRunner().invoke(main, [*call, "--json"])
        assert msgspec.json.decode(whole.stdout, type=Status).memory_bytes > 1 << 20
    found = CliRunner().invoke(main, call)  # at once, though its status is a second old
    assert found.exit_code == 1 and found.output.endswith(
        "by a kill or a crash: start it again\nnot healthy\n"
    )
    found = CliRunner().invoke(main, ["rules", "ls", "--config", str(settings)])
    assert found.exit_code == 2 and "no daemon runs" in found.output
    status = status_of(settings)
    assert status is not None
    wrong = faults(status, status.written_msc + STALE_MS + 1_000)
    assert wrong == ["it has told nothing for 11 s: it has ended, hangs, or its disk is full"]
    troubles = Troubles()
    troubles.report("disk", "no room", Effect.WAITS)
    troubles.report("archive", "is away", Effect.GOES_ON)
    path = tmp_path / "state" / "status.json"
    write_status(path, msgspec.structs.replace(status, troubles=list(troubles)))
    found = CliRunner().invoke(main, call)
    assert found.exit_code == 1 and "fails: disk: no room (waits)" in found.output
    assert "notice: archive: is away (goes on)" in found.output
    assert found.output.endswith("not healthy\n")
