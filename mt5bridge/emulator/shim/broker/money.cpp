// Profit, margin and their conversion into the account's currency.
#include "broker.hpp"

#include "sides.hpp"

namespace mql::broker {

// Without a quote of the pair the amount stays as it is.
double Broker::converted(double amount, const std::string& from, const std::string& to) {
  if (from.empty() || to.empty() || from == to)
    return amount;
  if (const Quote direct = quote_of(from + to); direct.bid > 0)
    return amount * direct.bid;
  if (const Quote inverse = quote_of(to + from); inverse.ask > 0)
    return amount / inverse.ask;
  return amount;
}

double Broker::profit_between(const std::string& symbol, i32 side, double lots, double open,
                              double close) {
  const SymbolFacts* known = facts(symbol);
  if (known == nullptr)
    return 0;
  const double gain = side == POSITION_TYPE_BUY ? close - open : open - close;
  return cents(converted(gain * lots * known->contract_size, known->currency_profit,
                         m_account.currency));
}

double Broker::margin_for(const std::string& symbol, double lots, double price) {
  const SymbolFacts* known = facts(symbol);
  if (known == nullptr)
    return 0;
  const double leverage = known->calc_mode == 0 && m_account.leverage > 0 ? m_account.leverage : 1;
  return cents(converted(lots * known->contract_size * price / leverage, known->currency_profit,
                         m_account.currency));
}

double Broker::price_now(const Position& position) {
  const Quote quote = quote_of(position.symbol);
  return position.type == POSITION_TYPE_BUY ? quote.bid : quote.ask;
}

double Broker::floating(const Position& position) {
  const double price = price_now(position);
  if (price <= 0)
    return 0;
  return profit_between(position.symbol, position.type, position.volume, position.price_open,
                        price);
}

double Broker::floating(const Book& book) {
  double sum = 0;
  for (const auto& [ticket, position] : book.positions)
    sum += floating(position) + position.swap;
  return sum;
}

double Broker::margin(const Book& book) {
  double sum = 0;
  for (const auto& [ticket, position] : book.positions)
    sum += margin_for(position.symbol, position.volume, position.price_open);
  return sum;
}

double Broker::equity(const Book& book) {
  return book.money.balance + book.money.credit + floating(book);
}

bool Broker::margin_of(i32 type, const std::string& symbol, double lots, double price,
                       double& margin) {
  if (facts(symbol) == nullptr || lots <= 0 || price <= 0 || type > ORDER_TYPE_SELL_STOP)
    return false;
  margin = margin_for(symbol, lots, price);
  return true;
}

bool Broker::profit_of(i32 type, const std::string& symbol, double lots, double open, double close,
                       double& profit) {
  if (facts(symbol) == nullptr || lots <= 0 || open <= 0 || close <= 0 ||
      type > ORDER_TYPE_SELL)
    return false;
  profit = profit_between(symbol, side_of(type), lots, open, close);
  return true;
}

double Broker::steps(const std::string& symbol, double lots) {
  const SymbolFacts* known = facts(symbol);
  if (known == nullptr || known->volume_step <= 0)
    return lots;
  return tidy(std::floor(lots / known->volume_step + 1e-7) * known->volume_step);
}

}  // namespace mql::broker
