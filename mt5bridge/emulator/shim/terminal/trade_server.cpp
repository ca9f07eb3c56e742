// Joins the broker to the terminal around it.
#include "trade_server.hpp"

#include <fstream>
#include <memory>
#include <sstream>

#include "broker/broker.hpp"
#include "runtime.hpp"

namespace mql::trade_server {
namespace {

broker::Quote quote_of(const MqlTick& tick) {
  return {tick.bid, tick.ask, tick.last, tick.time_msc};
}

class Around final : public broker::Surroundings {
public:
  const broker::SymbolFacts* symbol(const std::string& name) override {
    const auto* found = market::find(name);
    return found == nullptr ? nullptr : &found->facts;
  }
  bool quote(const std::string& name, broker::Quote& quote) override {
    const auto found = m_newest.find(name);
    const auto* symbol = market::find(name);
    if (found != m_newest.end())
      quote = found->second;
    else if (symbol != nullptr && symbol->arrived > 0)
      quote = quote_of(symbol->newest);  // of an earlier run
    else
      return false;
    return true;
  }
  std::int64_t server_msc() override { return host::server_msc(); }
  std::int64_t steady_ms() override { return host::steady_us() / 1000; }
  bool logged_in() override { return terminal::terminal().logged_in(); }
  bool connected() override { return terminal::terminal().connected(); }
  bool trading_allowed() override { return terminal::terminal().trade_allowed(); }
  void post_transaction(const MqlTradeTransaction& transaction, const MqlTradeRequest& request,
                        const MqlTradeResult& result) override {
    terminal::post_transaction(transaction, request, result);
  }
  void post_trade() override { terminal::post_trade(); }
  void block_ms(std::int64_t ms) override { terminal::terminal().wait_us(1000 * ms); }
  void journal(const std::string& line) override { host::journal("broker", line); }
  void effect(const char* name) override { host::effect(name); }

  // What the server has, also while the terminal is not connected to it.
  std::map<std::string, broker::Quote> m_newest;
};

Around around;
std::unique_ptr<broker::Broker> server;

broker::AccountSettings account_of(const host::Statement& statement) {
  broker::AccountSettings account;
  const auto mode = statement.text("mode", "netting");
  account.login = statement.integer("login", 10000001);
  account.server = statement.text("server", "Demo");
  account.name = statement.text("name", "Tester");
  account.company = statement.text("company", "Broker");
  account.currency = statement.text("currency", "EUR");
  account.mode = mode == "hedging" ? 2 : mode == "exchange" ? 1 : 0;
  account.leverage = static_cast<int>(statement.integer("leverage", 100));
  account.balance = statement.number("balance", 10000);
  account.demo = statement.flag("demo", true);
  return account;
}

// Which account the terminal was logged in to last, as words; kept from run to run.
std::filesystem::path account_path() {
  return host::data_folder() / "account.txt";
}

std::string log_name(const broker::AccountSettings& account) {
  const auto own = account_of(host::script().merged("account"));
  if (account.login == own.login && account.server == own.server)
    return "broker.log";
  return "broker-" + std::to_string(account.login) + "@" + account.server + ".log";
}

void open_account(const std::string& words) {
  auto statement = host::script().merged("account");
  std::istringstream stream(words);
  for (std::string word; stream >> word;)
    statement.settings.emplace_back(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
  const auto account = account_of(statement);
  const auto path = host::data_folder() / log_name(account);
  server = std::make_unique<broker::Broker>(around, account, host::random("broker")(), path.string());
  for (const auto* settings : host::script().all("broker"))
    for (const auto& [key, value] : settings->settings)
      server->command(key + "=" + value);
  broker::install(server.get());
}

}  // namespace

void start() {
  std::ifstream file(account_path());
  std::string words;
  std::getline(file, words);
  open_account(words);
}

void change_account(const std::string& words) {
  stop();
  open_account(words);
  std::ofstream(account_path()) << words << '\n';
  server->pump();
  host::journal("", "logged in to " + std::to_string(server->account().login) + "@" +
                        server->account().server);
}

void stop() {
  broker::install(nullptr);
  server.reset();
}

void on_tick(const market::Symbol& symbol, const MqlTick& tick) {
  around.m_newest[symbol.facts.name] = quote_of(tick);
  server->on_tick(symbol.facts.name, quote_of(tick));
}

std::int64_t poll() {
  server->pump();
  const auto due_ms = server->due_in_ms();
  return due_ms < 0 ? terminal::NEVER_US : host::steady_us() + 1000 * due_ms;
}

bool idle() {
  return server == nullptr || server->quiet();
}

void command(const std::string& words) {
  server->command(words);
}

void forget(const Program* program) {
  broker::forget(program);
}

}  // namespace mql::trade_server
