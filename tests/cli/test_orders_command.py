"""`mt5cep orders`: what it prints, with a daemon and without."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from cep.cli.orders import TAKES
from cep.live.config import read_config
from cep.live.outgoing import inbox_of, journal_path
from cep.live.status_file import status_path
from mt5bridge.clock import now_msc
from mt5bridge.orders import OrderJournal, OrderRequest, SendOrder, TurnHalt, order_id
from mt5bridge.orders.records import Dealt, Halted, Record, Refused, Sent, Told, requested
from mt5bridge.server.status import Status, write_status
from mt5bridge.simulator import Account
from mt5bridge.wire import Halt, SignalStatus, encode
from tests.live.service import Service, terminal, walks, write_settings
from tests.live.test_orders import OPEN, connected
from tests.orders.desk import NOON_MSC, order, result, signal
from tests.waiting import LONG_S

RECORDS: list[Record] = [
    requested(signal(1), NOON_MSC),
    Sent(1, NOON_MSC, ["one"]),
    Told(NOON_MSC, "one", result(1, SignalStatus.PARTIAL, lots=0.04, price=1.25, deal=71)),
    Told(NOON_MSC, "one", result(1, SignalStatus.EXECUTED, lots=0.06, price=1.26, deal=72)),
    requested(signal(2, lots=9.0), NOON_MSC),
    Refused(2, NOON_MSC, "lots_per_order 1: asked for sell 9 lots EURUSD"),
    requested(order(order_id("mine"), name="mine"), NOON_MSC, client_id="mine"),
    Sent(order_id("mine"), NOON_MSC, ["one"]),
]
ORDER = ("--symbol", "A", "--side", "buy", "--lots", "0.1")


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["orders", *map(str, words)])


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """Settings with a journal that a daemon has left behind."""
    path = write_settings(tmp_path, OPEN)
    journal = OrderJournal(journal_path(read_config(path)))
    journal.add(*RECORDS)
    journal.close()
    return path


def test_ls(settings: Path) -> None:
    found = run("ls", "--config", settings)
    assert found.exit_code == 0
    lines = [line.split("  ") for line in found.output.splitlines()]
    assert [[cell.strip() for cell in line if cell.strip()] for line in lines] == [
        ["asked (UTC)", "id", "name", "what", "state", "filled", "text"],
        ["2024-01-01 12:00:00.000", f"{1:016x}", "Fade", "sell 0.1 lots EURUSD", "executed", "0.1"],
        ["2024-01-01 12:00:00.000", f"{2:016x}", "Fade", "sell 9 lots EURUSD", "refused",
         "lots_per_order 1: asked for sell 9 lots EURUSD"],
        ["2024-01-01 12:00:00.000", f"{order_id('mine'):016x}", "mine",
         "buy limit 0.3 lots EURUSD at 1.25", "queued"],
    ]  # fmt: skip


def test_damage_is_told(settings: Path) -> None:
    path = journal_path(read_config(settings))
    path.write_bytes(b"rubbish\n" + path.read_bytes())
    found = run("ls", "--config", settings)
    assert "orders.journal: 1 damaged line left out" in found.output and "mine" in found.output
    assert "halted: damaged order journal orders.journal, line 1" in found.output
    assert "`mt5cep orders resume`" in found.output


def test_ls_tells_of_what_was_executed_and_is_not_known(settings: Path) -> None:
    journal = OrderJournal(journal_path(read_config(settings)))
    done = result(9, SignalStatus.EXECUTED, lots=0.1)
    journal.add(Told(NOON_MSC, "one", done, unremembered=True))
    journal.close()
    found = run("ls", "--config", settings)
    assert f"not known here, and executed: one: executed 0.1 lots of {9:016x}\n" in found.output


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999", "-1", "x"])
@pytest.mark.parametrize("option", ["--lots", "--price", "--sl", "--tp"])
def test_what_is_no_number_is_not_sent(settings: Path, option: str, value: str) -> None:
    found = run("send", *ORDER, option, value, "--config", settings)
    assert found.exit_code == 2 and f"Invalid value for '{option}': " in found.output
    assert inbox_of(read_config(settings)).take() == []


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--ticket", "-1"), ("--ticket", str(2**64)), ("--magic", str(2**63)),
        ("--valid-seconds", "-1"), ("--deviation-points", "-1"), ("--wait", "nan"),
    ],
)  # fmt: skip
def test_an_impossible_number_names_its_option(settings: Path, option: str, value: str) -> None:
    found = run("send", *ORDER, option, value, "--config", settings)
    assert found.exit_code == 2 and f"Invalid value for '{option}': " in found.output


@pytest.mark.parametrize("kind", TAKES)
def test_an_order_that_lacks_something_is_told_what_it_takes(settings: Path, kind: str) -> None:
    found = run("send", "--kind", kind, "--config", settings)
    assert found.exit_code == 2 and f"help: {kind} takes {TAKES[kind]}\n" in found.output


def test_ls_of_few_and_of_open_ones(settings: Path) -> None:
    last = run("ls", "--config", settings, "--last", 1).output
    assert "Fade" not in last and "the newest 1 of 3 requests; --last 0 shows all" in last
    opened = run("ls", "--config", settings, "--open").output
    assert "mine" in opened and "Fade" not in opened


def test_ls_for_programs(settings: Path) -> None:
    first, second, third = json.loads(run("ls", "--config", settings, "--json").output)
    assert (first["state"], first["is_open"], first["request"]["lots"]) == ("executed", False, 0.1)
    assert [found["deal"] for found in first["terminals"]["one"]["results"]] == [71, 72]
    assert second["text"].startswith("lots_per_order 1") and second["terminals"] == {}
    assert (third["client_id"], third["is_open"]) == ("mine", True)


def test_without_a_journal_nothing_was_asked(tmp_path: Path) -> None:
    found = run("ls", "--config", write_settings(tmp_path))
    assert found.exit_code == 0 and found.output == "no signal or order\n"


def test_show(settings: Path) -> None:
    text = run("show", "1", "--config", settings).output
    assert "sell 0.1 lots EURUSD" in text and "for ever" in text
    assert [line.split()[1:6] for line in text.splitlines()[-2:]] == [
        ["partial", "0.04", "1.25", "71", "10010"],
        ["executed", "0.06", "1.26", "72", "10010"],
    ]
    mine = run("show", "mine", "--config", settings).output
    assert "no answer yet of one" in mine
    assert mine == run("show", f"{order_id('mine'):016X}", "--config", settings).output
    assert json.loads(run("show", "mine", "--config", settings, "--json").output)["is_open"]


def test_show_of_what_was_never_asked(settings: Path) -> None:
    found = run("show", "other", "--config", settings)
    assert found.exit_code == 2
    assert "other: never asked for" in found.output and "ls --last 0" in found.output
    assert run("show", "", "--config", settings).exit_code == 2


def test_show_of_what_damage_has_taken_says_what_is_known(settings: Path) -> None:
    """What a terminal or a deal tells of an id that the journal has lost is kept, and shown."""
    path = journal_path(read_config(settings))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0].replace(b"EURUSD", b"EURUSX"), *lines[1:]]))
    found = run("show", "1", "--config", settings)
    assert found.exit_code == 0 and "never asked" not in found.output
    assert [line.split("UTC")[-1].strip() for line in found.stdout.splitlines()[-3:]] == [
        "sent to: one",
        f"one: partial 0.04 lots of {1:016x}",
        f"one: executed 0.06 lots of {1:016x}",
    ]
    told = json.loads(run("show", "1", "--config", settings, "--json").stdout)
    assert told["state"] == "lost" and len(told["known"]) == 3


def test_show_of_what_a_deal_tells(settings: Path) -> None:
    journal = OrderJournal(journal_path(read_config(settings)))
    deal = Dealt("1@S", 71, 0, NOON_MSC, 7, "EURUSD", 0.1, 0.0, False, 77, unremembered=9)
    journal.add(deal)
    journal.close()
    found = run("show", "9", "--config", settings)
    assert found.exit_code == 0 and "1@S: deal 71: 0.1 lots EURUSD" in found.output


def test_a_halt_is_kept_while_no_daemon_runs(settings: Path) -> None:
    found = run("halt", "--config", settings, "--reason", "news")
    assert found.exit_code == 0 and found.output == "no daemon runs: halted as soon as one does\n"
    found = run("resume", "--config", settings)
    assert found.output == "no daemon runs: released as soon as one does\n"
    commands = [command for _, command in inbox_of(read_config(settings)).take()]
    assert commands == [TurnHalt(True, "news"), TurnHalt(False, "by hand")]


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_a_halt_makes_folders_for_their_owner_alone(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"state": {"folder": "new"}})
    shutil.rmtree(tmp_path / "new")
    before = os.umask(0)
    try:
        assert run("halt", "--config", settings).exit_code == 0
    finally:
        os.umask(before)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").rglob("*")}
    assert modes[tmp_path / "new" / "inbox"] == 0o700
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


@pytest.mark.parametrize("reason", ["y" * 3_000, "a\nb\tc", "\udcff", ""])
def test_no_reason_keeps_a_halt_from_its_way(settings: Path, reason: str) -> None:
    assert run("halt", "--config", settings, "--reason", reason).exit_code == 0
    ((_, command),) = inbox_of(read_config(settings)).take()
    assert isinstance(command, TurnHalt) and command.halted
    assert len(encode(Halt(1, command.reason))) < 400 and command.reason.isprintable()


@pytest.mark.parametrize(
    "words",
    [
        ("orders", "send", *ORDER), ("orders", "halt"), ("orders", "resume"),
        ("rules", "halt", "main"), ("rules", "resume", "main"), ("rules", "stop", "main"),
        ("rules", "load", "main"),
    ],
)  # fmt: skip
def test_what_is_not_answered_in_time_has_an_exit_code_of_its_own(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    """4: handed over to the daemon, which has not answered within `--wait`."""
    settings = write_settings(tmp_path, OPEN)
    status = Status(program="", version="", pid=1, bind="", since_msc=0, written_msc=now_msc())
    write_status(status_path(read_config(settings)), status)
    words = (*words, "--config", str(settings), "--wait", "0")
    found = CliRunner().invoke(main, list(map(str, words)))
    assert found.exit_code == 4 and "handed over, " in found.output
    assert len(inbox_of(read_config(settings)).take()) == 1


@pytest.mark.parametrize(
    "words", [("ls", "--last", -1), ("halt", "--wait", -1), ("send", *ORDER, "--wait", -1)]
)
def test_numbers_that_make_no_sense(settings: Path, words: Any) -> None:
    found = run(*words, "--config", settings)
    assert found.exit_code == 2 and "is not in the range" in found.output
    assert inbox_of(read_config(settings)).take() == []


def test_ls_says_that_all_is_halted(settings: Path) -> None:
    journal = OrderJournal(journal_path(read_config(settings)))
    journal.add(Halted(NOON_MSC, True, "news"))
    journal.close()
    assert "halted: news; `mt5cep orders resume` ends it" in run("ls", "--config", settings).output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (ORDER, "no daemon runs with these settings"),
        ((*ORDER, "--client-id", "x" * 1_025), "name has 1025 bytes, at most 1024"),
        (("--symbol", "A", "--side", "buy"), "MARKET needs lots"),
        ((*ORDER, "--kind", "limit"), "LIMIT needs a price"),
        (("--kind", "cancel"), "CANCEL needs a ticket"),
    ],
)
def test_an_order_that_cannot_be_sent(settings: Path, words: Any, message: str) -> None:
    found = run("send", "--config", settings, *words)
    assert found.exit_code == 2 and message in found.output
    assert inbox_of(read_config(settings)).take() == []


MINE = ("--client-id", "mine", "--kind", "limit", "--symbol", "EURUSD")


def test_an_id_means_one_order(settings: Path) -> None:
    """Told what became of the other order, one would take it for this one."""
    asked = order(order_id("mine"), name="mine")
    same = (
        *MINE, "--side", "buy", "--lots", asked.lots, "--price", asked.price, "--sl", asked.sl,
        "--tp", asked.tp, "--magic", asked.magic, "--deviation-points", asked.deviation_points,
    )  # fmt: skip
    for other in ("--lots", 0.5), ("--sl", 0.5), ("--magic", 1), ("--terminal", "two"):
        found = run("send", "--config", settings, *same, *other)
        assert found.exit_code == 2, found.output
        assert "mine: was asked before as buy limit 0.3 lots EURUSD" in found.output
        assert "another --client-id" in found.output
    assert f", sl {asked.sl}" in run("send", "--config", settings, *same, "--sl", 0.5).output
    again = run("send", "--config", settings, *same, "--valid-seconds", 7)
    assert "no daemon runs" in again.output


def test_an_id_means_one_order_that_waits_too(settings: Path) -> None:
    inbox = inbox_of(read_config(settings))
    first = OrderRequest(client_id="new", symbol="A", side="buy", lots=0.1)
    inbox.put(SendOrder(first, NOON_MSC), NOON_MSC)
    (inbox.folder / "0.json").write_text("{")
    found = run("send", "--config", settings, *ORDER, "--client-id", "new", "--lots", "0.2")
    assert found.exit_code == 2 and "was asked before as buy 0.1 lots A" in found.output
    assert "no daemon" in run("send", "--config", settings, *ORDER, "--client-id", "new").output
    assert (inbox.folder / "0.json").exists()


@contextmanager
def daemon(settings: Path) -> Iterator[None]:
    found = terminal(walks("A", 300), account=Account((0.5, 0.5)))
    with Service(settings), connected(found, settings):
        yield


def run_beside(*words: object) -> Result:
    """Run in another thread, as another process would."""
    found: list[Result] = []
    thread = Thread(target=lambda: found.append(run(*words)))
    thread.start()
    thread.join(LONG_S)
    return found[0]


def test_with_a_daemon(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {**OPEN, "risk": {"lots_per_order": 0.5}})
    send = ("send", "--config", settings, "--wait", LONG_S)
    with daemon(settings):
        done = run_beside(*send, *ORDER, "--client-id", "one")
        again = run_beside(*send, *ORDER, "--client-id", "one", "--json")
        much = run_beside(*send, "--symbol", "A", "--side", "buy", "--lots", "0.6")
        rejected = run_beside(*send, "--kind", "cancel", "--ticket", 5)
        halted = run_beside("halt", "--config", settings, "--reason", "news", "--wait", LONG_S)
        refused = run_beside(*send, *ORDER)
        closed = run_beside(*send, "--kind", "close", "--symbol", "A")
        released = run_beside("resume", "--config", settings, "--wait", LONG_S)
    assert done.exit_code == 0 and "executed" in done.output
    assert json.loads(again.output)["state"] == "executed"
    assert much.exit_code == 2 and "lots_per_order 0.5: asked for buy 0.6 lots A" in much.output
    assert rejected.exit_code == 2 and "no such order" in rejected.output
    assert (halted.output, released.output) == ("halted\n", "released\n")
    assert refused.exit_code == 2 and "halted: news" in refused.output
    assert closed.exit_code == 0, closed.output


def test_orders_that_are_off(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    with daemon(settings):
        found = run_beside("send", "--config", settings, *ORDER)
    assert found.exit_code == 2 and "set [orders] send = true" in found.output
