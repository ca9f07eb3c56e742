"""The demo's steps, one after the other; every one of them is a command of the user's own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from string import Template

from cep.archive import Archive
from cep.demo import emulated
from cep.demo.lived import read_rows
from cep.demo.market import write_ticks
from cep.demo.on_paper import traded_on_paper
from cep.demo.page import write_page
from cep.demo.processes import DemoError, background, free_port, mt5cep
from cep.live.config import credential_path, read_config
from cep.report import Verdict
from mt5bridge.clock import monotonic_ms
from mt5bridge.credential import Credential, read_credential
from mt5bridge.emulator.build import CompilerMissingError, compiler

Say = Callable[[str], None]
LEFT = ("spool", "state", "archive", "ticks", "terminal", "terminal-ticks", "paper")
TEXTS = ("rules.cep", "faults.toml", "session.txt", "daemon.toml")
TERMINALS = ("auto", "mql5", "python")


def has_compiler() -> bool:
    """Whether MQL5 programs can be run here."""
    try:
        compiler()
    except CompilerMissingError:
        return False
    return True


@dataclass(slots=True)
class Demo:
    """A run of the demo in a folder of its own.

    `speed` is times real time, `terminal` one of `TERMINALS`: `auto` takes the MQL5 programs where
    they can be compiled.
    """

    folder: Path
    say: Say
    ticks: int = 24_000
    seed: int = 1
    speed: float = 900.0
    master: str = "local[2]"
    terminal: str = "auto"
    held: emulated.Held | None = None
    durations: dict[str, float] = field(default_factory=dict)

    @property
    def rules(self) -> Path:
        return self.folder / "rules.cep"

    @property
    def settings(self) -> Path:
        return self.folder / "daemon.toml"

    @property
    def credential(self) -> Credential:
        """What the daemon has made at its start."""
        return read_credential(credential_path(read_config(self.settings)))

    @property
    def journal(self) -> Path:
        return self.folder / "state" / "events.jsonl"

    @property
    def backtested(self) -> Path:
        return self.folder / "backtest.jsonl"

    def run(self) -> bool:
        """All steps; whether live and backtest agree. DemoError when a step fails."""
        with self.step("made up", "Ticks of four symbols are made up"):
            ticks = self.prepare()
        if self.runs_mql5:
            with self.step("compiled", "The MQL5 programs and an emulated MetaTrader 5, by g++"):
                emulated.compile_programs()
        with self.step("live", f"{self.title}, over ZeroMQ, to the live daemon and back"):
            self.live(ticks)
        with self.step("archived", "Spool to archive, and proof that no tick is missing"):
            self.archive()
        with self.step("backtested", "The same rules over the archive, on Spark"):
            self.backtest()
        with self.step("compared", "Live against backtest, row by row"):
            differences, signals = self.compare()
        with self.step("on paper", "The same ticks on a paper account, and its day run again"):
            self.on_paper(ticks)
        verdict = f"live and backtest agree: {signals} signals, {differences} differences"
        if differences:
            verdict = verdict.replace("agree", "differ")
        with self.step("drawn", "The report"):
            live = list(read_rows(self.journal))
            page = write_page(self.folder, live, self.durations, Verdict(differences == 0, verdict))
        self.say(verdict)
        self.say(f"report: {page}")
        return differences == 0

    @contextmanager
    def step(self, name: str, title: str) -> Iterator[None]:
        """Say what is being done, and how long it took."""
        started_ms = monotonic_ms()
        self.say(f"{title} ...")
        yield
        self.durations[name] = (monotonic_ms() - started_ms) / 1000
        self.say(f"    {self.durations[name]:.1f} s")

    def prepare(self) -> list[Path]:
        """A fresh folder with rules, settings, faults and ticks."""
        for name in LEFT:
            shutil.rmtree(self.folder / name, ignore_errors=True)
        (self.folder / "ticks").mkdir(parents=True)
        (self.folder / "log.txt").unlink(missing_ok=True)
        port = free_port()
        for name in TEXTS:
            text = files("cep.demo").joinpath(name).read_text(encoding="utf-8")
            filled = Template(text).safe_substitute(port=port)
            (self.folder / name).write_text(filled, encoding="utf-8")
        return write_ticks(self.folder / "ticks", self.ticks, self.seed)

    @property
    def runs_mql5(self) -> bool:
        return self.terminal == "mql5" or (self.terminal == "auto" and has_compiler())

    @property
    def title(self) -> str:
        """Which terminal it is."""
        if self.runs_mql5:
            return "The MQL5 programs on an emulated terminal"
        why = " (no g++ here)" if self.terminal == "auto" else ""
        return f"A simulated terminal in Python{why}"

    def live(self, ticks: list[Path]) -> None:
        """Daemon and terminal at the same time, until the terminal has nothing left to send."""
        daemon = ["daemon", "--config", str(self.settings)]
        with background(daemon, self.log, ready="rules main: they run"):
            if self.runs_mql5:
                self.held = emulated.play(self.folder, ticks, self.speed, self.credential)
                last = self.held.text
            else:
                last = self.simulate(ticks)
        self.say(f"    {last}")

    def simulate(self, ticks: list[Path]) -> str:
        """The terminal in Python; what it said at its end."""
        arguments = ["simulate", "--config", str(self.settings), "--server-time", "UTC"]
        arguments += ["--script", str(self.folder / "faults.toml"), "--identity", "demo"]
        arguments += ["--speed", str(self.speed), "--patience", "300", "--stay", "2"]
        for path in ticks:
            arguments += ["--ticks", str(path)]
        return mt5cep(arguments, self.log).strip().splitlines()[-1]

    def on_paper(self, ticks: list[Path]) -> None:
        """Trade on paper, and compare with a backtest. DemoError when anything differs."""
        settings = files("cep.demo").joinpath("daemon.toml").read_text(encoding="utf-8")
        said = traded_on_paper(self.folder / "paper", settings, ticks, self.speed)
        self.say(f"    {said}")

    @property
    def log(self) -> Path:
        return self.folder / "log.txt"

    def archive(self) -> None:
        archive = str(self.folder / "archive")
        for arguments in (
            ["archive", "ingest", str(self.folder / "spool"), archive],
            ["archive", "verify", archive],
        ):
            said = mt5cep(arguments, self.log)
            self.say(f"    {said.strip().splitlines()[-1]}")
        if self.held is not None:
            self.compare_terminal(self.held, emulated.archived(Archive(archive)))

    def compare_terminal(self, held: emulated.Held, stored: tuple[int, int]) -> None:
        """What tick base and broker hold against the archive. DemoError when they differ."""
        ticks, deals = stored
        self.say(f"    tick base {held.ticks:,} ticks, archive {ticks:,}")
        self.say(f"    broker {held.deals:,} deals, archive {deals:,}")
        if (held.ticks, held.deals) != stored:
            raise DemoError(f"the terminal holds what the archive does not; see {self.folder}")

    def backtest(self) -> None:
        streams = ",".join(sorted({row["stream"] for row in read_rows(self.journal)}))
        arguments = ["backtest", str(self.rules), "--archive", str(self.folder / "archive")]
        arguments += ["--master", self.master, "--streams", streams]
        arguments += ["--out", str(self.backtested), "--report", str(self.folder / "backtest.html")]
        mt5cep(arguments, self.log)

    def compare(self) -> tuple[int, int]:
        """Rows that differ in place or content, and the number of live signals."""
        live = self.journal.read_bytes().splitlines()
        backtest = self.backtested.read_bytes().splitlines()
        differences = sum(one != other for one, other in zip(live, backtest, strict=False))
        differences += abs(len(live) - len(backtest))
        signals = sum(b'"complex":' in line for line in live)
        self.say(f"    {len(live):,} rows live, {len(backtest):,} rows in the backtest")
        if not signals:
            raise DemoError(f"the demo's rules found no signal; see {self.log}")
        return differences, signals
