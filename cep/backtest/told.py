"""What was told of one symbol between its records, so that its clock passes as among all others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from cep.backtest.records import Moment, clock_records, encoded
from cep.backtest.selection import Selection
from cep.engine.input_rows import InputRows
from cep.engine.native import Run
from cep.engine.watermarks import Placed, Watermarks


class Told:
    """The watermarks of a symbol's key, from the clock records of all and its own records.

    What a source tells of a key follows from who publishes that key, whoever publishes the others.
    """

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._clock = clock_records(selection)
        self._next = next(self._clock, None)
        self._marks = Watermarks()
        self._published: deque[tuple[int, str, str]] = deque()

    def records(self, run: Run) -> Iterator[InputRows]:
        """The symbol's records; ask `before` for what is told between them as they come."""
        return encoded(self._selection, run, self._published.extend)

    def before(self, order: int) -> Iterator[Placed]:
        """What is told of the symbol before a place in the order, once each, with its place."""
        while self._next is not None and self._next.order < order:
            yield from self._told(self._next)
            self._next = next(self._clock, None)

    def _told(self, moment: Moment) -> Iterator[Placed]:
        while self._published and self._published[0][0] < moment.order:
            self._marks.published(*self._published.popleft()[1:])
        for found in self._marks.tell(*moment.told):
            if found.keys:  # else it moves no clock of a key
                yield moment.order, found
