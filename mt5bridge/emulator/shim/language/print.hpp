// Text out of values: Print, PrintFormat, StringFormat, Comment, Alert.
#ifndef MT5BRIDGE_LANGUAGE_PRINT_HPP
#define MT5BRIDGE_LANGUAGE_PRINT_HPP

#include <string>

#include "string.hpp"

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

template <class... Values>
string StringFormat(const string& format, const Values&... values) {
  const format_value list[] = {format_value(values)..., format_value(0)};
  return format_text(format, list, sizeof...(values));
}

template <class... Values>
void Print(const Values&... values) {
  print_line(joined(values...));
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
