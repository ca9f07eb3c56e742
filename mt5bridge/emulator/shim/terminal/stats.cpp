// Figures of the run for whoever drives it: <data folder>/stats.json.
#include <sys/resource.h>

#include <cstdio>
#include <fstream>
#include <ostream>
#include <sstream>

#include "runtime.hpp"

namespace mql::terminal {
namespace {

std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char letter : text) {
    char escaped[8];
    if (letter == '"' || letter == '\\') {
      json += '\\';
      json += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", letter);
      json += escaped;
    } else {
      json += letter;
    }
  }
  return json + '"';
}

void write_symbols(std::ostream& out) {
  out << "\"symbols\": {";
  const char* comma = "";
  for (const auto& symbol : market::symbols()) {
    out << comma << json_text(symbol->facts.name) << ": {\"arrived\": " << symbol->arrived
        << ", \"in_base\": " << symbol->base.size() << "}";
    comma = ", ";
  }
  out << "}";
}

void write_handlers(std::ostream& out, const Attached& attached) {
  const char* comma = "";
  out << "\"handlers\": {";
  for (std::size_t slot = 0; slot < USAGE_SLOTS; ++slot) {
    const auto& usage = attached.usage[slot];
    if (usage.calls == 0)
      continue;
    out << comma << json_text(usage_name(slot)) << ": {\"calls\": " << usage.calls
        << ", \"cpu_us\": " << usage.cpu_ns / 1000 << ", \"longest_us\": " << usage.longest_us
        << "}";
    comma = ", ";
  }
  out << "}";
}

void write_events(std::ostream& out, const Attached& attached) {
  const char* comma = "";
  out << "\"events\": {";
  for (std::size_t slot = 0; slot < EVENT_KINDS; ++slot) {
    const auto kind = static_cast<EventKind>(slot);
    const auto& counts = attached.queue.counts(kind);
    out << comma << json_text(handler_name(kind)) << ": {\"queued\": " << counts.queued
        << ", \"skipped\": " << counts.skipped << ", \"coalesced\": " << counts.coalesced
        << ", \"overflowed\": " << counts.overflowed << ", \"overwritten\": " << counts.overwritten
        << "}";
    comma = ", ";
  }
  out << "}";
}

void write_programs(std::ostream& out, const Terminal& terminal) {
  out << "\"programs\": [";
  const char* comma = "";
  for (const auto& ended : terminal.ended()) {
    out << comma << ended;
    comma = ", ";
  }
  for (const auto& attached : terminal.programs()) {
    out << comma << program_stats(*attached);
    comma = ", ";
  }
  out << "]";
}

void write_sockets(std::ostream& out) {
  const auto& counts = socket_counts();
  out << "\"sockets\": {\"connects\": " << counts.connects << ", \"sends\": " << counts.sends
      << ", \"reads\": " << counts.reads << ", \"sent\": " << counts.sent
      << ", \"received\": " << counts.received << "}, \"faults\": {";
  for (std::size_t at = 0; at < FAULTS; ++at)
    out << (at ? ", " : "") << json_text(fault_name(static_cast<Fault>(at))) << ": "
        << counts.faults[at];
  out << "}";
}

void write_process(std::ostream& out) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto us = [](const timeval& time) { return time.tv_sec * 1'000'000L + time.tv_usec; };
  out << "\"process\": {\"cpu_us\": " << us(used.ru_utime) + us(used.ru_stime)
      << ", \"memory_kb\": " << used.ru_maxrss << "}";
}

}  // namespace

std::string program_stats(const Attached& attached) {
  std::ostringstream out;
  out << "{\"name\": " << json_text(attached.program->info().name)
      << ", \"symbol\": " << json_text(attached.what.symbol)
      << ", \"running\": " << (attached.running && !attached.leaving ? "true" : "false")
      << ", \"copy_calls\": " << attached.copy_calls
      << ", \"copied_ticks\": " << attached.copied_ticks
      << ", \"comment\": " << json_text(attached.program->comment) << ", ";
  write_handlers(out, attached);
  out << ", ";
  write_events(out, attached);
  out << "}";
  return out.str();
}

void write_stats(Terminal& terminal, bool finished) {
  const auto path = host::data_folder() / "stats.json";
  auto fresh = path;
  fresh += ".new";
  {
    std::ofstream out(fresh);
    out << "{\"run\": " << host::run_number() << ", \"finished\": " << (finished ? "true" : "false")
        << ", \"ticks\": " << terminal.feed().total()
        << ", \"clock_ms\": " << host::steady_us() / 1000
        << ", \"ticks_delivered\": " << terminal.feed().released()
        << ", \"quiet_ms\": " << terminal.quiet_ms()
        << ", \"connected\": " << (terminal.connected() ? "true" : "false")
        << ", \"broker_idle\": " << (trade_server::idle() ? "true" : "false")
        << ", \"effects\": " << host::effects() << ", \"failed\": [";
    for (std::size_t at = 0; at < terminal.failed().size(); ++at)
      out << (at ? ", " : "") << json_text(terminal.failed()[at]);
    out << "], ";
    write_symbols(out);
    out << ", ";
    write_programs(out, terminal);
    out << ", ";
    write_sockets(out);
    out << ", ";
    write_process(out);
    out << "}\n";
  }
  std::filesystem::rename(fresh, path);
}

}  // namespace mql::terminal
