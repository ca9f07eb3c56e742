"""One account at a simulated broker: quotes come in, requests are answered, deals go out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mt5bridge.broker import codes, requests
from mt5bridge.broker.checks import equity, floating, margin
from mt5bridge.broker.leap import leap, quiet
from mt5bridge.broker.rates import converted
from mt5bridge.broker.run import GROWING, is_roomy, rows_needed
from mt5bridge.broker.slippage import note_range
from mt5bridge.broker.state import (
    ACCOUNT,
    ANSWER,
    DEAL_ROW,
    HOLDING,
    ORDER,
    POSITION,
    REQUEST,
    SESSION,
    SYMBOL,
    TAKEN_BACK,
    Ints,
    Reals,
    Record,
    State,
    Table,
    Waiting,
)
from mt5bridge.broker.ticks import on_tick, watch

_ROWS = 64  # of a table at first


class Run(Protocol):
    """The loop over ticks: `leap`, or `run`, compiled."""

    def __call__(
        self,
        state: State,
        rows: Ints,
        places: Ints,
        times_msc: Ints,
        bids: Reals,
        asks: Reals,
        waiting: Waiting,
        at: Ints,
    ) -> bool: ...


@dataclass(frozen=True, slots=True)
class Specification:
    """What trading a symbol depends on. Zero says that there is no step or limit.

    Lots of deals cost `commission_per_lot` in the account's money, and `commission_per_mille` of
    their worth: all, those that open or those that close (`commission_side`). `swap_long` and
    `swap_short` are for each night, as `swap_mode` says (`codes`), three times behind
    `swap_triple_day` and not at weekends. Outside its `sessions`, ms of the server's week from
    Sunday on, the end excluded, a symbol is not traded; without any it always is.

    Market and stop orders fill worse than the quote: by `slippage_points`, by shares of the spread
    and of the range that bids had in `slippage_range_ms`, by `impact_points` for `impact_lots`, and
    by up to `slippage_random_points` by chance (`slippage.py`).

    A tick offers `depth_lots` to buyers, and as many to sellers. What becomes of an order that
    wants more says its `filling`, one of the `filling_modes`. Its profits are in the
    `profit_currency`; where it is another than the account's, say how to `convert` them.
    """

    point: float
    tick_size: float = 0.0
    contract_size: float = 1.0
    volume_min: float = 0.0
    volume_max: float = 0.0
    volume_step: float = 0.0
    stops_level_points: float = 0.0
    freeze_level_points: float = 0.0
    slippage_points: float = 0.0
    commission_per_lot: float = 0.0
    commission_per_mille: float = 0.0
    commission_side: int = codes.EACH_SIDE
    swap_mode: int = codes.NO_SWAP
    swap_long: float = 0.0
    swap_short: float = 0.0
    swap_triple_day: int = codes.WEDNESDAY
    sessions: tuple[tuple[int, int], ...] = ()
    slippage_spread: float = 0.0
    impact_points: float = 0.0
    impact_lots: float = 1.0
    impact_power: float = 1.0
    slippage_range: float = 0.0
    slippage_range_ms: int = 0
    slippage_random_points: float = 0.0
    slippage_seed: int = 0
    depth_lots: float = 0.0
    filling: int = codes.FOK
    filling_modes: int = codes.ALL_FILLINGS
    profit_currency: str = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """What an account is: `leverage` 0 asks for no margin, `money_digits` None does not round.

    An order is filled in the shares `fills`, each a deal. Positions are closed while equity is less
    than `stop_out_percent` of the margin; 0: never. Midnight is that of a server whose clock is
    `server_ahead_ms` before that of the ticks.
    """

    hedging: bool = False
    balance: float = 0.0
    leverage: float = 0.0
    money_digits: int | None = None
    fills: tuple[float, ...] = (1.0,)
    first_ticket: int = 1
    stop_out_percent: float = 0.0
    server_ahead_ms: int = 0
    currency: str = ""

    def __post_init__(self) -> None:
        if not self.fills or min(self.fills) <= 0 or abs(sum(self.fills) - 1) > 1e-9:
            raise ValueError(f"fills {self.fills} are no shares of one order: make their sum 1")


class Broker:
    """A state machine over ticks and requests; nothing in it reads a clock or draws by chance."""

    def __init__(
        self, terms: Terms, symbols: Sequence[Specification] = (), loop: Run = leap
    ) -> None:
        self.loop = loop
        account = np.zeros(1, ACCOUNT)
        account["hedging"] = terms.hedging
        account["balance"], account["leverage"] = terms.balance, terms.leverage
        account["stop_out_percent"] = terms.stop_out_percent
        account["server_ahead_ms"] = terms.server_ahead_ms
        account["parts_of_unit"] = 0 if terms.money_digits is None else 10**terms.money_digits
        for name in ("first_ticket", "next_order", "next_deal"):
            account[name] = terms.first_ticket
        self.state = State(
            account,
            np.zeros(0, SYMBOL),
            np.zeros(_ROWS, POSITION),
            np.zeros(_ROWS, ORDER),
            np.zeros(_ROWS, HOLDING),
            np.zeros(4 * _ROWS, DEAL_ROW),
            np.zeros(_ROWS, TAKEN_BACK),
            np.array(terms.fills),
            np.zeros(0, SESSION),
        )
        for symbol in symbols:
            self.add(symbol)

    def add(self, symbol: Specification) -> int:
        """Let a symbol be traded; its row."""
        row, number = np.zeros(1, SYMBOL), len(self.state.symbols)
        self._specify(row, symbol)
        sessions = np.array([(number, *span) for span in symbol.sessions], SESSION)
        self.state = self.state._replace(
            symbols=np.concatenate([self.state.symbols, row]),
            sessions=np.concatenate([self.state.sessions, sessions]),
        )
        watch(self.state)
        return number

    def _specify(self, row: Table, symbol: Specification) -> None:
        for name in SYMBOL.names or ():
            if name in Specification.__dataclass_fields__:
                row[name] = getattr(symbol, name)
        row["range_period"] = -1
        self.state.account["ranges"] += symbol.slippage_range_ms > 0

    def change(self, row: int, symbol: Specification) -> None:
        """Another specification for a symbol that was only quoted so far."""
        self._specify(self.state.symbols[row : row + 1], symbol)
        sessions = np.array([(row, *span) for span in symbol.sessions], SESSION)
        self.state = self.state._replace(sessions=np.concatenate([self.state.sessions, sessions]))
        watch(self.state)

    def convert(self, row: int, pairs: Sequence[tuple[int, int]]) -> None:
        """Have the profits of a symbol converted at pairs, by their rows and ways (`rates`): none,
        one, or two of a cross.
        """
        first, second = (*pairs, (0, 0), (0, 0))[:2]
        symbol = self.state.symbols[row]
        symbol["rate_row"], symbol["rate_way"] = first
        symbol["cross_row"], symbol["cross_way"] = second
        watch(self.state)

    def rate(self, row: int) -> float:
        """What one unit of the currency of a symbol's profits is in the account's; 0: not known."""
        return float(converted(self.state, self.state.symbols[row], 1.0))

    def tick(self, row: int, time_msc: int, bid: float, ask: float) -> None:
        """The next quote of the symbol in a row."""
        self._make_room()
        note_range(self.state, row, time_msc, bid)
        on_tick(self.state, row, time_msc, bid, ask)

    def execute(self, request: Record) -> Record:
        """Answer a request, a record of REQUEST, at the quotes of now."""
        self._make_room()
        answer = np.zeros(1, ANSWER)
        requests.execute(self.state, request, answer[0])
        return answer[0]

    def send(self, request: Record) -> int:
        """The return code of a server that takes a request as it is, of MetaTrader's actions."""
        self._make_room()
        retcode = requests.send(self.state, request, np.zeros(1, ANSWER)[0])
        watch(self.state)
        return retcode

    def waiting(self, requests: Table) -> Waiting:
        """Requests, REQUEST in their order, to be executed while ticks are `run`."""
        ordered = requests
        if len(requests) > 1:  # rules that see fills send one at a time, and often
            ordered = requests[np.argsort(requests["symbol"], kind="stable")]
        count = len(self.state.symbols)
        ends = np.searchsorted(ordered["symbol"], np.arange(count), side="right")
        first = np.concatenate([np.zeros(min(1, count), np.int64), ends[:-1]])
        return Waiting(ordered, np.zeros(len(ordered), ANSWER), first, ends)

    def run(
        self,
        rows: Ints,
        places: Ints,
        times_msc: Ints,
        bids: Reals,
        asks: Reals,
        waiting: Waiting | None = None,
    ) -> None:
        """Ticks of the symbols in `rows`, in their order, and the requests that wait for them."""
        if waiting is None:
            waiting = self.waiting(np.zeros(0, REQUEST))
        at = np.zeros(2, np.int64)
        while not self.loop(self.state, rows, places, times_msc, bids, asks, waiting, at):
            self._grow()

    def quiet(
        self, rows: Ints, places: Ints, times_msc: Ints, bids: Reals, asks: Reals, waiting: Waiting
    ) -> int:
        """How many of the next ticks, as for `run`, would surely set nothing off: no deal is made,
        no request answered before the tick behind them.
        """
        return quiet(self.state, rows, places, times_msc, bids, asks, waiting)

    def take_deals(self) -> Table:
        """The deals since the last time, in their order."""
        account = self.state.account[0]
        if not account["deals"]:
            return np.zeros(0, DEAL_ROW)
        found = self.state.deals[: account["deals"]].copy()
        account["deals"] = 0
        return found

    def take_taken_back(self) -> list[int]:
        """The tags of pending orders that requests have taken back since the last time."""
        account = self.state.account[0]
        if not account["taken_back"]:
            return []
        found: list[int] = self.state.taken_back["tag"][: account["taken_back"]].tolist()
        account["taken_back"] = 0
        return found

    @property
    def positions(self) -> Table:
        """Open positions by ticket."""
        return self.state.positions[: self.state.account[0]["positions"]]

    @property
    def orders(self) -> Table:
        """Pending orders by ticket."""
        return self.state.orders[: self.state.account[0]["orders"]]

    @property
    def time_msc(self) -> int:
        """The newest tick's time; 0 before the first one."""
        return int(self.state.account[0]["time_msc"])

    @property
    def balance(self) -> float:
        return float(self.state.account[0]["balance"])

    @property
    def floating(self) -> float:
        """What open positions would bring now."""
        return floating(self.state)

    @property
    def equity(self) -> float:
        """The balance, and what open positions would bring now."""
        return equity(self.state)

    @property
    def margin(self) -> float:
        """What open positions block."""
        return margin(self.state)

    def _make_room(self) -> None:
        while not is_roomy(self.state):
            self._grow()

    def _grow(self) -> None:
        """Twice the rows of tables that are too small."""
        tables = {name: getattr(self.state, name) for name in GROWING}
        needed = dict(zip(GROWING, rows_needed(self.state), strict=True))
        self.state = self.state._replace(
            **{
                name: np.concatenate([table, np.zeros_like(table)])
                for name, table in tables.items()
                if needed[name] > len(table)
            }
        )
