// Copies records into MQL5's structures and a program's request out of its structure.
#include "convert.hpp"

namespace mql::broker {

MqlTradeTransaction to_mql(const Notice& notice) {
  MqlTradeTransaction made;
  made.deal = notice.deal;
  made.order = notice.order;
  made.symbol = string(notice.symbol);
  made.type = static_cast<ENUM_TRADE_TRANSACTION_TYPE>(notice.type);
  made.order_type = static_cast<ENUM_ORDER_TYPE>(notice.order_type);
  made.order_state = static_cast<ENUM_ORDER_STATE>(notice.order_state);
  made.deal_type = static_cast<ENUM_DEAL_TYPE>(notice.deal_type);
  made.time_type = static_cast<ENUM_ORDER_TYPE_TIME>(notice.time_type);
  made.time_expiration = notice.expiration_s;
  made.price = notice.price;
  made.price_trigger = notice.price_trigger;
  made.price_sl = notice.sl;
  made.price_tp = notice.tp;
  made.volume = notice.volume;
  made.position = notice.position;
  made.position_by = notice.position_by;
  return made;
}

MqlTradeRequest to_mql(const Request& request) {
  MqlTradeRequest made;
  made.action = static_cast<ENUM_TRADE_REQUEST_ACTIONS>(request.action);
  made.magic = static_cast<ulong>(request.magic);
  made.order = request.order;
  made.symbol = string(request.symbol);
  made.volume = request.volume;
  made.price = request.price;
  made.stoplimit = request.stoplimit;
  made.sl = request.sl;
  made.tp = request.tp;
  made.deviation = request.deviation;
  made.type = static_cast<ENUM_ORDER_TYPE>(request.type);
  made.type_filling = static_cast<ENUM_ORDER_TYPE_FILLING>(request.filling);
  made.type_time = static_cast<ENUM_ORDER_TYPE_TIME>(request.time_type);
  made.expiration = request.expiration_s;
  made.comment = string(request.comment);
  made.position = request.position;
  made.position_by = request.position_by;
  return made;
}

MqlTradeResult to_mql(const Answer& answer) {
  MqlTradeResult made;
  made.retcode = answer.retcode;
  made.deal = answer.deal;
  made.order = answer.order;
  made.volume = answer.volume;
  made.price = answer.price;
  made.bid = answer.bid;
  made.ask = answer.ask;
  made.comment = string(answer.comment);
  made.request_id = answer.request_id;
  return made;
}

Request from_mql(const MqlTradeRequest& request) {
  Request made;
  made.action = request.action;
  made.magic = static_cast<i64>(request.magic);
  made.order = request.order;
  made.symbol = request.symbol.utf8();
  made.volume = request.volume;
  made.price = request.price;
  made.stoplimit = request.stoplimit;
  made.sl = request.sl;
  made.tp = request.tp;
  made.deviation = request.deviation;
  made.type = request.type;
  made.filling = request.type_filling;
  made.time_type = request.type_time;
  made.expiration_s = request.expiration;
  made.comment = request.comment.utf8();
  made.position = request.position;
  made.position_by = request.position_by;
  return made;
}

}  // namespace mql::broker
