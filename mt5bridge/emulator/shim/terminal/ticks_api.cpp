// CopyTicks and CopyTicksRange, with what the documentation warns of.
#include <algorithm>
#include <vector>

#include "attached.hpp"
#include "runtime.hpp"

namespace mql {
namespace {

constexpr uint COUNT_DEFAULT = 2000;
constexpr uint INFO_FLAGS = TICK_FLAG_BID | TICK_FLAG_ASK;
constexpr uint TRADE_FLAGS = TICK_FLAG_LAST | TICK_FLAG_VOLUME | TICK_FLAG_BUY | TICK_FLAG_SELL;

// What the script's `copyticks` statement makes go wrong.
struct CopyOddities {
  double timeout = 0, no_memory = 0;
  std::int64_t block_ms = 5, limit = 0, sync_failures = 0;

  explicit CopyOddities(const host::Statement& statement)
      : timeout(statement.number("timeout")),
        no_memory(statement.number("no_memory")),
        block_ms(statement.integer("block_ms", block_ms)),
        limit(statement.integer("limit")),
        sync_failures(statement.integer("sync_failures")) {}
};

const CopyOddities& odd() {
  static const CopyOddities oddities(host::script().merged("copyticks"));
  return oddities;
}

bool wanted(const MqlTick& tick, uint flags) {
  const uint mask = (flags & COPY_TICKS_INFO ? INFO_FLAGS : 0) |
                    (flags & COPY_TICKS_TRADE ? TRADE_FLAGS : 0);
  return flags == COPY_TICKS_ALL || (tick.flags & mask) != 0;
}

// The ticks of a stretch of the base that fit the flags: the first or the last `count` of them.
std::vector<MqlTick> forward(const market::TickBase& base, std::size_t from, std::size_t to,
                             uint flags, std::size_t count) {
  if (flags == COPY_TICKS_ALL)
    return {base.data() + from, base.data() + from + std::min(count, to - from)};
  std::vector<MqlTick> ticks;
  for (; from < to && ticks.size() < count; ++from)
    if (wanted(base[from], flags))
      ticks.push_back(base[from]);
  return ticks;
}

std::vector<MqlTick> newest(const market::TickBase& base, uint flags, std::size_t count) {
  std::vector<MqlTick> ticks;
  for (std::size_t at = base.size(); at-- > 0 && ticks.size() < count;)
    if (wanted(base[at], flags))
      ticks.push_back(base[at]);
  std::reverse(ticks.begin(), ticks.end());
  return ticks;
}

// The symbol, if it can be asked; else nullptr and the error is set.
market::Symbol* asked(const string& name) {
  auto* symbol = market::find(name.utf8());
  if (symbol == nullptr)
    fail(ERR_MARKET_UNKNOWN_SYMBOL);
  else if (!symbol->selected)
    fail(ERR_MARKET_NOT_SELECTED);
  return symbol != nullptr && symbol->selected ? symbol : nullptr;
}

// The time for synchronising has run out: after a block, any stretch of what was asked for.
void time_out(std::vector<MqlTick>& ticks) {
  auto& random = host::random("copyticks.part");
  if (!terminal::self().indicator())  // indicators never wait
    terminal::terminal().wait_us(1000 * odd().block_ms);
  const auto size = static_cast<std::int64_t>(ticks.size());
  const auto from = host::between(random, 0, size);
  const auto to = host::between(random, from, size);
  ticks.erase(ticks.begin() + to, ticks.end());
  ticks.erase(ticks.begin(), ticks.begin() + from);
  fail(ERR_HISTORY_TIMEOUT);
}

// Hand ticks to the program, as things go wrong.
int deliver(market::Symbol& symbol, std::vector<MqlTick> ticks, array_ref<MqlTick> target) {
  auto& self = terminal::self();
  ++self.copy_calls;
  const auto calls = ++self.synchronised[symbol.facts.name];
  auto& random = host::random("copyticks");
  if (static_cast<std::int64_t>(calls) <= odd().sync_failures ||
      host::chance(random, odd().timeout)) {
    time_out(ticks);
  } else if (host::chance(random, odd().no_memory)) {
    fail(ERR_NOT_ENOUGH_MEMORY);
    return -1;
  }
  const bool fits = target.dynamic() || ticks.size() <= static_cast<std::size_t>(target.size());
  if (!fits) {
    ticks.resize(static_cast<std::size_t>(target.size()));
    fail(ERR_HISTORY_SMALL_BUFFER);
  }
  target.assign(ticks.data(), static_cast<long>(ticks.size()));
  self.copied_ticks += ticks.size();
  terminal::terminal().yield_point();
  return static_cast<int>(ticks.size());
}

std::size_t capped(std::size_t count) {
  return odd().limit > 0 ? std::min(count, static_cast<std::size_t>(odd().limit)) : count;
}

}  // namespace

int CopyTicks(const string& name, array_ref<MqlTick> ticks, uint flags, ulong from_msc,
              uint count) {
  auto* symbol = asked(name);
  if (symbol == nullptr)
    return -1;
  const auto& base = symbol->base;
  const auto most = capped(count == 0 ? COUNT_DEFAULT : count);
  if (from_msc == 0)
    return deliver(*symbol, newest(base, flags, most), ticks);
  const auto from = base.at_or_after(static_cast<std::int64_t>(from_msc));
  return deliver(*symbol, forward(base, from, base.size(), flags, most), ticks);
}

int CopyTicksRange(const string& name, array_ref<MqlTick> ticks, uint flags, ulong from_msc,
                   ulong to_msc) {
  auto* symbol = asked(name);
  if (symbol == nullptr)
    return -1;
  const auto& base = symbol->base;
  const auto from = base.at_or_after(static_cast<std::int64_t>(from_msc));
  const auto to = to_msc == 0 ? base.size() : base.after(static_cast<std::int64_t>(to_msc));
  return deliver(*symbol, forward(base, from, std::max(from, to), flags, base.size()), ticks);
}

}  // namespace mql
