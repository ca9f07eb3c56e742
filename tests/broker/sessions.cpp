// Order sessions on the emulated terminal's broker, without a terminal: lines in, lines out.
//
//   session MODE LEVERAGE BALANCE   a new account; MODE is ENUM_ACCOUNT_MARGIN_MODE
//   set KEY=VALUE                   a setting of the broker
//   symbol NAME POINT CONTRACT MIN MAX STEP STOPS FREEZE EXECUTION FILLING_MODES CURRENCY
//   tick NAME MSC BID ASK
//   request ACTION TYPE NAME LOTS PRICE SL TP ORDER POSITION MAGIC EXPIRATION_S STOPLIMIT FILLING
//   held ACTION NAME MAGIC SL TP    ACTION is that of each: SLTP for positions, or REMOVE for orders
//   end                             prints what came of the session
#include "broker/broker.hpp"
#include "broker/enums.hpp"

#include <iostream>
#include <memory>
#include <sstream>

// Nobody listens to transactions, so their texts need no encoding.
namespace mql {
std::string utf8_of(std::u16string_view) { return {}; }
std::u16string utf16_of(std::string_view) { return {}; }
}  // namespace mql

namespace {

using namespace mql;
using namespace mql::broker;

class Market : public Surroundings {
public:
  std::map<std::string, SymbolFacts> facts;
  std::map<std::string, Quote> quotes;
  std::int64_t now_msc = 1;

  const SymbolFacts* symbol(const std::string& name) override {
    const auto found = facts.find(name);
    return found == facts.end() ? nullptr : &found->second;
  }
  bool quote(const std::string& name, Quote& quote) override {
    quote = quotes[name];
    return true;
  }
  std::int64_t server_msc() override { return now_msc; }
  std::int64_t steady_ms() override { return now_msc; }
  bool logged_in() override { return true; }
  bool connected() override { return true; }
  bool trading_allowed() override { return true; }
  void post_transaction(const mql::MqlTradeTransaction&, const mql::MqlTradeRequest&,
                        const mql::MqlTradeResult&) override {}
  void post_trade() override {}
  void block_ms(std::int64_t) override {}
  void journal(const std::string&) override {}
  void effect(const char*) override {}
};

struct Session {
  Market market;
  std::unique_ptr<Broker> broker;
  std::vector<std::string> retcodes;
  bool hedging = false;
};

void begin(Session& session, std::istream& words, const std::string& log) {
  AccountSettings account;
  account.currency = "USD";
  words >> account.mode >> account.leverage >> account.balance;
  session.hedging = account.mode == 2;
  session.market = {};
  session.retcodes.clear();
  std::remove(log.c_str());
  session.broker = std::make_unique<Broker>(session.market, account, 1, log);
}

void add_symbol(Market& market, std::istream& words) {
  SymbolFacts known;
  words >> known.name >> known.point >> known.contract_size >> known.volume_min >>
      known.volume_max >> known.volume_step >> known.stops_level >> known.freeze_level >>
      known.execution >> known.filling_modes >> known.currency_profit;
  known.tick_size = known.point;
  known.currency_margin = "USD";
  market.facts[known.name] = known;
}

void tick(Session& session, std::istream& words) {
  std::string name;
  Quote quote;
  words >> name >> quote.time_msc >> quote.bid >> quote.ask;
  session.market.now_msc = quote.time_msc;
  session.market.quotes[name] = quote;
  session.broker->pump();
  session.broker->on_tick(name, quote);
}

void request(Session& session, std::istream& words) {
  Request asked;
  words >> asked.action >> asked.type >> asked.symbol >> asked.volume >> asked.price >> asked.sl >>
      asked.tp >> asked.order >> asked.position >> asked.magic >> asked.expiration_s >>
      asked.stoplimit >> asked.filling;
  asked.deviation = 1'000'000'000;  // the price of a market order is never too far away
  asked.time_type = asked.expiration_s > 0 ? ORDER_TIME_SPECIFIED : ORDER_TIME_GTC;
  Answer answer;
  session.broker->send(asked, answer, false);
  session.retcodes.push_back("retcode " + std::to_string(answer.retcode));
}

// Lots of a position that deals with a magic number have made, on its side; hedging: all or nothing.
double share(const Session& session, const Position& position, std::int64_t magic) {
  if (session.hedging)
    return position.magic == magic ? position.volume : 0;
  double lots = 0;
  for (const auto& [ticket, deal] : session.broker->view().deals)
    if (deal.position_id == position.identifier && deal.magic == magic)
      lots += deal.type == DEAL_TYPE_BUY ? deal.volume : -deal.volume;
  return position.type == POSITION_TYPE_BUY ? lots : -lots;
}

// One request for each position or order of a magic number; the answer is the first refusal.
void held(Session& session, std::istream& words) {
  Request asked;
  std::string name;
  double sl, tp;
  words >> asked.action >> name >> asked.magic >> sl >> tp;
  session.broker->pump();
  std::vector<Request> all;
  if (asked.action == TRADE_ACTION_SLTP) {
    for (const auto& [ticket, position] : session.broker->view().positions)
      if (position.symbol == name && share(session, position, asked.magic) > 1e-9) {
        asked.position = ticket;
        asked.symbol = name;
        asked.sl = sl > 0 ? sl : position.sl;
        asked.tp = tp > 0 ? tp : position.tp;
        all.push_back(asked);
      }
  } else {
    for (const auto& [ticket, order] : session.broker->view().orders)
      if (order.symbol == name && order.magic == asked.magic) {
        asked.order = ticket;
        all.push_back(asked);
      }
  }
  u32 found = asked.action == TRADE_ACTION_SLTP ? 10036 : 10035;
  for (const Request& one : all) {
    Answer answer;
    session.broker->send(one, answer, false);
    const u32 retcode = answer.retcode == 10025 ? 10009 : answer.retcode;
    if (found == 10009 || &one == &all.front())
      found = retcode;
  }
  session.retcodes.push_back("held " + std::to_string(found));
}

void tell(Session& session) {
  session.broker->pump();  // what has not arrived at the terminal yet
  const Book& book = session.broker->view();
  for (const std::string& retcode : session.retcodes)
    std::cout << retcode << '\n';
  for (const auto& [ticket, deal] : book.deals)
    if (deal.type <= DEAL_TYPE_SELL)
      std::cout << "deal " << deal.order << ' ' << deal.time_msc << ' ' << deal.magic << ' '
                << deal.position_id << ' ' << deal.type << ' ' << deal.entry << ' ' << deal.reason
                << ' ' << deal.volume << ' ' << deal.price << ' ' << deal.commission << ' '
                << deal.profit << ' ' << deal.sl << ' ' << deal.tp << ' ' << deal.symbol << '\n';
  for (const auto& [ticket, position] : book.positions)
    std::cout << "position " << ticket << ' ' << position.identifier << ' ' << position.type << ' '
              << position.magic << ' ' << position.volume << ' ' << position.price_open << ' '
              << position.sl << ' ' << position.tp << ' ' << position.symbol << '\n';
  for (const auto& [ticket, order] : book.orders)
    std::cout << "order " << ticket << ' ' << order.type << ' ' << order.magic << ' '
              << order.volume_current << ' ' << order.price_open << ' ' << order.sl << ' '
              << order.tp << ' ' << order.expiration_s << ' ' << order.symbol << '\n';
  std::cout << "balance " << book.money.balance << "\nend\n";
}

}  // namespace

int main(int, char** arguments) {
  std::cout.precision(17);
  Session session;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb, setting;
    words >> verb;
    if (verb == "session")
      begin(session, words, arguments[1]);
    else if (verb == "set" && words >> setting)
      session.broker->command(setting);
    else if (verb == "symbol")
      add_symbol(session.market, words);
    else if (verb == "tick")
      tick(session, words);
    else if (verb == "request")
      request(session, words);
    else if (verb == "held")
      held(session, words);
    else if (verb == "end")
      tell(session);
  }
}
