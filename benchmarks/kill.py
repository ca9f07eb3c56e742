"""Kill the daemon under load, again and again; then prove that nothing is lost or done twice.

    python -m benchmarks.kill [--kills 50] [--seed 1] [--power-loss] [--folder DIR]

A simulated terminal sends ticks of several symbols as fast as the daemon acknowledges, executes
the signals that come back and reports the fills. The daemon is killed with SIGKILL at random
moments, also while it starts, and started again. With --power-loss everything that no sync had
confirmed is cut off its files at a random byte before each restart, as if the page cache were gone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.machine import describe
from cep.archive import Archive
from cep.engine.native import Compiled
from cep.live.config import Trading, read_config
from cep.live.effects import Effects
from cep.live.journal import Journal
from cep.live.pipeline import Pipeline
from cep.live.rules import load_plan
from mt5bridge.client import ClientState, Connection
from mt5bridge.clock import monotonic_ms
from mt5bridge.credential import FILE
from mt5bridge.records import Records
from mt5bridge.server.status import read_status
from mt5bridge.simulator import Account, Runner, Terminal
from mt5bridge.spool import read
from mt5bridge.spool.recovery import examine
from tests.credentials import CREDENTIAL
from tests.live.service import (
    STREAMS,
    address,
    archived,
    journal,
    replayed,
    status_of,
    terminal,
    wait_until,
    walks,
    write_settings,
)
from tests.waiting import LONG_S

SYMBOLS = "ABCDEF"


@dataclass(slots=True)
class Outcome:
    """What is left after the last kill."""

    kills: int = 0
    kills_while_starting: int = 0
    cut_bytes: int = 0
    start_ms: list[int] = field(default_factory=list)
    ticks: int = 0
    deals: int = 0
    rows: int = 0
    signals: int = 0
    executed: int = 0
    executed_and_not_found_again: int = 0
    executed_twice: int = 0
    never_executed: int = 0
    problems: list[str] = field(default_factory=list)

    def table(self) -> str:
        lines = ["| | |", "|---|---|"]
        for name in self.__slots__:
            value = getattr(self, name)
            if name == "start_ms":
                name, value = "start_ms (median)", int(np.median(value)) if value else 0
            if name == "problems":
                value = "; ".join(value) or "none"
            text = f"{value:,}" if isinstance(value, int) else value
            lines.append(f"| {name.replace('_', ' ')} | {text} |")
        return "\n".join(lines)


@dataclass
class Test:
    """A terminal that lives on, and a daemon that does not."""

    folder: Path
    seed: int
    ticks: int
    power_loss: bool = False

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.settings = write_settings(
            self.folder,
            {
                "spool": {"segment_mib": 1, "max_mib": 4_096},
                "archive": {"folder": "archive", "every_seconds": 1},
                "state": {"snapshot_records": 20_000, "clock_every_ms": 50},
            },
        )
        self.records = walks(SYMBOLS, self.ticks, self.seed)
        self.account = Account(fills=(0.5, 0.5))
        self.terminal: Terminal = terminal(self.records, account=self.account)
        self.outcome = Outcome()

    def run(self, kills: int) -> Outcome:
        """Kill so often, let everything come to its end, and look at what is there."""
        stop = threading.Event()
        with Connection(address(self.settings), CREDENTIAL) as connection:
            runner = Runner(self.terminal, connection)
            thread = threading.Thread(target=runner.run, args=(stop, lambda: False))
            thread.start()
            try:
                for _ in range(kills):
                    self.life()
                with self.daemon() as process:
                    wait_until(partial(self.quiet, process.pid))
                    process.terminate()
                    if process.wait(LONG_S):
                        self.outcome.problems.append("the daemon did not end well")
            finally:
                stop.set()
                thread.join()
        self.examine()
        return self.outcome

    @contextmanager
    def daemon(self) -> Iterator[subprocess.Popen[bytes]]:
        log = (self.folder / "log.txt").open("ab")
        command = [sys.executable, "-m", "benchmarks.recorded_syncs", str(self.folder / "synced")]
        process = subprocess.Popen([*command, str(self.settings)], stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.kill()
            process.wait(LONG_S)
            log.close()

    def life(self) -> None:
        """Start a daemon and kill it, mostly when it is at work."""
        began_ms = monotonic_ms()
        idle = threading.Event()
        with self.daemon() as process:
            self.outcome.kills += 1
            if self.outcome.start_ms and self.random.random() < 0.2:
                self.outcome.kills_while_starting += 1
                idle.wait(self.random.random() * np.median(self.outcome.start_ms) / 1000)
            else:
                wait_until(lambda: self.at_work(process.pid) or process.poll() is not None)
                self.outcome.start_ms.append(monotonic_ms() - began_ms)
                idle.wait(self.random.random() * 0.8)
            if process.poll() is not None:
                raise RuntimeError(f"the daemon ended by itself: {self.folder / 'log.txt'}")
        wait_until(lambda: self.terminal.client.state is ClientState.OFFLINE)
        if self.power_loss:
            self.lose_power()

    def at_work(self, pid: int) -> bool:
        """Whether the terminal is connected, and the rules of the daemon are warm."""
        is_live = self.terminal.client.state is ClientState.LIVE
        status = status_of(self.settings)
        if not is_live or status is None or status.pid != pid:
            return False
        return bool(status.rules) and all(one.runs for one in status.rules)

    def quiet(self, pid: int) -> bool:
        """Whether all ticks and deals are stored and all signals have come to an end.

        The signals of a tick are on their way before it is stored.
        """
        if not (self.at_work(pid) and self.terminal.finished):
            return False
        status = read_status(self.folder / "state" / "status.json")
        (terminal,) = status.terminals
        durable = {stream.symbol: stream.durable for stream in terminal.streams}
        wanted = {name: len(ticks) for name, ticks in self.records.items()}
        wanted[""] = len(self.account.deals)
        return durable == wanted and not terminal.unanswered

    def lose_power(self) -> None:
        """Cut each file somewhere behind what a sync has confirmed; the credential was there."""
        synced = json.loads((self.folder / "synced").read_text() or "{}")
        for path in sorted(
            [*(self.folder / "spool").iterdir(), *(self.folder / "state").iterdir()]
        ):
            size, safe = path.stat().st_size, synced.get(str(path.stat().st_ino), 0)
            if path.name not in ("LOCK", FILE) and size > safe:
                keep = self.random.randint(safe, size)
                os.truncate(path, keep)
                self.outcome.cut_bytes += size - keep

    def examine(self) -> None:
        """Compare the archive with the terminal's tick base, and the journal with a replay."""
        archive = archived(self.settings)
        self.check(self.stored(archive) == self.sent(), "the archive is not what was sent")
        self.outcome.rows = journal(self.settings).count(b"\n")
        self.check(replayed(self.settings, archive) == journal(self.settings), "replay differs")
        ids = found_again(self.settings)
        executed = Counter(bytes(deal["comment"])[:16] for deal in self.account.deals)
        self.outcome.signals = len(ids)
        self.outcome.executed = len(executed)
        self.outcome.executed_twice = sum(n != 2 for n in executed.values())  # two fills each
        self.outcome.executed_and_not_found_again = len(self.account.executed.keys() - ids)
        self.outcome.never_executed = len(ids - self.account.executed.keys())
        self.check(not self.outcome.executed_twice, "a signal was executed twice")

    def check(self, good: bool, problem: str) -> None:
        if not good:
            self.outcome.problems.append(problem)

    def sent(self) -> dict[str, bytes]:
        """What the terminal has, by stream."""
        self.outcome.ticks = sum(map(len, self.records.values()))
        self.outcome.deals = len(self.account.deals)
        found = {name: columns(ticks) for name, ticks in self.records.items()}
        tickets = self.account.deals["ticket"].astype(np.int64)
        return {**found, "deals": tickets.tobytes()}

    def stored(self, archive: Archive) -> dict[str, bytes]:
        """What the archive has, by stream, in the one order; sequences must count on from 1."""
        found = {}
        for name in SYMBOLS:
            table = pa.Table.from_batches(archive.read_batches("ticks", [name]))
            self.counted_on(name, table["seq"].to_numpy())
            ticks = {key: table[key].to_numpy() for key in ("bid", "ask")}
            found[name] = columns({"time_msc": table["raw_time_msc"].to_numpy(), **ticks})
        batches = list(archive.read_batches("deals"))
        deals = pa.Table.from_batches(batches) if batches else None
        if deals is not None:
            self.counted_on("deals", deals["seq"].to_numpy())
        tickets = deals["ticket"].to_numpy() if deals is not None else np.empty(0, np.int64)
        return {**found, "deals": tickets.astype(np.int64).tobytes()}

    def counted_on(self, name: str, sequences: Records) -> None:
        expected = np.arange(1, len(sequences) + 1)
        self.check(np.array_equal(sequences, expected), f"{name}: sequences have holes")


def columns(ticks: Records | dict[str, Records]) -> bytes:
    """The contents of ticks, in order."""
    return b"".join(np.ascontiguousarray(ticks[k]).tobytes() for k in ("time_msc", "bid", "ask"))


def found_again(settings: Path) -> set[int]:
    """Ids of the signals that the stored records lead to."""
    config = read_config(settings)
    run = Compiled(load_plan(config), outputs=STREAMS).start()
    name = examine(config.spool.folder)[0].spool
    effects = Effects({"Fade", "Wide"}, Trading(send=True), Journal(None), None, spool=name)
    pipeline = Pipeline(run, effects.act_again)
    pipeline.catch_up(read(config.spool.folder), effects.act_again)
    return {signal.id for signal in effects.found_again}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ticks", type=int, default=0, help="per symbol; 0: 40,000 a kill")
    parser.add_argument("--power-loss", action="store_true")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    ticks = options.ticks or 40_000 * options.kills // len(SYMBOLS)
    with tempfile.TemporaryDirectory() as folder:
        test = Test(options.folder or Path(folder), options.seed, ticks, options.power_loss)
        outcome = test.run(options.kills)
    print(describe())
    print(outcome.table())
    sys.exit(bool(outcome.problems))


if __name__ == "__main__":
    main()
