// The history of orders and deals: selection and properties, with the documented traps.
#include "broker.hpp"
#include "convert.hpp"
#include "properties.hpp"
#include "selections.hpp"

#include <cstdint>

namespace mql {

namespace {

using broker::installed;
using broker::selection;

// Selects the deals and past orders which `which` holds for.
template <class Which> void select_history(Which which) {
  std::vector<std::pair<broker::i64, broker::u64>> deals, orders;
  for (const auto& [ticket, deal] : installed().view().deals)
    if (which(deal.time_msc, deal.position_id, 0))
      deals.emplace_back(deal.time_msc, ticket);
  for (const auto& [ticket, order] : installed().view().past_orders)
    if (which(order.time_done_msc, order.position_id, order.position_by))
      orders.emplace_back(order.time_done_msc, ticket);
  selection().deals.assign(std::move(deals));
  selection().past_orders.assign(std::move(orders));
}

// Only what is selected can be read, even if it is known otherwise.
template <class Record, class Property, class Value>
bool read(const broker::Tickets& selected, const Record* record, ulong ticket, Property property,
          Value& value, int missing) {
  if (record == nullptr || !selected.contains(ticket))
    return fail(missing);
  const auto found = broker::value_of(*record, property);
  if (!found)
    return fail(ERR_TRADE_WRONG_PROPERTY);
  value = *found;
  return true;
}

template <class Value, class Property>
bool read_deal(ulong ticket, Property property, Value& value) {
  return read(selection().deals, installed().view().deal(ticket), ticket, property, value,
              ERR_TRADE_DEAL_NOT_FOUND);
}

template <class Value, class Property>
bool read_order(ulong ticket, Property property, Value& value) {
  return read(selection().past_orders, installed().view().past_order(ticket), ticket, property,
              value, ERR_TRADE_ORDER_NOT_FOUND);
}

}  // namespace

// Whole seconds of server time, both ends included.
bool HistorySelect(datetime from, datetime to) {
  const broker::i64 first = from, last = to;
  select_history([first, last](broker::i64 time_msc, broker::u64, broker::u64) {
    return time_msc / 1000 >= first && time_msc / 1000 <= last;
  });
  return true;
}

bool HistorySelectByPosition(long position_id) {
  const broker::u64 wanted = static_cast<broker::u64>(position_id);
  select_history([wanted](broker::i64, broker::u64 position, broker::u64 other) {
    return position == wanted || other == wanted;
  });
  return true;
}

// On success the order is the only one that is selected.
bool HistoryOrderSelect(ulong ticket) {
  const broker::Order* order = installed().view().past_order(ticket);
  if (order == nullptr)
    return fail(ERR_TRADE_ORDER_NOT_FOUND);
  selection().past_orders.assign({{order->time_done_msc, ticket}});
  return true;
}

// On success the deal is the only one that is selected.
bool HistoryDealSelect(ulong ticket) {
  const broker::Deal* deal = installed().view().deal(ticket);
  if (deal == nullptr)
    return fail(ERR_TRADE_DEAL_NOT_FOUND);
  selection().deals.assign({{deal->time_msc, ticket}});
  return true;
}

int HistoryOrdersTotal() { return selection().past_orders.total(); }

ulong HistoryOrderGetTicket(int index) { return selection().past_orders.at(index); }

long HistoryOrderGetInteger(ulong ticket, ENUM_ORDER_PROPERTY_INTEGER property) {
  long value = 0;
  read_order(ticket, property, value);
  return value;
}

bool HistoryOrderGetInteger(ulong ticket, ENUM_ORDER_PROPERTY_INTEGER property, long& value) {
  return read_order(ticket, property, value);
}

double HistoryOrderGetDouble(ulong ticket, ENUM_ORDER_PROPERTY_DOUBLE property) {
  double value = 0;
  read_order(ticket, property, value);
  return value;
}

bool HistoryOrderGetDouble(ulong ticket, ENUM_ORDER_PROPERTY_DOUBLE property, double& value) {
  return read_order(ticket, property, value);
}

string HistoryOrderGetString(ulong ticket, ENUM_ORDER_PROPERTY_STRING property) {
  string value("");
  read_order(ticket, property, value);
  return value;
}

bool HistoryOrderGetString(ulong ticket, ENUM_ORDER_PROPERTY_STRING property, string& value) {
  return read_order(ticket, property, value);
}

int HistoryDealsTotal() { return selection().deals.total(); }

ulong HistoryDealGetTicket(int index) { return selection().deals.at(index); }

long HistoryDealGetInteger(ulong ticket, ENUM_DEAL_PROPERTY_INTEGER property) {
  long value = 0;
  read_deal(ticket, property, value);
  return value;
}

bool HistoryDealGetInteger(ulong ticket, ENUM_DEAL_PROPERTY_INTEGER property, long& value) {
  return read_deal(ticket, property, value);
}

double HistoryDealGetDouble(ulong ticket, ENUM_DEAL_PROPERTY_DOUBLE property) {
  double value = 0;
  read_deal(ticket, property, value);
  return value;
}

bool HistoryDealGetDouble(ulong ticket, ENUM_DEAL_PROPERTY_DOUBLE property, double& value) {
  return read_deal(ticket, property, value);
}

string HistoryDealGetString(ulong ticket, ENUM_DEAL_PROPERTY_STRING property) {
  string value("");
  read_deal(ticket, property, value);
  return value;
}

bool HistoryDealGetString(ulong ticket, ENUM_DEAL_PROPERTY_STRING property, string& value) {
  return read_deal(ticket, property, value);
}

}  // namespace mql
