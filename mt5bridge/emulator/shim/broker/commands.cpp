// Actions a script asks the broker for at a point of the run.
#include "broker.hpp"

#include "enums.hpp"
#include "numbers.hpp"

#include <sstream>
#include <stdexcept>

namespace mql::broker {

namespace {

const std::string& word(const std::vector<std::string>& words, std::size_t at, const char* what) {
  if (at >= words.size())
    throw std::runtime_error("broker " + words[0] + ": " + what + " is missing");
  return words[at];
}

// All words from `at` on, as one text.
std::string rest(const std::vector<std::string>& words, std::size_t at) {
  std::string text;
  for (; at < words.size(); ++at)
    text += (text.empty() ? "" : " ") + words[at];
  return text;
}

}  // namespace

void Broker::command(const std::string& statement) {
  std::istringstream stream(statement);
  Words words;
  for (std::string each; stream >> each;)
    words.push_back(each);
  if (words.empty())
    throw std::runtime_error("broker: says nothing; write a setting or an action");
  if (words[0].find('=') != std::string::npos) {
    for (const std::string& setting : words)
      m_settings.set(setting.substr(0, setting.find('=')), setting.substr(setting.find('=') + 1));
  } else if (words[0] == "trade" || words[0] == "program") {
    command_trade(words);
  } else if (words[0] == "burst") {
    command_burst(words);
  } else if (words[0] == "close_all") {
    command_close_all();
  } else if (words[0] == "balance") {
    command_operation(DEAL_TYPE_BALANCE, words, 1);
  } else if (words[0] == "operation") {
    command_operation(static_cast<i32>(number(word(words, 1, "the deal type"))), words, 2);
  } else if (words[0] == "revise") {
    command_revise(words);
  } else if (words[0] == "cancel_deal") {
    command_cancel_deal(words);
  } else if (words[0] == "delete_deal") {
    command_delete_deal(words);
  } else if (words[0] == "cancel_order") {
    command_cancel_order(words);
  } else {
    throw std::runtime_error("the broker has no action \"" + words[0] +
                             "\"; broker_script.py of the emulator names them");
  }
}

void Broker::command_trade(const Words& words) {
  const bool sells = word(words, 1, "buy or sell") == "sell";
  const double lots = number(word(words, 3, "the lots"));
  const i64 magic = words.size() > 4 ? static_cast<i64>(number(words[4])) : 0;
  manual_order(sells ? ORDER_TYPE_SELL : ORDER_TYPE_BUY, word(words, 2, "the symbol"), lots, magic,
               rest(words, 5), words[0] != "trade" ? ORDER_REASON_EXPERT : ORDER_REASON_MOBILE);
}

void Broker::command_burst(const Words& words) {
  const i64 count = static_cast<i64>(number(word(words, 1, "the count")));
  const double lots = number(word(words, 3, "the lots"));
  for (i64 at = 0; at < count; ++at)
    manual_order(at % 2 == 0 ? ORDER_TYPE_BUY : ORDER_TYPE_SELL, words[2], lots, 0, "burst",
                 ORDER_REASON_MOBILE);
}

// A trade from another terminal, by phone or by a program there; on a hedging account one by phone
// closes an opposite one.
void Broker::manual_order(i32 type, const std::string& symbol, double lots, i64 magic,
                          const std::string& comment, i32 reason) {
  if (quote_of(symbol).bid <= 0)
    throw std::runtime_error("broker: nobody can trade " + symbol + ", it has no price yet");
  Order order;
  order.type = type;
  order.volume_initial = lots;
  order.magic = magic;
  order.reason = reason;
  order.symbol = symbol;
  order.comment = comment;
  order.filling = ORDER_FILLING_RETURN;
  order.triggered = true;
  const Position* open = m_book.position_of(symbol);
  if (hedging() && reason == ORDER_REASON_MOBILE && open != nullptr &&
      open->reason == POSITION_REASON_MOBILE && open->type != type && open->volume >= lots)
    order.position_id = open->ticket;
  Batch batch;
  const u64 ticket = new_order(batch, order);
  commit(batch, "order_accepted");
  work_order(ticket);
}

void Broker::command_close_all() {
  const std::map<u64, Position> open = m_book.positions;
  for (const auto& [ticket, position] : open)
    close_position(position, ORDER_REASON_MOBILE, "");
}

// Money in or out: a deal without a symbol.
void Broker::command_operation(i32 type, const Words& words, std::size_t at) {
  Deal deal;
  deal.ticket = m_book.next_deal();
  deal.time_msc = m_around.server_msc();
  deal.type = static_cast<u32>(type);
  deal.profit = number(word(words, at, "the amount"));
  deal.comment = rest(words, at + 1);
  Money money = m_book.money;
  (type == DEAL_TYPE_CREDIT ? money.credit : money.balance) += deal.profit;
  commit({deal, money}, "deal_made");
}

Deal Broker::named_deal(const Words& words) {
  const std::string& name = word(words, 1, "the ticket or `last`");
  if (m_book.deals.empty())
    throw std::runtime_error("broker " + words[0] + ": there is no deal yet");
  if (name == "last")
    return m_book.deals.rbegin()->second;
  const Deal* deal = m_book.deal(std::stoull(name));
  if (deal == nullptr)
    throw std::runtime_error("broker " + words[0] + ": no deal has the ticket " + name);
  return *deal;
}

void Broker::command_revise(const Words& words) {
  static const std::map<std::string, double Deal::*> fields = {{"commission", &Deal::commission},
                                                               {"swap", &Deal::swap},
                                                               {"profit", &Deal::profit},
                                                               {"fee", &Deal::fee}};
  const auto field = fields.find(word(words, 2, "the field"));
  if (field == fields.end())
    throw std::runtime_error("broker revise: the field is commission, swap, profit or fee");
  revise(named_deal(words), field->second, number(word(words, 3, "the value")));
}

void Broker::revise(Deal deal, double Deal::*field, double value) {
  Batch batch;
  add_money(batch, value - deal.*field);
  deal.*field = value;
  deal.kind = Kind::update;
  ++deal.revision;
  batch.push_back(deal);
  commit(batch, "deal_revised");
}

// The deal stays in history as cancelled, its profit is nil; what it had brought is taken back by
// a balance operation of its own.
void Broker::command_cancel_deal(const Words& words) {
  Deal deal = named_deal(words);
  const double profit = deal.profit;
  if (deal.type > DEAL_TYPE_SELL)
    throw std::runtime_error("broker cancel_deal: only buys and sells can be cancelled");
  deal.type = deal.type == DEAL_TYPE_BUY ? DEAL_TYPE_BUY_CANCELED : DEAL_TYPE_SELL_CANCELED;
  deal.profit = 0;
  deal.kind = Kind::update;
  ++deal.revision;
  commit({deal}, "deal_revised");
  if (profit != 0)
    command_operation(DEAL_TYPE_BALANCE, {"balance", std::to_string(-profit), "cancelled"}, 1);
}

void Broker::command_delete_deal(const Words& words) {
  Deal deal = named_deal(words);
  Batch batch;
  add_money(batch, -(deal.profit + deal.commission + deal.swap + deal.fee));
  deal.kind = Kind::remove;
  ++deal.revision;
  batch.push_back(deal);
  commit(batch, "deal_revised");
}

void Broker::command_cancel_order(const Words& words) {
  const std::string& name = word(words, 1, "the ticket or `last`");
  if (m_book.orders.empty())
    throw std::runtime_error("broker cancel_order: no order is working");
  const Order* order =
      name == "last" ? &m_book.orders.rbegin()->second : m_book.order(std::stoull(name));
  if (order == nullptr)
    throw std::runtime_error("broker cancel_order: no order has the ticket " + name);
  Batch batch;
  end_order(batch, *order, ORDER_STATE_CANCELED);
  commit(batch, "order_ended");
}

}  // namespace mql::broker
