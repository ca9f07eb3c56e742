// The life of programs beyond start and end: each reason for which the terminal calls OnDeinit,
// and what it does then; accounts.
#include <map>

#include "runtime.hpp"

namespace mql::terminal {
namespace {

// By the names of the script.
int reason_of(const std::string& name) {
  static const std::map<std::string, int> reasons = {
      {"PROGRAM", REASON_PROGRAM},       {"REMOVE", REASON_REMOVE},
      {"RECOMPILE", REASON_RECOMPILE},   {"CHARTCHANGE", REASON_CHARTCHANGE},
      {"CHARTCLOSE", REASON_CHARTCLOSE}, {"PARAMETERS", REASON_PARAMETERS},
      {"ACCOUNT", REASON_ACCOUNT},       {"TEMPLATE", REASON_TEMPLATE},
      {"INITFAILED", REASON_INITFAILED}, {"CLOSE", REASON_CLOSE}};
  const auto found = reasons.find(name);
  if (found == reasons.end())
    throw host::ScriptError("at reinit: unknown reason " + name);
  return found->second;
}

// An expert stays loaded, with the values of its globals; all else is loaded anew.
bool stays(const Attached& attached, int reason) {
  return attached.expert() && (reason == REASON_PARAMETERS || reason == REASON_CHARTCHANGE ||
                               reason == REASON_ACCOUNT);
}

}  // namespace

// What happens to the programs of this name on their charts. Indicators that an expert has created
// are the expert's.
void Terminal::reinit(const host::Statement& statement) {
  const Change wanted{reason_of(statement.text("reason")), statement.text("symbol"),
                      static_cast<ENUM_TIMEFRAMES>(enum_value(
                          names_of(PERIOD_CURRENT), statement.text("period", "PERIOD_CURRENT"))),
                      statement.inputs()};
  bool any = false;
  for (std::size_t at = 0; at < m_programs.size(); ++at) {
    auto& attached = *m_programs[at];
    if (attached.program->info().name != statement.text("reinit") || attached.script() ||
        attached.owner != nullptr || !attached.running || attached.leaving)
      continue;
    any = true;
    change(attached, wanted);
  }
  if (!any)
    host::journal("", "no program " + statement.text("reinit") + " is running");
}

void Terminal::change(Attached& attached, const Change& change) {
  if (change.reason == REASON_CLOSE)
    m_restart = true;
  else if (change.reason == REASON_INITFAILED)
    fail_once(attached, change);
  else if (stays(attached, change.reason))
    reinitialise(attached, change);
  else
    reload(attached, change);
}

// What programs have asked for.
void Terminal::change_charts() {
  for (const auto& [chart_id, wanted] : std::exchange(m_asked, {}))
    if (auto* chart = find_chart(chart_id); chart != nullptr && chart->running && !chart->leaving)
      change(*chart, wanted);
}

void Terminal::adopt(Attachment& what, const Change& change) {
  if (!change.symbol.empty())
    what.symbol = change.symbol;
  if (change.period != PERIOD_CURRENT)
    what.period = change.period;
  what.inputs.insert(what.inputs.end(), change.inputs.begin(), change.inputs.end());
}

// A change at an expert's chart or inputs does not load it anew: OnDeinit sees the old ones, OnInit
// the new, and globals keep their values. Events that came before OnInit has succeeded are skipped,
// as documented. Of the rest nothing is documented; so what a program could rely on is gone (its
// timer), and what it could leave behind by mistake stays: sockets and files are open, indicators
// and market books go on telling of ticks. Meanwhile the market and the broker do not wait.
void Terminal::reinitialise(Attached& attached, const Change& change) {
  attached.reason = change.reason;
  deinitialise(attached);
  attached.timer_period_us = 0;
  if (attached.leaving)
    return;
  adopt(attached.what, change);
  furnish(attached);
  background();
  attached.queue.clear();
  initialise(attached);
  host::journal("", attached.title + (attached.running ? " has begun again" : " has not begun again"));
}

// The program goes, and one like it comes to the chart when it has gone; a chart that was closed is
// another one.
void Terminal::reload(Attached& attached, const Change& change) {
  leave(attached, change.reason);
  auto what = attached.what;
  adopt(what, change);
  what.chart_id = change.reason == REASON_CHARTCLOSE ? 0 : attached.chart_id;
  m_again.push_back(std::move(what));
}

// OnInit fails with the inputs of the change; then the user sets the program up as it was.
void Terminal::fail_once(Attached& attached, const Change& change) {
  const auto what = attached.what;
  reinitialise(attached, {REASON_PARAMETERS, "", PERIOD_CURRENT, change.inputs});
  if (attached.running)
    host::journal("", attached.title + " has not failed");
  if (attached.running || attached.failed)
    return;
  m_failed.pop_back();  // it was meant to
  m_again.push_back(what);
  m_again.back().chart_id = attached.chart_id;
}

// Another account, as words: "login=5002 server=Other". Whether OnDeinit already sees the new one is
// not documented. Indicators on charts are loaded anew; those that experts have created are theirs.
void Terminal::change_account(const std::string& words) {
  const bool seen = host::chance(host::random("account"), 0.5);
  std::vector<Attached*> experts;
  for (const auto& attached : m_programs)
    if (attached->expert() && attached->running && !attached->leaving)
      experts.push_back(attached.get());
  if (seen)
    trade_server::change_account(words);
  for (auto* expert : experts) {
    expert->reason = REASON_ACCOUNT;
    deinitialise(*expert);
  }
  if (!seen)
    trade_server::change_account(words);
  for (const auto& attached : m_programs)
    if (attached->indicator() && attached->owner == nullptr && attached->running)
      reload(*attached, {REASON_ACCOUNT});
  background();
  for (auto* expert : experts) {
    expert->timer_period_us = 0;
    expert->queue.clear();
    if (expert->leaving)
      continue;
    initialise(*expert);
    host::journal("", expert->title + (expert->running ? " has begun again" : " has not begun again"));
  }
}

// The terminal knows its account from now on, and shows what has happened since it was started.
void Terminal::log_in() {
  if (m_logged_in || host::steady_us() < m_login_us)
    return;
  m_logged_in = true;
  host::journal("", "logged in");
  reconnect();
}

}  // namespace mql::terminal
