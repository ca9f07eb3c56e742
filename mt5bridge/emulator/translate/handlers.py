"""The event handlers a program can have, and how mql::Program calls them."""

from __future__ import annotations

from dataclasses import dataclass

from mt5bridge.emulator.translate.scan import is_operator
from mt5bridge.emulator.translate.tokens import Token

_LONG_CALCULATE_COMMAS = 9


@dataclass(frozen=True)
class Handler:
    """One handler: its bit, the virtual method that calls it, and with which arguments."""

    bit: str
    method: str
    call: str
    gives: str = "void"

    def adapter(self, tokens: list[Token]) -> str:
        """The override that calls the handler whose tokens these are."""
        call = self.call
        if call.startswith("OnCalculate") and _commas(tokens) == _LONG_CALCULATE_COMMAS:
            call = (
                "OnCalculate(rates_total, prev_calculated, no_times, no_prices, no_prices, "
                "no_prices, no_prices, no_volumes, no_volumes, no_spreads)"
            )
        if self.gives == "void":
            return f"{self.method} override {{ {call}; }}"
        if any(token.text == "void" for token in tokens[:1]):
            return f"{self.method} override {{ {call}; return 0; }}"
        return f"{self.method} override {{ {_EMPTY}return {call}; }}"


_EMPTY = (
    "[[maybe_unused]] mql::array<mql::datetime> no_times; "
    "[[maybe_unused]] mql::array<double> no_prices; "
    "[[maybe_unused]] mql::array<long> no_volumes; [[maybe_unused]] mql::array<int> no_spreads; "
)


def _commas(tokens: list[Token]) -> int:
    """Commas of the parameter list."""
    count = 0
    for token in tokens:
        if is_operator(token, ")"):
            break
        count += is_operator(token, ",")
    return count


HANDLERS = {
    "OnInit": Handler("ON_INIT", "int handle_init()", "OnInit()", "int"),
    "OnDeinit": Handler("ON_DEINIT", "void handle_deinit(int reason)", "OnDeinit(reason)"),
    "OnTick": Handler("ON_TICK", "void handle_tick()", "OnTick()"),
    "OnTimer": Handler("ON_TIMER", "void handle_timer()", "OnTimer()"),
    "OnChartEvent": Handler(
        "ON_CHART_EVENT",
        "void handle_chart_event(int id, long lparam, double dparam, const mql::string& sparam)",
        "OnChartEvent(id, lparam, dparam, sparam)",
    ),
    "OnBookEvent": Handler(
        "ON_BOOK_EVENT", "void handle_book_event(const mql::string& symbol)", "OnBookEvent(symbol)"
    ),
    "OnTrade": Handler("ON_TRADE", "void handle_trade()", "OnTrade()"),
    "OnTradeTransaction": Handler(
        "ON_TRADE_TRANSACTION",
        "void handle_trade_transaction(const mql::MqlTradeTransaction& transaction, "
        "const mql::MqlTradeRequest& request, const mql::MqlTradeResult& result)",
        "OnTradeTransaction(transaction, request, result)",
    ),
    "OnStart": Handler("ON_START", "void handle_start()", "OnStart()"),
    "OnCalculate": Handler(
        "ON_CALCULATE",
        "int handle_calculate(int rates_total, int prev_calculated, int begin, "
        "mql::array_ref<const double> price)",
        "OnCalculate(rates_total, prev_calculated, begin, price)",
        "int",
    ),
}
