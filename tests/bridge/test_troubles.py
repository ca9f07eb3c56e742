"""One place for what fails: what follows from it, since when, and that no thread ends unnoticed."""

from __future__ import annotations

import errno
from threading import Event

import pytest

from mt5bridge.troubles import Effect, Trouble, Troubles
from mt5bridge.worker import Worker


def fail(troubles: Troubles, name: str, number: int, if_full: Effect = Effect.WAITS) -> None:
    with troubles.attempt(name, if_full):
        raise OSError(number, "said the disk", "file")


def found(troubles: Troubles) -> list[tuple[str, Effect]]:
    return [(one.name, one.effect) for one in troubles]


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE]
)
def test_without_room_everything_waits_until_an_attempt_succeeds(number: int) -> None:
    times = iter([10, 20, 30])
    troubles = Troubles(lambda: next(times))
    fail(troubles, "a", number)
    fail(troubles, "b", number)
    fail(troubles, "a", number)
    assert [(one.name, one.since_msc) for one in troubles] == [("a", 10), ("b", 20)]
    assert troubles.stops and troubles.end is None
    with troubles.attempt("a"):
        pass
    assert found(troubles) == [("b", Effect.WAITS)] and troubles.stops
    troubles.clear("b")
    assert not troubles.stops
    fail(troubles, "a", number)
    assert [one.since_msc for one in troubles] == [30]


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_too_many_open_files_are_told_with_their_own_remedy(number: int) -> None:
    troubles = Troubles()
    fail(troubles, "a", number)
    (told,) = troubles
    assert "connections" in told.text and "`ulimit -n`" in told.text
    fail(troubles, "b", errno.ENOSPC)
    assert "ulimit" not in list(troubles)[1].text


@pytest.mark.parametrize("number", [errno.EIO, errno.EROFS, errno.EACCES, errno.ENODEV])
def test_any_other_error_of_a_disk_ends_the_program_whatever_comes_later(number: int) -> None:
    troubles = Troubles(lambda: 5)
    fail(troubles, "a", number)
    with troubles.attempt("a"):
        pass
    fail(troubles, "a", errno.ENOSPC)
    fail(troubles, "b", errno.EIO)
    assert troubles.stops
    text = f"[Errno {number}] said the disk: 'file'"
    assert troubles.end == Trouble("a", text, Effect.ENDS, 5)


def test_what_nothing_depends_on_stops_nothing_but_may_become_worse() -> None:
    times = iter([10, 20])
    troubles = Troubles(lambda: next(times))
    fail(troubles, "snapshot", errno.ENOSPC, Effect.GOES_ON)
    assert found(troubles) == [("snapshot", Effect.GOES_ON)] and not troubles.stops
    fail(troubles, "snapshot", errno.EIO, Effect.GOES_ON)
    assert troubles.end is not None and troubles.end.since_msc == 10


def test_only_errors_of_the_disk_are_taken() -> None:
    troubles = Troubles()
    with pytest.raises(ValueError, match="mine"), troubles.attempt("a"):
        raise ValueError("mine")
    assert not list(troubles)


@pytest.mark.parametrize("problem", [RuntimeError("mine"), SystemExit(3), OSError(28, "full")])
def test_a_thread_that_ends_by_an_error_ends_the_program(problem: BaseException) -> None:
    troubles = Troubles()

    def work() -> None:
        raise problem

    worker = troubles.worker("mine", work)
    worker.start()
    worker.join()
    assert worker.failure is problem and not worker.is_alive
    assert found(troubles) == [("mine", Effect.ENDS)]


def test_a_thread_that_ends_well_is_no_trouble() -> None:
    stop, failures = Event(), list[BaseException]()
    worker = Worker("mine", lambda: stop.wait() and None, failures.append).start()
    assert worker.is_alive
    stop.set()
    worker.join()
    assert not failures and worker.failure is None
