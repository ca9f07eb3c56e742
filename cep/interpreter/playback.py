"""The heartbeat of `@app:playback(idle.time, increment)`: time goes on while no rows come."""

from __future__ import annotations

from cep.plan.nodes import Playback


class Heartbeat:
    """Says when, on the wall's clock, the clock of the rows is to be moved by `increment_ms`.

    That is when rows have been silent for `idle_ms`, and every `idle_ms` from then on.
    """

    def __init__(self, playback: Playback | None) -> None:
        self._idle_ms = playback.idle_ms if playback else None
        self.increment_ms = (playback.increment_ms or 0) if playback else 0
        self._heard_ms: int | None = None
        self._wall_ms: int | None = None

    @property
    def next_ms(self) -> int | None:
        """The wall's time of the next beat; None while nothing has been heard, or without idle."""
        if self._idle_ms is None or self._heard_ms is None:
            return None
        return self._heard_ms + self._idle_ms

    def state(self) -> tuple[int | None, int | None]:
        """What a snapshot keeps: when a row was heard last, and what the wall's clock showed."""
        return self._heard_ms, self._wall_ms

    def restore(self, state: tuple[int | None, int | None]) -> None:
        """Go on from the state of another."""
        self._heard_ms, self._wall_ms = state

    def heard(self) -> None:
        """A row has come that moved the clock, or the heart has beaten.

        Before the wall's clock is known nothing is counted.
        """
        self._heard_ms = self._wall_ms

    def is_due(self, wall_ms: int) -> bool:
        """Whether the next beat is due; the wall's clock then stands at it, else at `wall_ms`."""
        due = self.next_ms is not None and self.next_ms <= wall_ms
        self._wall_ms = self.next_ms if due and self.next_ms is not None else wall_ms
        return due
