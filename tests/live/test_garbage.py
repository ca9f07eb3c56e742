"""When the daemon's process looks for garbage."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from weakref import ref

import pytest

from cep import daemon
from cep.live import garbage
from cep.live.garbage import NEW_OBJECTS, QUIET_MS, Garbage
from mt5bridge.clock import Now
from tests.live.service import Service, address, play, terminal, wait_until, walks, write_settings

TURN_MS = 10


class Known:
    """Knows itself, so that only a search finds it once nobody else does."""

    def __init__(self) -> None:
        self.itself = self


class Turns:
    """Turns of a daemon, 10 ms each."""

    def __init__(self) -> None:
        self.garbage = Garbage()
        self._ms = 1_000_000

    def turn(self, *, made: int = 0, received: int = 1) -> None:
        """One that makes so many objects which stay."""
        kept.extend([] for _ in range(made))
        self._ms += TURN_MS
        self.garbage.look(Now(self._ms, self._ms), received)

    def nothing_comes(self, ms: int) -> None:
        for _ in range(ms // TURN_MS):
            self.turn(received=0)


kept: list[list[int]] = []


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Iterator[Turns]:
    monkeypatch.setattr(garbage, "OBJECTS", 2 * NEW_OBJECTS)
    monkeypatch.setattr(garbage, "OBJECTS_MAX", 10 * NEW_OBJECTS)
    made = Turns()
    with made.garbage.between_turns():
        yield made
    kept.clear()


def forgotten() -> ref[Known]:
    return ref(Known())


def outlived(turns: Turns) -> ref[Known]:
    """Garbage that was none when its turn ended."""
    one = Known()
    turns.turn(made=NEW_OBJECTS)
    return ref(one)


def test_python_does_not_look_in_the_midst_of_a_turn(turns: Turns) -> None:
    one = forgotten()
    made = [[number] for number in range(20 * NEW_OBJECTS)]
    assert one() is not None and len(made)


def test_new_garbage_goes_at_the_end_of_a_turn_that_made_much(turns: Turns) -> None:
    one = forgotten()
    turns.turn()
    assert one() is not None, "a look costs more than little garbage does"
    turns.turn(made=NEW_OBJECTS)
    assert one() is None


def test_what_has_outlived_its_turn_goes_when_nothing_comes(turns: Turns) -> None:
    one = outlived(turns)
    turns.turn(made=NEW_OBJECTS)
    turns.turn(made=NEW_OBJECTS)
    assert one() is not None, "ticks come"
    turns.nothing_comes(QUIET_MS - TURN_MS)
    assert one() is not None
    turns.turn(received=0)
    assert one() is None


def test_little_is_not_looked_for_however_quiet_it_is(turns: Turns) -> None:
    one = outlived(turns)
    turns.nothing_comes(5 * QUIET_MS)
    assert one() is not None
    turns.garbage.expect()
    turns.turn(received=0)
    assert one() is None, "rules that were replaced are much"


def test_memory_has_a_limit_where_ticks_come_without_end(turns: Turns) -> None:
    one = outlived(turns)
    for _ in range(10):
        turns.turn(made=NEW_OBJECTS)
    assert one() is None


class Counted(Garbage):
    """Counts how often all objects were looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0

    def look_at_all(self) -> None:
        self.looks += 1
        super().look_at_all()


def test_what_loading_has_left_is_looked_at_before_the_first_signal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not once ticks come and then do not for a moment, when the next ones would wait for it."""
    monkeypatch.setattr(daemon, "Garbage", Counted)
    settings = write_settings(tmp_path, {"rules": {"numba": False}})
    with Service(settings) as service:
        counted = service.daemon.garbage
        assert isinstance(counted, Counted)
        assert counted.looks == 2, "before its turns, and once warm"
        play(terminal(walks("A", 300)), address(settings))
        wait_until(lambda: service.is_settled())
        assert counted.looks == 2


def test_python_looks_by_itself_before_and_after() -> None:
    before = sys.getswitchinterval()
    with Garbage().between_turns():
        assert not gc.isenabled() and sys.getswitchinterval() < before
        one = forgotten()
    assert gc.isenabled() and sys.getswitchinterval() == before
    assert gc.get_freeze_count() == 0
    gc.collect()
    assert one() is None
