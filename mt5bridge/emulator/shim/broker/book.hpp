// The state that changes add up to: one the server keeps, one is what the terminal has heard of.
#pragma once

#include "records.hpp"

#include <map>
#include <string>

namespace mql::broker {

class Book {
public:
  void apply(const Change& change);

  const Order* order(u64 ticket) const;       // working
  const Order* past_order(u64 ticket) const;  // in history
  const Deal* deal(u64 ticket) const;
  const Position* position(u64 ticket) const;
  const Position* position_of(const std::string& symbol) const;  // the oldest one
  u64 next_order() const { return m_last_order + 1; }
  u64 next_deal() const { return m_last_deal + 1; }
  u64 next_request() const { return m_last_request + 1; }

  std::map<u64, Order> orders, past_orders;
  std::map<u64, Deal> deals;
  std::map<u64, Position> positions;
  std::map<u64, Request> requests;  // on their way
  Money money;

private:
  void take(const Order& order);
  void take(const Deal& deal);
  void take(const Position& position);
  void take(const Money& money);
  void take(const Request& request);

  // Order tickets do not fit 32 bits, deal tickets no double: both mistakes are common.
  u64 m_last_order = u64{1} << 32;
  u64 m_last_deal = u64{1} << 53;
  u64 m_last_request = 0;
};

}  // namespace mql::broker
