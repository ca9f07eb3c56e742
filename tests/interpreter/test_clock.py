"""The clock: in which order timers fire, and what they see."""

from __future__ import annotations

import pytest

from cep.interpreter.clock import Clock, Fire, Rank, Site
from cep.interpreter.context import Context, Shared
from cep.interpreter.move import Destination, Move
from cep.interpreter.siddhi_clock import SiddhiClock
from cep.interpreter.snapshot import due_of, timers_of


def seen(clock: Clock, move: str) -> list[tuple[str, int, int | None]]:
    """(timer, its due time, the clock) of three timers while the clock moves to 100."""
    found: list[tuple[str, int, int | None]] = []
    late = clock.timer("late", lambda due: found.append(("late", due, clock.now_ms)))
    early = clock.timer("early", lambda due: found.append(("early", due, clock.now_ms)))
    late.at(80)
    early.at(30)
    late.at(30)
    getattr(clock, move)(100)
    return found


@pytest.mark.parametrize("move", ["jump", "glide"])
def test_the_clock_stands_at_each_due_time(move: str) -> None:
    assert seen(Clock(), move) == [("early", 30, 30), ("late", 30, 30), ("late", 80, 80)]


def test_siddhis_clock_stands_at_the_record_while_timers_fire() -> None:
    assert seen(SiddhiClock(), "jump") == [("late", 80, 100), ("late", 30, 100), ("early", 30, 100)]


def test_what_is_overdue_fires_at_the_next_record_though_that_is_late() -> None:
    clock = Clock()
    fired: list[int] = []
    clock.jump(100)
    clock.timer("overdue", fired.append).at(80)
    clock.jump(50)
    assert fired == [80] and clock.now_ms == 100


def test_a_timer_may_set_itself_again() -> None:
    clock = Clock()
    fired: list[int] = []

    def fire(due_ms: int) -> None:
        fired.append(due_ms)
        timer.at(due_ms + 10)

    timer = clock.timer("again", fire)
    timer.at(10)
    clock.jump(35)
    assert fired == [10, 20, 30]
    timer.cancel()
    assert clock.next_due_ms() is None


def test_what_fails_in_a_timer_does_not_stop_the_clock() -> None:
    shared = Shared(compat=False)
    fired: list[int] = []

    def fail(due_ms: int) -> None:
        raise ZeroDivisionError

    Context(shared, "/a").timer("broken", fail).at(10)
    Context(shared, "/a").timer("whole", fired.append).at(20)
    shared.clock.jump(50)
    assert fired == [20]


def test_dropping_a_place_forgets_its_timers_and_parts() -> None:
    shared = Shared(compat=False)
    fired: list[int] = []
    place = Context(shared, "/key")
    place.within("query").timer("t", fired.append).at(5)
    Context(shared, "/keys").timer("t", fired.append).at(6)
    place.drop()
    shared.clock.jump(10)
    assert fired == [6]


def noting(fired: list[str], name: str) -> Fire:
    """A timer's action that notes its name."""
    return lambda due_ms: fired.append(name)


def test_what_is_due_together_fires_by_its_place_in_the_file_then_by_its_key() -> None:
    clocks = Clock(), Clock()
    fired: list[str] = []
    ranks = {
        "second, B": (1, Rank(2, 1)),
        "second, A": (0, Rank(2, 0)),
        "first, B": (1, Rank(1, 1)),
    }
    for name, (of, rank) in ranks.items():
        clocks[of].timer(name, noting(fired, name), Site(name, rank=rank)).at(10)
    clocks[0].timer("earlier", noting(fired, "earlier"), Site("", rank=Rank(9, 9))).at(9)
    move = Move(Destination(None, 10))
    for clock in clocks:
        move.join(clock, 10)
    move.run()
    assert fired == ["earlier", "first, B", "second, A", "second, B"]


def test_all_clocks_stand_at_one_time_while_a_timer_of_one_fires() -> None:
    short, long, stood = Clock(), Clock(), list[tuple[int | None, int | None]]()
    short.timer("t", lambda due_ms: stood.append((short.now_ms, long.now_ms))).at(5)
    long.timer("t", lambda due_ms: stood.append((short.now_ms, long.now_ms))).at(30)
    move = Move(Destination(None, None))
    move.join(short, 10)
    move.join(long, 40)
    move.run()
    assert stood == [(5, 5), (10, 30)]
    assert (short.now_ms, long.now_ms) == (10, 40)


def test_siddhis_clock_serves_one_of_the_keys_that_are_due_together() -> None:
    clock = SiddhiClock()
    fired: list[str] = []
    for key in ("WSO2", "IBM"):
        clock.timer(f"/p/{key}/w", noting(fired, key), Site("/p/*/w", key)).at(10)
    clock.timer("/q/w", noting(fired, "other")).at(5)
    clock.jump(10)
    assert fired == ["IBM", "other"]
    clock.jump(11)
    assert fired == ["IBM", "other", "WSO2"]


def test_siddhis_clock_lets_go_first_who_began_to_wait_first() -> None:
    clock = SiddhiClock()
    fired: list[str] = []
    left, right = (clock.timer(name, noting(fired, name)) for name in ("left", "right"))
    left.at(5)
    left.at(10)  # it begins to wait for this when it has fired
    right.at(10)
    clock.glide(10)
    assert fired == ["left", "right", "left"]
    left.at(20)
    right.at(20)
    left.cancel()
    left.at(20)
    clock.glide(20)
    assert fired[3:] == ["right", "left"]


def test_siddhis_clock_goes_on_from_a_snapshot() -> None:
    clock, restored = SiddhiClock(), SiddhiClock()
    fired: list[str] = []
    for name in ("left", "right"):
        clock.timer(name, noting(fired, name)).at(10)
        restored.timer(name, noting(fired, name))
    restored.restore(clock.now_ms, due_of(timers_of(clock.pending()), restored.by_name()))
    restored.glide(10)
    assert fired == ["left", "right"]


def test_what_is_set_on_any_of_them_while_one_fires_takes_its_turn() -> None:
    short, long, fired = Clock(), Clock(), list[tuple[str, int]]()
    again = short.timer("again", lambda due_ms: fired.append(("again", due_ms)))

    def fire(due_ms: int) -> None:
        fired.append(("long", due_ms))
        again.at(due_ms - 1)  # overdue on a clock that had nothing due

    for due_ms in (10, 20):
        long.timer(f"at {due_ms}", fire).at(due_ms)
    move = Move(Destination(None, None))
    move.join(short, 15)
    move.join(long, 20)
    move.run()
    assert fired == [("long", 10), ("again", 9), ("long", 20)]
    move = Move(Destination(None, None))
    move.join(short, 16)
    move.run()
    assert fired[3:] == []
    assert short.next_due_ms() == 19
