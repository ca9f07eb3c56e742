"""Whatever happens in the middle of a batch: nothing is lost, and nothing is told twice."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from cep.database.drivers import connect, sqlite, values_of
from cep.database.errors import DatabaseError
from cep.database.transactions import ATTEMPTS
from tests import campaign
from tests.database.faults import Hooked
from tests.database.runs import OUTPUTS, catalog, events, native, pushed, started, told
from tests.database.servers import PostgresqlServer, running

EVENTS = 60
BATCH = 20


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresqlServer]:
    """A server that tests may kill."""
    with running() as server:
        yield server


@pytest.fixture
def place(server: PostgresqlServer, request: pytest.FixtureRequest) -> str:
    """A database of its own on it."""
    return server.create(f"of_{abs(hash(request.node.name))}")


def _calls_of_a_batch(url: str) -> int:
    hooked = Hooked(connect(url, durable=True))
    run = started(hooked, BATCH, prefix="counted_")
    hooked.watch()
    pushed(run, events(BATCH))
    run.close()
    return hooked.calls


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_server_killed_in_the_middle_of_a_batch(
    server: PostgresqlServer, place: str, share: float
) -> None:
    last = _calls_of_a_batch(place) - 1
    hooked = Hooked(connect(place, durable=True))
    run = started(hooked, BATCH)
    found = pushed(run, events(BATCH))
    killed = []

    def kill(number: int, what: str) -> None:
        if number == int(share * last) and not killed:
            killed.append(what)
            server.kill()
            server.start()

    hooked.watch(kill)
    found += pushed(run, events(BATCH, BATCH))
    assert killed
    hooked.watch()
    found += pushed(run, events(BATCH, 2 * BATCH))
    assert found == native(catalog().plan(), events(EVENTS))
    assert run.progress.seq == EVENTS
    run.close()


def test_a_commit_whose_answer_is_lost_is_not_done_again(
    server: PostgresqlServer, place: str
) -> None:
    hooked = Hooked(connect(place, durable=True))
    run = started(hooked, BATCH)
    lost = []

    def lose(number: int, what: str) -> None:
        if what == "commit" and not lost:
            lost.append(what)
            server.kill()
            server.start()
            raise DatabaseError("the connection is lost", retry=True, is_lost=True)

    hooked.watch(after=lose)
    found = pushed(run, events(EVENTS))
    assert lost
    assert found == native(catalog().plan(), events(EVENTS))
    assert run.progress.seq == EVENTS
    run.close()


def test_a_commit_that_is_heard_of_later_is_not_done_again(
    server: PostgresqlServer, place: str
) -> None:
    hooked = Hooked(connect(place, durable=True))
    run = started(hooked, BATCH)
    found = pushed(run, events(BATCH))

    def lose(number: int, what: str) -> None:
        if what == "commit":
            server.kill()
            raise DatabaseError("the connection is lost", retry=True, is_lost=True)

    hooked.watch(after=lose)
    with pytest.raises(DatabaseError, match=r"cannot be reached|is lost"):
        pushed(run, events(BATCH, BATCH))
    hooked.watch()
    server.start()
    assert run.progress.seq == BATCH, "nobody knows yet that it was committed"
    found += pushed(run, events(2 * BATCH, BATCH))
    assert found == native(catalog().plan(), events(EVENTS))
    assert run.progress.seq == EVENTS
    run.close()


@pytest.mark.parametrize("number", [1, 4, 7])
def test_a_connection_that_is_ended_from_outside(place: str, number: int) -> None:
    hooked = Hooked(connect(place, durable=True))
    run = started(hooked, BATCH)
    ended = []

    def end(at: int, what: str) -> None:
        if at == number and not ended:
            ended.append(what)
            other = connect(place, durable=True)
            other.fetch(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            other.close()

    hooked.watch(end)
    found = pushed(run, events(EVENTS))
    assert ended
    assert found == native(catalog().plan(), events(EVENTS))
    run.close()


def test_a_deadlock_is_resolved_by_doing_the_batch_again(place: str) -> None:
    hooked = Hooked(connect(place, durable=True))
    tried: list[int] = []
    run = started(hooked, BATCH, tried.append)
    other = connect(place, durable=True)
    table = next(iter(run.program.kept.values())).table.name
    failed: list[DatabaseError] = []
    threads: list[Thread] = []

    def lock() -> None:
        """The other half: waits for a table while it holds the row that the batch needs."""
        try:
            other.execute(f'LOCK TABLE "{table}" IN ACCESS EXCLUSIVE MODE')
        except DatabaseError as error:
            failed.append(error)
        other.rollback()

    def meet(at: int, what: str) -> None:
        if what == "begin" and not threads:
            other.begin()
            other.fetch("SELECT run FROM mt5cep_progress FOR UPDATE")
        if what.startswith("UPDATE") and not threads:
            threads.append(Thread(target=lock))
            threads[0].start()

    hooked.watch(meet)
    found = pushed(run, events(EVENTS))
    threads[0].join()
    assert len(tried) + len(failed) == 1, "one of the two was in the other's way"
    assert all(error.retry for error in failed)
    assert found == native(catalog().plan(), events(EVENTS))
    other.close()
    run.close()


def test_a_server_that_stays_away_is_told_and_the_events_can_be_pushed_again(
    server: PostgresqlServer, place: str
) -> None:
    tried: list[int] = []
    run = started(connect(place, durable=True), BATCH, tried.append)
    found = pushed(run, events(BATCH))
    server.kill()
    with pytest.raises(DatabaseError, match=r"cannot be reached|is lost"):
        pushed(run, events(BATCH, BATCH))
    assert tried == list(range(1, ATTEMPTS))
    assert run.progress.seq == BATCH
    server.start()
    found += pushed(run, events(2 * BATCH, BATCH))
    assert found == native(catalog().plan(), events(EVENTS))
    run.close()


def test_a_server_that_forgets_is_found_out(server: PostgresqlServer, place: str) -> None:
    run = started(connect(place), BATCH, is_durable=False)
    pushed(run, events(BATCH))
    server.kill()
    server.start()
    with pytest.raises(DatabaseError, match="has gone back from event 20 to event 0"):
        pushed(run, events(BATCH, BATCH))
    run.change(catalog().plan(), OUTPUTS)
    assert pushed(run, events(EVENTS)) == native(catalog().plan(), events(EVENTS))
    run.close()


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    driver = connect(f"sqlite:///{tmp_path / 'events.db'}")
    run = started(driver, 500)
    found = pushed(run, events(500))
    (pages,) = driver.fetch("PRAGMA page_count")
    driver.fetch(f"PRAGMA max_page_count = {values_of(pages)[0]}")
    with pytest.raises(DatabaseError, match="no room left"):
        pushed(run, events(500, 500))
    assert run.progress.seq == 500
    driver.fetch("PRAGMA max_page_count = 1000000")
    found += pushed(run, events(500, 500))
    assert found == native(catalog().plan(), events(1_000))
    run.close()


FULL = """
import resource, signal, sys
from pathlib import Path
from cep.database.drivers import connect
from cep.database.errors import DatabaseError
from cep.jepc.native import NativeProvider
from tests.database.runs import catalog, events, native, pushed, started

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
run = started(connect(f"duckdb:///{path}", durable=True), 500)
found = pushed(run, events(500))
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
sizes = [one.stat().st_size for one in path.parent.iterdir()]
resource.setrlimit(resource.RLIMIT_FSIZE, (max(sizes) + 100, hard))
try:
    for start in range(500, 5_000, 500):
        found += pushed(run, events(500, start))
    sys.exit("the disk was never full")
except DatabaseError as error:
    assert "no room" in str(error) or "DuckDB" in str(error), error
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
found += pushed(run, events(6_000 - run.progress.seq, run.progress.seq))
assert found == native(catalog().plan(), events(6_000)), run.progress.seq
run.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of files")
def test_a_full_disk_under_duckdb_loses_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL, str(tmp_path / "events.db")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


LOCK = """
import sqlite3, sys
sys.stdin.readline()
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
connection.close()
print("free", flush=True)
"""


def test_a_file_locked_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "LOCKED_WAIT_S", 0.05)
    path = tmp_path / "events.db"
    tried: list[int] = []
    command = [sys.executable, "-c", LOCK, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
        assert one.stdin is not None
        assert one.stdout is not None
        write, read = one.stdin, one.stdout

        def say(text: str) -> None:
            write.write("\n")
            write.flush()
            assert read.readline() == f"{text}\n"

        def free(attempt: int) -> None:
            tried.append(attempt)
            if attempt == 2:
                say("free")

        run = started(connect(f"sqlite:///{path}"), BATCH, free)
        found = pushed(run, events(BATCH))
        say("locked")
        found += pushed(run, events(2 * BATCH, BATCH))
    assert tried == [1, 2]
    assert found == native(catalog().plan(), events(EVENTS))
    run.close()


CRASH = """
import os, signal, sys
from cep.database.drivers import connect
from tests.database.faults import Hooked
from tests.database.runs import arrivals, events, started

hooked = Hooked(connect(sys.argv[1], durable=True))
run = started(hooked, 20)

def crash(number, what):
    if number == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

batches = run.push(arrivals(events(60)))
next(batches)
hooked.watch(crash)
next(batches)
"""


@pytest.mark.parametrize("number", [campaign.only(3), 7])
@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgresql"])
def test_a_process_that_dies_in_the_middle_of_a_batch(
    kind: str, number: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"{kind}:///{tmp_path / 'events.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("place")
    done = subprocess.run([sys.executable, "-c", CRASH, url, str(number)], check=False)
    assert done.returncode == -9
    run = started(connect(url), BATCH)
    whole = native(catalog().plan(), events(EVENTS))
    assert run.progress.seq == BATCH
    first = native(catalog().plan(), events(BATCH))
    assert told(run, run.again()) == first
    assert pushed(run, events(2 * BATCH, BATCH)) == whole[len(first) :]
    run.close()
