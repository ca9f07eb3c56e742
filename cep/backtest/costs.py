"""What opening positions has cost, until what closes them bears it."""

from __future__ import annotations

from mt5bridge.broker import Record, Specification, codes

DIGITS_MOST = 10
"""Of an account that does not round: what summing doubles may lose is less."""
LOTS_DIGITS = 8


class OpeningCosts:
    """Commissions of opening deals, shared out by lots among the deals that close them.

    Each share is rounded as the account's money, and the last one is what is left: their sum is to
    the cent what was charged.
    """

    def __init__(self, money_digits: int | None) -> None:
        self._digits = DIGITS_MOST if money_digits is None else money_digits
        self._open: dict[int, tuple[float, float]] = {}  # by position: lots, commission

    def charged(self, deal: Record, symbol: Specification) -> float:
        """The commission of what a deal closes: its own, and of the opening before."""
        position, closed = int(deal["position_id"]), float(deal["closed_lots"])
        own = self._of_closing(deal, symbol)
        found = own + self._leave(position, closed) if closed else 0.0
        opened = round(float(deal["volume"]) - closed, LOTS_DIGITS)
        if opened > 0.0:
            lots, amount = self._open.get(position, (0.0, 0.0))
            rest = float(deal["commission"]) - own
            self._open[position] = round(lots + opened, LOTS_DIGITS), self.rounded(amount + rest)
        return self.rounded(found)

    def left(self, position: int) -> float:
        """The commission of opening what is open of a position."""
        return self._open.get(position, (0.0, 0.0))[1]

    def rounded(self, amount: float) -> float:
        """An amount without what sums of doubles have lost."""
        return round(amount, self._digits) + 0.0  # which is never -0.0

    def _of_closing(self, deal: Record, symbol: Specification) -> float:
        """Of a deal that turns a position, the part for the lots that it closes."""
        amount, closed = float(deal["commission"]), float(deal["closed_lots"])
        if not closed or closed >= deal["volume"] or symbol.commission_side == codes.EXIT_SIDE:
            return amount if closed else 0.0
        if symbol.commission_side == codes.ENTRY_SIDE:
            return 0.0
        return self.rounded(amount * closed / float(deal["volume"]))

    def _leave(self, position: int, closed: float) -> float:
        lots, amount = self._open.pop(position, (0.0, 0.0))
        left = round(lots - closed, LOTS_DIGITS)
        if left <= 0.0:
            return amount
        found = self.rounded(amount * closed / lots)
        self._open[position] = left, self.rounded(amount - found)
        return found
