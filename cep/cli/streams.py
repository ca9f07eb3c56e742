"""Standard output and error when nobody reads them any more, or their disk is full.

A write that fails there ends the program as it would end `cat`: quietly when the reader has gone,
as `head` does, and with the reason otherwise. So it passes whoever catches what rules, callbacks
and files may raise.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, BinaryIO, TextIO, cast

PIPE_CLOSED = 141
"""What a shell shows for a program that its closed pipe has ended: 128 and SIGPIPE."""

CANNOT_WRITE = 2
CLOSED = (errno.EPIPE, errno.EINVAL)
"""How systems say that the reader of a pipe is gone; the second is Windows'."""


class StreamEnd(BaseException):
    """A standard stream takes no more; `message` is empty when its reader just went away."""

    def __init__(self, name: str, problem: OSError) -> None:
        is_closed = problem.errno in CLOSED
        super().__init__(name, problem.strerror)
        self.message = "" if is_closed else f"error: {name}: {problem.strerror or problem}"
        self.exit_code = PIPE_CLOSED if is_closed else CANNOT_WRITE


class _Guarded(io.FileIO):
    """The file behind a standard stream; what is left in buffers after a failure goes nowhere."""

    def __init__(self, descriptor: int, name: str) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._of = name

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as problem:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            raise StreamEnd(self._of, problem) from problem


class NamedFile(io.FileIO):
    """A file to write whose errors name it, as a full disk's do not by themselves."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as problem:
            raise OSError(problem.errno, problem.strerror, str(self.name)) from problem


def unguarded(stream: TextIO) -> TextIO:
    """The same stream for who copes with what fails there; nothing is kept for later."""
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    if not isinstance(raw, _Guarded):
        return stream
    stream.flush()
    return io.TextIOWrapper(
        cast("BinaryIO", io.FileIO(raw.fileno(), "wb", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        write_through=True,
    )


def guard() -> None:
    """Make writes to standard output and error raise `StreamEnd` when they fail."""
    if sys.stdout is sys.__stdout__:
        sys.stdout = _guarded(sys.stdout, "standard output")
    if sys.stderr is sys.__stderr__:
        sys.stderr = _guarded(sys.stderr, "standard error")


def _guarded(stream: Any, name: str) -> TextIO:
    """The same stream, guarded; a terminal and one that is closed stay as they are."""
    if stream is None or stream.isatty():
        return stream  # type: ignore[no-any-return]
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Guarded(stream.fileno(), name)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering or stream.write_through,
    )
