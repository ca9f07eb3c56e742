"""A daemon in a thread or a process of its own, and simulated terminals for it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from cep.archive import Archive, ingest_spool, verify
from cep.backtest.selection import select
from cep.backtest.sequential import sequential
from cep.daemon import Daemon
from cep.demo.processes import free_port
from cep.engine.native import Compiled
from cep.live.config import read_config
from cep.live.feed import MarketFeed
from cep.live.rules import load_plan
from cep.live.status_file import status_path
from mt5bridge.client import Connection
from mt5bridge.credential import FILE, Credential, write_credential
from mt5bridge.curve import CurveIdentity
from mt5bridge.records import Records
from mt5bridge.server import Server
from mt5bridge.server.status import Status, read_status
from mt5bridge.simulator import Runner, Terminal, Walk, random_walk, simulated_terminal
from mt5bridge.spool import read
from tests.credentials import CREDENTIAL
from tests.waiting import LONG_MS, LONG_S, deadline
from tests.waiting import wait_until as wait_until

RULES = """@app:name('live')
define stream Tick (symbol string, bid double, ask double);
define stream Deal (symbol string, magic long, side string, lots double);
from Tick select symbol, (bid + ask) / 2 as mid insert into Mid;
from Mid#window.time(20 sec) select symbol, mid, avg(mid) as ma group by symbol insert into Band;
define engine Tactical (queue = 1 min);
define engine Portfolio (queue = 10 min) from Tactical;
define event Above in Tactical for each symbol as Band[mid > ma + 0.00004];
define event Below in Tactical for each symbol as Band[mid < ma];
define event Filled in Tactical for each symbol as every Deal[magic == 77] repeat allow;
define complex Turn in Tactical for each symbol as Above followed by Below within 1 min;
define complex FilledTurn in Tactical for each symbol as Filled followed by Above within 1 min;
define complex Broad in Portfolio as Turn('A') and Turn('B') within 5 min;
define signal Fade on Turn sell 0.10 lots for 1000 hours;
define signal Wide on Broad buy 'A' 0.20 lots for 1000 hours;
"""
STREAMS = ["Above", "Below", "Filled", "Turn", "FilledTurn", "Broad", "Fade", "Wide"]


def write_settings(folder: Path, sections: Mapping[str, Mapping[str, Any]] | None = None) -> Path:
    """Rules, settings and credential in `folder`; `sections` overrides or adds keys.

    Heartbeats come only where the daemon's clock runs: simulated terminals have the clock of their
    ticks, which come faster than their times. After a later heartbeat, signals would be of before
    the daemon's start, and asked about instead of judged.
    """
    settings: dict[str, dict[str, Any]] = {
        "rules": {"file": "rules.cep", "streams": STREAMS},
        "server": {
            "bind": f"tcp://127.0.0.1:{free_port()}",
            "timeout_ms": LONG_MS,
        },
        "signals": {"send": True},
        "state": {"snapshot_records": 5_000, "clock_every_ms": 0},
    }
    for name, keys in (sections or {}).items():
        settings.setdefault(name, {}).update(keys)
    beat_ms = 200 if settings["state"]["clock_every_ms"] else LONG_MS // 2
    settings["server"].setdefault("heartbeat_ms", beat_ms)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rules.cep").write_text(RULES, encoding="utf-8")
    lines = []
    for name, section in settings.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {_toml(value)}" for key, value in section.items()]
    path = folder / "daemon.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    state = folder / settings["state"].get("folder", "state")
    state.mkdir(mode=0o700, exist_ok=True)
    write_credential(state / FILE, CREDENTIAL)
    return path


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {json.dumps(v)}" for key, v in value.items()) + " }"
    return json.dumps(value)


def address(settings: Path) -> str:
    return read_config(settings).server.bind


def journal(settings: Path) -> bytes:
    """The rows that the daemon has written, without one that it is writing."""
    data = (settings.parent / "state" / "events.jsonl").read_bytes()
    return data[: data.rfind(b"\n") + 1]


class Service:
    """A daemon in a thread of this process."""

    def __init__(self, settings: Path, *, waits: bool = True) -> None:
        """It is entered when its rules are warm, or if it does not wait, when it listens."""
        self.waits = waits
        config = read_config(settings)
        self.daemon = Daemon(config)
        self.stop = threading.Event()
        self.ready = threading.Event()
        self.failure: BaseException | None = None
        self.thread = threading.Thread(target=self._run, name="daemon")

    @property
    def server(self) -> Server:
        assert self.daemon.server is not None
        return self.daemon.server

    @property
    def counters(self) -> dict[str, int]:
        return dict(self.daemon.sink.counters)

    def is_settled(self) -> bool:
        """Whether every signal and order that was sent has its final result."""
        return not any(len(one.requests) for one in list(self.server.terminals.sessions.values()))

    def _run(self) -> None:
        try:
            self.daemon.run(self.stop, self.ready)
        except BaseException as failure:  # noqa: BLE001 -- the test looks at it
            self.failure = failure
            self.ready.set()

    def __enter__(self) -> Service:
        """Whoever is not let in leaves no thread behind."""
        with ExitStack() as stack:
            self.thread.start()
            stack.callback(self._end)
            assert self.ready.wait(LONG_S), "the daemon does not start"
            if self.waits:
                wait_until(lambda: self.failure is not None or not self.server.holds_events)
            assert self.failure is None
            stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _end(self) -> None:
        self.stop.set()
        if self.daemon.server is not None and self.thread.is_alive():
            self.daemon.server.wake()
        self.thread.join(LONG_S)
        assert not self.thread.is_alive()


@contextmanager
def process(settings: Path, log: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A daemon as the operating system sees it; killed at the end if it still runs."""
    with log.open("ab") as output:
        found = subprocess.Popen(
            [sys.executable, "-m", "cep", "daemon", "--config", str(settings), *options],
            stdout=output,
            stderr=output,
        )
    try:
        yield found
    finally:
        found.kill()
        found.wait(LONG_S)


def walks(names: Sequence[str], count: int, seed: int = 0) -> dict[str, Records]:
    """Ticks for each letter's symbol, about two a second of market time."""
    return {
        name: random_walk(Walk(ticks=count, seed=seed + number, gap_ms=500))
        for number, name in enumerate(names)
    }


def terminal(ticks: Mapping[str, Records], **options: Any) -> Terminal:
    """A terminal that sends few ticks at a time, so that symbols mix as they do in a market."""
    found = simulated_terminal(ticks, **options)
    found.client.batch_records = 20
    return found


def play(
    found: Terminal,
    where: str,
    credential: Credential | CurveIdentity = CREDENTIAL,
    linger_ms: int = 100,
    until: Callable[[], bool] = lambda: True,
) -> Runner:
    """Run a terminal until everything it has is acknowledged."""
    with Connection(where, credential) as connection:
        runner = Runner(found, connection)
        limit = deadline()
        runner.run(threading.Event(), lambda: (until() and found.finished) or limit(), linger_ms)
    assert found.finished and until(), "the deadline has passed"
    return runner


def status_of(settings: Path) -> Status | None:
    """What a daemon says of itself; None before it has said anything."""
    try:
        return read_status(status_path(read_config(settings)))
    except (OSError, msgspec.MsgspecError):
        return None


def archived(settings: Path) -> Archive:
    """Everything the daemon has stored, moved into an archive and proven whole."""
    archive = Archive(read_config(settings).archive.folder or settings.parent / "proof")
    ingest_spool(settings.parent / "spool", archive, include_open=True)
    report = verify(archive)
    assert report.ok, report.problems
    return archive


def again(settings: Path) -> Iterator[dict[str, Any]]:
    """The rows that the records in the daemon's spool lead to, while it runs."""
    config = read_config(settings)
    run = Compiled(load_plan(config), outputs=STREAMS, jit=config.rules.numba).start()
    feed = MarketFeed(run)
    for rows, _ in feed.feed(list(read(settings.parent / "spool"))):
        yield from rows.dicts()


def replayed(settings: Path, archive: Archive) -> bytes:
    """The rows of one plain run over the archive, as the journal writes them."""
    config = read_config(settings)
    plan = load_plan(config)
    rules = Compiled(plan, outputs=STREAMS, jit=config.rules.numba)
    found = select(archive, plan)
    return b"".join(line + b"\n" for rows in sequential(rules, found) for line in rows.json_lines())
