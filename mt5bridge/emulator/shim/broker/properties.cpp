// Which member stands behind which property of MQL5.
#include "language/language.hpp"

#include "properties.hpp"

#include "broker.hpp"
#include "sides.hpp"

namespace mql::broker {

namespace {

// A working order's current price is the market's, a past one's its own.
double current_price(const Order& order) {
  Quote quote;
  if (order.place == Place::history || !installed().quote(order.symbol, quote))
    return order.price_open;
  return buys(order.type) ? quote.ask : quote.bid;
}

}  // namespace

std::optional<long> value_of(const Order& order, ENUM_ORDER_PROPERTY_INTEGER property) {
  switch (property) {
    case ORDER_TICKET: return static_cast<long>(order.ticket);
    case ORDER_TIME_SETUP: return order.time_setup_msc / 1000;
    case ORDER_TIME_SETUP_MSC: return order.time_setup_msc;
    case ORDER_TIME_DONE: return order.time_done_msc / 1000;
    case ORDER_TIME_DONE_MSC: return order.time_done_msc;
    case ORDER_TIME_EXPIRATION: return order.expiration_s;
    case ORDER_TYPE: return order.type;
    case ORDER_STATE: return order.state;
    case ORDER_TYPE_FILLING: return order.filling;
    case ORDER_TYPE_TIME: return order.time_type;
    case ORDER_MAGIC: return order.magic;
    case ORDER_REASON: return order.reason;
    case ORDER_POSITION_ID: return static_cast<long>(order.position_id);
    case ORDER_POSITION_BY_ID: return static_cast<long>(order.position_by);
  }
  return std::nullopt;
}

std::optional<double> value_of(const Order& order, ENUM_ORDER_PROPERTY_DOUBLE property) {
  switch (property) {
    case ORDER_VOLUME_INITIAL: return order.volume_initial;
    case ORDER_VOLUME_CURRENT: return order.volume_current;
    case ORDER_PRICE_OPEN: return order.price_open;
    case ORDER_PRICE_CURRENT: return current_price(order);
    case ORDER_PRICE_STOPLIMIT: return order.price_stoplimit;
    case ORDER_SL: return order.sl;
    case ORDER_TP: return order.tp;
  }
  return std::nullopt;
}

std::optional<string> value_of(const Order& order, ENUM_ORDER_PROPERTY_STRING property) {
  switch (property) {
    case ORDER_SYMBOL: return string(order.symbol);
    case ORDER_COMMENT: return string(order.comment);
    case ORDER_EXTERNAL_ID: return string(order.external_id);
  }
  return std::nullopt;
}

std::optional<long> value_of(const Deal& deal, ENUM_DEAL_PROPERTY_INTEGER property) {
  switch (property) {
    case DEAL_TICKET: return static_cast<long>(deal.ticket);
    case DEAL_ORDER: return static_cast<long>(deal.order);
    case DEAL_TIME: return deal.time_msc / 1000;
    case DEAL_TIME_MSC: return deal.time_msc;
    case DEAL_TYPE: return deal.type;
    case DEAL_ENTRY: return deal.entry;
    case DEAL_MAGIC: return deal.magic;
    case DEAL_REASON: return deal.reason;
    case DEAL_POSITION_ID: return static_cast<long>(deal.position_id);
  }
  return std::nullopt;
}

std::optional<double> value_of(const Deal& deal, ENUM_DEAL_PROPERTY_DOUBLE property) {
  switch (property) {
    case DEAL_VOLUME: return deal.volume;
    case DEAL_PRICE: return deal.price;
    case DEAL_COMMISSION: return deal.commission;
    case DEAL_SWAP: return deal.swap;
    case DEAL_PROFIT: return deal.profit;
    case DEAL_FEE: return deal.fee;
    case DEAL_SL: return deal.sl;
    case DEAL_TP: return deal.tp;
  }
  return std::nullopt;
}

std::optional<string> value_of(const Deal& deal, ENUM_DEAL_PROPERTY_STRING property) {
  switch (property) {
    case DEAL_SYMBOL: return string(deal.symbol);
    case DEAL_COMMENT: return string(deal.comment);
    case DEAL_EXTERNAL_ID: return string(deal.external_id);
  }
  return std::nullopt;
}

std::optional<long> value_of(const Position& position, ENUM_POSITION_PROPERTY_INTEGER property) {
  switch (property) {
    case POSITION_TICKET: return static_cast<long>(position.ticket);
    case POSITION_IDENTIFIER: return static_cast<long>(position.identifier);
    case POSITION_TIME: return position.time_msc / 1000;
    case POSITION_TIME_MSC: return position.time_msc;
    case POSITION_TIME_UPDATE: return position.time_update_msc / 1000;
    case POSITION_TIME_UPDATE_MSC: return position.time_update_msc;
    case POSITION_TYPE: return position.type;
    case POSITION_MAGIC: return position.magic;
    case POSITION_REASON: return position.reason;
  }
  return std::nullopt;
}

std::optional<double> value_of(const Position& position, ENUM_POSITION_PROPERTY_DOUBLE property) {
  switch (property) {
    case POSITION_VOLUME: return position.volume;
    case POSITION_PRICE_OPEN: return position.price_open;
    case POSITION_PRICE_CURRENT: return installed().price_now(position);
    case POSITION_SL: return position.sl;
    case POSITION_TP: return position.tp;
    case POSITION_SWAP: return position.swap;
    case POSITION_PROFIT: return installed().floating(position);
  }
  return std::nullopt;
}

std::optional<string> value_of(const Position& position, ENUM_POSITION_PROPERTY_STRING property) {
  switch (property) {
    case POSITION_SYMBOL: return string(position.symbol);
    case POSITION_COMMENT: return string(position.comment);
    case POSITION_EXTERNAL_ID: return string(position.external_id);
  }
  return std::nullopt;
}

}  // namespace mql::broker
