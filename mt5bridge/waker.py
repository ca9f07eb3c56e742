"""Wakes a poll loop from other threads."""

from __future__ import annotations

import contextlib
import socket


class Waker:
    """A socket pair; `wake` may be called from any thread, the rest from the loop's."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        self._awake = False

    def fileno(self) -> int:
        """The descriptor to poll for reading."""
        return self._reader.fileno()

    def wake(self) -> None:
        """Make the descriptor readable."""
        if not self._awake:
            self._awake = True
            # A full buffer is as good as one more byte.
            with contextlib.suppress(BlockingIOError):
                self._writer.send(b"\0")

    def reset(self) -> None:
        """To be called before looking at what others left, so that nothing is overlooked."""
        with contextlib.suppress(BlockingIOError):
            while self._reader.recv(4_096):
                pass
        self._awake = False

    def close(self) -> None:
        """Close both ends."""
        self._reader.close()
        self._writer.close()
