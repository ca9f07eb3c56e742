// Conversions: UTF-8, UTF-16, numbers.
#include <charconv>
#include <cmath>
#include <cstdio>

#include "calendar.hpp"
#include "string.hpp"
#include "strings.hpp"

namespace mql {

namespace {

constexpr char32_t replacement = 0xFFFD;

void append_code_point(std::u16string& text, char32_t point) {
  if (point < 0x10000) {
    text.push_back(static_cast<char16_t>(point));
  } else {
    text.push_back(static_cast<char16_t>(0xD7C0 + (point >> 10)));
    text.push_back(static_cast<char16_t>(0xDC00 + (point & 0x3FF)));
  }
}

void append_utf8(std::string& bytes, char32_t point) {
  const auto add = [&bytes](char32_t byte) { bytes.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0 | point >> 6);
    add(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    add(0xE0 | point >> 12);
    add(0x80 | (point >> 6 & 0x3F));
    add(0x80 | (point & 0x3F));
  } else {
    add(0xF0 | point >> 18);
    add(0x80 | (point >> 12 & 0x3F));
    add(0x80 | (point >> 6 & 0x3F));
    add(0x80 | (point & 0x3F));
  }
}

// The code point at `at`, which is moved behind it; what is no UTF-8 gives the replacement.
char32_t next_code_point(std::string_view bytes, size_t& at) {
  const auto lead = static_cast<unsigned char>(bytes[at++]);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC2 ? 1 : 0;
  if (more == 0 || lead > 0xF4) return replacement;
  char32_t point = lead & (0x3F >> more);
  for (int i = 0; i < more; i++) {
    if (at == bytes.size() || (bytes[at] & 0xC0) != 0x80) return replacement;
    point = point << 6 | (static_cast<unsigned char>(bytes[at++]) & 0x3F);
  }
  const char32_t lowest = more == 1 ? 0x80 : more == 2 ? 0x800 : 0x10000;
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return point < lowest || point > 0x10FFFF || surrogate ? replacement : point;
}

std::u16string widened(std::string_view ascii) {
  return std::u16string(ascii.begin(), ascii.end());
}

template <class Real>
std::u16string real_text(Real value) {
  if (!std::isfinite(value)) return std::isnan(value) ? u"nan" : value > 0 ? u"inf" : u"-inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return widened(text);
}

}  // namespace

std::u16string utf16_of(std::string_view utf8) {
  std::u16string text;
  text.reserve(utf8.size());
  for (size_t at = 0; at < utf8.size();) append_code_point(text, next_code_point(utf8, at));
  return text;
}

std::string utf8_of(std::u16string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); i++) {
    char32_t point = text[i];
    const bool high = point >= 0xD800 && point <= 0xDBFF;
    if (high && i + 1 < text.size() && text[i + 1] >= 0xDC00 && text[i + 1] <= 0xDFFF)
      point = 0x10000 + ((point - 0xD800) << 10) + (text[++i] - 0xDC00);
    else if (point >= 0xD800 && point <= 0xDFFF)
      point = replacement;
    append_utf8(bytes, point);
  }
  return bytes;
}

std::u16string number_text(bool value) { return value ? u"true" : u"false"; }
std::u16string number_text(long value) { return widened(std::to_string(value)); }
std::u16string number_text(ulong value) { return widened(std::to_string(value)); }
std::u16string number_text(double value) { return real_text(value); }
std::u16string number_text(float value) { return real_text(value); }
std::u16string number_text(datetime value) {
  return std::u16string(TimeToString(value, TIME_DATE | TIME_SECONDS).view());
}
double number_of(std::u16string_view text, bool& integral, long& whole) {
  const std::string ascii = utf8_of(text.substr(0, 400));
  const char* begin = ascii.c_str();
  char* end = nullptr;
  whole = std::strtol(begin, &end, 10);
  integral = *end != '.' && *end != 'e' && *end != 'E';
  return integral ? static_cast<double>(whole) : std::strtod(begin, nullptr);
}

string::operator datetime() const { return StringToTime(*this); }

long StringToInteger(const string& text) { return std::strtol(text.utf8().c_str(), nullptr, 10); }
double StringToDouble(const string& text) { return std::strtod(text.utf8().c_str(), nullptr); }

string CharToString(uchar value) { return std::u16string(1, value); }
string ShortToString(ushort value) { return std::u16string(1, value); }

string IntegerToString(long value, int length, ushort fill) {
  std::u16string digits = number_text(value);
  const size_t wanted = static_cast<size_t>(std::max(length, 0));
  if (digits.size() < wanted) digits.insert(0, wanted - digits.size(), fill);
  return digits;
}

string DoubleToString(double value, int digits) {
  if (!std::isfinite(value)) return real_text(value);
  char buffer[512];
  const bool scientific = digits < 0;
  std::snprintf(buffer, sizeof buffer, scientific ? "%.*e" : "%.*f",
                std::min(std::abs(digits), scientific ? 16 : 16), value);
  return string(std::string_view(buffer));
}

double NormalizeDouble(double value, int digits) {
  const double scale = std::pow(10.0, std::clamp(digits, 0, 8));
  const double scaled = value * scale;
  return std::isfinite(scaled) ? std::round(scaled) / scale : value;
}

}  // namespace mql
