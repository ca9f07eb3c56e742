"""What holds for all tests."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from cep.engine.machine.stage import AROUND
from tests import campaign
from tests.engine.room import WATCHED

TESTS = Path(__file__).parent
WAITING = ("mql5", "live", "emulator", "docs")
"""Folders whose tests are long and mostly wait for processes."""
LONG = ("metamorphic/test_triples.py", "interpreter/test_whole_language.py")
"""Files of many long tests, each for itself."""
LEFT_OUT = pytest.StashKey[list[str]]()
"""What this session leaves to the campaign; with xdist, each worker tells it at its end."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--campaign",
        action="store_true",
        help="run all tests with all their examples, as `make test-all` does",
    )


def pytest_configure(config: pytest.Config) -> None:
    """A shared machine is slow at times; a slow example is not a wrong one.

    The examples are the same every time, so that a failure is the change's; `make explore` looks
    for new ones.
    """
    campaign.begin(config.getoption("--campaign"))
    if not campaign.is_whole():  # the emulated terminal compiles in half the time
        os.environ.setdefault("CXXFLAGS", "-O0")
    config.stash[LEFT_OUT] = []
    usual = settings(deadline=None, max_examples=campaign.examples(campaign.USUAL))
    settings.register_profile("house", usual, derandomize=True)
    settings.register_profile("explore", usual, derandomize=False, print_blob=True)
    settings.load_profile(config.getoption("--hypothesis-profile") or "house")


@pytest.fixture(scope="session", autouse=True)
def _room_is_watched() -> None:
    """Wherever a program runs uncompiled in this process."""
    AROUND.update(WATCHED)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the campaign's tests out, and put the files into the order in which they are run.

    What needs Spark comes first, in one worker, and what mostly waits comes next, so that what is
    short is left for the end.
    """
    if not campaign.is_whole():
        left_out = [item for item in items if item.get_closest_marker("campaign")]
        config.hook.pytest_deselected(items=left_out)
        config.stash[LEFT_OUT] = [item.nodeid for item in left_out]
        items[:] = [item for item in items if not item.get_closest_marker("campaign")]
    items.sort(key=lambda item: _turn(item.path))


def _turn(path: Path) -> tuple[bool, bool]:
    return not _needs_spark(path), path.relative_to(TESTS).parts[0] not in WAITING


@cache
def _needs_spark(path: Path) -> bool:
    return "mark.spark" in path.read_text(encoding="utf-8") and path != Path(__file__)


class ByFile(LoadFileScheduling):
    """Whole files go to a worker, so that what a file's tests have in common is made once.

    All that need Spark go to the same one, which starts it once. Long files whose tests have
    nothing in common are shared by all workers.
    """

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        if file.endswith(LONG):
            return nodeid
        return "spark" if _needs_spark(TESTS.parent / file) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    """In the order of the collection; xdist would begin with the files of many tests."""
    config.option.loadscopereorder = False
    return ByFile(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """A worker tells the process that started it what it has left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash[LEFT_OUT]
    yield


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker has left out the same."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", [])


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what a sample has not looked at."""
    if campaign.is_whole():
        return
    names = [name.removeprefix("tests/") for name in config.stash[LEFT_OUT]]
    terminalreporter.section("left to make test-all")
    terminalreporter.line(
        f"{len(names)} tests, and all but {campaign.SHARE:.0%} of the examples of each property "
        f"test (at least {campaign.LEAST} were tried)"
    )
    for name, count in sorted(Counter(name.partition("[")[0] for name in names).items()):
        terminalreporter.line(f"  {name}" + (f", {count} times" if count > 1 else ""))
