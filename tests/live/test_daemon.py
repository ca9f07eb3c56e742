"""The whole daemon over real TCP: nothing lost, rows equal a replay, signals come back as fills."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
import zmq

from cep.archive import Archive, ingest_spool
from cep.daemon import Daemon, DaemonFailedError
from cep.live.config import read_config
from mt5bridge.client import Connection, introduce
from mt5bridge.credential import Credential
from mt5bridge.simulator import Account, RefusedError, Runner, parse_script
from mt5bridge.spool import RecordKind, SpoolLockedError, read
from tests.credentials import CREDENTIAL
from tests.live.service import (
    STREAMS,
    Service,
    address,
    archived,
    journal,
    play,
    replayed,
    terminal,
    wait_until,
    walks,
    write_settings,
)


def rows(settings: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal(settings).splitlines()]


def test_everything_is_stored_in_order_and_rows_equal_a_replay(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    ticks = walks("ABC", 4_000)
    account = Account()
    found = terminal(ticks, account=account)
    with Service(settings) as service:
        play(found, address(settings), until=service.is_settled)
        counters = service.counters
    assert counters["ticks"] == 12_000
    archive = archived(settings)
    for symbol, records in ticks.items():
        stored = [g.records for g in read(tmp_path / "spool") if g.stream == ("ticks", symbol)]
        assert np.concatenate(stored).tobytes() == records.tobytes()
    assert replayed(settings, archive) == journal(settings)
    streams = Counter(row["stream"] for row in rows(settings))
    assert streams["Fade"] > 10 and streams["Wide"] > 0
    assert len(account.executed) == streams["Fade"] + streams["Wide"]


def test_fills_of_signals_come_back_and_fire_events(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    account = Account(fills=(0.5, 0.5))
    with Service(settings) as service:
        found = terminal(walks("AB", 900), account=account, speed=30.0)
        play(found, address(settings), until=service.is_settled)
    deals = [g.records for g in read(tmp_path / "spool") if g.kind is RecordKind.DEALS]
    assert np.concatenate(deals).tobytes() == account.deals.tobytes()
    assert len(account.deals) == 2 * len(account.executed)
    streams = Counter(row["stream"] for row in rows(settings))
    assert streams["Filled"] == len(account.deals) > 10
    assert streams["FilledTurn"] > 0


def test_faults_of_the_line_change_nothing(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    faults = "".join(
        f'[[fault]]\naction = "{action}"\nat_record = {at}\nevery_records = 4000\n'
        for action, at in [
            ("disconnect", 700), ("duplicate", 1500), ("skip", 2200),
            ("garbage", 3600), ("lose", 3900),
        ]
    )  # fmt: skip
    script = parse_script("late = 0.01\nsame_ms = 0.1\n" + faults)
    with Service(settings) as service:
        runner = play(terminal(walks("AB", 6_000), script=script), address(settings))
        counters = service.counters
    assert runner.drops > 0 and counters["duplicates"] > 0 and counters["gaps"] > 0
    assert sum(n for name, n in counters.items() if name.startswith("bad_frames")) > 0
    archive = archived(settings)
    assert archive.manifest.lost
    assert replayed(settings, archive) == journal(settings)


CALLBACK = """
import json
from pathlib import Path
from cep.callbacks import EventsCallback

class Mine(EventsCallback):
    def on_event(self, row):
        self.note(row)
    def on_complex(self, row):
        self.note(row)
    def on_signal(self, row):
        self.note(row)
        if row["stream"] == "Fade":
            raise RuntimeError("mine")
    def note(self, row):
        with (Path(__file__).parent / "called.jsonl").open("a") as file:
            file.write(json.dumps(row, separators=(",", ":")) + "\\n")
"""


def test_a_callback_sees_all_rows_in_order_and_may_raise(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"rules": {"callback": "mine.py"}})
    (tmp_path / "mine.py").write_text(CALLBACK)
    with Service(settings) as service:
        play(terminal(walks("A", 3_000)), address(settings))
        delivery = service.daemon.rules.delivery
    assert delivery is not None
    assert (tmp_path / "called.jsonl").read_bytes() == journal(settings)
    assert delivery.failures == sum(row["stream"] == "Fade" for row in rows(settings)) > 0


SENDING = """
from cep.callbacks import EventsCallback

class Mine(EventsCallback):
    def on_complex(self, row):
        self.send("Tick", row["time_msc"], {"symbol": "A", "bid": 1.0, "ask": 1.0})
"""


def test_a_callback_cannot_send_rows_to_a_live_daemon(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"rules": {"callback": "mine.py"}})
    (tmp_path / "mine.py").write_text(SENDING)
    with Service(settings) as service:
        play(terminal(walks("A", 3_000)), address(settings))
        delivery = service.daemon.rules.delivery
    assert delivery is not None
    found = Counter(row["stream"] for row in rows(settings))
    assert delivery.failures == found["Turn"] + found["FilledTurn"] > 0
    assert delivery.callback.take_sent() == []
    archived(settings)


def test_without_leave_no_signal_is_sent(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"signals": {"send": False}})
    found = terminal(walks("A", 3_000))
    with Service(settings):
        play(found, address(settings))
    assert any(row["stream"] == "Fade" for row in rows(settings))
    assert found.signals == []


def test_only_the_named_terminal_gets_signals_also_later(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"signals": {"terminal": "trader"}})
    ticks = walks("A", 3_000)
    watcher = terminal(ticks, identity="watcher")
    trader = terminal({"A": ticks["A"][:10]}, identity="trader", instance=2)
    with Service(settings) as service:
        play(trader, address(settings))
        play(watcher, address(settings))
        play(trader, address(settings), until=service.is_settled)
        outcomes = service.counters["signal_results"]
    found = sum(row["stream"] == "Fade" for row in rows(settings))
    assert watcher.signals == []
    assert len(trader.signals) == len(trader.account.executed) == outcomes == found > 0


def test_users_and_passwords(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"server": {"users": {"trader": "secret"}}})
    with Service(settings) as service:
        with pytest.raises(RefusedError, match="password"):
            play(terminal(walks("A", 100)), address(settings), Credential("trader", "wrong"))
        assert "frames" not in service.counters
        play(terminal(walks("A", 100)), address(settings), Credential("trader", "secret"))
        assert service.counters["ticks"] == 100


def test_a_second_terminal_with_the_same_name_is_refused(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    first = terminal(walks("A", 400), instance=1, speed=1.0)
    second = terminal(walks("A", 400, seed=9), instance=2)
    with Service(settings) as service:
        with (
            Connection(address(settings), CREDENTIAL) as one,
            Connection(address(settings), CREDENTIAL) as two,
        ):
            running, refused = Runner(first, one), Runner(second, two, patience_ms=300)

            def both() -> bool:
                running.step()
                refused.step()
                return False

            wait_until(lambda: (running.step(), "ticks" in service.counters)[1])
            with pytest.raises(RefusedError, match="its own identity"):
                wait_until(both)
        assert service.counters["refused_identity_in_use"] > 0
    stored = [g for g in read(tmp_path / "spool") if g.stream == ("ticks", "A")]
    taken = np.concatenate([group.records for group in stored])
    assert taken.tobytes() == first.tape.ticks["A"][: len(taken)].tobytes()


def test_strangers_and_bad_frames_disturb_nobody(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    with Service(settings) as service, context, context.socket(zmq.DEALER) as stranger:
        stranger.linger = 0
        introduce(stranger, CREDENTIAL)
        stranger.connect(address(settings))
        for frame in (b"", b"hello", b"MT5B" + bytes(12), b"\xff" * 5_000):
            stranger.send(frame)
        stranger.send_multipart([b"two", b"parts"])
        play(terminal(walks("A", 1_000)), address(settings))
        wait_until(lambda: sum(v for k, v in service.counters.items() if "bad" in k) == 5)
        assert service.counters["ticks"] == 1_000
    archived(settings)


def test_a_full_spool_acknowledges_nothing_until_it_is_archived(tmp_path: Path) -> None:
    sizes = {"segment_mib": 1, "max_mib": 2}
    rules = {"streams": [*STREAMS, "Mid"]}  # of each tick a row: what is refused must make none
    sections = {"spool": sizes, "rules": rules, "signals": {"send": False}}
    settings = write_settings(tmp_path, sections)
    found = terminal(walks("A", 60_000))  # 60 bytes each
    archive = Archive(tmp_path / "proof")
    with Service(settings) as service, Connection(address(settings), CREDENTIAL) as connection:
        runner = Runner(found, connection)

        def full() -> bool:
            runner.step()
            return service.counters.get("refused", 0) > 0

        def freed() -> bool:
            runner.step()
            ingest_spool(tmp_path / "spool", archive)
            return found.finished

        wait_until(full)
        assert not found.finished
        assert sum(p.stat().st_size for p in (tmp_path / "spool").iterdir()) <= 2 << 20
        wait_until(freed)
        assert service.counters["ticks"] == 60_000
    lines = journal(settings).splitlines(keepends=True)
    found_once = [line for line in lines if b'"stream":"Mid"' not in line]
    assert len(lines) - len(found_once) == 60_000
    assert replayed(settings, archived(settings)) == b"".join(found_once)


def test_two_daemons_cannot_share_a_spool(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    with Service(settings), pytest.raises(SpoolLockedError, match="another process"):
        Daemon(read_config(settings)).run(Event())


def test_a_daemon_that_cannot_acknowledge_any_more_ends(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)

    def broken() -> None:
        raise RuntimeError("no way")

    with Service(settings) as service, Connection(address(settings), CREDENTIAL) as connection:
        service.daemon.rules.save = broken  # type: ignore[method-assign]
        runner = Runner(terminal(walks("A", 100)), connection)
        wait_until(lambda: (runner.step(), not service.thread.is_alive())[1])
    assert isinstance(service.failure, DaemonFailedError)
    assert "RuntimeError: no way" in str(service.failure)
