"""`EventsCallback`: the user's code, called with every event, complex event and signal found."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from loguru import logger

from cep.plan.nodes import Origin, Plan
from mt5bridge.orders import Defaults, OrderRequest, as_order

Row = Mapping[str, Any]
OrderAction = Literal["market", "limit", "stop", "modify", "cancel", "close"]
Send = Callable[[str, int, Row], None]


class EventsCallback:
    """Subclass it and override what you need; rows are dictionaries as `replay` prints them.

    Rows come in definition order after the engine has examined the event that caused them. What
    you `send` is queued and handled afterwards: the engine is never re-entered. An exception is
    logged with its row and counted; the engine goes on.
    """

    live = False
    """Whether a daemon calls, which stores what terminals send and nothing else."""

    def __init__(self) -> None:
        self._outbox: list[tuple[str, int, Row]] = []
        self._orders: list[OrderRequest] = []

    def on_event(self, row: Row) -> None:
        """A simple event entered its queue."""

    def on_complex(self, row: Row) -> None:
        """A complex event was found."""

    def on_signal(self, row: Row) -> None:
        """A signal was made."""

    def on_row(self, row: Row) -> None:
        """A query put a row on a derived stream."""

    def on_result(self, row: Row) -> None:
        """What became of a signal or order: a terminal's report, or the daemon's refusal.

        The row has `id`, `client_id` (of orders), `name`, `symbol`, `state`, `terminal`, `lots`,
        `price`, `deal`, `order`, `retcode`, `text`, `time_msc` and `is_final`.
        """

    def order(
        self,
        *,
        client_id: str,
        symbol: str = "",
        side: Literal["buy", "sell", ""] = "",
        lots: float = 0.0,
        kind: OrderAction = "market",
        price: float = 0.0,
        sl: float = 0.0,
        tp: float = 0.0,
        ticket: int = 0,
        terminal: str | None = None,
        magic: int | None = None,
        valid_seconds: int | None = None,
        deviation_points: int | None = None,
    ) -> None:
        """Ask a terminal to trade; OrderError when something is missing.

        Prices are absolute, 0 is "not given", None takes the daemon's setting. `client_id` makes
        it happen once: asked again, also after a crash, nothing happens again. It is sent when it
        is on disk, and `on_result` tells what became of it. In a replay there is no terminal:
        orders are checked and left out.
        """
        request = OrderRequest(
            client_id=client_id, symbol=symbol, side=side, lots=lots, kind=kind, price=price,
            sl=sl, tp=tp, ticket=ticket, terminal=terminal, magic=magic,
            valid_seconds=valid_seconds, deviation_points=deviation_points,
        )  # fmt: skip
        as_order(request, Defaults(), 0)
        if self.live:
            self._orders.append(request)

    def cancel(self, *, client_id: str, ticket: int, terminal: str | None = None) -> None:
        """Ask a terminal to cancel a pending order; `client_id` is this request's own."""
        self.order(client_id=client_id, kind="cancel", ticket=ticket, terminal=terminal)

    def take_orders(self) -> list[OrderRequest]:
        """What was ordered since the last call."""
        orders, self._orders = self._orders, []
        return orders

    def send(self, stream: str, time_msc: int, row: Row) -> None:
        """Queue a row for a source stream; CallbackError in a daemon.

        A row without a terminal behind it has no sequence, so that after a crash nobody could
        tell whether it was stored, and a backtest would not see it.
        """
        if self.live:
            raise CallbackError(
                f"{stream}: a daemon takes rows from terminals only; let the rules derive what "
                "this callback sends, or act on the terminal with a signal"
            )
        self._outbox.append((stream, time_msc, row))

    def take_sent(self) -> list[tuple[str, int, Row]]:
        """What was sent since the last call."""
        sent, self._outbox = self._outbox, []
        return sent


class CallbackError(ValueError):
    """A callback file that cannot be used."""


@dataclass(slots=True)
class Delivery:
    """Hands rows to a callback and survives what it raises."""

    plan: Plan
    callback: EventsCallback
    live: bool = False
    failures: int = 0
    _handlers: dict[str, Callable[[Row], None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.callback.live = self.live
        by_origin = {
            Origin.EVENT: self.callback.on_event,
            Origin.COMPLEX: self.callback.on_complex,
            Origin.SIGNAL: self.callback.on_signal,
            Origin.QUERY: self.callback.on_row,
        }
        self._handlers = {
            stream.name: by_origin[stream.origin]
            for stream in self.plan.streams
            if stream.origin in by_origin
        }

    def deliver_result(self, row: Row) -> None:
        """Call the callback with what became of a signal or order."""
        try:
            self.callback.on_result(row)
        except Exception:  # noqa: BLE001 -- the user's code may raise anything
            self.failures += 1
            logger.exception("EventsCallback failed on {}", dict(row))

    def deliver(self, rows: Iterable[Row]) -> None:
        """Call the callback with each row, in order."""
        for row in rows:
            try:
                self._handlers[row["stream"]](row)
            except Exception:  # noqa: BLE001 -- the user's code may raise anything
                self.failures += 1
                logger.exception("EventsCallback failed on {}", dict(row))


def load_callback(path: Path) -> EventsCallback:
    """The one `EventsCallback` subclass of a Python file, made. Raises CallbackError.

    The file is the user's own program and runs with the user's rights.
    """
    if not path.is_file():
        raise CallbackError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(f"mt5cep_callback_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        raise CallbackError(f"{path}: {type(problem).__name__}: {problem}") from problem
    classes = [
        value
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, EventsCallback)
        and value is not EventsCallback
    ]
    if len(classes) != 1:
        raise CallbackError(
            f"{path}: {len(classes)} subclasses of EventsCallback; define exactly one"
        )
    for name in dir(classes[0]):
        if name.startswith("on_") and not hasattr(EventsCallback, name):
            known = ", ".join(one for one in dir(EventsCallback) if one.startswith("on_"))
            raise CallbackError(f"{path}: nothing calls {name}; there are {known}")
    try:
        made = classes[0]()
    except Exception as problem:
        what = f"{classes[0].__name__}() fails: {type(problem).__name__}: {problem}"
        raise CallbackError(f"{path}: {what}") from problem
    if not isinstance(made, EventsCallback):
        raise CallbackError(f"{path}: {classes[0].__name__}() is no EventsCallback")
    return made
