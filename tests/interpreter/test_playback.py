"""The heartbeat of playback: when it beats, on the wall's clock."""

from __future__ import annotations

from cep.interpreter.playback import Heartbeat
from cep.plan.nodes import Playback


def beats(heartbeat: Heartbeat, wall_ms: int) -> list[int]:
    found: list[int] = []
    while True:
        due_ms = heartbeat.next_ms
        if not heartbeat.is_due(wall_ms):
            return found
        heartbeat.heard()
        found.append(due_ms or 0)


def test_it_beats_after_silence_and_again() -> None:
    heartbeat = Heartbeat(Playback(idle_ms=100, increment_ms=2000))
    assert beats(heartbeat, 1000) == []
    heartbeat.heard()
    assert beats(heartbeat, 1099) == []
    assert beats(heartbeat, 1350) == [1100, 1200, 1300]


def test_a_row_puts_the_next_beat_off() -> None:
    heartbeat = Heartbeat(Playback(idle_ms=100, increment_ms=1))
    assert beats(heartbeat, 0) == []
    heartbeat.heard()
    assert beats(heartbeat, 70) == []
    heartbeat.heard()
    assert beats(heartbeat, 169) == []
    assert beats(heartbeat, 170) == [170]


def test_nothing_is_counted_before_the_wall_is_known() -> None:
    heartbeat = Heartbeat(Playback(idle_ms=100, increment_ms=1))
    heartbeat.heard()
    assert beats(heartbeat, 10**12) == []


def test_without_idle_time_there_is_no_heartbeat() -> None:
    heartbeat = Heartbeat(Playback())
    heartbeat.heard()
    assert beats(heartbeat, 10**9) == []
