"""Looks at each frame that the daemon sends: what it promises, and whom it sends what."""

from __future__ import annotations

from collections.abc import Callable, Container

from mt5bridge.orders.request import opens
from mt5bridge.wire import Ack, Frame, Halt, Heartbeat, Order, Signal, Welcome, decode
from tests.world.network import Connection
from tests.world.record import Record
from tests.world.terminal import Terminal


class Watch:
    """What the daemon has said in all of its lives. Streams are known by symbol; "" are deals."""

    def __init__(
        self,
        record: Record,
        terminal_of: Callable[[Connection], Terminal | None],
        is_halted: Callable[[Signal | Order], bool],
    ) -> None:
        self._record, self._is_halted = record, is_halted
        self._terminal_of = terminal_of
        self.stored: dict[tuple[str, str], int] = {}
        """The last number of each terminal's streams that it has called stored."""
        self.sent: dict[tuple[str, int], str] = {}
        """Which terminals each request was sent to, and the account of that, as far as it is known.
        """
        self.owners: dict[bytes, str] = {}
        """The account with which each connection has come."""
        self.confirmed: set[tuple[str, str]] = set()
        """Terminals and accounts that somebody has confirmed."""
        self._trades_on: dict[str, str] = {}
        self._told: dict[bytes, bool] = {}
        """Whether a connection was told that all is halted: then its terminal executes nothing."""

    def greeted(self, terminal: Terminal) -> None:
        """A terminal has connected."""
        if terminal.line is not None:
            self.owners[terminal.line.route] = terminal.owner

    def forget(self, known: Container[int]) -> None:
        """A loss of power has left only these requests in the order journal: of others nobody knows
        which account they were meant for.
        """
        for key in self.sent:
            if key[1] not in known:
                self.sent[key] = ""

    def sent_down(self, line: Connection, data: bytes) -> None:
        """The daemon has sent a frame."""
        frame = decode(data)
        terminal = self._terminal_of(line)
        name = terminal.identity if terminal else "a stranger"
        self._record.note(f"to {name}: {type(frame).__name__} {len(data)}")
        if terminal is None:
            if isinstance(frame, Signal | Order):
                self._record.problem(f"a stranger is sent {frame.id:016x}")
            return
        self._look(terminal, line, frame)

    def _look(self, terminal: Terminal, line: Connection, frame: Frame) -> None:
        match frame:
            case Welcome():
                told = {one.name: one.durable for one in frame.streams}
                for (identity, stream), number in self.stored.items():
                    if identity == terminal.identity and told.get(stream, 0) < number:
                        text = f"{identity} {stream!r}: {number} was stored, now {told.get(stream)}"
                        self._record.problem(text)
                for stream, number in told.items():
                    self._promise(terminal, stream, number)
            case Ack():
                for one in frame.streams:
                    self._promise(terminal, terminal.names.get(one.stream, ""), one.sequence)
            case Heartbeat():
                for mark in frame.marks:
                    self._promise(terminal, terminal.names.get(mark.stream, ""), mark.passed)
            case Halt():
                self._told[line.route] = bool(frame.halted)
            case Signal() | Order():
                self._request(terminal, line, frame)

    def _promise(self, terminal: Terminal, stream: str, number: int) -> None:
        key = (terminal.identity, stream)
        self.stored[key] = max(self.stored.get(key, 0), number)

    def _request(self, terminal: Terminal, line: Connection, frame: Signal | Order) -> None:
        what, owner = f"{frame.name} {frame.id:016x}", self.owners[line.route]
        if frame.symbol and frame.symbol not in terminal.traded:
            self._record.problem(f"{terminal.identity} is sent {what} of {frame.symbol}")
        if opens(frame) and not self._told.get(line.route) and self._is_halted(frame):
            self._record.problem(f"{terminal.identity} is sent {what} while it is halted")
        known = self._trades_on.setdefault(terminal.identity, owner)
        if known != owner and (terminal.identity, owner) not in self.confirmed:
            self._record.problem(f"{terminal.identity} is sent {what} on {owner}, unconfirmed")
        self._trades_on[terminal.identity] = owner
        before = self.sent.setdefault((terminal.identity, frame.id), owner)
        if before not in ("", owner):
            self._record.problem(f"{what} was sent to {before} and to {owner}")
