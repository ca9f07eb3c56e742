"""Streams while they run: a junction hands each chunk to its readers, in the order they came."""

from __future__ import annotations

from loguru import logger

from cep.interpreter.rows import Chunk, Emit


class Junction:
    """One stream. A reader that fails loses the chunk; the other readers still get it.

    What failed is logged, or with `fault` (`@OnError(action='stream')`) its rows go to the fault
    stream with the error's text behind their values. With `compat` the first failure keeps the
    chunk from all later readers, as in Siddhi.
    """

    def __init__(self, name: str, fault: Junction | None = None, compat: bool = False) -> None:
        self.name = name
        self.fault = fault
        self.compat = compat
        self.readers: list[Emit] = []
        self.watchers: list[Emit] = []

    def subscribe(self, reader: Emit) -> None:
        """Append a reader."""
        self.readers.append(reader)

    def watch(self, watcher: Emit) -> None:
        """Append one that is shown what is put on the stream, before any reader gets it."""
        self.watchers.append(watcher)

    def send(self, chunk: Chunk) -> None:
        """Put a chunk out: show it, then hand it over."""
        self.show(chunk)
        self.deliver(chunk)

    def show(self, chunk: Chunk) -> None:
        """Show a chunk to those who watch what is put out."""
        for watcher in self.watchers:
            watcher(chunk)

    def deliver(self, chunk: Chunk) -> None:
        """Hand a chunk to every reader, each finishing before the next begins."""
        for reader in self.readers:
            try:
                reader(chunk)
            except Exception as error:  # noqa: BLE001 -- user functions may raise anything
                self._failed(chunk, error)
                if self.compat:
                    return

    def _failed(self, chunk: Chunk, error: Exception) -> None:
        if self.fault is None:
            logger.opt(exception=error).error("stream {}: {} is lost: {}", self.name, chunk, error)
            return
        text = f"{type(error).__name__}: {error}"
        self.fault.send([row.with_values([*row.values, text]) for row in chunk])
