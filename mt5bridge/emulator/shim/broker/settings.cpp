// Reads the broker's settings from the texts of a script.
#include "settings.hpp"

#include "numbers.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace mql::broker {

namespace {

const std::map<std::string, Range Settings::*> kRanges = {
    {"latency_ms", &Settings::latency_ms},
    {"fills", &Settings::fills},
    {"fill_delay_ms", &Settings::fill_delay_ms},
    {"fill_ticks", &Settings::fill_ticks},
    {"slippage_points", &Settings::slippage_points},
    {"history_delay_ms", &Settings::history_delay_ms},
    {"in_flight_delay_ms", &Settings::in_flight_delay_ms},
    {"revision_delay_ms", &Settings::revision_delay_ms},
};

const std::map<std::string, double Settings::*> kNumbers = {
    {"shuffle", &Settings::shuffle},
    {"duplicates", &Settings::duplicates},
    {"missing", &Settings::missing},
    {"timeout", &Settings::timeout},
    {"lost", &Settings::lost},
    {"in_flight", &Settings::in_flight},
    {"liquidity", &Settings::liquidity},
    {"depth_lots", &Settings::depth_lots},
    {"commission", &Settings::commission},
    {"revisions", &Settings::revisions},
    {"account_trade", &Settings::account_trade},
    {"account_expert", &Settings::account_expert},
    {"limit_orders", &Settings::limit_orders},
    {"requests_per_second", &Settings::requests_per_second},
    {"stop_out", &Settings::stop_out},
    {"activity_ticks", &Settings::activity_ticks},
    {"activity_lots", &Settings::activity_lots},
};

Range range(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos)
    return {number(text), number(text)};
  const Range read{number(text.substr(0, dots)), number(text.substr(dots + 2))};
  if (read.most < read.least)
    throw std::runtime_error("\"" + text + "\" runs backwards; write the smaller number first");
  return read;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t to; (to = text.find(separator, from)) != std::string::npos; from = to + 1)
    parts.push_back(text.substr(from, to - from));
  parts.push_back(text.substr(from));
  return parts;
}

Rejection rejection(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  Rejection read{static_cast<u32>(number(parts[0]))};
  if (parts.size() > 1)
    read.share = number(parts[1]);
  if (parts.size() > 2)
    read.times = static_cast<i64>(number(parts[2]));
  return read;
}

void set_comments(Settings& settings, const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  const std::string argument = parts.size() > 1 ? parts[1] : "";
  if (parts[0] == "keep") {
    settings.comments = Comments::keep;
  } else if (parts[0] == "drop") {
    settings.comments = Comments::drop;
  } else if (parts[0] == "cut") {
    settings.comments = Comments::cut;
    settings.comment_length = static_cast<std::size_t>(number(argument));
  } else if (parts[0] == "replace") {
    settings.comments = Comments::replace;
    settings.comment_text = argument;
  } else {
    throw std::runtime_error("comments=" + text + ": write keep, drop, cut:31 or replace:TEXT");
  }
}

// At most so many bytes, and no half character at the end.
std::string cut(const std::string& text, std::size_t length) {
  while (length < text.size() && (text[length] & 0xC0) == 0x80)
    --length;
  return text.substr(0, length);
}

}  // namespace

void Settings::set(const std::string& key, const std::string& value) {
  if (const auto found = kRanges.find(key); found != kRanges.end()) {
    this->*found->second = range(value);
  } else if (const auto number_of = kNumbers.find(key); number_of != kNumbers.end()) {
    this->*number_of->second = number(value);
  } else if (key == "reject") {
    rejections.push_back(rejection(value));
  } else if (key == "comments") {
    set_comments(*this, value);
  } else if (key == "closed") {
    for (const std::string& symbol : split(value, ','))
      closed.insert(symbol);
  } else if (key == "open") {
    for (const std::string& symbol : split(value, ','))
      closed.erase(symbol);
  } else {
    throw std::runtime_error("the broker has no setting \"" + key +
                             "\"; settings.hpp of the emulator names them");
  }
}

// What the broker makes of a program's comment.
std::string Settings::comment_of(const std::string& comment) const {
  switch (comments) {
    case Comments::drop: return "";
    case Comments::replace: return comment_text;
    case Comments::cut: return cut(comment, comment_length);
    case Comments::keep: break;
  }
  return comment;
}

}  // namespace mql::broker
