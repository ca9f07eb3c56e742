// MQL5's arrays: dynamic, static, and what a parameter `T &name[]` is. Every index is checked.
#ifndef MT5BRIDGE_LANGUAGE_ARRAY_HPP
#define MT5BRIDGE_LANGUAGE_ARRAY_HPP

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <utility>

#include "errors.hpp"
#include "types.hpp"

namespace mql {

// An index and the place in the MQL5 source where it stands.
struct place_index {
  long index;
  const char* file;
  int line;
  template <class T>
    requires std::is_convertible_v<T, long>
  constexpr place_index(T value, const char* at_file = __builtin_FILE(),
                        int at_line = __builtin_LINE())
      : index(static_cast<long>(value)), file(at_file), line(at_line) {}

  constexpr size_t within(long size) const {
    if (static_cast<ulong>(index) >= static_cast<ulong>(size)) out_of_range(index, size, file, line);
    return static_cast<size_t>(index);
  }
};

// A static array: nothing but its elements, in structures too.
template <class T, size_t N>
class fixed {
 public:
  using value_type = T;

  fixed() = default;
  constexpr fixed(std::initializer_list<T> values) : elements_{} {
    size_t at = 0;
    for (const T& value : values) {
      if (at == N) out_of_range(static_cast<long>(N), static_cast<long>(N), "initializer", 0);
      elements_[at++] = value;
    }
  }

  constexpr T& operator[](place_index at) { return elements_[at.within(N)]; }
  constexpr const T& operator[](place_index at) const { return elements_[at.within(N)]; }
  constexpr int size() const { return static_cast<int>(N); }
  constexpr T* data() { return elements_; }
  constexpr const T* data() const { return elements_; }
  bool resize(long size, long = 0) { return size == static_cast<long>(N); }
  static constexpr bool dynamic() { return false; }

 private:
  T elements_[N];
};

// A dynamic array. New elements of plain types hold a pattern, as nobody may count on zeros; those of
// structures with a constructor are made by it.
template <class T>
class array {
 public:
  using value_type = T;
  static constexpr bool plain = std::is_trivially_copyable_v<T>;
  static constexpr int pattern = 0xCD;

  array() = default;
  array(std::initializer_list<T> values) {
    resize(static_cast<long>(values.size()));
    std::copy(values.begin(), values.end(), data_);
  }
  array(const array& other) {
    resize(other.size_);
    std::copy(other.data_, other.data_ + other.size_, data_);
  }
  array(array&& other) noexcept { swap(other); }
  array& operator=(array other) noexcept {
    swap(other);
    return *this;
  }
  ~array() { release(); }

  // The loops of a program are mostly this; the compiler, left alone, calls it there.
  [[gnu::always_inline]] T& operator[](place_index at) { return data_[place(at)]; }
  [[gnu::always_inline]] const T& operator[](place_index at) const { return data_[place(at)]; }
  int size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  static constexpr bool dynamic() { return true; }
  // Whether indices count from the last element, as ArraySetAsSeries has it; `data` never does.
  bool series() const { return series_; }
  void set_series(bool series) const { series_ = series; }

  // Makes it `size` elements long, with room for `reserve` more.
  bool resize(long size, long reserve = 0) {
    if (size < 0 || size > 0x7FFFFFFF) return false;
    if (size > capacity_) grow(std::max(size + std::max(reserve, 0L), size));
    if constexpr (plain && std::is_trivially_default_constructible_v<T>) {
      if (size > size_)
        std::memset(static_cast<void*>(data_ + size_), pattern, sizeof(T) * (size - size_));
    } else if (size > size_) {
      std::uninitialized_value_construct(data_ + size_, data_ + size);
    }
    if constexpr (!plain)
      if (size < size_) std::destroy(data_ + size, data_ + size_);
    size_ = static_cast<int>(size);
    return true;
  }
  void release() {
    resize(0);
    std::free(data_);
    data_ = nullptr;
    capacity_ = 0;
  }
  void swap(array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(series_, other.series_);
  }

 private:
  [[gnu::always_inline]] size_t place(place_index at) const {
    const size_t index = at.within(size_);
    if (series_) [[unlikely]] return static_cast<size_t>(size_) - 1 - index;
    return index;
  }
  void grow(long capacity) {
    const size_t bytes = sizeof(T) * static_cast<size_t>(capacity);
    void* const space = plain ? std::realloc(static_cast<void*>(data_), bytes) : std::malloc(bytes);
    if (!space) throw std::bad_alloc();
    T* const moved = static_cast<T*>(space);
    if constexpr (!plain) {
      std::uninitialized_move(data_, data_ + size_, moved);
      std::destroy(data_, data_ + size_);
      std::free(data_);
    }
    data_ = moved;
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  int size_ = 0;
  long capacity_ = 0;
  mutable bool series_ = false;  // of a const array, too
};

// A parameter `T &name[]`: the caller's array, dynamic or static.
template <class T>
class array_ref {
  using Element = std::remove_const_t<T>;
  using Dynamic = std::conditional_t<std::is_const_v<T>, const array<Element>, array<Element>>;
  template <class>
  friend class array_ref;

 public:
  using value_type = Element;

  array_ref(Dynamic& whole) : dynamic_(&whole) {}
  array_ref(null_t)
    requires std::is_const_v<T>
  {}
  template <size_t N>
  array_ref(fixed<Element, N>& whole) : data_(whole.data()), size_(static_cast<int>(N)) {}
  template <size_t N>
    requires std::is_const_v<T>
  array_ref(const fixed<Element, N>& whole) : data_(whole.data()), size_(static_cast<int>(N)) {}
  template <class U>
    requires(std::is_const_v<T> && std::is_same_v<U, Element>)
  array_ref(const array_ref<U>& other)
      : dynamic_(other.dynamic_), data_(other.data_), size_(other.size_) {}

  [[gnu::always_inline]] T& operator[](place_index at) const {
    return dynamic_ ? (*dynamic_)[at] : data_[at.within(size_)];
  }
  bool series() const { return dynamic_ && dynamic_->series(); }
  void set_series(bool series) const { dynamic_->set_series(series); }
  int size() const { return dynamic_ ? dynamic_->size() : size_; }
  T* data() const { return dynamic_ ? dynamic_->data() : data_; }
  bool dynamic() const { return dynamic_ != nullptr; }
  bool resize(long size, long reserve = 0) const
    requires(!std::is_const_v<T>)
  {
    return dynamic_ ? dynamic_->resize(size, reserve) : size == size_;
  }
  void release() const
    requires(!std::is_const_v<T>)
  {
    if (dynamic_) dynamic_->release();
  }
  // Makes it hold exactly these elements; false if it is static and too short.
  bool assign(const Element* values, long count) const
    requires(!std::is_const_v<T>)
  {
    if (dynamic_ ? !dynamic_->resize(count) : count > size_) return false;
    std::copy(values, values + count, data());
    return true;
  }

 private:
  Dynamic* dynamic_ = nullptr;
  T* data_ = nullptr;
  int size_ = 0;
};

template <class A>
inline constexpr bool is_array = false;
template <class T>
inline constexpr bool is_array<array<T>> = true;
template <class T, size_t N>
inline constexpr bool is_array<fixed<T, N>> = true;
template <class T>
inline constexpr bool is_array<array_ref<T>> = true;

// Any array; `element<A>` is what it holds.
template <class A>
concept any_array = is_array<std::remove_cvref_t<A>>;
// An array that a function may write to.
template <class A>
inline constexpr bool is_writable = is_array<std::remove_cvref_t<A>> && !std::is_const_v<A>;
template <class T>
inline constexpr bool is_writable<array_ref<const T>> = false;
template <class A>
concept target_array = any_array<A> && is_writable<std::remove_reference_t<A>>;
template <any_array A>
using element = typename std::remove_cvref_t<A>::value_type;

}  // namespace mql

#endif
