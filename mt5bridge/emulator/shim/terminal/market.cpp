// Symbols and tick bases.
#include "market.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace mql::market {
namespace {

std::vector<std::unique_ptr<Symbol>> all;

void set_prices_and_sizes(broker::SymbolFacts& facts, const host::Statement& statement) {
  facts.digits = static_cast<int>(statement.integer("digits", facts.digits));
  facts.point = statement.number("point", std::pow(10.0, -facts.digits));
  facts.tick_size = statement.number("tick_size", facts.point);
  facts.contract_size = statement.number("contract_size", facts.contract_size);
  facts.volume_min = statement.number("volume_min", facts.volume_min);
  facts.volume_max = statement.number("volume_max", facts.volume_max);
  facts.volume_step = statement.number("volume_step", facts.volume_step);
  facts.volume_limit = statement.number("volume_limit", facts.volume_limit);
}

void set_modes(broker::SymbolFacts& facts, const host::Statement& statement) {
  const auto set = [&](int& field, const char* key) {
    field = static_cast<int>(statement.integer(key, field));
  };
  set(facts.filling_modes, "filling_modes");
  set(facts.execution, "execution");
  set(facts.trade_mode, "trade_mode");
  set(facts.stops_level, "stops_level");
  set(facts.freeze_level, "freeze_level");
  set(facts.order_modes, "order_modes");
  set(facts.expiration_modes, "expiration_modes");
  set(facts.calc_mode, "calc_mode");
}

// `0-1440,1445-2875` as seconds; nothing said: each day from midnight to midnight.
std::vector<Session> sessions_of(const std::string& text) {
  std::vector<Session> found;
  if (text.empty())
    for (int day = 0; day < 7; ++day)
      found.push_back({day * 86'400, (day + 1) * 86'400});
  std::istringstream spans(text);
  for (std::string span; std::getline(spans, span, ',');) {
    const auto dash = span.find('-');
    found.push_back({60 * std::stoi(span), 60 * std::stoi(span.substr(dash + 1))});
  }
  return found;
}

void set_costs(Symbol& symbol, const host::Statement& statement) {
  symbol.swap_mode = static_cast<int>(statement.integer("swap_mode", symbol.swap_mode));
  symbol.swap_long = statement.number("swap_long", symbol.swap_long);
  symbol.swap_short = statement.number("swap_short", symbol.swap_short);
  symbol.swap_triple_day =
      static_cast<int>(statement.integer("swap_triple_day", symbol.swap_triple_day));
  symbol.tick_value = statement.number("tick_value", symbol.tick_value);
  if (statement.has("sessions") || symbol.sessions.empty())
    symbol.sessions = sessions_of(statement.text("sessions", ""));
}

std::unique_ptr<Symbol> symbol_of(const host::Statement& statement) {
  auto symbol = std::make_unique<Symbol>();
  auto& facts = symbol->facts;
  facts.name = statement.text("name");
  set_prices_and_sizes(facts, statement);
  set_modes(facts, statement);
  const bool pair = facts.name.size() == 6;
  symbol->currency_base = statement.text("currency_base", facts.name.substr(0, pair ? 3 : 0));
  facts.currency_profit = statement.text("currency_profit", pair ? facts.name.substr(3) : "USD");
  facts.currency_margin = statement.text("currency_margin", symbol->currency_base);
  symbol->description = statement.text("description", facts.name);
  symbol->tick_value = facts.contract_size * facts.tick_size;
  set_costs(*symbol, statement);
  symbol->selected = statement.flag("selected", true);
  return symbol;
}

}  // namespace

void TickBase::insert(const MqlTick& tick) {
  if (m_ticks.empty() || m_ticks.back().time_msc <= tick.time_msc) {
    m_ticks.push_back(tick);
    return;
  }
  ++m_inserted;
  m_ticks.insert(m_ticks.begin() + static_cast<std::ptrdiff_t>(after(tick.time_msc)), tick);
}

std::size_t TickBase::at_or_after(std::int64_t time_msc) const {
  const auto found = std::partition_point(m_ticks.begin(), m_ticks.end(), [=](const MqlTick& tick) {
    return tick.time_msc < time_msc;
  });
  return static_cast<std::size_t>(found - m_ticks.begin());
}

std::size_t TickBase::after(std::int64_t time_msc) const {
  const auto found = std::partition_point(m_ticks.begin(), m_ticks.end(), [=](const MqlTick& tick) {
    return tick.time_msc <= time_msc;
  });
  return static_cast<std::size_t>(found - m_ticks.begin());
}

void load_symbols(const host::Script& script) {
  for (const auto* statement : script.all("symbol")) {
    if (find(statement->text("name")) != nullptr)
      throw host::ScriptError("symbol " + statement->text("name") + " is given twice");
    all.push_back(symbol_of(*statement));
  }
}

Symbol* find(std::string_view name) {
  for (const auto& symbol : all)
    if (symbol->facts.name == name)
      return symbol.get();
  return nullptr;
}

const std::vector<std::unique_ptr<Symbol>>& symbols() {
  return all;
}

void change(const std::string& words) {
  std::istringstream text(words);
  std::string name;
  host::Statement statement;
  text >> name;
  for (std::string word; text >> word;) {
    const auto equals = word.find('=');
    statement.settings.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  if (auto* symbol = find(name)) {
    set_modes(symbol->facts, statement);
    set_costs(*symbol, statement);
  }
}

void arrive(Symbol& symbol, const MqlTick& tick) {
  symbol.hidden.push_back(tick);
  if (symbol.arrived++ == 0 || tick.time_msc >= symbol.newest.time_msc)
    symbol.newest = tick;
}

void forget_quotes() {
  for (const auto& symbol : all)
    symbol->newest = {};
}

void settle(Symbol& symbol) {
  for (; !symbol.hidden.empty(); symbol.hidden.pop_front())
    symbol.base.insert(symbol.hidden.front());
}

void dump(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const auto& symbol : all) {
    std::ofstream file(folder / (symbol->facts.name + ".bin"), std::ios::binary);
    file.write(reinterpret_cast<const char*>(symbol->base.data()),
               static_cast<std::streamsize>(symbol->base.size() * sizeof(MqlTick)));
  }
}

}  // namespace mql::market
