"""What a simulated fill takes for granted, said wherever results are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cep.account.account_file import OTHERS
from cep.account.market import NEXT_TICK, Market
from cep.account.orders import LOTS_DEFAULT
from cep.account.slippage import MS_A_SECOND, Slippage

_TOLD = "Commission, swap, margin, stop-out, volumes, lots offered, levels and sessions are"
LISTED_MAX = 10
"""Of symbols, before only their number is told."""


def assumptions(
    points: Mapping[str, float],
    valid_seconds: int,
    why_points: Mapping[str, str] | None = None,
    market: Market = NEXT_TICK,
) -> list[str]:
    """One sentence each; `points` are the sizes that were used, `why_points` how they are known."""
    why = {symbol: f" ({reason})" for symbol, reason in (why_points or {}).items()}
    sizes = _listed([f"{s} {point:g}{why.get(s, '')}" for s, point in sorted(points.items())])
    return [
        f"Market orders fill at the first tick of their symbol after the record that caused the "
        f"signal{_later(market)}: buys at ask, sells at bid{_worse(market)}. The spread is that of "
        "the ticks.",
        "Stops fill at the price of the tick that reached them, targets at their own price; "
        f"longs are watched at bid, shorts at ask{_worse(market, 'stops fill')}.",
        _positions(market),
        f"Signals without `for` TIME are good for {valid_seconds} seconds; "
        f"those without lots trade {LOTS_DEFAULT:g}.",
        _costs(market),
        "Drawdown and Sharpe (mean by deviation of a trade) are those of closed trades' points; "
        f"profit is price difference times lots{_contracts(market)}, net is after costs.",
        f"Size of a point: {sizes or 'not needed'}.",
    ]


def _listed(texts: Sequence[str]) -> str:
    """One after the other, as long as somebody reads that."""
    more = len(texts) - LISTED_MAX
    return ", ".join(texts) if more <= 0 else f"{', '.join(texts[:LISTED_MAX])} and {more:,} more"


def _costs(market: Market) -> str:
    """What trading costs, and what it must not exceed."""
    nothing = "No commission, swap, margin or partial fills; any lots, any distance of stops that "
    if market.account is None:
        return f"{nothing}the spread allows. No sessions."
    names = sorted(market.account.symbols)
    others = "" if OTHERS in names else "; others cost nothing"
    told = f"{_listed(names) or 'no symbol'}{others}. {_conversion(market)}"
    if not market.tellers:
        return f"{_TOLD} those of the account's file: it names {told}"
    texts = [f"{name} ({_teller(market, name)})" for name in names if name in market.tellers]
    account = market.tellers.get("")
    told_of_it = f", and the account ({account})" if account else ""
    if market.unused:
        told += (
            f" What {_listed(market.unused)} told of the account is left out, as nobody told its "
            "balance."
        )
    return (
        f"{_TOLD} those that the archive was told of {_listed(texts)}{told_of_it}; known are {told}"
    )


def _teller(market: Market, name: str) -> str:
    """Who told of a symbol, and how often something else within the run."""
    changes = len(market.changes.get(name, ()))
    noun = "change" if changes == 1 else "changes"
    return market.tellers[name] + (f", {changes:,} {noun} in the run" if changes else "")


def _conversion(market: Market) -> str:
    """What becomes of other currencies."""
    if not market.terms.currency:
        return "No conversion between currencies."
    return f"Other currencies become {market.terms.currency} at the newest tick of their pair."


def _contracts(market: Market) -> str:
    if market.account is None:
        return ", without contract size or currency"
    currency = market.terms.currency or "each symbol's currency"
    return f" times contract size, in {currency}"


def _later(market: Market) -> str:
    return f", {market.latency_ms:,} ms later at least" if market.latency_ms else ""


def _worse(market: Market, what: str = "") -> str:
    """How much worse than the quote."""
    if not market.slippage_points and market.slippage.is_none:
        return ""
    more = "" if market.slippage.is_none else f" and {_grown(market.slippage)}"
    return f", {what + ' ' if what else ''}{market.slippage_points:g} points{more} worse"


def _grown(told: Slippage) -> str:
    """What comes to the points of slippage."""
    seconds = told.slippage_range_ms / MS_A_SECOND
    parts = {
        f"{told.slippage_spread:g} of the spread": told.slippage_spread,
        f"{told.impact_points:g} for {told.impact_lots:g} lots": told.impact_points,
        f"{told.slippage_range:g} of the range in {seconds:g} s": told.slippage_range,
        f"up to {told.slippage_random_points:g} by chance": told.slippage_random_points,
    }
    return " and ".join(text for text, share in parts.items() if share)


def _positions(market: Market) -> str:
    if market.terms.hedging:
        return "A hedging account: each signal opens a position; `close` closes all on its symbol."
    return (
        "A netting account: a symbol has one position, which signals enlarge, make smaller or "
        "turn; `close` closes it."
    )
