// MQL5's string: UTF-16 by value; NULL is another value than "".
#ifndef MT5BRIDGE_LANGUAGE_STRING_HPP
#define MT5BRIDGE_LANGUAGE_STRING_HPP

#include <compare>
#include <string>
#include <string_view>
#include <utility>

#include "types.hpp"

namespace mql {

// A number as MQL5 converts it to text.
std::u16string number_text(bool value);
std::u16string number_text(long value);
std::u16string number_text(ulong value);
std::u16string number_text(double value);
std::u16string number_text(float value);
std::u16string number_text(datetime value);
std::u16string number_text(color value);

template <class T>
concept textual = number<T> || std::same_as<T, datetime> || std::same_as<T, color>;

template <textual T>
std::u16string text_of(T value) {
  if constexpr (std::is_enum_v<T>)
    return number_text(static_cast<long>(value));
  else if constexpr (std::is_same_v<T, bool> || !std::is_integral_v<T>)
    return number_text(value);
  else if constexpr (std::is_unsigned_v<T>)
    return number_text(static_cast<ulong>(value));
  else
    return number_text(static_cast<long>(value));
}

std::u16string utf16_of(std::string_view utf8);
std::string utf8_of(std::u16string_view text);
double number_of(std::u16string_view text, bool& integral, long& whole);

class string {
 public:
  string() = default;
  string(null_t) {}
  string(std::u16string text) : body_(new Body{1, std::move(text)}) {}
  string(std::string_view utf8) : string(utf16_of(utf8)) {}
  string(const std::string& utf8) : string(utf16_of(utf8)) {}
  string(const char* utf8) : string(utf16_of(utf8)) {}
  template <textual T>
  explicit string(T value) : string(text_of(value)) {}
  string(const string& other) : body_(other.body_) {
    if (body_) ++body_->users;
  }
  string(string&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
  string& operator=(string other) noexcept {
    std::swap(body_, other.body_);
    return *this;
  }
  ~string() {
    if (body_ && --body_->users == 0) delete body_;
  }

  bool is_null() const { return !body_; }
  int size() const { return body_ ? static_cast<int>(body_->text.size()) : 0; }
  std::u16string_view view() const {
    return body_ ? std::u16string_view(body_->text) : std::u16string_view();
  }
  std::string utf8() const { return utf8_of(view()); }
  // The code unit at `index`; 0 behind the end.
  ushort operator[](long index) const {
    return index >= 0 && index < size() ? body_->text[static_cast<size_t>(index)] : ushort(0);
  }
  // The text for changing it; other strings keep theirs.
  std::u16string& own() {
    if (!body_ || body_->users > 1) *this = string(std::u16string(view()));
    return body_->text;
  }

  string& operator+=(const string& other) {
    own().append(std::u16string(other.view()));
    return *this;
  }
  template <textual T>
  string& operator+=(T value) {
    own().append(text_of(value));
    return *this;
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  explicit operator T() const {
    bool integral = false;
    long whole = 0;
    const double real = number_of(view(), integral, whole);
    return integral ? static_cast<T>(whole) : static_cast<T>(real);
  }
  explicit operator datetime() const;

  friend string operator+(const string& left, const string& right) {
    std::u16string text;
    text.reserve(left.view().size() + right.view().size());
    return text.append(left.view()).append(right.view());
  }
  template <textual T>
  friend string operator+(const string& left, T right) {
    return std::u16string(left.view()) + text_of(right);
  }
  template <textual T>
  friend string operator+(T left, const string& right) {
    return text_of(left).append(right.view());
  }
  friend bool operator==(const string& left, const string& right) {
    return left.is_null() == right.is_null() && left.view() == right.view();
  }
  friend bool operator==(const string& left, null_t) { return left.is_null(); }
  friend std::strong_ordering operator<=>(const string& left, const string& right) {
    return left.view().compare(right.view()) <=> 0;
  }

 private:
  struct Body {
    int users;
    std::u16string text;
  };
  Body* body_ = nullptr;
};

// A literal of the source: made once, where it stands.
#define MQL_TEXT(literal)                                     \
  ([]() -> const ::mql::string& {                             \
    static const ::mql::string text{std::u16string(literal)}; \
    return text;                                              \
  }())

}  // namespace mql

#endif
