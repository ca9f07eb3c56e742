"""Runs MQL5 programs in an emulated terminal, a process of its own on a data folder."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import numpy as np

from mt5bridge.clock import monotonic_ms
from mt5bridge.credential import FILE, Credential, write_credential
from mt5bridge.emulator.build import build
from mt5bridge.emulator.script import Script, parse_command
from mt5bridge.emulator.stats import Stats, read_stats
from mt5bridge.history.block import TickBlock
from mt5bridge.records import TICK, Records
from mt5bridge.terminal.sources import OWN

PASSING_MS = 600_000
"""What passes at once."""
_LOOK_S = 0.02  # between two looks at the figures
_STOP_S = 600.0
_TAIL_LINES = 15
T = TypeVar("T")


class EmulatorError(RuntimeError):
    """A terminal that did not do what was waited for; shows the end of its journal."""


@contextlib.contextmanager
def _closing_waits() -> Iterator[None]:
    """A process begun in here is not ended by a `stop` that comes before it listens to signals."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True)
class Result:
    """How a run ended. `exit_code`: 0 well, 1 a program was stopped, 2 unusable script,
    137 a crash that the script ordered, negative a signal."""

    exit_code: int
    stats: Stats | None
    journal: tuple[str, ...]


def write_tick_file(path: Path, ticks: Records) -> Path:
    """Ticks as the packed records that a script's `ticks` statement names."""
    path.write_bytes(np.ascontiguousarray(ticks, TICK).tobytes())
    return path


def write_history_file(path: Path, blocks: Iterable[TickBlock], symbol: str) -> Path:
    """One symbol's ticks of imported history (`mt5bridge.history.read_ticks`) in the same form."""
    with path.open("wb") as file:
        for block in blocks:
            if block.symbol == symbol:
                file.write(np.ascontiguousarray(block.ticks, TICK).tobytes())
    return path


class EmulatedTerminal:
    """Programs, a script and a data folder; the folder is kept from start to start.

    `credential` is that of the daemon which our programs connect to, put where they look for it;
    `library` a folder such as a terminal's `MQL5/Include`, with what programs include of it.

    >>> with EmulatedTerminal([path], script, folder) as terminal:     # doctest: +SKIP
    ...     terminal.wait(lambda stats: stats.ticks_delivered == 1_000, within_s=20)
    """

    def __init__(
        self,
        programs: Sequence[Path],
        script: Script,
        folder: Path,
        *,
        credential: Credential | None = None,
        sanitize: bool = False,
        library: Path | None = None,
    ) -> None:
        self.script = script
        self.folder = folder
        self.credential = credential
        self._executable = build(programs, sanitize=sanitize, library=library)
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._news = threading.Condition()
        self._journal: list[str] = []

    def __enter__(self) -> EmulatedTerminal:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.running:
            self.stop() if kind is None else self.kill()

    @property
    def running(self) -> bool:
        """Whether the process lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def process_id(self) -> int:
        """Of the running process."""
        return self._started().pid

    @property
    def journal(self) -> tuple[str, ...]:
        """The lines of the journal since the last start: time, program, text."""
        with self._news:
            return tuple(self._journal)

    @property
    def stats(self) -> Stats | None:
        """The newest figures of this run; None before there are any."""
        return read_stats(self.folder)

    def start(self) -> None:
        """Start the terminal on its data folder, with `script` as it is now."""
        if self.running:
            raise EmulatorError("the terminal is running; stop or kill it first")
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "stats.json").unlink(missing_ok=True)
        if self.credential is not None:
            write_credential(self.file(f"{OWN}/{FILE}"), self.credential)
        script = self.folder / "session.script"
        script.write_text(self.script.encoded(), encoding="utf-8")
        command = [self._executable, "--script", script, "--data", self.folder, "--commands", "0"]
        self._journal = []
        with _closing_waits():
            self._process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    def wait(self, condition: Callable[[Stats], bool], within_s: float) -> Stats:
        """Wait until the figures fulfil a condition. EmulatorError: too late, or it has ended."""
        return self._until(lambda: self._stats_if(condition), within_s, "the condition")

    def wait_journal(self, text: str, within_s: float) -> str:
        """Wait until a line of the journal contains a text; the line."""

        def found() -> str | None:
            return next((line for line in self.journal if text in line), None)

        return self._until(found, within_s, repr(text))

    def act(self, command: str) -> None:
        """Let happen at once what an `at` statement says: `reinit=Trader reason=PARAMETERS`.

        Raises ScriptError, and EmulatorError if the terminal has ended.
        """
        line = parse_command(command).encoded()
        pipe = self._started().stdin
        assert pipe is not None
        try:
            pipe.write(line + "\n")
            pipe.flush()
        except (BrokenPipeError, ValueError):  # the pipe is broken, or closed as the end was seen
            raise self._error("it has ended and takes no commands") from None

    def wait_end(self, within_s: float) -> Result:
        """Wait until the terminal ends by itself."""
        process = self._started()
        try:
            process.wait(within_s)
        except subprocess.TimeoutExpired:
            raise self._error(f"it has not ended within {within_s} s") from None
        return self._result()

    def stop(self, within_s: float = _STOP_S) -> Result:
        """Close the terminal as its user would: programs get OnDeinit(REASON_CLOSE)."""
        self._started().send_signal(signal.SIGTERM)
        return self.wait_end(within_s)

    def pass_time(self, within_s: float) -> Stats:
        """Let ten minutes pass at once; the figures when the terminal's clock shows it."""
        before_ms = self.wait(lambda _stats: True, within_s).clock_ms
        self._started().send_signal(signal.SIGUSR1)
        return self.wait(lambda stats: stats.clock_ms >= before_ms + PASSING_MS, within_s)

    def kill(self) -> Result:
        """Kill the process, as a crash would."""
        process = self._started()
        process.kill()
        process.wait()
        return self._result()

    def tick_base(self, symbol: str) -> Records:
        """What a symbol's tick base held when the terminal last ended in order."""
        return np.fromfile(self.folder / "tick_base" / f"{symbol}.bin", TICK)

    def file(self, name: str) -> Path:
        """The path of a file that programs see under this name, such as `Mt5Bridge/a.bin`."""
        return self.folder / "MQL5" / "Files" / name

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            raise EmulatorError("the terminal has not been started; call start()")
        return self._process

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            with self._news:
                self._journal.append(line.rstrip("\n"))
                self._news.notify_all()
        process.stdout.close()
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()

    def _stats_if(self, condition: Callable[[Stats], bool]) -> Stats | None:
        stats = self.stats
        return stats if stats is not None and condition(stats) else None

    def _until(self, look: Callable[[], T | None], within_s: float, what: str) -> T:
        deadline_ms = monotonic_ms() + int(1000 * within_s)
        while True:
            ended = not self.running
            if ended:
                self._read_out()
            found = look()
            if found is not None:
                return found
            if ended:
                raise self._error(f"it has ended before {what} came true")
            if monotonic_ms() > deadline_ms:
                raise self._error(f"{what} did not come true within {within_s} s")
            with self._news:
                self._news.wait(_LOOK_S)

    def _error(self, text: str) -> EmulatorError:
        if not self.running:
            self._read_out()
        tail = "\n  ".join(self.journal[-_TAIL_LINES:])
        return EmulatorError(f"emulated terminal: {text}; its journal ends with\n  {tail}")

    def _read_out(self) -> None:
        """The end of the journal of a process that has ended."""
        if self._reader is not None:
            self._reader.join(_STOP_S)

    def _result(self) -> Result:
        self._read_out()
        return Result(self._started().returncode, self.stats, self.journal)
