"""What output rows lead to: signals first, then the user's callback, then the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from loguru import logger

from cep.dropped import Dropped, Reason
from cep.engine.rows import Row
from cep.live.config import Trading
from cep.live.journal import Journal
from cep.live.pipeline import Caused
from cep.live.signals import SignalError, as_signal, signal_id
from mt5bridge.spool import own_stream
from mt5bridge.wire import Signal

Send = Callable[[Signal], None]
Deliver = Callable[[Sequence[Row]], None]
Take = Callable[[Sequence[Row], Caused], None]


class Effects:
    """Acts on rows as they are found, and on rows that are found again after a restart.

    `signals` names the streams of signals; `deliver` is the user's callback, `take_orders` sends
    what it has ordered. `spool` is the name of that which holds the records. `take_events` gets all
    rows, the others but those of hidden streams.
    """

    def __init__(
        self,
        signals: Collection[str],
        trading: Trading,
        journal: Journal,
        deliver: Deliver | None,
        take_orders: Callable[[], None] = lambda: None,
        spool: str = "",
        take_events: Take = lambda rows, caused: None,
    ) -> None:
        self.signals = signals if trading.send else ()
        self.trading = trading
        self.journal = journal
        self.deliver = deliver
        self.take_orders = take_orders
        self.spool = spool
        self.take_events = take_events
        self.hidden: Collection[str] = ()
        self.scope = ""
        """Begins the names of signals, so that those of several rule files differ."""
        self.on_added: Callable[[int], None] = lambda ingest: None
        """Told the record that has led to the newest rows that were added to the journal."""
        self.found_again: list[Signal] = []
        self.late: list[Signal] = []
        """Signals of what was stored while the rules were on their way, to be sent."""
        self.says: Mapping[str, Collection[str]] = {}
        """What each signal asks for of the numbers that all have, by its name."""
        self.lots_most: Callable[[], float] = lambda: 0.0
        """What an order may have that is sized by risk; 0: no limit."""
        self.unusable = Dropped()
        """Signals that could not be sent, since this start."""

    def go_on(
        self,
        signals: Collection[str],
        deliver: Deliver | None,
        hidden: Collection[str] = (),
        says: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """Act on the rows of other rules from now on."""
        self.hidden, self.says = hidden, says or {}
        self.signals = signals if self.trading.send else ()
        self.deliver = deliver

    def act(self, caused: Caused, send: Send) -> None:
        """Rows found for the first time."""
        rows = caused.rows.dicts()
        for signal in self._signals(rows, caused):
            send(signal)
        rows = self._shown(rows, caused)
        if self.deliver is not None:
            self.deliver(rows)
            self.take_orders()
        # Last, so that after a crash rows in the journal are known to have been delivered.
        self.journal.add(rows)
        if rows:
            self.on_added(caused.groups[-1].last_ingest)

    def act_again(self, caused: Caused) -> None:
        """Rows found again: a terminal knows a signal by its id, a callback knows nothing."""
        rows = caused.rows.dicts()
        self.found_again += self._signals(rows, caused)
        rows = self._shown(rows, caused)
        self.journal.add_again(rows)
        if self.deliver is not None and not self.journal.repeats:
            self.deliver(rows)

    def act_late(self, caused: Caused) -> None:
        """Rows found for the first time beside the server: their signals wait for its thread."""
        rows = caused.rows.dicts()
        self.late += self._signals(rows, caused)
        rows = self._shown(rows, caused)
        if self.deliver is not None:
            self.deliver(rows)
        self.journal.add_again(rows)

    def note(self, caused: Caused) -> None:
        """Rows that new rules find in old records: nobody shall act on them any more."""
        self.journal.add_again(self._shown(caused.rows.dicts(), caused))

    def _shown(self, rows: list[Row], caused: Caused) -> list[Row]:
        """The rows without those that are for terminals alone, which get theirs."""
        self.take_events(rows, caused)
        if not self.hidden:
            return rows
        return [row for row in rows if row["stream"] not in self.hidden]

    def _signals(self, rows: Sequence[Row], caused: Caused) -> list[Signal]:
        if not self.signals:
            return []
        made: list[Signal] = []
        seen: Counter[tuple[str, str | None, int]] = Counter()
        for row, ingest in zip(rows, caused.rows.orders.tolist(), strict=True):
            if row["stream"] in self.signals:
                place = (row["stream"], row["key"], ingest)
                try:
                    made.append(self._signal(row, caused, ingest, seen[place]))
                except SignalError as problem:
                    logger.error("{}; it is not sent: {}", problem, row)
                    self.unusable.add(("signal", row["stream"]), Reason.UNUSABLE)
                seen[place] += 1
        return made

    def _signal(self, row: Row, caused: Caused, ingest: int, nth: int) -> Signal:
        group = caused.cause(ingest)
        name = self.scope + row["stream"]
        identifier = signal_id(
            self.spool,
            name,
            row["key"],
            group.source,
            "/".join(own_stream(group.stream)),  # aliases may change before it is sent again
            group.sequence + ingest - group.ingest,
            nth,
        )
        valid_ms = self.trading.valid_seconds * 1000
        says, most = self.says.get(row["stream"], ()), self.lots_most()
        scoped = {**row, "stream": name}
        return as_signal(scoped, identifier, self.trading.magic, valid_ms, says, most)
