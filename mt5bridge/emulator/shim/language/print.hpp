// Text out of values: Print, PrintFormat, StringFormat, Comment, Alert.
#ifndef MT5BRIDGE_LANGUAGE_PRINT_HPP
#define MT5BRIDGE_LANGUAGE_PRINT_HPP

#include <string>

#include "array.hpp"
#include "string.hpp"
#include "strings.hpp"

namespace mql {

// One argument of StringFormat.
struct format_value {
  enum { whole, natural, real, text } kind;
  long integer = 0;
  double number = 0;
  string words;

  format_value(const string& value) : kind(text), words(value) {}
  template <textual T>
  format_value(T value) : kind(kind_of<T>()) {
    if constexpr (std::is_floating_point_v<T>)
      number = value;
    else
      integer = static_cast<long>(value);
  }

 private:
  template <class T>
  static constexpr auto kind_of() {
    if constexpr (std::is_floating_point_v<T>) return real;
    else if constexpr (std::is_unsigned_v<T>) return natural;
    else return whole;
  }
};

string format_text(const string& format, const format_value* values, size_t count);
void print_line(const string& line);
void show_comment(const string& text);
void show_alert(const string& text);

template <class T>
string printed(const T& value) {
  if constexpr (std::is_convertible_v<const T&, string>)
    return value;
  else
    return string(value);
}

template <class... Values>
string joined(const Values&... values) {
  string text;
  ((text += printed(values)), ...);
  return text;
}

// How long the text is.
template <class... Values>
int StringConcatenate(string& text, const Values&... values) {
  text = joined(values...);
  return text.size();
}

template <class... Values>
string StringFormat(const string& format, const Values&... values) {
  const format_value list[] = {format_value(values)..., format_value(0)};
  return format_text(format, list, sizeof...(values));
}

template <class... Values>
void Print(const Values&... values) {
  print_line(joined(values...));
}
// Numbers and texts in one line, as wide as the widest of them. How the real terminal breaks lines and
// titles the members of structures is not documented.
template <any_array A>
  requires(textual<element<A>> || std::same_as<element<A>, string>)
void ArrayPrint(const A& values, uint digits = 8, const string& separator = null, ulong start = 0,
                ulong count = static_cast<ulong>(WHOLE_ARRAY)) {
  const auto size = static_cast<ulong>(values.size());
  const ulong end = start < size ? start + std::min(count, size - start) : start;
  array<string> texts;
  int width = 0;
  for (ulong i = start; i < end; i++) {
    const auto& value = values.data()[i];
    string text;
    if constexpr (std::is_floating_point_v<element<A>>)
      text = DoubleToString(value, static_cast<int>(digits));
    else
      text = printed(value);
    width = std::max(width, text.size());
    texts.resize(texts.size() + 1);
    texts[texts.size() - 1] = text;
  }
  string line;
  for (int i = 0; i < texts.size(); i++) {
    if (i) line += separator.is_null() ? string(" ") : separator;
    if (separator.is_null()) line += string(std::u16string(width - texts[i].size(), u' '));
    line += texts[i];
  }
  print_line(line);
}
template <any_array A>
  requires(!textual<element<A>> && !std::same_as<element<A>, string>)
__attribute__((unavailable("arrays of numbers and texts with one dimension can be printed here")))
void ArrayPrint(const A& values, uint digits = 8, const string& separator = null, ulong start = 0,
                ulong count = static_cast<ulong>(WHOLE_ARRAY));

// typename(x) of plain types, as MQL5 writes them.
template <class T>
string type_name() {
  using Type = std::remove_cvref_t<T>;
  if constexpr (std::same_as<Type, bool>) return string("bool");
  else if constexpr (std::same_as<Type, char>) return string("char");
  else if constexpr (std::same_as<Type, uchar>) return string("uchar");
  else if constexpr (std::same_as<Type, short>) return string("short");
  else if constexpr (std::same_as<Type, ushort>) return string("ushort");
  else if constexpr (std::same_as<Type, int>) return string("int");
  else if constexpr (std::same_as<Type, uint>) return string("uint");
  else if constexpr (std::same_as<Type, long>) return string("long");
  else if constexpr (std::same_as<Type, ulong>) return string("ulong");
  else if constexpr (std::same_as<Type, float>) return string("float");
  else if constexpr (std::same_as<Type, double>) return string("double");
  else if constexpr (std::same_as<Type, string>) return string("string");
  else if constexpr (std::same_as<Type, datetime>) return string("datetime");
  else if constexpr (std::same_as<Type, color>) return string("color");
  else static_assert(!sizeof(T), "typename of a plain type only");
}

template <class... Values>
void PrintFormat(const string& format, const Values&... values) {
  print_line(StringFormat(format, values...));
}
template <class... Values>
void Comment(const Values&... values) {
  show_comment(joined(values...));
}
template <class... Values>
void Alert(const Values&... values) {
  show_alert(joined(values...));
}

}  // namespace mql

#endif
