// MQL5's plain types in C++: integer names, datetime, color and NULL.
#ifndef MT5BRIDGE_LANGUAGE_TYPES_HPP
#define MT5BRIDGE_LANGUAGE_TYPES_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

static_assert(sizeof(long) == 8 && sizeof(int) == 4, "MQL5's long has 64 bits");

namespace mql {

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;

template <class T>
concept number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

// NULL: no text, no object, zero.
struct null_t {
  template <std::integral T>
  constexpr operator T() const {
    return T(0);
  }
};
inline constexpr null_t null{};

// An integer of its own type, so that text of it and overloads differ from those of the integer.
template <class Tag, class Value>
struct distinct {
  Value value;

  distinct() = default;
  template <number T>
  constexpr distinct(T other) : value(static_cast<Value>(other)) {}
  constexpr distinct(null_t) : value(0) {}

  constexpr operator Value() const { return value; }
  template <std::convertible_to<Value> T>
  constexpr distinct& operator+=(T other) {
    value += static_cast<Value>(other);
    return *this;
  }
  template <std::convertible_to<Value> T>
  constexpr distinct& operator-=(T other) {
    value -= static_cast<Value>(other);
    return *this;
  }
  constexpr distinct& operator++() {
    ++value;
    return *this;
  }
  constexpr distinct& operator--() {
    --value;
    return *this;
  }
};

// Seconds since 1970.
using datetime = distinct<struct datetime_tag, long>;
// 0x00BBGGRR.
using color = distinct<struct color_tag, int>;

inline constexpr color clrNONE = -1;
inline constexpr int INVALID_HANDLE = -1;

// -1 of any integer type, and of any enumeration without a cast.
struct wrong_value_t {
  constexpr operator int() const { return -1; }
  template <class E>
    requires std::is_enum_v<E>
  constexpr operator E() const {
    return static_cast<E>(-1);
  }
};
inline constexpr wrong_value_t WRONG_VALUE{};
// The literal 0 as the first value of an enumeration's variable.
struct zero_t {
  template <class E>
    requires std::is_enum_v<E>
  constexpr operator E() const {
    return static_cast<E>(0);
  }
};
inline constexpr zero_t zero{};
inline constexpr int WHOLE_ARRAY = -1;
inline constexpr double EMPTY_VALUE = 1.7976931348623157e308;
inline constexpr uint CP_ACP = 0, CP_OEMCP = 1, CP_UTF7 = 65000, CP_UTF8 = 65001;

}  // namespace mql

#endif
