// Time, timers, chart events, indicators, and what a program can ask about itself and the terminal.
#include <algorithm>

#include "attached.hpp"
#include "runtime.hpp"

namespace mql {
namespace {

constexpr std::int64_t DAY_MS = 86'400'000;
constexpr std::size_t EVENT_TEXT_MAX = 63;
constexpr int TERMINAL_BUILD_NUMBER = 5000;

datetime seconds(std::int64_t msc) {
  return static_cast<long>(msc / 1000);
}

bool set_timer(std::int64_t period_us) {
  auto& self = terminal::self();
  if (period_us <= 0 || self.script())
    return fail(period_us <= 0 ? ERR_INVALID_PARAMETER : ERR_CHART_CANNOT_CREATE_TIMER);
  self.timer_period_us = std::max(period_us, terminal::terminal().timer_resolution_us());
  self.timer_due_us = host::steady_us() + self.timer_period_us;
  return true;
}

}  // namespace

// --- time
datetime TimeCurrent() {
  std::int64_t newest = 0;
  if (!terminal::terminal().logged_in())
    return seconds(0);
  for (const auto& symbol : market::symbols())
    newest = std::max<std::int64_t>(newest, symbol->newest.time_msc);
  return seconds(newest);
}

datetime TimeTradeServer() {
  return seconds(terminal::terminal().logged_in() ? host::server_msc() + host::clock_ahead_ms() : 0);
}

datetime TimeGMT() {
  return seconds(host::utc_msc() + host::clock_ahead_ms());
}

datetime TimeLocal() {
  return TimeGMT();
}

int TimeGMTOffset() {
  return 0;
}

int TimeDaylightSavings() {
  return 0;
}

uint GetTickCount() {
  return static_cast<uint>(GetTickCount64());
}

ulong GetTickCount64() {
  return static_cast<ulong>(host::steady_us() / 1000);
}

ulong GetMicrosecondCount() {
  return static_cast<ulong>(host::steady_us());
}

void Sleep(int ms) {
  if (!terminal::self().indicator())  // there the call does nothing
    terminal::terminal().wait_us(1000 * static_cast<std::int64_t>(std::max(0, ms)));
}

// --- events
bool EventSetTimer(int seconds) {
  return set_timer(1'000'000 * static_cast<std::int64_t>(seconds));
}

bool EventSetMillisecondTimer(int ms) {
  return set_timer(1000 * static_cast<std::int64_t>(ms));
}

void EventKillTimer() {
  terminal::self().timer_period_us = 0;
}

// The programs of a chart are its expert and the expert's indicators on the chart's symbol.
bool EventChartCustom(long chart_id, ushort event, long lparam, double dparam,
                      const string& sparam) {
  auto* chart = terminal::terminal().find_chart(chart_id == 0 ? ChartID() : chart_id);
  if (chart == nullptr)
    return fail(ERR_CHART_WRONG_ID);
  if (!chart->running || !chart->program->has(ON_CHART_EVENT))
    return true;
  terminal::Event posted{terminal::EventKind::chart, CHARTEVENT_CUSTOM + event, lparam, dparam};
  posted.text = string(std::u16string(sparam.view().substr(0, EVENT_TEXT_MAX)));
  chart->queue.post(std::move(posted));
  return true;
}

// The chart changes when the handler has ended. NULL is the symbol it has.
bool ChartSetSymbolPeriod(long chart_id, const string& symbol, ENUM_TIMEFRAMES period) {
  const auto* chart = terminal::terminal().find_chart(chart_id == 0 ? ChartID() : chart_id);
  if (chart == nullptr)
    return fail(ERR_CHART_WRONG_ID);
  if (symbol.size() > 0 && market::find(symbol.utf8()) == nullptr)
    return fail(ERR_MARKET_UNKNOWN_SYMBOL);
  terminal::terminal().ask(chart->chart_id, {REASON_CHARTCHANGE, symbol.utf8(), period});
  return true;
}

bool IsStopped() {
  return terminal::self().leaving || terminal::terminal().stopping();
}

void ExpertRemove() {
  terminal::terminal().leave(terminal::self(), REASON_PROGRAM);
}

int UninitializeReason() {
  return terminal::self().reason;
}

// --- the chart
long ChartID() {
  return terminal::self().chart_id;
}

string ChartSymbol(long chart_id) {
  const auto* chart =
      chart_id == 0 ? &terminal::self() : terminal::terminal().find_chart(chart_id);
  if (chart == nullptr) {
    fail(ERR_CHART_WRONG_ID);
    return string("");
  }
  return string(chart->what.symbol);
}

// --- about the program and the terminal
int MQLInfoInteger(ENUM_MQL_INFO_INTEGER property) {
  switch (property) {
    case MQL_PROGRAM_TYPE:
      return terminal::self().script()      ? PROGRAM_SCRIPT
             : terminal::self().indicator() ? PROGRAM_INDICATOR
                                            : PROGRAM_EXPERT;
    case MQL_TRADE_ALLOWED:
      return terminal::terminal().trade_allowed() && !terminal::self().indicator();
    case MQL_MEMORY_LIMIT:
      return 16384;
    case MQL_HANDLES_USED:
      return static_cast<int>(terminal::self().indicators.size() + terminal::self().studies.size());
    case MQL_TESTER:
      return terminal::in_tester();
    default:
      return 0;  // no debugger, no DLL
  }
}

string MQLInfoString(ENUM_MQL_INFO_STRING property) {
  const auto& info = current().info();
  return string(property == MQL_PROGRAM_NAME ? info.name : info.path);
}

int TerminalInfoInteger(ENUM_TERMINAL_INFO_INTEGER property) {
  switch (property) {
    case TERMINAL_BUILD:
      return TERMINAL_BUILD_NUMBER;
    case TERMINAL_CONNECTED:
      return terminal::terminal().connected();
    case TERMINAL_TRADE_ALLOWED:
      return terminal::terminal().trade_allowed();
    case TERMINAL_PING_LAST:
      return 20'000;  // microseconds
    case TERMINAL_X64:
    case TERMINAL_CPU_CORES:
      return 1;
    case TERMINAL_MAXBARS:
      return 100'000;
    default:
      return 0;
  }
}

double TerminalInfoDouble(ENUM_TERMINAL_INFO_DOUBLE) {
  return 0;
}

string TerminalInfoString(ENUM_TERMINAL_INFO_STRING property) {
  switch (property) {
    case TERMINAL_NAME:
      return string("Emulated terminal");
    case TERMINAL_COMPANY:
      return string(host::script().merged("account").text("company", "Broker"));
    case TERMINAL_LANGUAGE:
      return string("English");
    case TERMINAL_COMMONDATA_PATH:
      return string((host::data_folder() / "Common").string());
    default:
      return string(host::data_folder().string());
  }
}

// --- indicators
int create_indicator(const string& symbol, const string& name,
                     const std::vector<std::string>& inputs) {
  auto& self = terminal::self();
  const auto title = symbol.size() == 0 ? self.what.symbol : symbol.utf8();
  if (market::find(title) == nullptr) {
    fail(ERR_INDICATOR_UNKNOWN_SYMBOL);
    return INVALID_HANDLE;
  }
  const auto probe = create_program(name.utf8());
  if (probe == nullptr || probe->info().kind != ProgramKind::indicator) {
    fail(ERR_INDICATOR_CANNOT_CREATE);
    return INVALID_HANDLE;
  }
  terminal::Attachment what{name.utf8(), title};
  if (inputs.size() > probe->inputs.size()) {
    fail(ERR_INDICATOR_WRONG_PARAMETERS);
    return INVALID_HANDLE;
  }
  for (std::size_t at = 0; at < inputs.size(); ++at)
    what.inputs.emplace_back(probe->inputs[at].name, inputs[at]);
  auto* indicator = terminal::terminal().attach_indicator(std::move(what), self);
  self.indicators[self.next_indicator] = indicator;
  return self.next_indicator++;
}

bool IndicatorRelease(int handle) {
  if (terminal::self().studies.erase(handle) > 0)
    return true;
  auto& indicators = terminal::self().indicators;
  const auto found = indicators.find(handle);
  if (found == indicators.end())
    return fail(ERR_INDICATOR_WRONG_HANDLE);
  terminal::terminal().leave(*found->second, REASON_REMOVE);
  return true;
}

int BarsCalculated(int handle) {
  const auto& studies = terminal::self().studies;
  if (const auto study = studies.find(handle); study != studies.end())
    return static_cast<int>(bars::of(*study->second.symbol, study->second.period).size());
  const auto& indicators = terminal::self().indicators;
  const auto found = indicators.find(handle);
  if (found == indicators.end()) {
    fail(ERR_INDICATOR_WRONG_HANDLE);
    return -1;
  }
  return found->second->running ? found->second->calculated : -1;
}

int IndicatorCreate(const string& symbol, ENUM_TIMEFRAMES, ENUM_INDICATOR type, int count,
                    array_ref<const MqlParam> parameters) {
  if (type != IND_CUSTOM || count < 1 || parameters.size() < count ||
      parameters[0].type != TYPE_STRING) {
    fail(ERR_INDICATOR_WRONG_PARAMETERS);
    return INVALID_HANDLE;
  }
  std::vector<std::string> inputs;
  for (int at = 1; at < count; ++at) {
    const auto& parameter = parameters[at];
    const bool real = parameter.type == TYPE_DOUBLE || parameter.type == TYPE_FLOAT;
    inputs.push_back(parameter.type == TYPE_STRING ? parameter.string_value.utf8()
                     : real                        ? input_text(parameter.double_value)
                                                   : input_text(parameter.integer_value));
  }
  return create_indicator(symbol, parameters[0].string_value, inputs);
}

}  // namespace mql
