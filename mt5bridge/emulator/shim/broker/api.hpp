// The trading half of MQL5's functions and structures, as programs see them.
// Needs the language's `string`, `datetime` and integer names (shim/language) before it.
#pragma once

#include "enum_names.hpp"
#include "enums.hpp"

namespace mql {

struct MqlTradeRequest {
  ENUM_TRADE_REQUEST_ACTIONS action{};
  ulong magic = 0;
  ulong order = 0;
  string symbol;
  double volume = 0;
  double price = 0;
  double stoplimit = 0;
  double sl = 0;
  double tp = 0;
  ulong deviation = 0;
  ENUM_ORDER_TYPE type{};
  ENUM_ORDER_TYPE_FILLING type_filling{};
  ENUM_ORDER_TYPE_TIME type_time{};
  datetime expiration{};
  string comment;
  ulong position = 0;
  ulong position_by = 0;
};

struct MqlTradeResult {
  uint retcode = 0;
  ulong deal = 0;
  ulong order = 0;
  double volume = 0;
  double price = 0;
  double bid = 0;
  double ask = 0;
  string comment;
  uint request_id = 0;
  int retcode_external = 0;
};

struct MqlTradeCheckResult {
  uint retcode = 0;
  double balance = 0;
  double equity = 0;
  double profit = 0;
  double margin = 0;
  double margin_free = 0;
  double margin_level = 0;
  string comment;
};

struct MqlTradeTransaction {
  ulong deal = 0;
  ulong order = 0;
  string symbol;
  ENUM_TRADE_TRANSACTION_TYPE type{};
  ENUM_ORDER_TYPE order_type{};
  ENUM_ORDER_STATE order_state{};
  ENUM_DEAL_TYPE deal_type{};
  ENUM_ORDER_TYPE_TIME time_type{};
  datetime time_expiration{};
  double price = 0;
  double price_trigger = 0;
  double price_sl = 0;
  double price_tp = 0;
  double volume = 0;
  ulong position = 0;
  ulong position_by = 0;
};

// --- account
long AccountInfoInteger(ENUM_ACCOUNT_INFO_INTEGER property);
double AccountInfoDouble(ENUM_ACCOUNT_INFO_DOUBLE property);
string AccountInfoString(ENUM_ACCOUNT_INFO_STRING property);

// --- requests
[[nodiscard("check what OrderSend returns")]]
bool OrderSend(const MqlTradeRequest& request, MqlTradeResult& result);
bool OrderSend(const MqlTradeRequest&& request, MqlTradeResult& result) = delete;
[[nodiscard("check what OrderSendAsync returns")]]
bool OrderSendAsync(const MqlTradeRequest& request, MqlTradeResult& result);
bool OrderSendAsync(const MqlTradeRequest&& request, MqlTradeResult& result) = delete;
bool OrderCheck(const MqlTradeRequest& request, MqlTradeCheckResult& result);
bool OrderCheck(const MqlTradeRequest&& request, MqlTradeCheckResult& result) = delete;
bool OrderCalcMargin(ENUM_ORDER_TYPE action, const string& symbol, double volume, double price,
                     double& margin);
bool OrderCalcProfit(ENUM_ORDER_TYPE action, const string& symbol, double volume,
                     double price_open, double price_close, double& profit);

// --- open positions
int PositionsTotal();
ulong PositionGetTicket(int index);
string PositionGetSymbol(int index);
bool PositionSelect(const string& symbol);
bool PositionSelectByTicket(ulong ticket);
long PositionGetInteger(ENUM_POSITION_PROPERTY_INTEGER property);
bool PositionGetInteger(ENUM_POSITION_PROPERTY_INTEGER property, long& value);
double PositionGetDouble(ENUM_POSITION_PROPERTY_DOUBLE property);
bool PositionGetDouble(ENUM_POSITION_PROPERTY_DOUBLE property, double& value);
string PositionGetString(ENUM_POSITION_PROPERTY_STRING property);
bool PositionGetString(ENUM_POSITION_PROPERTY_STRING property, string& value);

// --- working orders
int OrdersTotal();
ulong OrderGetTicket(int index);
bool OrderSelect(ulong ticket);
long OrderGetInteger(ENUM_ORDER_PROPERTY_INTEGER property);
bool OrderGetInteger(ENUM_ORDER_PROPERTY_INTEGER property, long& value);
double OrderGetDouble(ENUM_ORDER_PROPERTY_DOUBLE property);
bool OrderGetDouble(ENUM_ORDER_PROPERTY_DOUBLE property, double& value);
string OrderGetString(ENUM_ORDER_PROPERTY_STRING property);
bool OrderGetString(ENUM_ORDER_PROPERTY_STRING property, string& value);

// --- history
bool HistorySelect(datetime from, datetime to);
bool HistorySelectByPosition(long position_id);
bool HistoryOrderSelect(ulong ticket);
bool HistoryDealSelect(ulong ticket);
int HistoryOrdersTotal();
ulong HistoryOrderGetTicket(int index);
long HistoryOrderGetInteger(ulong ticket, ENUM_ORDER_PROPERTY_INTEGER property);
bool HistoryOrderGetInteger(ulong ticket, ENUM_ORDER_PROPERTY_INTEGER property, long& value);
double HistoryOrderGetDouble(ulong ticket, ENUM_ORDER_PROPERTY_DOUBLE property);
bool HistoryOrderGetDouble(ulong ticket, ENUM_ORDER_PROPERTY_DOUBLE property, double& value);
string HistoryOrderGetString(ulong ticket, ENUM_ORDER_PROPERTY_STRING property);
bool HistoryOrderGetString(ulong ticket, ENUM_ORDER_PROPERTY_STRING property, string& value);
int HistoryDealsTotal();
ulong HistoryDealGetTicket(int index);
long HistoryDealGetInteger(ulong ticket, ENUM_DEAL_PROPERTY_INTEGER property);
bool HistoryDealGetInteger(ulong ticket, ENUM_DEAL_PROPERTY_INTEGER property, long& value);
double HistoryDealGetDouble(ulong ticket, ENUM_DEAL_PROPERTY_DOUBLE property);
bool HistoryDealGetDouble(ulong ticket, ENUM_DEAL_PROPERTY_DOUBLE property, double& value);
string HistoryDealGetString(ulong ticket, ENUM_DEAL_PROPERTY_STRING property);
bool HistoryDealGetString(ulong ticket, ENUM_DEAL_PROPERTY_STRING property, string& value);

}  // namespace mql
