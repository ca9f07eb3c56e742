// A record's value of one of MQL5's properties; nothing if the record has no such property.
#pragma once

#include "api.hpp"
#include "records.hpp"

#include <optional>

namespace mql::broker {

std::optional<long> value_of(const Order& order, ENUM_ORDER_PROPERTY_INTEGER property);
std::optional<double> value_of(const Order& order, ENUM_ORDER_PROPERTY_DOUBLE property);
std::optional<string> value_of(const Order& order, ENUM_ORDER_PROPERTY_STRING property);
std::optional<long> value_of(const Deal& deal, ENUM_DEAL_PROPERTY_INTEGER property);
std::optional<double> value_of(const Deal& deal, ENUM_DEAL_PROPERTY_DOUBLE property);
std::optional<string> value_of(const Deal& deal, ENUM_DEAL_PROPERTY_STRING property);
std::optional<long> value_of(const Position& position, ENUM_POSITION_PROPERTY_INTEGER property);
std::optional<double> value_of(const Position& position, ENUM_POSITION_PROPERTY_DOUBLE property);
std::optional<string> value_of(const Position& position, ENUM_POSITION_PROPERTY_STRING property);

}  // namespace mql::broker
