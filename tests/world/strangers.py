"""Peers that were let in and say what nobody should: valid frames at their ends, broken ones."""

from __future__ import annotations

import random

from tests.bridge.odd import hostile_frames
from tests.credentials import CREDENTIAL
from tests.world.network import Connection, Lines
from tests.world.record import Record

_MOST = 4


class Strangers:
    """None of them is a terminal of the world, whatever they say."""

    def __init__(self, lines: Lines, chance: random.Random, record: Record) -> None:
        self._lines, self._chance, self._record = lines, chance, record
        self._known: list[Connection] = []

    def speak(self) -> None:
        """One of them says a few things."""
        self._known = [line for line in self._known if line.is_open][-_MOST:]
        if not self._known or self._chance.random() < 0.3:
            self._known.append(self._lines.connect(CREDENTIAL.user))
        line = self._chance.choice(self._known)
        line.down.clear()
        frames = list(hostile_frames(self._chance, self._chance.randint(1, 12)))
        if self._chance.random() < 0.2:
            frames.append(self._chance.randbytes(self._chance.randint(0, 40)))
        self._record.note(f"a stranger says {len(frames)}")
        line.up.extend(frames)
