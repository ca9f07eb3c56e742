"""The demo's programs: the same commands a user would type."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from mt5bridge.clock import monotonic_ms

STOP_S = 600
PATIENCE_S = 600


class DemoError(RuntimeError):
    """A step of the demo failed; the message says where its log is."""


def free_port() -> int:
    """A TCP port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def mt5cep(arguments: Sequence[str], log: Path) -> str:
    """Run a command to its end; its standard output. DemoError when it fails or hangs."""
    with log.open("ab") as errors:
        try:
            done = subprocess.run(
                [sys.executable, "-m", "cep", *arguments],
                stdout=subprocess.PIPE,
                stderr=errors,
                check=False,
                timeout=PATIENCE_S,
            )
        except subprocess.TimeoutExpired:
            raise DemoError(f"mt5cep {arguments[0]} does not come to an end, see {log}") from None
    if done.returncode:
        tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise DemoError(f"mt5cep {arguments[0]} ended with code {done.returncode}, {log}:\n{tail}")
    return done.stdout.decode()


@contextmanager
def background(arguments: Sequence[str], log: Path, ready: str) -> Iterator[None]:
    """A command that runs during the `with`, from when its log says `ready` until told to end.

    It ends with this process, too, however that ends.
    """
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "cep.demo.leash", *arguments],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
        )
        try:
            _wait(process, log, ready)
            yield
            if process.poll() is not None:
                raise DemoError(f"mt5cep {arguments[0]} ended early, see {log}")
        finally:
            process.terminate()
            process.wait(STOP_S)
            assert process.stdin is not None
            process.stdin.close()
    if process.returncode:
        raise DemoError(f"mt5cep {arguments[0]} ended with code {process.returncode}, see {log}")


def _wait(process: subprocess.Popen[bytes], log: Path, ready: str) -> None:
    """Wait until the log says `ready`. DemoError when the process ends or is not ready in time."""
    deadline_ms = monotonic_ms() + 1000 * PATIENCE_S
    pause = Event()
    while ready not in log.read_text(encoding="utf-8", errors="replace"):
        if process.poll() is not None or monotonic_ms() > deadline_ms:
            tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise DemoError(f"the daemon does not start, see {log}:\n{tail}")
        pause.wait(0.05)
