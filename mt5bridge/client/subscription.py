"""What happens at a daemon, for Python programs that only read.

    with subscribe("tcp://127.0.0.1:5655", read_credential(path)) as events:
        for event in events:
            ...

or `async with` and `async for`. A thread of its own keeps the connection: when it breaks, or the
daemon is away, it comes back, and goes on where it was.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

from mt5bridge.client.client import Client
from mt5bridge.client.connection import Connection
from mt5bridge.client.listener import QUEUED_MAX, Item, Listener
from mt5bridge.client.mailbox import ClosedError, Mailbox
from mt5bridge.client.mark import Mark, Missed
from mt5bridge.client.progress import Progress
from mt5bridge.credential import Credential
from mt5bridge.curve import CurveIdentity
from mt5bridge.wire import AccountMode, Entry, Event, Hello, TradeMode, Wanted
from mt5bridge.worker import Worker

PROGRAM = "mt5bridge.client"
_ADDRESS = re.compile(r"tcp://([^:/\s]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}")


class Subscription:
    """Complex events as they come, each once. One program takes them, by `for` or `async for`."""

    def __init__(
        self, client: Client, connection: Connection, progress: Progress, queued_max: int
    ) -> None:
        """Made by `subscribe`; connects."""
        self._progress = progress
        self._mailbox: Mailbox[Item] = Mailbox()
        self._listener = Listener(client, connection, self._mailbox, queued_max=queued_max)
        self._worker = Worker("subscription", self._listener.run).start()

    @property
    def mark(self) -> Mark:
        """Behind what was taken last. Keep it with what you made of that."""
        return self._progress.mark

    @property
    def on_missed(self) -> Callable[[Missed], None]:
        """Told what the daemon has not kept for us, where the event behind it is taken.

        Without one of yours a warning is logged.
        """
        return self._progress.on_missed

    @on_missed.setter
    def on_missed(self, call: Callable[[Missed], None]) -> None:
        self._progress.on_missed = call

    @property
    def drops(self) -> int:
        """How often a connection was lost, or given up because too much waited to be taken."""
        return self._listener.drops

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the daemon's answer; whether it has come in time. What happens from there on is
        not missed. SubscriptionError: the daemon refuses us.
        """
        is_heard = self._listener.heard.wait(timeout_s)
        if self._mailbox.failure is not None:
            raise self._mailbox.failure
        return is_heard

    def take(self, timeout_s: float | None = None) -> Event | None:
        """The next event; None when none comes in time.

        SubscriptionError: the daemon refuses us. ClosedError: `close` was called, and what had been
        received by then is taken.
        """
        while (item := self._mailbox.take(timeout_s)) is not None:
            self._listener.taken()
            if (event := self._progress.take(item)) is not None:
                return event
        return None

    def close(self) -> None:
        """End the connection; what was received and not taken can still be taken."""
        self._listener.stop()
        self._worker.join()

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        try:
            event = self.take()
        except ClosedError:
            raise StopIteration from None
        assert event is not None, "without a limit it waits for one"
        return event

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while True:
            try:
                item = await self._mailbox.await_next()
            except ClosedError:
                raise StopAsyncIteration from None
            self._listener.taken()
            if (event := self._progress.take(item)) is not None:
                return event

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)


def subscribe(
    address: str,
    credential: Credential | CurveIdentity,
    *wanted: Entry,
    after: Mark | None = None,
    identity: str = "",
    queued_max: int = QUEUED_MAX,
) -> Subscription:
    """Get the complex events of a daemon's rules: those `wanted`, or all.

    `credential` needs the role `read`. `after` is where an earlier run of the program stood: what
    has happened since comes first, as far as the daemon has it still; without it begins what
    happens now. `identity` tells programs apart that have one credential; where that is bound to
    one, it is that one, or begins with it and a slash. `queued_max` events wait for the program.
    ValueError: an identity, mark or wish that cannot be; TypeError: an argument of another kind.
    """
    _check(address, credential, wanted, after)
    client = Client(_hello(identity or f"{credential.user}/reader"))
    if after is not None:
        client.go_on(after.numbering, after.numbers)
    client.subscribe(*(wanted or [Entry(Wanted.ALL, 0, "")]))
    connection = Connection(address, credential)
    return Subscription(client, connection, Progress(after or Mark()), queued_max)


def _check(address: Any, credential: Any, wanted: tuple[Any, ...], after: Any) -> None:
    """What would otherwise be found far from here, or not at all."""
    if not _ADDRESS.fullmatch(address):
        raise ValueError(f"`{address}` is no address of a daemon; write tcp://HOST:PORT")
    if not isinstance(credential, Credential | CurveIdentity):
        kind = type(credential).__name__
        raise TypeError(f"a credential of type {kind}; give read_credential(PATH)")
    for one in wanted:
        if not isinstance(one, Entry):
            raise TypeError(f"{one!r} is nothing to be wanted; give named({one!r}), ROWS or ORDERS")
    if after is not None and not isinstance(after, Mark):
        raise TypeError(f"after is of type {type(after).__name__}; give Mark.parse(TEXT)")


def _hello(identity: str) -> Hello:
    """That of a program without an account."""
    return Hello(
        instance=secrets.randbits(64),
        account=0,
        time_msc=0,
        utc_offset_ms=0,
        leverage=0,
        account_mode=AccountMode.NETTING,
        demo=1,
        trades=TradeMode.NONE,
        identity=identity,
        broker="",
        server="",
        currency="",
        program=PROGRAM,
    )
