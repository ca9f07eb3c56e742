// Open positions and working orders: totals, selection, properties.
#include "broker.hpp"
#include "convert.hpp"
#include "properties.hpp"
#include "selections.hpp"

#include <iterator>

namespace mql {

namespace {

using broker::installed;
using broker::selection;

template <class Record>
const Record* record_at(const std::map<broker::u64, Record>& records, int index) {
  if (index < 0 || static_cast<std::size_t>(index) >= records.size())
    return nullptr;
  return &std::next(records.begin(), index)->second;
}

bool select(const broker::Position* position) {
  selection().position.reset();
  if (position == nullptr)
    return fail(ERR_TRADE_POSITION_NOT_FOUND);
  selection().position = *position;
  return true;
}

bool select(const broker::Order* order) {
  selection().order.reset();
  if (order == nullptr)
    return fail(ERR_TRADE_ORDER_NOT_FOUND);
  selection().order = *order;
  return true;
}

// The property of what is selected, or an error and false.
template <class Record, class Property, class Value>
bool read(const std::optional<Record>& selected, Property property, Value& value, int missing) {
  if (!selected)
    return fail(missing);
  const auto found = broker::value_of(*selected, property);
  if (!found)
    return fail(ERR_TRADE_WRONG_PROPERTY);
  value = *found;
  return true;
}

template <class Value, class Property> bool read_position(Property property, Value& value) {
  return read(selection().position, property, value, ERR_TRADE_POSITION_NOT_FOUND);
}

template <class Value, class Property> bool read_order(Property property, Value& value) {
  return read(selection().order, property, value, ERR_TRADE_ORDER_NOT_FOUND);
}

}  // namespace

int PositionsTotal() { return static_cast<int>(installed().view().positions.size()); }

ulong PositionGetTicket(int index) {
  return select(record_at(installed().view().positions, index)) ? selection().position->ticket : 0;
}

string PositionGetSymbol(int index) {
  return select(record_at(installed().view().positions, index))
             ? string(selection().position->symbol)
             : string("");
}

// On a hedging account: the position with the lowest ticket.
bool PositionSelect(const string& symbol) {
  return select(installed().view().position_of(symbol.utf8()));
}

bool PositionSelectByTicket(ulong ticket) { return select(installed().view().position(ticket)); }

long PositionGetInteger(ENUM_POSITION_PROPERTY_INTEGER property) {
  long value = 0;
  read_position(property, value);
  return value;
}

bool PositionGetInteger(ENUM_POSITION_PROPERTY_INTEGER property, long& value) {
  return read_position(property, value);
}

double PositionGetDouble(ENUM_POSITION_PROPERTY_DOUBLE property) {
  double value = 0;
  read_position(property, value);
  return value;
}

bool PositionGetDouble(ENUM_POSITION_PROPERTY_DOUBLE property, double& value) {
  return read_position(property, value);
}

string PositionGetString(ENUM_POSITION_PROPERTY_STRING property) {
  string value("");
  read_position(property, value);
  return value;
}

bool PositionGetString(ENUM_POSITION_PROPERTY_STRING property, string& value) {
  return read_position(property, value);
}

int OrdersTotal() { return static_cast<int>(installed().view().orders.size()); }

ulong OrderGetTicket(int index) {
  return select(record_at(installed().view().orders, index)) ? selection().order->ticket : 0;
}

bool OrderSelect(ulong ticket) { return select(installed().view().order(ticket)); }

long OrderGetInteger(ENUM_ORDER_PROPERTY_INTEGER property) {
  long value = 0;
  read_order(property, value);
  return value;
}

bool OrderGetInteger(ENUM_ORDER_PROPERTY_INTEGER property, long& value) {
  return read_order(property, value);
}

double OrderGetDouble(ENUM_ORDER_PROPERTY_DOUBLE property) {
  double value = 0;
  read_order(property, value);
  return value;
}

bool OrderGetDouble(ENUM_ORDER_PROPERTY_DOUBLE property, double& value) {
  return read_order(property, value);
}

string OrderGetString(ENUM_ORDER_PROPERTY_STRING property) {
  string value("");
  read_order(property, value);
  return value;
}

bool OrderGetString(ENUM_ORDER_PROPERTY_STRING property, string& value) {
  return read_order(property, value);
}

}  // namespace mql
