"""Several rule files in one daemon: each finds, changes and fails as if it were alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from signal import SIGTERM
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner, Result
from loguru import logger

from cep.cli import main
from cep.live.config import ConfigError, read_config, rules_folder
from cep.live.numbering import Numbering
from mt5bridge.orders import read_book
from mt5bridge.simulator import Account
from mt5bridge.spool import Group
from mt5bridge.wire import Signal
from tests.live.service import (
    Service,
    address,
    journal,
    play,
    process,
    status_of,
    terminal,
    wait_until,
    walks,
    write_settings,
)
from tests.live.test_restart import play_through_kills
from tests.waiting import LONG_S

SLOW = """@app:name('slow')
define stream Tick (symbol string, bid double, ask double);
from Tick select symbol, (bid + ask) / 2 as mid insert into Mid;
from Mid#window.time(20 sec) select symbol, mid, avg(mid) as ma group by symbol insert into Band;
define engine Tactical (queue = 1 min);
define event Above in Tactical for each symbol as Band[mid > ma + 0.00004];
define event Below in Tactical for each symbol as Band[mid < ma];
define complex Turn in Tactical for each symbol as Above followed by Below within 1 min;
define signal Fade on Turn sell 0.10 lots for 1000 hours;
"""
QUICK = SLOW.replace("'slow'", "'quick'").replace("20 sec", "5 sec").replace("sell", "buy")
MAGIC = 101
WAIT = ("--wait", str(LONG_S))


def settings_of(folder: Path, rules: str = SLOW, quick: str = QUICK, **more: Any) -> Path:
    """Settings of a daemon with two rule files; `more` are keys of the second one."""
    named = {"file": "quick.cep", "magic": MAGIC, **more} if quick else {}
    sections: dict[str, dict[str, Any]] = {
        "rules": {"streams": ["Turn", "Fade"], "watch_ms": 20, "numba": False},
        "state": {"snapshot_records": 300},
    }
    if quick:
        sections["rules.quick"] = {"streams": ["Turn", "Fade"], **named}
    settings = write_settings(folder, sections)
    (folder / "rules.cep").write_text(rules, encoding="utf-8")
    (folder / "quick.cep").write_text(quick, encoding="utf-8")
    return settings


def quick_rows(settings: Path) -> bytes:
    return (settings.parent / "state/rules/quick/events.jsonl").read_bytes()


def meant(signals: Sequence[Signal]) -> list[tuple[Any, ...]]:
    return [(one.time_msc, one.symbol, one.side, one.lots) for one in signals]


def alone(folder: Path, rules: str, ticks: dict[str, Any]) -> tuple[bytes, Sequence[Signal]]:
    """What one rule file finds by itself: rows and signals."""
    settings = settings_of(folder, rules, quick="")
    with Service(settings) as service:
        found = terminal(ticks)
        play(found, address(settings), until=service.is_settled)
    return journal(settings), found.signals


def run(settings: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--config", str(settings)])


def test_each_finds_what_it_finds_alone(tmp_path: Path) -> None:
    """Also where their signals have the same names: magic numbers and ids tell them apart."""
    settings = settings_of(tmp_path / "both")
    account = Account()
    with Service(settings) as service:
        found = terminal(walks("AB", 1_000), account=account)
        play(found, address(settings), until=service.is_settled)
        wait_until(lambda: bool((told := status_of(settings)) and told.rules))
        listed = run(settings, "rules", "ls")
        told = run(settings, "status").output
    slow, quick = ([one for one in found.signals if one.magic == magic] for magic in (77, MAGIC))
    assert {one.name for one in slow} == {"Fade"}
    assert {one.name for one in quick} == {"quick/Fade"}
    for rules, rows, signals in (
        (SLOW, journal(settings), slow),
        (QUICK, quick_rows(settings), quick),
    ):
        expected_rows, expected = alone(tmp_path / rules[11:15], rules, walks("AB", 1_000))
        assert rows == expected_rows and len(rows) > 1_000
        assert meant(signals) == meant(expected) and expected
    ids = [one.id for one in found.signals]
    assert len(set(ids)) == len(ids) == len(account.executed)
    assert {int(deal["magic"]) for deal in account.deals} == {77, MAGIC}
    assert "2 rule files; running: main, quick" in told
    assert [line.split()[:4] for line in listed.output.splitlines()[1:]] == [
        ["main", "runs", "sent", "77"],
        ["quick", "runs", "sent", str(MAGIC)],
    ]  # fmt: skip
    printed = run(settings, "rows", "--rules", "quick")
    assert printed.output.encode() == quick_rows(settings)
    assert run(settings, "rows", "--rules", "quck").exit_code == 2


def test_a_crash_changes_nothing_for_any_of_them(tmp_path: Path) -> None:
    whole, killed = settings_of(tmp_path / "whole"), settings_of(tmp_path / "killed")
    ticks = walks("A", 3_000)
    with Service(whole) as service:
        first = terminal(ticks)
        play(first, address(whole), until=service.is_settled)
    account = Account()
    found = terminal(ticks, account=account)
    play_through_kills(killed, found, [700, 1_700])
    assert journal(killed) == journal(whole)
    assert quick_rows(killed) == quick_rows(whole)
    assert {one.id for one in found.signals} <= account.executed.keys()
    by_id = {one.id: one for one in found.signals}
    assert sorted(meant(list(by_id.values()))) == sorted(meant(first.signals))
    book = read_book(killed.parent / "state" / "orders.journal")
    assert len(book) == len(by_id) == len(account.executed)


@pytest.fixture
def messages() -> Iterator[list[str]]:
    found: list[str] = []
    sink = logger.add(lambda message: found.append(str(message)), level="INFO")
    yield found
    logger.remove(sink)


def changes(settings: Path) -> dict[str, int]:
    told = status_of(settings)
    return {one.name: one.changes for one in told.rules} if told else {}


def test_one_is_changed_alone_and_a_bad_version_leaves_the_old_one(
    tmp_path: Path, messages: list[str]
) -> None:
    settings = settings_of(tmp_path, quick=QUICK)
    ticks = walks("A", 800)
    with Service(settings) as service:
        play(terminal({"A": ticks["A"][:400]}), address(settings))
        quick = tmp_path / "quick.cep"
        quick.write_text(QUICK.replace("avg(mid)", "avg(middle)"), encoding="utf-8")
        wait_until(lambda: any("the old ones go on" in text for text in messages))
        play(terminal({"A": ticks["A"][:500]}, instance=2), address(settings))
        quick.write_text(QUICK.replace("0.00004", "0.00003"), encoding="utf-8")
        wait_until(lambda: changes(settings) == {"main": 0, "quick": 1})
        play(terminal(ticks, instance=3), address(settings))
        assert service.failure is None
    assert b'"note"' not in journal(settings)
    assert quick_rows(settings).count(b'"note":"new rules"') == 1
    before = quick_rows(settings)
    with Service(settings):
        assert quick_rows(settings) == before, "a restart goes on with the new ones"


def raises(groups: Sequence[Group], right: Callable[..., Any], bad: int) -> Iterator[Any]:
    if any(group.ingest >= bad for group in groups):
        raise OverflowError("too large for the rules")
    yield from right(groups)


@pytest.mark.parametrize("name", ["main", "quick"])
def test_one_that_raises_stops_alone_until_the_next_start(tmp_path: Path, name: str) -> None:
    settings = settings_of(tmp_path / "both")
    ticks = walks("A", 1_000)
    with Service(settings) as service:
        (stopped,) = [one for one in service.daemon.files if one.name == name]
        feed: Any = stopped.pipeline.feed
        feed.feed = partial(raises, right=feed.feed, bad=500)
        play(terminal(ticks), address(settings))
        wait_until(lambda: any(one.why for one in status_of(settings).rules))  # type: ignore[union-attr]
        told = run(settings, "rules", "ls").output
        assert f"{name} is stopped: OverflowError: too large for the rules" in told
        assert f"notice: rules {name}: stopped" in run(settings, "status").output
        assert service.failure is None
    with Service(settings) as service:
        assert not any(one.why for one in service.daemon.files.status())
        play(terminal(ticks, instance=2), address(settings))
    for rules, rows in ((SLOW, journal(settings)), (QUICK, quick_rows(settings))):
        settings = settings_of(tmp_path / rules[11:15], rules, quick="")
        with Service(settings):
            play(terminal(ticks), address(settings))
        assert rows == journal(settings)


def test_one_that_cannot_be_read_keeps_no_other_from_starting(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, quick=QUICK.replace("avg(mid)", "avg(middle)"))
    checked = run(settings, "daemon", "--check")
    assert checked.exit_code == 2 and "quick.cep" in checked.stderr
    with Service(settings) as service:
        play(terminal(walks("A", 500)), address(settings))
        (_, quick) = service.daemon.files.status()
        assert not quick.runs and "middle" in quick.why
    assert journal(settings)


def test_one_that_is_not_to_send_does_not(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, send=False)
    with Service(settings) as service:
        found = terminal(walks("A", 800))
        play(found, address(settings), until=service.is_settled)
    assert {one.magic for one in found.signals} == {77}
    assert b'"stream":"Fade"' in quick_rows(settings)


def test_one_is_halted_and_resumed_alone(tmp_path: Path) -> None:
    """Also before the daemon runs, and over its end."""
    settings = settings_of(tmp_path)
    ticks = walks("A", 1_500)
    assert "as soon as one does" in run(settings, "rules", "halt", "quick").output
    assert run(settings, "rules", "halt", "slow").exit_code == 2
    assert "as soon as one does" in run(settings, "rules", "resume", "quick").output
    assert "as soon as one does" in run(settings, "rules", "halt", "quick").output
    with Service(settings) as service:
        found = terminal({"A": ticks["A"][:700]})
        play(found, address(settings), until=service.is_settled)
        assert {one.magic for one in found.signals} == {77}
        book = service.daemon.outgoing.desk.book
        wait_until(lambda: any(entry.state == "refused" for entry in list(book)))  # behind main
        wait_until(lambda: any(one.halted for one in status_of(settings).rules))  # type: ignore[union-attr]
        assert "quick is halted: by hand" in run(settings, "rules", "ls").output
        assert "notice: rules quick: halted: by hand" in run(settings, "status").output
    with Service(settings) as service:
        wait_until(lambda: status_of(settings) is not None)
        assert run(settings, "rules", "resume", "quick", *WAIT).output == "released\n"
        assert run(settings, "rules", "halt", "main", *WAIT).output == "halted\n"
        more = terminal(ticks, instance=2)
        play(more, address(settings), until=service.is_settled)
        assert {one.magic for one in more.signals} == {MAGIC}
    book = read_book(tmp_path / "state" / "orders.journal")
    refused = {entry.request.name: entry.text for entry in book if entry.state == "refused"}
    assert refused == {"Fade": "main is halted: by hand", "quick/Fade": "quick is halted: by hand"}


def test_one_is_stopped_and_loaded_again_alone(tmp_path: Path) -> None:
    """Its rows come out whole, and nothing is sent for what it has missed."""
    settings = settings_of(tmp_path / "both")
    ticks, signals = walks("A", 1_500), []

    def go_on(service: Service, until: int, instance: int) -> list[Signal]:
        found = terminal({"A": ticks["A"][:until]}, instance=instance)
        play(found, address(settings), until=service.is_settled)
        signals.extend(found.signals)
        return [one for one in found.signals if one.magic == MAGIC]

    with Service(settings) as service:
        assert go_on(service, 500, 1)
        wait_until(lambda: status_of(settings) is not None)
        assert run(settings, "rules", "stop", "quick", *WAIT).output == "stopped\n"
        assert not go_on(service, 700, 2)
        wait_until(lambda: "quick is stopped: by hand" in run(settings, "rules", "ls").output)
    with Service(settings) as service:
        wait_until(lambda: status_of(settings) is not None)
        assert not go_on(service, 900, 3), "it stays stopped"
        assert run(settings, "rules", "load", "quick", *WAIT).output == "loaded\n"
        assert go_on(service, 1_200, 4)
        assert run(settings, "rules", "stop", "quick", *WAIT).output == "stopped\n"
        assert run(settings, "rules", "load", "quick", *WAIT).output == "loaded\n"
        assert go_on(service, 1_500, 5)
    before = quick_rows(settings)
    with Service(settings) as service:
        assert all(one.runs for one in service.daemon.files.status())
    assert quick_rows(settings) == before
    for rules, rows in ((SLOW, journal(settings)), (QUICK, before)):
        expected, _ = alone(tmp_path / rules[11:15], rules, {"A": ticks["A"]})
        assert rows == expected
    assert len({one.id for one in signals}) == len(signals)


def test_a_new_one_is_loaded_while_ticks_come(tmp_path: Path) -> None:
    """It warms up on the spool; from some record on it trades, and its rows are whole."""
    settings = settings_of(tmp_path / "new", quick="")
    ticks = walks("A", 7_000)["A"]
    (tmp_path / "new" / "quick.cep").write_text(QUICK, encoding="utf-8")
    with process(settings, tmp_path / "log.txt") as daemon:
        play(terminal({"A": ticks[:3_000]}), address(settings))
        wait_until(lambda: status_of(settings) is not None)
        more = f'\n[rules.quick]\nfile = "quick.cep"\nmagic = {MAGIC}\nstreams = ["Turn", "Fade"]\n'
        settings.write_text(settings.read_text() + more)
        found = terminal({"A": ticks[:6_000]}, instance=2, speed=400.0)
        asked: list[Result] = []
        loader = Thread(target=lambda: asked.append(run(settings, "rules", "load", "quick", *WAIT)))
        loader.start()
        play(found, address(settings), linger_ms=1_000)
        loader.join(LONG_S)
        assert asked[0].output == "loaded\n"
        last = terminal({"A": ticks}, instance=3)
        play(last, address(settings), linger_ms=1_000)
        daemon.send_signal(SIGTERM)
        assert daemon.wait(LONG_S) == 0
    expected, _ = alone(tmp_path / "alone", QUICK, {"A": ticks})
    assert quick_rows(settings) == expected
    assert {one.magic for one in last.signals} == {77, MAGIC}


def test_one_that_is_wrong_is_not_loaded(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with Service(settings) as service:
        wait_until(lambda: status_of(settings) is not None)
        assert run(settings, "rules", "stop", "quick", *WAIT).output == "stopped\n"
        (tmp_path / "quick.cep").write_text("define nothing;", encoding="utf-8")
        service.daemon.files.obey("quick", "load")
        wait_until(lambda: "nothing" in service.daemon.files.status()[1].why)
        play(terminal(walks("A", 100)), address(settings))
        (tmp_path / "quick.cep").write_text(QUICK, encoding="utf-8")
        assert run(settings, "rules", "load", "quick", *WAIT).output == "loaded\n"
        assert service.daemon.files.obey("quick", "load") == "it runs already"
        assert "no [rules.q]" in service.daemon.files.obey("q", "load")


def test_limits_of_one_hold_back_one(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, lots_per_day=0.25)
    with Service(settings) as service:
        found = terminal(walks("A", 1_000))
        play(found, address(settings), until=service.is_settled)
        dropped = service.daemon.dropped.by_name()
    assert sum(one.magic == MAGIC for one in found.signals) == 2
    assert sum(one.magic == 77 for one in found.signals) > 2
    assert dropped["signal quick/Fade"]["limit"] > 0 and "signal Fade" not in dropped


def test_their_complex_events_have_their_names(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with Service(settings) as service:
        play(terminal(walks("A", 800)), address(settings))
        standings = service.server.terminals.events.standings
        wait_until(lambda: all(standings[name].number for name in ("Turn", "quick/Turn")))
        assert standings["quick/Turn"].engine == "quick/Tactical"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('file = "q.cep"\nmagic = 77', "is that of [signals]"),
        ('file = "q.cep"\nmagic = 78', "is that of [orders]"),
        ('file = "q.cep"', "[rules.q] `magic` is missing"),
        ('fil = "q.cep"\nmagic = 1', "did you mean `file`?"),
        ('file = "q.cep"\nmagic = 1\n[rules.main]\nfile = "q.cep"\nmagic = 2', "other than main"),
        ('file = "q.cep"\nmagic = 1\n[rules.r]\nfile = "q.cep"\nmagic = 1', "is that of [rules.q]"),
        ('file = "q.cep"\nmagic = 1\n[database]\nurl = "sqlite://"', "there is one rule file"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "daemon.toml"
    path.write_text(f'[rules]\nfile = "r.cep"\n[rules.q]\n{text}\n', encoding="utf-8")
    with pytest.raises(ConfigError) as found:
        read_config(path)
    assert problem in str(found.value)


def test_each_has_a_folder_of_its_own(tmp_path: Path) -> None:
    config = read_config(settings_of(tmp_path))
    one = config.of("quick")
    assert one.state.folder == rules_folder(config, "quick") == tmp_path / "state/rules/quick"
    assert one.rules.file == tmp_path / "quick.cep" and one.signals.magic == MAGIC
    assert one.state.journal == one.state.folder / "events.jsonl"
    assert json.dumps(str(one.rules.functions)) == '"[]"'


def test_numbers_go_on_when_a_rule_file_comes(tmp_path: Path) -> None:
    """All is numbered anew only when one that was there begins anew."""

    def numbering(settings: Path, until: Callable[[Service], bool]) -> int:
        with Service(settings) as service:
            wait_until(lambda: until(service))
            return service.server.terminals.events.numbering

    first = numbering(settings_of(tmp_path, quick=""), lambda service: True)
    settings = settings_of(tmp_path)
    second = numbering(settings, lambda service: len(service.daemon.files.status()) == 2)
    assert numbering(settings, lambda service: True) == second == first
    settings_of(tmp_path, quick="")
    assert numbering(settings, lambda service: True) == first
    settings = settings_of(tmp_path, quick=QUICK.replace("5 sec", "6 sec"))
    assert numbering(settings, lambda service: True) != first


def test_a_file_that_is_loaded_changes_no_numbers(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, quick="")
    with Service(settings) as service:
        wait_until(lambda: status_of(settings) is not None)
        first = service.server.terminals.events.numbering
        settings_of(tmp_path)
        service.daemon.files.reread = lambda: read_config(settings)
        assert run(settings, "rules", "load", "quick", *WAIT).exit_code == 0
        events = service.server.terminals.events
        wait_until(lambda: "quick/Turn" in events.standings)
        assert events.numbering == first


def test_what_cannot_be_read_is_numbered_anew(tmp_path: Path) -> None:
    first = Numbering(tmp_path).of({"main": 5})
    assert first == 5 == Numbering(tmp_path).of({"main": 5, "other": 7})
    assert Numbering(tmp_path).of({"main": 5, "other": 8}) not in (5, 7, 8)
    (tmp_path / "numbering.json").write_bytes(b"{")
    again = Numbering(tmp_path).of({"main": 5})
    assert again != 5 and Numbering(tmp_path).of({"main": 5}) == again
