"""What a signal or an order wants from the simulated account."""

from __future__ import annotations

from dataclasses import dataclass

from mt5bridge.wire import Order, OrderKind, OrderSide, Side, Signal

_LOTS_DEFAULT = 0.1


@dataclass(frozen=True, slots=True)
class Wish:
    """Trade at the market. `direction` is 1 to buy, -1 to sell and 0 to close.

    Stop and target are a distance in points from the price of execution, or prices; 0 none.
    """

    id: int
    name: str
    magic: int
    direction: int
    lots: float
    ticket: int = 0
    stop_points: float = 0.0
    target_points: float = 0.0
    stop: float = 0.0
    target: float = 0.0

    @property
    def text(self) -> str:
        """In words."""
        verb = {1: "buy", -1: "sell", 0: "close"}[self.direction]
        return f"{verb} {self.lots:g} lots" if self.lots else f"{verb} all"

    def levels(self, price: float, point: float) -> tuple[float, float]:
        """Stop and target as prices, for an execution at `price`."""
        way = self.direction * point
        stop = price - way * self.stop_points if self.stop_points else self.stop
        target = price + way * self.target_points if self.target_points else self.target
        return (stop, target) if self.direction else (0.0, 0.0)


def wish_of(request: Signal | Order) -> Wish | str:
    """What is wanted, or why the simulator does not do it."""
    if isinstance(request, Signal):
        return _of_signal(request)
    if request.kind is OrderKind.MARKET:
        direction = 1 if request.side is OrderSide.BUY else -1
    elif request.kind is OrderKind.CLOSE:
        direction = 0
    else:
        return f"the simulator executes market and close, not {request.kind.name.lower()}"
    return Wish(
        request.id,
        request.name,
        request.magic,
        direction,
        request.lots,
        ticket=request.ticket,
        stop=request.sl,
        target=request.tp,
    )


def _of_signal(signal: Signal) -> Wish:
    direction = {Side.BUY: 1, Side.SELL: -1, Side.CLOSE: 0}[signal.side]
    return Wish(
        signal.id,
        signal.name,
        signal.magic,
        direction,
        (signal.lots or _LOTS_DEFAULT) if direction else 0.0,
        stop_points=signal.stop_points,
        target_points=signal.target_points,
    )
