"""13: what engines put out is handed over afterwards, first in, first out."""

from __future__ import annotations

from collections import deque

from cep.interpreter.rows import Row
from cep.interpreter.streams import Junction

HandedRow = tuple[Junction, Row]


class HandOver:
    """One per running plan: the rows of events that their readers still have to get.

    What readers make engines put out meanwhile waits for its turn, so no engine is entered again
    while it is at work.
    """

    def __init__(self) -> None:
        self._waiting: deque[HandedRow] = deque()
        self._is_busy = False

    def give(self, made: list[HandedRow]) -> None:
        """Put rows out, then hand them over, unless that is going on: then it does so later."""
        for stream, row in made:
            stream.show([row])
        self._waiting += made
        if self._is_busy:
            return
        self._is_busy = True
        try:
            while self._waiting:
                stream, row = self._waiting.popleft()
                stream.deliver([row])
        finally:
            self._is_busy = False
