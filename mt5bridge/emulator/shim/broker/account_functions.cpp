// AccountInfoInteger, AccountInfoDouble, AccountInfoString.
#include "broker.hpp"
#include "convert.hpp"

namespace mql {

using broker::installed;

long AccountInfoInteger(ENUM_ACCOUNT_INFO_INTEGER property) {
  const broker::AccountSettings& account = installed().account();
  const broker::Settings& settings = installed().settings();
  if (!installed().logged_in())
    return 0;
  switch (property) {
    case ACCOUNT_LOGIN: return account.login;
    case ACCOUNT_TRADE_MODE:
      return account.demo ? ACCOUNT_TRADE_MODE_DEMO : ACCOUNT_TRADE_MODE_REAL;
    case ACCOUNT_TRADE_ALLOWED: return settings.account_trade > 0;
    case ACCOUNT_TRADE_EXPERT: return settings.account_expert > 0;
    case ACCOUNT_LEVERAGE: return account.leverage;
    case ACCOUNT_MARGIN_SO_MODE: return ACCOUNT_STOPOUT_MODE_PERCENT;
    case ACCOUNT_LIMIT_ORDERS: return static_cast<long>(settings.limit_orders);
    case ACCOUNT_MARGIN_MODE: return account.mode;
    case ACCOUNT_CURRENCY_DIGITS: return 2;
    case ACCOUNT_FIFO_CLOSE: return 0;
    case ACCOUNT_HEDGE_ALLOWED: return account.mode == ACCOUNT_MARGIN_MODE_RETAIL_HEDGING;
  }
  fail(ERR_ACCOUNT_WRONG_PROPERTY);
  return 0;
}

double AccountInfoDouble(ENUM_ACCOUNT_INFO_DOUBLE property) {
  broker::Broker& broker = installed();
  const broker::Book& book = broker.view();
  if (!broker.logged_in())
    return 0;
  const double margin = broker.margin(book);
  switch (property) {
    case ACCOUNT_BALANCE: return book.money.balance;
    case ACCOUNT_CREDIT: return book.money.credit;
    case ACCOUNT_PROFIT: return broker.floating(book);
    case ACCOUNT_EQUITY: return broker.equity(book);
    case ACCOUNT_MARGIN: return margin;
    case ACCOUNT_MARGIN_FREE: return broker.equity(book) - margin;
    case ACCOUNT_MARGIN_LEVEL: return margin > 0 ? broker.equity(book) / margin * 100 : 0;
    case ACCOUNT_MARGIN_SO_CALL:
    case ACCOUNT_MARGIN_SO_SO: return broker.settings().stop_out;
    case ACCOUNT_MARGIN_INITIAL:
    case ACCOUNT_MARGIN_MAINTENANCE:
    case ACCOUNT_ASSETS:
    case ACCOUNT_LIABILITIES:
    case ACCOUNT_COMMISSION_BLOCKED: return 0;
  }
  fail(ERR_ACCOUNT_WRONG_PROPERTY);
  return 0;
}

string AccountInfoString(ENUM_ACCOUNT_INFO_STRING property) {
  const broker::AccountSettings& account = installed().account();
  if (!installed().logged_in())
    return string("");
  switch (property) {
    case ACCOUNT_NAME: return string(account.name);
    case ACCOUNT_COMPANY: return string(account.company);
    case ACCOUNT_SERVER: return string(account.server);
    case ACCOUNT_CURRENCY: return string(account.currency);
  }
  fail(ERR_ACCOUNT_WRONG_PROPERTY);
  return string();
}

}  // namespace mql
