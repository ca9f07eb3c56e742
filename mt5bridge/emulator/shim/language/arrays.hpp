// MQL5's functions on arrays, and between structures and bytes.
#ifndef MT5BRIDGE_LANGUAGE_ARRAYS_HPP
#define MT5BRIDGE_LANGUAGE_ARRAYS_HPP

#include <algorithm>
#include <cmath>

#include "array.hpp"
#include "string.hpp"

namespace mql {

// How many values of plain type one element is made of (more than one: further dimensions).
template <class T>
inline constexpr int values_in = 1;
template <class T, size_t N>
inline constexpr int values_in<fixed<T, N>> = static_cast<int>(N) * values_in<T>;

template <any_array A>
int ArraySize(const A& values) {
  return values.size() * values_in<element<A>>;
}

template <any_array A>
int ArrayRange(const A& values, int dimension) {
  if (dimension == 0) return values.size();
  if constexpr (is_array<element<A>>)
    return ArrayRange(element<A>(), dimension - 1);
  else
    return 0;
}

template <target_array A>
int ArrayResize(A&& values, int size, int reserve = 0) {
  if (values.resize(size, reserve)) return ArraySize(values);
  fail(ERR_ARRAY_RESIZE_ERROR);
  return -1;
}

// MetaEditor: "cannot be used for static allocated array".
template <class T, size_t N>
__attribute__((unavailable("ArrayResize of an array with a size; declare it as name[]")))
int ArrayResize(fixed<T, N>& values, int size, int reserve = 0);

// Whether indices count from the last element; those of an array with a size or with dimensions do not.
template <any_array A>
bool ArrayGetAsSeries(const A& values) {
  if constexpr (requires { values.series(); })
    return values.series();
  else
    return false;
}
template <any_array A>
bool ArraySetAsSeries(const A& values, bool flag) {
  if constexpr (requires { values.set_series(flag); } && !is_array<element<A>>) {
    if (!values.dynamic()) return false;
    values.set_series(flag);
    return true;
  } else {
    return false;
  }
}
// Only the arrays that the terminal hands to OnCalculate are; it hands none here.
template <any_array A>
bool ArrayIsSeries(const A&) {
  return false;
}

// Of what such an array does here the documentation is silent, or it is not part of this terminal.
template <any_array... A>
void forward_only(const char* function, const A&... values) {
  if ((ArrayGetAsSeries(values) || ...))
    stop_program(std::string(function) + " of an array that ArraySetAsSeries has turned is not part "
                 "of the emulated terminal: turn it back first", "", 0);
}

template <target_array A>
void ArrayFree(A&& values) {
  if constexpr (requires { values.release(); }) values.release();
}

template <any_array A>
bool ArrayIsDynamic(const A& values) {
  return values.dynamic();
}

// How many elements from `start` on: `count`, or what is left for WHOLE_ARRAY.
inline long span_of(long size, long start, long count) {
  const long left = std::max(size - start, 0L);
  return count < 0 ? left : std::min(count, left);
}

template <target_array D, any_array S>
int ArrayCopy(D&& target, const S& source, int target_start = 0, int source_start = 0,
              int count = WHOLE_ARRAY) {
  forward_only("ArrayCopy", target, source);
  if (target_start < 0 || source_start < 0) return fail(ERR_INVALID_PARAMETER);
  const long taken = span_of(source.size(), source_start, count);
  if (taken == 0) return 0;
  const bool same = static_cast<const void*>(target.data()) == source.data();
  if (target.size() < target_start + taken && !target.resize(target_start + taken)) {
    fail(ERR_SMALL_ARRAY);
    return 0;
  }
  const auto* from = (same ? target.data() : source.data()) + source_start;
  auto* to = target.data() + target_start;
  if (same && target_start > source_start)
    std::copy_backward(from, from + taken, to + taken);
  else
    for (long i = 0; i < taken; i++) to[i] = static_cast<element<D>>(from[i]);
  return static_cast<int>(taken) * values_in<element<D>>;
}

template <target_array A, class T>
void ArrayFill(A&& values, int start, int count, T value) {
  if (start < 0) stop_program("ArrayFill before the array's begin", "", 0);
  const long filled = span_of(values.size(), start, std::max(count, 0));
  std::fill_n(values.data() + start, filled, static_cast<element<A>>(value));
}

template <target_array A, class T>
int ArrayInitialize(A&& values, T value) {
  for (int i = 0; i < values.size(); i++) {
    if constexpr (is_array<element<A>>)
      ArrayInitialize(values.data()[i], value);
    else
      values.data()[i] = static_cast<element<A>>(value);
  }
  return ArraySize(values);
}

// Whether this terminal takes values of ulong for signed ones when it sorts; nothing is documented.
bool sorts_signed();

template <target_array A>
bool ArraySort(A&& values) {
  auto* begin = values.data();
  auto* end = begin + values.size();
  if constexpr (is_array<element<A>>)  // by the first dimension
    std::sort(begin, end, [](const auto& left, const auto& right) {
      return left.data()[0] < right.data()[0];
    });
  else if (std::is_same_v<element<A>, ulong> && sorts_signed())
    std::sort(begin, end, [](const auto& left, const auto& right) {
      return static_cast<long>(left) < static_cast<long>(right);
    });
  else
    std::sort(begin, end);
  return true;
}

// The index of an equal element in a sorted array, else of the nearest one.
template <any_array A, class T>
int ArrayBsearch(const A& values, T value) {
  forward_only("ArrayBsearch", values);
  if (values.size() == 0) return -1;
  const auto* begin = values.data();
  const auto* at = std::lower_bound(begin, begin + values.size(), value);
  long index = at - begin;
  if (index == values.size()) return values.size() - 1;
  if (index > 0 && begin[index] != value && value - begin[index - 1] < begin[index] - value)
    index--;
  return static_cast<int>(index);
}

template <any_array A>
int ArrayMaximum(const A& values, int start = 0, int count = WHOLE_ARRAY) {
  const long taken = span_of(values.size(), start, count);
  if (start < 0 || taken == 0) return -1;
  int best = start;
  for (int at = start; at < start + taken; at++)
    if (values[at] > values[best]) best = at;
  return best;
}

template <any_array A>
int ArrayMinimum(const A& values, int start = 0, int count = WHOLE_ARRAY) {
  const long taken = span_of(values.size(), start, count);
  if (start < 0 || taken == 0) return -1;
  int best = start;
  for (int at = start; at < start + taken; at++)
    if (values[at] < values[best]) best = at;
  return best;
}

template <target_array A>
bool ArrayReverse(A&& values, int start = 0, int count = WHOLE_ARRAY) {
  forward_only("ArrayReverse", values);
  if (start < 0) return fail(ERR_INVALID_PARAMETER);
  auto* begin = values.data() + start;
  std::reverse(begin, begin + span_of(values.size(), start, count));
  return true;
}

template <target_array A>
bool ArrayRemove(A&& values, int start, int count = WHOLE_ARRAY) {
  forward_only("ArrayRemove", values);
  if (start < 0 || start > values.size()) return fail(ERR_INVALID_PARAMETER);
  const long removed = span_of(values.size(), start, count);
  auto* at = values.data() + start;
  std::move(at + removed, values.data() + values.size(), at);
  return values.resize(values.size() - removed);
}

template <target_array D, any_array S>
bool ArrayInsert(D&& target, const S& source, int target_start, int source_start = 0,
                 int count = WHOLE_ARRAY) {
  forward_only("ArrayInsert", target, source);
  if (target_start < 0 || target_start > target.size()) return fail(ERR_INVALID_PARAMETER);
  const long added = span_of(source.size(), source_start, count);
  const long before = target.size();
  if (!target.resize(before + added)) return fail(ERR_ARRAY_RESIZE_ERROR);
  auto* data = target.data();
  std::move_backward(data + target_start, data + before, data + before + added);
  std::copy_n(source.data() + source_start, added, data + target_start);
  return true;
}

template <target_array A>
bool ArraySwap(A& left, A& right) {
  if constexpr (requires { left.swap(right); }) {
    left.swap(right);
  } else {
    array<element<A>> kept;
    ArrayCopy(kept, left);
    left.assign(right.data(), right.size());
    right.assign(kept.data(), kept.size());
  }
  return true;
}

// -1, 0, 1 by the first different element; -2 for arrays that cannot be compared.
template <any_array A, any_array B>
int ArrayCompare(const A& left, const B& right, int left_start = 0, int right_start = 0,
                 int count = WHOLE_ARRAY) {
  forward_only("ArrayCompare", left, right);
  if (left_start < 0 || right_start < 0) return -2;
  const long n = span_of(left.size(), left_start, count);
  const long m = span_of(right.size(), right_start, count);
  for (long i = 0; i < std::min(n, m); i++) {
    if (left.data()[left_start + i] < right.data()[right_start + i]) return -1;
    if (right.data()[right_start + i] < left.data()[left_start + i]) return 1;
  }
  return n < m ? -1 : n > m;
}

// Copies a plain structure's bytes; false if the array is static and too short.
template <class T>
bool StructToCharArray(const T& value, array_ref<uchar> bytes, uint start = 0) {
  static_assert(std::is_trivially_copyable_v<T>, "a structure with texts or arrays has no bytes");
  const long end = static_cast<long>(start) + static_cast<long>(sizeof(T));
  if (bytes.size() < end && !bytes.resize(end)) return fail(ERR_SMALL_ARRAY);
  std::memcpy(bytes.data() + start, &value, sizeof(T));
  return true;
}

template <class T>
bool StructToCharArray(const T&& value, array_ref<uchar> bytes, uint start = 0) = delete;

template <class T>
  requires(!std::is_const_v<T>)
bool CharArrayToStruct(T& value, array_ref<const uchar> bytes, uint start = 0) {
  static_assert(std::is_trivially_copyable_v<T>, "a structure with texts or arrays has no bytes");
  if (bytes.size() < static_cast<long>(start) + static_cast<long>(sizeof(T)))
    return fail(ERR_SMALL_ARRAY);
  std::memcpy(static_cast<void*>(&value), bytes.data() + start, sizeof(T));
  return true;
}

template <class T>
  requires(!std::is_const_v<T>)
void ZeroMemory(T& value) {
  using Value = std::remove_cvref_t<T>;
  if constexpr (any_array<T>) {
    for (int i = 0; i < value.size(); i++) ZeroMemory(value.data()[i]);
  } else if constexpr (std::is_trivially_copyable_v<Value>) {
    std::memset(static_cast<void*>(&value), 0, sizeof(Value));
  } else {
    value = Value{};
  }
}

}  // namespace mql

#endif
