// Reads the numbers of a script.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>

namespace mql::broker {

// Throws std::runtime_error that says what would be right.
inline double number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::runtime_error("\"" + text + "\" is no number; write for example 0.5");
  return value;
}

}  // namespace mql::broker
