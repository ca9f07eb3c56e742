// Between the broker's own records and MQL5's structures.
#pragma once

#include "language/language.hpp"

#include "api.hpp"
#include "records.hpp"

namespace mql::broker {

MqlTradeTransaction to_mql(const Notice& notice);
MqlTradeRequest to_mql(const Request& request);
MqlTradeResult to_mql(const Answer& answer);
Request from_mql(const MqlTradeRequest& request);

}  // namespace mql::broker
