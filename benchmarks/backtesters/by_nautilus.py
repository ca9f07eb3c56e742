"""nautilus_trader: a strategy in Python is called with each quote, its engine is compiled.

An order is on its way for a nanosecond: the quote behind the one it was decided at fills it.
"""

from __future__ import annotations

from collections import deque
from decimal import Decimal

import nautilus_trader
import pandas as pd
from nautilus_trader.backtest.engine import BacktestEngine
from nautilus_trader.backtest.models import LatencyModel
from nautilus_trader.common.config import LoggingConfig
from nautilus_trader.config import BacktestEngineConfig
from nautilus_trader.model.currencies import EUR, USD
from nautilus_trader.model.data import QuoteTick
from nautilus_trader.model.enums import AccountType, OmsType, OrderSide, PriceType
from nautilus_trader.model.events import OrderFilled
from nautilus_trader.model.identifiers import InstrumentId, Symbol, Venue
from nautilus_trader.model.instruments import CurrencyPair
from nautilus_trader.model.objects import Money, Price, Quantity
from nautilus_trader.persistence.wranglers import QuoteTickDataWrangler
from nautilus_trader.trading.strategy import Strategy

from benchmarks.backtesters.job import DIGITS, NS_PER_MS, POINT, UNITS, Job, Trade, serve, trade

VENUE = Venue("SIM")
PAIR = CurrencyPair(
    instrument_id=InstrumentId(Symbol("EUR/USD"), VENUE),
    raw_symbol=Symbol("EUR/USD"),
    base_currency=EUR,
    quote_currency=USD,
    price_precision=DIGITS,
    size_precision=0,
    price_increment=Price(POINT, DIGITS),
    size_increment=Quantity.from_int(1),
    margin_init=Decimal("0.03"),
    margin_maint=Decimal("0.03"),
    maker_fee=Decimal(0),
    taker_fee=Decimal(0),
    ts_event=0,
    ts_init=0,
)


class Crossing(Strategy):
    """Long while the fast mean is above the slow one, by running sums.

    The platform's own SimpleMovingAverage sums up all that it holds at each tick.
    """

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self.mids: deque[int] = deque()
        self.fast_sum = self.slow_sum = 0
        self.is_above = False
        self.fills: list[tuple[int, float]] = []

    def on_start(self) -> None:
        self.subscribe_quote_ticks(PAIR.id)

    def on_quote_tick(self, tick: QuoteTick) -> None:
        job, mids = self.job, self.mids
        mid = tick.extract_price(PriceType.MID).raw
        mids.append(mid)
        self.fast_sum += mid
        self.slow_sum += mid
        if len(mids) > job.fast:
            self.fast_sum -= mids[-1 - job.fast]
        if len(mids) < job.slow:
            return
        if len(mids) > job.slow:
            self.slow_sum -= mids.popleft()
        is_above = self.fast_sum * job.slow > self.slow_sum * job.fast
        if is_above != self.is_above:
            self.is_above = is_above
            side = OrderSide.BUY if is_above else OrderSide.SELL
            order = self.order_factory.market(PAIR.id, side, Quantity.from_int(UNITS))
            self.submit_order(order)

    def on_order_filled(self, event: OrderFilled) -> None:
        self.fills.append((event.ts_event // NS_PER_MS, event.last_px.as_double()))


def load(job: Job) -> list[QuoteTick]:
    """The quotes as objects, made by the platform's wrangler."""
    quotes = job.quotes()
    times = pd.to_datetime(quotes.times_ns(), utc=True)
    frame = pd.DataFrame({"bid_price": quotes.bids, "ask_price": quotes.asks}, index=times)
    ticks: list[QuoteTick] = QuoteTickDataWrangler(PAIR).process(frame)
    return ticks


def run(job: Job, ticks: list[QuoteTick]) -> list[Trade]:
    config = BacktestEngineConfig(logging=LoggingConfig(bypass_logging=True), run_analysis=False)
    engine = BacktestEngine(config)
    engine.add_venue(
        venue=VENUE,
        oms_type=OmsType.NETTING,
        account_type=AccountType.MARGIN,
        base_currency=USD,
        starting_balances=[Money(1_000_000, USD)],
        latency_model=LatencyModel(base_latency_nanos=1),
    )
    engine.add_instrument(PAIR)
    engine.add_data(ticks, sort=False)
    strategy = Crossing(job)
    engine.add_strategy(strategy)
    engine.run()
    fills = strategy.fills
    engine.dispose()
    return [trade(*bought, *sold) for bought, sold in zip(fills[::2], fills[1::2], strict=False)]


if __name__ == "__main__":
    serve(nautilus_trader.__version__, load, run)
