// Colours as text and back.
#include "colors.hpp"

#include <cctype>
#include <string>

#include "string.hpp"
#include "strings.hpp"

namespace mql {

namespace {

struct NamedColor {
  std::string_view name;
  color value;
};

#define MQL_COLOR_ENTRY(name, rgb) {"clr" #name, color_of_rgb(rgb)},
constexpr NamedColor named_colors[] = {MQL_WEB_COLORS(MQL_COLOR_ENTRY){"clrNONE", -1}};
#undef MQL_COLOR_ENTRY

std::string components(int value) {
  return std::to_string(value & 255) + "," + std::to_string(value >> 8 & 255) + "," +
         std::to_string(value >> 16 & 255);
}

}  // namespace

std::string_view color_name(color value) {
  for (const NamedColor& one : named_colors)
    if (one.value == value) return one.name;
  return {};
}

bool color_by_name(std::string_view name, color& value) {
  for (const NamedColor& one : named_colors)
    if (one.name == name) {
      value = one.value;
      return true;
    }
  return false;
}

std::u16string number_text(color value) {
  return std::u16string(ColorToString(value, true).view());
}

string ColorToString(color value, bool by_name) {
  const std::string_view name = by_name ? color_name(value) : std::string_view();
  return name.empty() ? string(components(value)) : string(name);
}

// A name, or the first three numbers of the text: what stands around them is skipped.
color StringToColor(const string& text) {
  const std::string given = text.utf8();
  color found = 0;
  if (color_by_name(given, found)) return found;
  int parts[3] = {}, count = 0;
  for (size_t at = 0; at < given.size() && count < 3; at++) {
    if (!std::isdigit(static_cast<unsigned char>(given[at]))) continue;
    size_t used = 0;
    const std::string digits = given.substr(at, 9);
    parts[count++] = std::stoi(digits, &used);
    at += used;
  }
  return count < 3 ? color(0) : color((parts[0] & 255) | (parts[1] & 255) << 8 | (parts[2] & 255) << 16);
}

uint ColorToARGB(color value, uchar alpha) {
  const auto bits = static_cast<uint>(static_cast<int>(value));
  return static_cast<uint>(alpha) << 24 | (bits & 255) << 16 | (bits & 0xFF00) | (bits >> 16 & 255);
}

}  // namespace mql
