"""A bounded queue from a thread to a program that waits for it, or awaits it."""

from __future__ import annotations

import asyncio
from collections import deque
from threading import Condition
from typing import Generic, TypeVar

_Item = TypeVar("_Item")


class ClosedError(Exception):
    """Nothing comes any more, and all there was has been taken."""


class Mailbox(Generic[_Item]):
    """One thread puts, one program takes; at the end it is closed, with the reason if it failed."""

    def __init__(self) -> None:
        self._items: deque[_Item] = deque()
        self._changed = Condition()
        self._sleepers: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._is_closed = False
        self._failure: Exception | None = None

    def __len__(self) -> int:
        return len(self._items)

    @property
    def failure(self) -> Exception | None:
        """Why it was closed, if something failed."""
        return self._failure

    def put(self, item: _Item) -> None:
        """Hand one over."""
        with self._changed:
            self._items.append(item)
            self._wake()

    def close(self, failure: Exception | None = None) -> None:
        """End it: who takes gets what is there, then `failure` or ClosedError. Once is enough."""
        with self._changed:
            if not self._is_closed:
                self._is_closed, self._failure = True, failure
            self._wake()

    def take(self, timeout_s: float | None = None) -> _Item | None:
        """The next one; None when none comes in time."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._is_closed, timeout_s)
            return self._next()

    async def await_next(self) -> _Item:
        """The same without a thread that waits; cancelling it loses nothing."""
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        while True:
            with self._changed:
                if (found := self._next()) is not None:
                    return found
                event.clear()
                self._sleepers.append((loop, event))
            await event.wait()

    def _next(self) -> _Item | None:
        if self._items:
            return self._items.popleft()
        if self._is_closed:
            raise self._failure or ClosedError
        return None

    def _wake(self) -> None:
        self._changed.notify_all()
        sleepers, self._sleepers = self._sleepers, []
        for loop, event in sleepers:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)
