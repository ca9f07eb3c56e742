// Which side an order is on, and lots without the dust of binary fractions.
#pragma once

#include "enums.hpp"
#include "records.hpp"

#include <cmath>

namespace mql::broker {

inline bool buys(i32 order_type) {
  return order_type == ORDER_TYPE_BUY || order_type == ORDER_TYPE_BUY_LIMIT ||
         order_type == ORDER_TYPE_BUY_STOP || order_type == ORDER_TYPE_BUY_STOP_LIMIT;
}

inline bool is_limit(i32 order_type) {
  return order_type == ORDER_TYPE_BUY_LIMIT || order_type == ORDER_TYPE_SELL_LIMIT;
}

inline bool is_stop_limit(i32 order_type) {
  return order_type == ORDER_TYPE_BUY_STOP_LIMIT || order_type == ORDER_TYPE_SELL_STOP_LIMIT;
}

inline i32 side_of(i32 order_type) {
  return buys(order_type) ? POSITION_TYPE_BUY : POSITION_TYPE_SELL;
}

// So that 0.3 - 0.1 is 0.2, not 0.19999999999999998.
inline double tidy(double lots) { return std::round(lots * 1e8) / 1e8; }

// An amount of money in whole cents.
inline double cents(double amount) { return std::round(amount * 100) / 100; }

}  // namespace mql::broker
