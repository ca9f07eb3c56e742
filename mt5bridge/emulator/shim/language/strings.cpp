// MQL5's functions on strings.
#include "strings.hpp"

#include <algorithm>
#include <cwctype>

namespace mql {

namespace {

constexpr size_t none = std::u16string_view::npos;

bool blank(char16_t unit) { return unit == ' ' || (unit >= 9 && unit <= 13); }

template <class Convert>
bool each(string& text, Convert convert) {
  for (char16_t& unit : text.own()) unit = static_cast<char16_t>(convert(unit));
  return true;
}

// The bytes of `text` in a code page, without a terminating zero.
std::string encoded(const string& text, uint codepage) {
  if (codepage == CP_UTF8) return text.utf8();
  std::string bytes;
  for (char16_t unit : text.view()) bytes.push_back(unit < 256 ? static_cast<char>(unit) : '?');
  return bytes;
}

// Puts `units` and a terminating zero into `target` as both StringTo...Array functions do it.
template <class Unit, class Text>
int put_units(const Text& units, array_ref<Unit> target, int start, int count) {
  if (start < 0) return fail(ERR_INVALID_PARAMETER);
  long wanted = static_cast<long>(units.size()) + 1;
  if (count >= 0) wanted = std::min<long>(wanted, count);
  if (target.size() < start + wanted && !target.resize(start + wanted))
    wanted = std::max(target.size() - start, 0);
  for (long i = 0; i < wanted; i++)
    target.data()[start + i] =
        i < static_cast<long>(units.size()) ? static_cast<Unit>(units[static_cast<size_t>(i)]) : Unit(0);
  return static_cast<int>(wanted);
}

// How many units from `start` on make the text: `count`, or up to a zero or the end.
template <class Unit>
size_t text_units(array_ref<const Unit> units, int start, int count) {
  if (start < 0 || start >= units.size()) return 0;
  const Unit* begin = units.data() + start;
  const Unit* end = units.data() + units.size();
  if (count >= 0) return static_cast<size_t>(std::min<long>(count, end - begin));
  return static_cast<size_t>(std::find(begin, end, Unit(0)) - begin);
}

}  // namespace

int StringLen(const string& text) { return text.size(); }

string StringSubstr(const string& text, int start, int length) {
  if (start < 0 || start > text.size()) return string("");
  return std::u16string(text.view().substr(static_cast<size_t>(start),
                                           length <= 0 ? none : static_cast<size_t>(length)));
}

int StringFind(const string& text, const string& part, int start) {
  if (part.size() == 0) return -1;
  const size_t at = text.view().find(part.view(), static_cast<size_t>(std::max(start, 0)));
  return at == none ? -1 : static_cast<int>(at);
}

ushort StringGetCharacter(const string& text, int at) {
  if (at >= 0 && at < text.size()) return text[at];
  fail(ERR_STRINGPOS_OUTOFRANGE);
  return 0;
}

bool StringSetCharacter(string& text, int at, ushort value) {
  if (at < 0 || at > text.size()) return fail(ERR_STRINGPOS_OUTOFRANGE);
  std::u16string& units = text.own();
  if (value == 0)
    units.resize(static_cast<size_t>(at));
  else if (at == text.size())
    units.push_back(value);
  else
    units[static_cast<size_t>(at)] = value;
  return true;
}

int StringCompare(const string& left, const string& right, bool case_sensitive) {
  string a = left, b = right;
  if (!case_sensitive) {
    StringToLower(a);
    StringToLower(b);
  }
  const int order = a.view().compare(b.view());
  return (order > 0) - (order < 0);
}

bool StringToLower(string& text) {
  return each(text, [](char16_t unit) { return std::towlower(unit); });
}
bool StringToUpper(string& text) {
  return each(text, [](char16_t unit) { return std::towupper(unit); });
}

int StringTrimLeft(string& text) {
  std::u16string& units = text.own();
  const auto kept = std::find_if_not(units.begin(), units.end(), blank);
  const int cut = static_cast<int>(kept - units.begin());
  units.erase(units.begin(), kept);
  return cut;
}

int StringTrimRight(string& text) {
  std::u16string& units = text.own();
  const size_t before = units.size();
  while (!units.empty() && blank(units.back())) units.pop_back();
  return static_cast<int>(before - units.size());
}

int StringReplace(string& text, const string& find, const string& replacement) {
  if (find.size() == 0) return 0;
  std::u16string& units = text.own();
  int count = 0;
  const std::u16string with(replacement.view());
  for (size_t at = units.find(find.view()); at != none; at = units.find(find.view(), at)) {
    units.replace(at, find.view().size(), with);
    at += with.size();
    count++;
  }
  return count;
}

int StringSplit(const string& text, ushort separator, array_ref<string> parts) {
  parts.resize(0);
  const std::u16string_view units = text.view();
  if (units.empty()) return 0;
  for (size_t begin = 0; begin <= units.size();) {
    const size_t end = std::min(units.find(separator, begin), units.size());
    const int last = parts.size();
    if (!parts.resize(last + 1)) return -1;
    parts.data()[last] = std::u16string(units.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts.size();
}

bool StringAdd(string& text, const string& added) {
  text += added;
  return true;
}
bool StringInit(string& text, int length, ushort character) {
  text = std::u16string(character ? static_cast<size_t>(std::max(length, 0)) : 0, character);
  return true;
}
bool StringFill(string& text, ushort character) {
  return each(text, [character](char16_t) { return character; });
}
bool StringReserve(string& text, uint characters) {
  text.own().reserve(characters);
  return true;
}
int StringBufferLen(const string& text) { return text.size(); }

int StringToCharArray(const string& text, array_ref<uchar> bytes, int start, int count,
                      uint codepage) {
  return put_units(encoded(text, codepage), bytes, start, count);
}

string CharArrayToString(array_ref<const uchar> bytes, int start, int count, uint codepage) {
  const size_t size = text_units(bytes, start, count);
  if (size == 0) return string("");
  const uchar* begin = bytes.data() + start;
  if (codepage == CP_UTF8)
    return string(std::string_view(reinterpret_cast<const char*>(begin), size));
  return std::u16string(begin, begin + size);
}

int StringToShortArray(const string& text, array_ref<ushort> units, int start, int count) {
  return put_units(text.view(), units, start, count);
}

string ShortArrayToString(array_ref<const ushort> units, int start, int count) {
  const size_t size = text_units(units, start, count);
  return size ? std::u16string(units.data() + start, units.data() + start + size)
              : std::u16string();
}

}  // namespace mql
