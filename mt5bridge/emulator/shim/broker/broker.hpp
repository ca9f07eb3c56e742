// The emulated trade server: takes requests, makes orders, deals and positions, survives crashes.
// Everything is in its log before anybody hears of it. Amounts are converted to the account's
// currency by the quote of the pair if there is one.
#pragma once

#include "chance.hpp"
#include "deliveries.hpp"
#include "log.hpp"
#include "plan.hpp"

#include <map>
#include <string>

namespace mql::broker {

class Broker {
public:
  // Goes on where the log ends; a new log is a new account.
  Broker(Surroundings& around, AccountSettings account, u64 seed, const std::string& log_path);

  // --- the world
  void command(const std::string& statement);  // a setting or action; throws std::runtime_error
  void on_tick(const std::string& symbol, const Quote& quote);  // every tick the server sees
  void pump();                                 // does what is due; the first one starts
  i64 due_in_ms() const;                       // until `pump` has something to do; -1: nothing
  bool quiet() const;                          // nothing but ticks can change anything

  // --- programs
  bool send(Request request, Answer& answer, bool asynchronous);
  u32 check(const Request& request, std::string& why);  // 0: would be accepted
  bool margin_of(i32 type, const std::string& symbol, double lots, double price, double& margin);
  bool profit_of(i32 type, const std::string& symbol, double lots, double open, double close,
                 double& profit);

  // --- what the terminal shows
  const Book& view() const;
  bool logged_in() const { return m_around.logged_in(); }
  const AccountSettings& account() const { return m_account; }
  const Settings& settings() const { return m_settings; }
  bool quote(const std::string& symbol, Quote& quote) { return m_around.quote(symbol, quote); }
  double price_now(const Position& position);  // what it would be closed at
  double floating(const Position& position);   // its profit without swap
  double floating(const Book& book);           // profit of all positions, with swaps
  double margin(const Book& book);
  double equity(const Book& book);

private:
  // life (broker.cpp)
  void commit(const Batch& batch, const char* effect);
  void start();
  void open_account();
  void resume_orders();
  void resume_requests();
  void revise_later(const Batch& batch);

  // requests (requests.cpp)
  u32 refusal_of_terminal(const Request& request, std::string& why);
  Answer work(const Request& request);
  Answer refuse(const Request& request, u32 retcode, const std::string& why);
  Answer accept(const Request& request, Batch batch, Answer answer, const char* effect);
  Answer deal(const Request& request);
  Answer place(const Request& request);
  Answer modify(const Request& request);
  Answer modify_stops(const Request& request);
  Answer remove(const Request& request);
  Answer close_by(const Request& request);
  Answer answer_of(const Request& request, u64 order, std::size_t deals_before);
  void arrive_at_server(Request request, bool told);

  // what a request must fulfil (checks.cpp, check_prices.cpp); 0 or a return code
  u32 scripted_refusal();
  u32 check_rate();
  u32 check_symbol(const Request& request, const SymbolFacts* facts, std::string& why);
  u32 check_volume(const Request& request, const SymbolFacts& facts, std::string& why);
  u32 check_filling(const Request& request, const SymbolFacts& facts, std::string& why);
  u32 check_position(const Request& request, std::string& why);
  u32 check_money(const Request& request, std::string& why);
  u32 check_open(const Request& request, std::string& why);
  u32 check_modify(const Request& request, std::string& why);
  u32 check_stops_change(const Request& request, std::string& why);
  u32 check_close_by(const Request& request, std::string& why);
  u32 check_remove(const Request& request);
  u32 check_price(const Request& request, const SymbolFacts& facts, std::string& why);
  u32 check_stops(i32 side, double from, double sl, double tp, const SymbolFacts& facts,
                  std::string& why);
  u32 check_expiration(const Request& request, const SymbolFacts& facts, std::string& why);
  bool frozen(const Position& position);
  bool frozen(const Order& order);

  // orders become deals (fills.cpp, positions.cpp)
  u64 new_order(Batch& batch, Order order);
  void work_order(u64 ticket);
  bool fill_part(u64 ticket);
  bool waits_for_ticks(const Order& order) const;
  void next_part_later(u64 ticket);
  double part_lots(const Order& order);
  double offered_lots(const std::string& symbol, i32 order_type);
  double fill_price(const Order& order);
  void end_order(Batch& batch, Order order, i32 state);
  double book_fill(Batch& batch, Order& order, double lots, double price);
  void open_lots(Batch& batch, Deal& deal, const Order& order, const Position* into);
  void close_lots(Batch& batch, Deal& deal, const Position& from, double lots);
  void reverse(Batch& batch, Deal& deal, const Order& order, const Position& from);
  void add_money(Batch& batch, double amount);

  // ticks (triggers.cpp)
  void expire_orders(i64 now_msc);
  void trigger_orders(const std::string& symbol, const Quote& quote);
  void trigger_stops(const std::string& symbol, const Quote& quote);
  void stop_out();
  void close_position(const Position& position, i32 reason, const std::string& comment);
  void trade_by_hand(const std::string& symbol, const Quote& quote);

  // script actions (commands.cpp)
  using Words = std::vector<std::string>;
  void command_trade(const Words& words);
  void command_burst(const Words& words);
  void command_operation(i32 type, const Words& words, std::size_t at);
  void command_revise(const Words& words);
  void command_cancel_deal(const Words& words);
  void command_delete_deal(const Words& words);
  void command_cancel_order(const Words& words);
  void command_close_all();
  Deal named_deal(const Words& words);
  void manual_order(i32 type, const std::string& symbol, double lots, i64 magic,
                    const std::string& comment, i32 reason);
  void revise(Deal deal, double Deal::*field, double value);

  // money (money.cpp)
  double converted(double amount, const std::string& from, const std::string& to);
  double profit_between(const std::string& symbol, i32 side, double lots, double open,
                        double close);
  double margin_for(const std::string& symbol, double lots, double price);

  const SymbolFacts* facts(const std::string& symbol) { return m_around.symbol(symbol); }
  Quote quote_of(const std::string& symbol);
  double steps(const std::string& symbol, double lots);  // rounded to the volume step
  bool hedging() const { return m_account.mode == 2; }
  Random& random() { return m_random; }

  Surroundings& m_around;
  AccountSettings m_account;
  u64 m_batches = 0;  // in the log when it was opened
  bool m_started = false;
  Settings m_settings;
  Book m_book;
  Log m_log;
  Random m_random;
  Plan m_plan;
  Deliveries m_deliveries;
  u32 m_request_id = 0;              // of this run of the terminal, from 1
  std::vector<i64> m_request_times;  // steady, of the last second
  std::map<std::string, i64> m_ticks_to_activity;
  std::map<std::string, std::map<bool, double>> m_taken;  // lots of the newest tick, by buyers
};

// The broker that MQL5's functions use; nullptr when there is none any more.
void install(Broker* broker);
Broker& installed();

// A program has gone: what it had selected is forgotten.
void forget(const void* program);

}  // namespace mql::broker
