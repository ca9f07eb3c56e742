// How this broker behaves, well or badly: set by `broker key=value` statements of a script.
#pragma once

#include "records.hpp"

#include <set>

namespace mql::broker {

struct Range {
  double least = 0, most = 0;
};

// The server refuses requests with `retcode`, each with probability `share`, `times` times.
struct Rejection {
  u32 retcode = 0;
  double share = 1;
  i64 times = -1;  // -1: no limit
};

struct AccountSettings {
  i64 login = 1;
  std::string server = "Demo", name = "Tester", company = "Broker", currency = "EUR";
  int mode = 0;  // ENUM_ACCOUNT_MARGIN_MODE
  int leverage = 100;
  double balance = 10000;
  bool demo = true;
};

enum class Comments { keep, cut, replace, drop };

struct Settings {
  Range latency_ms;              // from sending a request until the server has worked it
  Range fills{1, 1};             // deals an order is filled with
  Range fill_delay_ms;           // between two of them
  Range fill_ticks;              // or so many ticks of the symbol between them
  Range slippage_points;         // worse than the quote by so much
  Range history_delay_ms;        // until the terminal hears of a change
  Range in_flight_delay_ms;      // a request that was under way in a crash is worked so much later
  Range revision_delay_ms;
  double shuffle = 1;            // 1: transactions of one moment come in random order
  double duplicates = 0;         // share of transactions that come twice
  double missing = 0;            // share of transactions that never come; OnTrade still does
  double timeout = 0;            // share of requests answered 10012 though they were worked
  double lost = 0;               // share of requests answered 10012 that never arrived
  double in_flight = 0.5;        // share of requests that survive a crash of the terminal
  double liquidity = 1;          // share of an order that the market takes at once
  double depth_lots = 0;         // lots that a tick offers on each side; 0: any
  double commission = 0;         // per lot
  double revisions = 0;          // share of deals that are revised later
  double account_trade = 1;
  double account_expert = 1;
  double limit_orders = 0;       // 0: no limit
  double requests_per_second = 0;
  double stop_out = 0;           // margin level in per cent; 0: never
  double activity_ticks = 0;     // after so many ticks of a symbol somebody trades by hand
  double activity_lots = 0.1;
  Comments comments = Comments::cut;
  std::size_t comment_length = 31;
  std::string comment_text;
  std::vector<Rejection> rejections;
  std::set<std::string> closed;  // symbols whose market is shut; "*": all

  // Throws std::runtime_error that names what is wrong and what would be right.
  void set(const std::string& key, const std::string& value);

  bool is_closed(const std::string& symbol) const {
    return closed.contains(symbol) || closed.contains("*");
  }
  std::string comment_of(const std::string& comment) const;
};

}  // namespace mql::broker
