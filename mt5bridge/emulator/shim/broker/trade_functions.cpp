// OrderSend, OrderSendAsync, OrderCheck, OrderCalcMargin, OrderCalcProfit.
#include "broker.hpp"
#include "convert.hpp"
#include "language/program.hpp"
#include "retcodes.hpp"

namespace mql {

namespace {

using broker::installed;

bool send(const MqlTradeRequest& request, MqlTradeResult& result, bool asynchronous) {
  if (current().info().kind == ProgramKind::indicator)
    return fail(ERR_FUNCTION_NOT_ALLOWED);
  broker::Answer answer;
  const bool sent = installed().send(broker::from_mql(request), answer, asynchronous);
  if (answer.comment.empty() && !asynchronous)
    answer.comment = broker::text_of_retcode(answer.retcode);
  result = broker::to_mql(answer);
  if (answer.retcode == TRADE_RETCODE_CLIENT_DISABLES_AT)
    return fail(ERR_TRADE_DISABLED);
  return sent || fail(ERR_TRADE_SEND_FAILED);
}

}  // namespace

// Waits for the server's answer; false if the server does not do it.
bool OrderSend(const MqlTradeRequest& request, MqlTradeResult& result) {
  return send(request, result, false);
}

// Returns once the request has left; TRADE_TRANSACTION_REQUEST brings the answer.
bool OrderSendAsync(const MqlTradeRequest& request, MqlTradeResult& result) {
  return send(request, result, true);
}

bool OrderCheck(const MqlTradeRequest& request, MqlTradeCheckResult& result) {
  broker::Broker& broker = installed();
  const broker::Request asked = broker::from_mql(request);
  std::string why;
  result = MqlTradeCheckResult();
  result.retcode = broker.check(asked, why);
  result.comment = string(result.retcode == 0 ? "Done" : broker::text_of_retcode(result.retcode));
  double needed = 0;
  if (asked.action == TRADE_ACTION_DEAL || asked.action == TRADE_ACTION_PENDING)
    broker.margin_of(asked.type, asked.symbol, asked.volume, asked.price, needed);
  const broker::Book& book = broker.view();
  result.balance = book.money.balance;
  result.equity = broker.equity(book);
  result.profit = broker.floating(book);
  result.margin = broker.margin(book) + needed;
  result.margin_free = result.equity - result.margin;
  result.margin_level = result.margin > 0 ? result.equity / result.margin * 100 : 0;
  return result.retcode == 0;
}

bool OrderCalcMargin(ENUM_ORDER_TYPE action, const string& symbol, double volume, double price,
                     double& margin) {
  return installed().margin_of(action, symbol.utf8(), volume, price, margin) ||
         fail(ERR_TRADE_CALC_FAILED);
}

bool OrderCalcProfit(ENUM_ORDER_TYPE action, const string& symbol, double volume,
                     double price_open, double price_close, double& profit) {
  return installed().profit_of(action, symbol.utf8(), volume, price_open, price_close, profit) ||
         fail(ERR_TRADE_CALC_FAILED);
}

}  // namespace mql
