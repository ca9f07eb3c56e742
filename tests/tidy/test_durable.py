"""One way to write what must survive, and one to run a thread: tests fail only what they see."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.tidy.sources import Source, dotted, package_sources
from tests.tidy.test_tidy import report

DURABLE = (
    "mt5bridge/spool/", "mt5bridge/orders/", "mt5bridge/server/", "cep/archive/", "cep/live/",
    "cep/daemon",
)  # fmt: skip
NOT_DURABLE = {
    "mt5bridge/server/status.py", "cep/live/status_file.py",  # state of the moment
    "cep/live/log_file.py",  # nothing is done by what the log says
}  # fmt: skip
DISK = "mt5bridge/spool/disk.py"
CALLS = {"fsync", "fdatasync", "ftruncate", "truncate", "unlink", "rename", "replace", "mkdir",
         "write_bytes", "write_text"}  # fmt: skip


def writes(source: Source) -> Iterator[tuple[int, str]]:
    """Calls that change files and pass `Disk` by."""
    for node in source.nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = ast.unparse(node.func)
            on_disk = "disk" in name.lower()
            is_other = node.func.attr == "replace" and (len(node.args) != 1 or node.keywords)
            if node.func.attr in CALLS and not on_disk and not is_other:
                yield node.lineno, name


def test_what_must_survive_is_written_through_the_disk() -> None:
    report(
        f"{source.place}:{line}: {name}; use Disk, replace_file or make_directories"
        for source in package_sources()
        if source.place.startswith(DURABLE) and source.place not in {*NOT_DURABLE, DISK}
        for line, name in writes(source)
    )


def test_every_thread_of_the_daemon_is_watched() -> None:
    report(
        f"{source.place}:{node.lineno}: {dotted(node.func)}; use mt5bridge.worker.Worker"
        for source in package_sources()
        if source.place.startswith(DURABLE)
        for node in source.nodes()
        if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] == "Thread"
    )


def test_the_rules_themselves() -> None:
    text = "path.unlink()\nself._disk.rename(a, b)\ntext.replace('a', 'b')\nold.replace(new)\n"
    found = Source(Path(__file__), text)
    assert list(writes(found)) == [(1, "path.unlink"), (4, "old.replace")]
