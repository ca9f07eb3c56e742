// What the broker needs to know of the terminal and the market around it, which implement it.
#pragma once

#include <cstdint>
#include <string>

namespace mql {
struct MqlTradeRequest;
struct MqlTradeResult;
struct MqlTradeTransaction;
}  // namespace mql

namespace mql::broker {

// The properties of a symbol that trading depends on, with MetaTrader's numbers.
struct SymbolFacts {
  std::string name;
  int digits = 5;
  double point = 1e-5;
  double tick_size = 1e-5;
  double contract_size = 100000;
  double volume_min = 0.01;
  double volume_max = 500;
  double volume_step = 0.01;
  double volume_limit = 0;   // lots in one direction, positions and orders together; 0 none
  int filling_modes = 3;     // SYMBOL_FILLING bits: FOK 1, IOC 2, BOC 4
  int execution = 2;         // 0 request, 1 instant, 2 market, 3 exchange
  int trade_mode = 4;        // 0 disabled, 1 long only, 2 short only, 3 close only, 4 full
  int stops_level = 0;       // points
  int freeze_level = 0;      // points
  int order_modes = 127;     // SYMBOL_ORDER bits: market 1, limit 2, stop 4, ... closeby 64
  int expiration_modes = 15; // SYMBOL_EXPIRATION bits: GTC 1, day 2, specified 4, ... day 8
  int calc_mode = 0;         // 0 forex: margin is divided by the leverage; else full price
  std::string currency_profit;
  std::string currency_margin;
};

// The newest prices of a symbol; `time_msc` is server time.
struct Quote {
  double bid = 0;
  double ask = 0;
  double last = 0;
  std::int64_t time_msc = 0;
};

class Surroundings {
public:
  virtual ~Surroundings() = default;
  virtual const SymbolFacts* symbol(const std::string& name) = 0;  // nullptr: no such symbol
  virtual bool quote(const std::string& name, Quote& quote) = 0;   // what the server has now
  virtual std::int64_t server_msc() = 0;
  virtual std::int64_t steady_ms() = 0;
  virtual bool logged_in() = 0;        // the terminal knows its account
  virtual bool connected() = 0;        // the terminal is connected to its trade server
  virtual bool trading_allowed() = 0;  // algo trading is on and the program may trade
  virtual void post_transaction(const MqlTradeTransaction& transaction,
                                const MqlTradeRequest& request, const MqlTradeResult& result) = 0;
  virtual void post_trade() = 0;
  virtual void block_ms(std::int64_t ms) = 0;  // OrderSend holds its program up
  virtual void journal(const std::string& line) = 0;
  virtual void effect(const char* name) = 0;  // something outside has changed; may not return
};

}  // namespace mql::broker
