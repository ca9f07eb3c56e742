// Symbols, their properties, newest ticks and books.
#include <cmath>

#include "attached.hpp"
#include "runtime.hpp"

namespace mql {
namespace {

// An empty name is the chart's symbol.
market::Symbol* named(const string& name) {
  if (name.size() == 0)
    return terminal::self().symbol;
  auto* symbol = market::find(name.utf8());
  if (symbol == nullptr)
    fail(ERR_MARKET_UNKNOWN_SYMBOL);
  return symbol;
}

bool integer_of(const market::Symbol& symbol, ENUM_SYMBOL_INFO_INTEGER property, long& value) {
  const auto& facts = symbol.facts;
  switch (property) {
    case SYMBOL_EXIST: value = 1; return true;
    case SYMBOL_CUSTOM: value = 0; return true;
    case SYMBOL_SELECT:
    case SYMBOL_VISIBLE: value = symbol.selected; return true;
    case SYMBOL_TIME: value = symbol.newest.time; return true;
    case SYMBOL_TIME_MSC: value = symbol.newest.time_msc; return true;
    case SYMBOL_DIGITS: value = facts.digits; return true;
    case SYMBOL_SPREAD:
      value = std::lround((symbol.newest.ask - symbol.newest.bid) / facts.point);
      return true;
    case SYMBOL_SPREAD_FLOAT: value = 1; return true;
    case SYMBOL_TICKS_BOOKDEPTH: value = 1; return true;
    case SYMBOL_TRADE_CALC_MODE: value = facts.calc_mode; return true;
    case SYMBOL_TRADE_MODE: value = facts.trade_mode; return true;
    case SYMBOL_TRADE_STOPS_LEVEL: value = facts.stops_level; return true;
    case SYMBOL_TRADE_FREEZE_LEVEL: value = facts.freeze_level; return true;
    case SYMBOL_TRADE_EXEMODE: value = facts.execution; return true;
    case SYMBOL_SWAP_MODE: value = symbol.swap_mode; return true;
    case SYMBOL_SWAP_ROLLOVER3DAYS: value = symbol.swap_triple_day; return true;
    case SYMBOL_EXPIRATION_MODE: value = facts.expiration_modes; return true;
    case SYMBOL_FILLING_MODE: value = facts.filling_modes; return true;
    case SYMBOL_ORDER_MODE: value = facts.order_modes; return true;
    case SYMBOL_ORDER_GTC_MODE: value = 0; return true;
  }
  return fail(ERR_MARKET_WRONG_PROPERTY);
}

bool double_of(const market::Symbol& symbol, ENUM_SYMBOL_INFO_DOUBLE property, double& value) {
  const auto& facts = symbol.facts;
  switch (property) {
    case SYMBOL_BID: value = symbol.newest.bid; return true;
    case SYMBOL_ASK: value = symbol.newest.ask; return true;
    case SYMBOL_LAST: value = symbol.newest.last; return true;
    case SYMBOL_VOLUME_REAL: value = symbol.newest.volume_real; return true;
    case SYMBOL_POINT: value = facts.point; return true;
    case SYMBOL_TRADE_TICK_VALUE:
    case SYMBOL_TRADE_TICK_VALUE_PROFIT:
    case SYMBOL_TRADE_TICK_VALUE_LOSS: value = symbol.tick_value; return true;
    case SYMBOL_TRADE_TICK_SIZE: value = facts.tick_size; return true;
    case SYMBOL_TRADE_CONTRACT_SIZE: value = facts.contract_size; return true;
    case SYMBOL_VOLUME_MIN: value = facts.volume_min; return true;
    case SYMBOL_VOLUME_MAX: value = facts.volume_max; return true;
    case SYMBOL_VOLUME_STEP: value = facts.volume_step; return true;
    case SYMBOL_VOLUME_LIMIT: value = facts.volume_limit; return true;
    case SYMBOL_MARGIN_INITIAL: value = 0; return true;
    case SYMBOL_SWAP_LONG: value = symbol.swap_long; return true;
    case SYMBOL_SWAP_SHORT: value = symbol.swap_short; return true;
  }
  return fail(ERR_MARKET_WRONG_PROPERTY);
}

bool string_of(const market::Symbol& symbol, ENUM_SYMBOL_INFO_STRING property, string& value) {
  switch (property) {
    case SYMBOL_DESCRIPTION: value = string(symbol.description); return true;
    case SYMBOL_PATH: value = string(symbol.facts.name); return true;
    case SYMBOL_CURRENCY_BASE: value = string(symbol.currency_base); return true;
    case SYMBOL_CURRENCY_PROFIT: value = string(symbol.facts.currency_profit); return true;
    case SYMBOL_CURRENCY_MARGIN: value = string(symbol.facts.currency_margin); return true;
    case SYMBOL_BANK:
    case SYMBOL_ISIN: value = string(""); return true;
  }
  return fail(ERR_MARKET_WRONG_PROPERTY);
}

}  // namespace

int SymbolsTotal(bool selected) {
  int total = 0;
  for (const auto& symbol : market::symbols())
    total += !selected || symbol->selected;
  return total;
}

string SymbolName(int index, bool selected) {
  for (const auto& symbol : market::symbols())
    if ((!selected || symbol->selected) && index-- == 0)
      return string(symbol->facts.name);
  fail(ERR_INVALID_PARAMETER);
  return string("");
}

bool SymbolSelect(const string& name, bool select) {
  auto* symbol = named(name);
  if (symbol == nullptr)
    return false;
  symbol->selected = select;
  return true;
}

bool SymbolExist(const string& name, bool& is_custom) {
  is_custom = false;
  return market::find(name.utf8()) != nullptr;
}

bool SymbolIsSynchronized(const string& name) {
  const auto* symbol = named(name);
  return symbol != nullptr && symbol->selected && terminal::terminal().connected();
}

bool SymbolInfoTick(const string& name, MqlTick& tick) {
  const auto* symbol = named(name);
  if (symbol == nullptr)
    return false;
  if (!symbol->selected)
    return fail(ERR_MARKET_NOT_SELECTED);
  tick = symbol->newest;
  return symbol->newest.time_msc != 0 || fail(ERR_MARKET_LASTTIME_UNKNOWN);
}

bool SymbolInfoInteger(const string& name, ENUM_SYMBOL_INFO_INTEGER property, long& value) {
  value = 0;
  if (property == SYMBOL_EXIST && market::find(name.utf8()) == nullptr)
    return true;
  const auto* symbol = named(name);
  return symbol != nullptr && integer_of(*symbol, property, value);
}

long SymbolInfoInteger(const string& name, ENUM_SYMBOL_INFO_INTEGER property) {
  long value = 0;
  SymbolInfoInteger(name, property, value);
  return value;
}

bool SymbolInfoDouble(const string& name, ENUM_SYMBOL_INFO_DOUBLE property, double& value) {
  const auto* symbol = named(name);
  return symbol != nullptr && double_of(*symbol, property, value);
}

double SymbolInfoDouble(const string& name, ENUM_SYMBOL_INFO_DOUBLE property) {
  double value = 0;
  SymbolInfoDouble(name, property, value);
  return value;
}

bool SymbolInfoString(const string& name, ENUM_SYMBOL_INFO_STRING property, string& value) {
  const auto* symbol = named(name);
  return symbol != nullptr && string_of(*symbol, property, value);
}

string SymbolInfoString(const string& name, ENUM_SYMBOL_INFO_STRING property) {
  string value("");
  SymbolInfoString(name, property, value);
  return value;
}

// The n-th session of a day, in seconds from its midnight on.
bool SymbolInfoSessionTrade(const string& name, ENUM_DAY_OF_WEEK day, uint session, datetime& from,
                            datetime& to) {
  const auto* symbol = named(name);
  if (symbol == nullptr)
    return false;
  const int midnight = day * 86'400;
  for (const auto& span : symbol->sessions)
    if (span.from >= midnight && span.from < midnight + 86'400 && session-- == 0) {
      from = span.from - midnight;
      to = span.to - midnight;
      return true;
    }
  return fail(ERR_MARKET_WRONG_PROPERTY);
}

bool SymbolInfoSessionQuote(const string& name, ENUM_DAY_OF_WEEK day, uint session, datetime& from,
                            datetime& to) {
  return SymbolInfoSessionTrade(name, day, session, from, to);
}

bool MarketBookAdd(const string& name) {
  const auto* symbol = named(name);
  if (symbol == nullptr || terminal::self().indicator())
    return fail(symbol == nullptr ? ERR_MARKET_UNKNOWN_SYMBOL : ERR_BOOKS_CANNOT_ADD);
  terminal::self().books.insert(symbol->facts.name);
  return true;
}

bool MarketBookRelease(const string& name) {
  return terminal::self().books.erase(name.utf8()) == 1 || fail(ERR_BOOKS_CANNOT_DELETE);
}

bool MarketBookGet(const string& name, array_ref<MqlBookInfo> book) {
  const auto* symbol = named(name);
  if (symbol == nullptr || terminal::self().books.count(symbol->facts.name) == 0)
    return fail(ERR_BOOKS_CANNOT_GET);
  const MqlBookInfo levels[] = {{BOOK_TYPE_SELL, symbol->newest.ask, 1, 1},
                                {BOOK_TYPE_BUY, symbol->newest.bid, 1, 1}};
  return book.assign(levels, 2) || fail(ERR_BOOKS_CANNOT_GET);
}

string Symbol() {
  const auto* symbol = terminal::self().symbol;
  return string(symbol == nullptr ? std::string() : symbol->facts.name);
}

double Point() {
  const auto* symbol = terminal::self().symbol;
  return symbol == nullptr ? 0 : symbol->facts.point;
}

int Digits() {
  const auto* symbol = terminal::self().symbol;
  return symbol == nullptr ? 0 : symbol->facts.digits;
}

// Of the terminal's numbers: minutes up to M30, then hours and their marks; a month has 30 days.
int PeriodSeconds(ENUM_TIMEFRAMES period) {
  const int number = period == PERIOD_CURRENT ? Period() : period;
  if (number == PERIOD_MN1) return 30 * 86400;
  if (number == PERIOD_W1) return 7 * 86400;
  return number > 0x4000 ? (number - 0x4000) * 3600 : number * 60;
}

ENUM_TIMEFRAMES Period() {
  return terminal::self().what.period;
}

}  // namespace mql
