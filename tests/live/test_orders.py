"""The daemon's orders: callbacks, commands of users, the kill switch, the guard, and restarts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from cep.callbacks import EventsCallback
from cep.live.config import read_config
from cep.live.outgoing import OFF, inbox_of, journal_path
from cep.live.status_file import pause_ms, status_path
from mt5bridge.client import Connection
from mt5bridge.clock import now_msc
from mt5bridge.orders import (
    Book,
    Entry,
    HaltRules,
    OrderError,
    OrderRequest,
    SendOrder,
    TurnHalt,
    order_id,
    read_book,
)
from mt5bridge.server.status import STALE_MS, read_status, running_status
from mt5bridge.simulator import Account, Runner, Terminal
from mt5bridge.wire import TradeMode
from tests.credentials import CREDENTIAL
from tests.live.service import (
    Service,
    address,
    again,
    play,
    process,
    status_of,
    terminal,
    wait_until,
    walks,
    write_settings,
)
from tests.waiting import LONG_MS, LONG_S

OPEN = {
    "signals": {"send": False},
    "orders": {"send": True, "valid_seconds": LONG_MS // 1_000},
}


def book(settings: Path) -> Book:
    return read_book(journal_path(read_config(settings)))


def entry(settings: Path, client_id: str) -> Entry | None:
    return book(settings).get(order_id(client_id))


def put(settings: Path, client_id: str, **keys: Any) -> None:
    usual = {"symbol": "A", "side": "buy", "lots": 0.1}
    request = OrderRequest(client_id=client_id, **{**usual, **keys})
    asked_msc = now_msc()
    inbox_of(read_config(settings)).put(SendOrder(request, asked_msc), asked_msc)


def halt(settings: Path, halted: bool) -> None:
    inbox_of(read_config(settings)).put(TurnHalt(halted, "a test"), now_msc())


@contextmanager
def connected(found: Terminal, settings: Path) -> Any:
    """A terminal that runs beside."""
    stop = Event()
    with Connection(address(settings), CREDENTIAL) as connection:
        runner = Runner(found, connection)
        thread = Thread(target=runner.run, args=(stop, lambda: False))
        thread.start()
        try:
            wait_until(lambda: found.finished)
            yield
        finally:
            stop.set()
            connection.wake()
            thread.join(LONG_S)


def knows_a_symbol(settings: Path) -> bool:
    return any(known.symbols for known in book(settings).terminals.values())


def ended(settings: Path, client_id: str) -> Callable[[], bool]:
    def look() -> bool:
        found = entry(settings, client_id)
        return found is not None and found.is_decided and not found.is_open

    return look


def test_an_order_of_a_user_is_executed_once(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, OPEN)
    found = terminal(walks("A", 500), account=Account((0.5, 0.5)))
    with Service(settings), connected(found, settings):
        for client_id in ("one", "two", "one"):
            put(settings, client_id)
            wait_until(ended(settings, client_id))
        wait_until(lambda: not inbox_of(read_config(settings)).take())
    assert [order.name for order in found.orders] == ["one", "two"]
    assert len(found.account.deals) == 4
    done = entry(settings, "one")
    assert done is not None and done.state == "executed"
    assert [r.status.name for r in done.fates["demo"].results] == ["PARTIAL", "EXECUTED"]


def test_orders_are_off_by_default(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"signals": {"send": False}})
    found = terminal(walks("A", 500))
    with Service(settings), connected(found, settings):
        put(settings, "one")
        wait_until(ended(settings, "one"))
    refused = entry(settings, "one")
    assert refused is not None and refused.text == OFF and found.orders == []


def test_an_order_that_waited_too_long_is_not_sent(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, OPEN)
    request = OrderRequest(client_id="late", symbol="A", side="buy", lots=0.1, valid_seconds=5)
    asked_msc = now_msc() - LONG_MS
    inbox_of(read_config(settings)).put(SendOrder(request, asked_msc), asked_msc)
    found = terminal(walks("A", 500))
    with Service(settings), connected(found, settings):
        wait_until(ended(settings, "late"))
    refused = entry(settings, "late")
    assert refused is not None and "too late, so it was not sent" in refused.text
    assert found.orders == []


def test_the_kill_switch(tmp_path: Path) -> None:
    """Kept while the daemon is down, told to the terminal, and undone."""
    settings = write_settings(tmp_path, OPEN)
    halt(settings, True)
    put(settings, "early")
    found = terminal(walks("A", 500))
    with Service(settings), connected(found, settings):
        wait_until(ended(settings, "early"))
        wait_until(lambda: found.client.halt is not None)
        assert found.client.halt is not None and found.client.halt.halted == 1
    with Service(settings), connected(found, settings):
        put(settings, "second")
        wait_until(ended(settings, "second"))
        wait_until(lambda: (told := status_of(settings)) is not None and told.halted)
        halt(settings, False)
        wait_until(lambda: found.client.halt is not None and not found.client.halt.halted)
        put(settings, "third")
        wait_until(ended(settings, "third"))
    states = {e.asked.client_id: (e.state, e.text) for e in book(settings)}
    assert states["early"] == states["second"] == ("refused", "halted: a test")
    assert states["third"][0] == "executed"


def test_a_halted_rule_file_takes_back_its_pending_orders(tmp_path: Path) -> None:
    """Those of others stand, and closing goes on."""
    quick = {"file": "rules.cep", "magic": 101}
    settings = write_settings(tmp_path, {**OPEN, "rules.quick": quick})
    found = terminal(walks("A", 500), account=Account())
    far = {"kind": "limit", "price": 0.001}
    with Service(settings), connected(found, settings):
        put(settings, "open", magic=101)
        wait_until(ended(settings, "open"))
        put(settings, "quick", magic=101, **far)
        put(settings, "other", **far)
        wait_until(lambda: {"quick", "other"} <= standing(settings))
        inbox_of(read_config(settings)).put(HaltRules("quick", True, "a test"), now_msc())
        wait_until(ended(settings, "quick"))
        put(settings, "late", magic=101)
        put(settings, "close", kind="close", magic=101, lots=0.0, side="")
        wait_until(lambda: ended(settings, "late")() and ended(settings, "close")())
        assert standing(settings) == {"other"} and found.account.orders == 1
    states = {one.asked.client_id: one.state for one in book(settings)}
    assert states["quick"] == "cancelled" and states["close"] == "executed"
    assert states["late"] == "refused"


def standing(settings: Path) -> set[str]:
    return {one.asked.client_id for one in book(settings) if one.state == "placed"}


CALLBACK = """
import json
from pathlib import Path
from cep.callbacks import EventsCallback

class Mine(EventsCallback):
    def on_complex(self, row):
        if row["stream"] == "Turn":
            self.order(client_id=f"turn {row['time_msc']}", symbol="A", side="buy", lots=0.1)
            self.order(client_id=f"turn {row['time_msc']}", symbol="A", side="buy", lots=0.1)
            self.cancel(client_id=f"cancel {row['time_msc']}", ticket=5)
    def on_result(self, row):
        with (Path(__file__).parent / "results.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\\n")
"""


def results(settings: Path) -> list[dict[str, Any]]:
    path = settings.parent / "results.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def finals(settings: Path) -> list[dict[str, Any]]:
    return [row for row in results(settings) if row["is_final"]]


def test_callbacks_order_and_hear_what_came_of_it(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {**OPEN, "rules": {"callback": "mine.py"}})
    (tmp_path / "mine.py").write_text(CALLBACK)
    found = terminal(walks("A", 3_000))
    with Service(settings), connected(found, settings):
        expected = 2 * sum(row["stream"] == "Turn" for row in again(settings))
        wait_until(lambda: len(finals(settings)) == expected)
    names = Counter(order.name for order in found.orders)
    turns = [name for name in names if name.startswith("turn")]
    assert len(turns) > 3 and len(names) == 2 * len(turns) and set(names.values()) == {1}
    heard = {row["client_id"]: row["state"] for row in finals(settings)}
    assert heard == {name: "rejected" if "cancel" in name else "executed" for name in names}
    assert len(found.account.deals) == len(turns)


def test_a_callback_that_orders_nonsense_is_told(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {**OPEN, "rules": {"callback": "mine.py"}})
    (tmp_path / "mine.py").write_text(CALLBACK.replace("lots=0.1", "lots=0.0"))
    found = terminal(walks("A", 3_000))
    with Service(settings) as service:
        play(found, address(settings))
        delivery = service.daemon.rules.delivery
    assert delivery is not None and delivery.failures > 3 and found.orders == []


def test_the_guard_refuses_signals_and_says_why(tmp_path: Path) -> None:
    risk = {"lots_per_order": 0.1, "lots_per_day": 0.35}
    settings = write_settings(tmp_path, {"rules": {"numba": False}, "risk": risk})
    found = terminal(walks("AB", 3_000))
    with Service(settings) as service:
        play(found, address(settings), until=service.is_settled)
    states = Counter(e.state for e in book(settings))
    assert states["executed"] == 3 == len(found.account.executed) and states["refused"] > 3
    texts = {e.text for e in book(settings) if e.refusal}
    assert "lots_per_order 0.1: asked for buy 0.2 lots A" in texts
    assert "lots_per_day 0.35: asked for sell 0.1 lots A after 0.3 today" in texts


def test_a_dry_run_sends_nothing(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"risk": {"dry_run": True}})
    found = terminal(walks("A", 3_000))
    with Service(settings):
        play(found, address(settings))
    assert {e.state for e in book(settings)} == {"dry run"} and found.signals == []


def test_a_terminal_that_only_publishes_gets_nothing(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    found = terminal(walks("A", 3_000), trades=TradeMode.NONE)
    with Service(settings):
        play(found, address(settings), linger_ms=200)
    assert found.signals == []
    assert {e.text for e in book(settings)} == {"no terminal trades A, as far as it has said so"}


def test_kills_lose_no_order_and_no_report(tmp_path: Path) -> None:
    """Orders, a daemon killed after each, and a terminal that goes on: each is executed once."""
    settings = write_settings(tmp_path, OPEN)
    found = terminal(walks("A", 500))
    log = tmp_path / "log.txt"
    names = [f"order {number}" for number in range(2)]
    stop = Event()
    with Connection(address(settings), CREDENTIAL) as connection:
        thread = Thread(target=Runner(found, connection).run, args=(stop, lambda: False))
        thread.start()
        try:
            for number, name in enumerate(names):
                with process(settings, log):
                    # without symbols the daemon refuses, without a price the terminal
                    wait_until(lambda: found.tape.finished and knows_a_symbol(settings))
                    put(settings, name, valid_seconds=600)
                    wait_until(lambda n=number, name=name: len(found.orders) > n  # type: ignore[misc]
                               or entry(settings, name) is not None)  # fmt: skip
            with process(settings, log):
                wait_until(lambda: all(ended(settings, name)() for name in names))
        finally:
            stop.set()
            connection.wake()
            thread.join(LONG_S)
    states = {e.asked.client_id: e.state for e in book(settings)}
    assert states == dict.fromkeys(names, "executed")
    assert len(found.account.deals) == len(names)


def test_the_status_is_written_while_it_runs(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"risk": {"dry_run": True}})
    path = status_path(read_config(settings))
    with Service(settings) as service, connected(terminal(walks("A", 500)), settings):
        wait_until(lambda: path.exists() and bool(read_status(path).terminals))
        first = read_status(path)
        wait_until(lambda: read_status(path).written_msc > first.written_msc)
        status = running_status(path, now_msc())
        assert status is not None and status.bind == service.server.address
    assert (status.sends_signals, status.sends_orders, status.dry_run) == (True, False, True)
    assert [found.identity for found in status.terminals] == ["demo"]
    assert not path.exists()


def test_a_slow_disk_does_not_make_the_daemon_look_dead() -> None:
    assert [pause_ms(took_ms) for took_ms in (0, 20)] == [1_000, 2_000]
    assert pause_ms(60_000) < STALE_MS / 2


@pytest.mark.parametrize("with_orders", [True, False])
def test_in_a_replay_orders_are_checked_and_left_out(tmp_path: Path, with_orders: bool) -> None:
    callback = EventsCallback()
    callback.live = with_orders
    callback.order(client_id="a", symbol="A", side="buy", lots=0.1)
    with pytest.raises(OrderError, match="MARKET needs lots"):
        callback.order(client_id="a", symbol="A", side="buy")
    assert len(callback.take_orders()) == int(with_orders) and callback.take_orders() == []


def test_what_a_callback_orders_is_on_disk_before_the_rows_that_caused_it(tmp_path: Path) -> None:
    """A crash in between would lose it: rows that the journal has are not delivered again."""
    settings = write_settings(tmp_path, {**OPEN, "rules": {"callback": "mine.py"}})
    (tmp_path / "mine.py").write_text(CALLBACK)
    rows = tmp_path / "state" / "events.jsonl"
    missing: list[str] = []

    def look() -> None:
        ordered = {found.asked.client_id for found in book(settings)}
        for line in rows.read_text().splitlines():
            row = json.loads(line)
            if row["stream"] == "Turn" and f"turn {row['time_msc']}" not in ordered:
                missing.append(line)

    found = terminal(walks("A", 3_000))
    with Service(settings) as service:
        disk = service.daemon.rules.journal._disk
        write_at = disk.write_at

        def write_and_look(file: int, data: bytes, offset: int) -> None:
            write_at(file, data, offset)
            look()

        disk.write_at = write_and_look  # type: ignore[method-assign]
        play(found, address(settings), linger_ms=300)
    assert len(found.orders) > 3 and missing == []
