// MQL5's pointers: descriptors of objects. A NULL or deleted object stops the program when used.
#ifndef MT5BRIDGE_LANGUAGE_POINTER_HPP
#define MT5BRIDGE_LANGUAGE_POINTER_HPP

#include <vector>

#include "errors.hpp"
#include "types.hpp"

namespace mql {

enum ENUM_POINTER_TYPE : int { POINTER_INVALID = 0, POINTER_DYNAMIC = 1, POINTER_AUTOMATIC = 2 };

// Objects made by `new`: a number for each, which is not used again; 0 for all other objects. The
// number is a slot (lower half) and how often the slot was used.
class Program;
namespace objects {
inline std::vector<uint> generations;
ulong made(const void* object);
ulong number(const void* object);
void gone(const void* object, ulong number);
// How many objects a program that has ended did not delete; they belong to nobody from then on.
int left(const Program* program);
inline bool lives(ulong number) {
  return generations[static_cast<uint>(number)] == static_cast<uint>(number >> 32);
}
}  // namespace objects

template <class T>
class ptr {
 public:
  constexpr ptr() = default;
  constexpr ptr(null_t) {}
  ptr(T* object, ulong number) : object_(object), number_(number) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  ptr(const ptr<U>& other) : object_(other.raw()), number_(other.number()) {}
  // A cast down the hierarchy; the wrong class stops the program.
  template <class U>
    requires(!std::is_convertible_v<U*, T*> && std::is_base_of_v<U, T>)
  explicit ptr(const ptr<U>& other, const char* file = __builtin_FILE(),
               int line = __builtin_LINE())
      : object_(dynamic_cast<T*>(other.raw())), number_(other.number()) {
    if (other.raw() && !object_) stop_program("incorrect casting of pointers", file, line);
  }

  T& checked(const char* file, int line) const {
    if (!valid()) stop_program("invalid pointer access", file, line);
    return *object_;
  }
  T& operator*() const { return checked("", 0); }
  operator T&() const& { return checked("", 0); }
  operator T&() const&& __attribute__((
      unavailable("a reference parameter takes a variable; put what the function returns into a "
                  "pointer first")));
  explicit operator bool() const { return valid(); }
  bool valid() const { return object_ && (!number_ || objects::lives(number_)); }
  T* raw() const { return object_; }
  ulong number() const { return number_; }

  template <class U>
  friend bool operator==(const ptr& left, const ptr<U>& right) {
    return static_cast<const void*>(left.raw()) == static_cast<const void*>(right.raw());
  }
  friend bool operator==(const ptr& left, null_t) { return !left.object_; }

 private:
  T* object_ = nullptr;
  ulong number_ = 0;
};

template <class T>
inline constexpr bool is_pointer = false;
template <class T>
inline constexpr bool is_pointer<ptr<T>> = true;

// What stands left of a dot: an object, or a pointer to one.
template <class T>
T& ref(const ptr<T>& pointer, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return pointer.checked(file, line);
}
template <class T>
  requires(!is_pointer<std::remove_cvref_t<T>>)
constexpr T&& ref(T&& object) {
  return static_cast<T&&>(object);
}

// An argument that is a member of an Owner: a variable, which a reference can be bound to, unless it
// was reached through what a function returned or through a const object.
template <class Owner, class T>
constexpr decltype(auto) argument(T& member) {
  if constexpr (std::is_lvalue_reference_v<Owner> && !std::is_const_v<std::remove_reference_t<Owner>>)
    return static_cast<T&>(member);
  else
    return static_cast<const T&&>(member);
}
template <class Owner, class T>
constexpr const T&& argument(const T&& member) {
  return static_cast<const T&&>(member);
}

// The result of `new`.
template <class T>
ptr<T> own(T* object) {
  return ptr<T>(object, objects::made(object));
}

template <class T>
void dispose(const ptr<T>& pointer, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) {
  if (pointer == null) return;
  if (!pointer.number()) stop_program("delete of an object not made by new", file, line);
  if (!pointer.valid()) stop_program("delete of an invalid pointer", file, line);
  objects::gone(pointer.raw(), pointer.number());
  delete pointer.raw();
}

template <class T>
ptr<T> GetPointer(T& object) {
  return ptr<T>(&object, objects::number(&object));
}
template <class T>
ptr<T> GetPointer(const ptr<T>& pointer) {
  return pointer;
}
template <class T>
ptr<T> GetPointer(ptr<T>& pointer) {
  return pointer;
}

template <class T>
ENUM_POINTER_TYPE CheckPointer(const ptr<T>& pointer) {
  if (!pointer.valid()) return POINTER_INVALID;
  return pointer.number() ? POINTER_DYNAMIC : POINTER_AUTOMATIC;
}

// MQL5's dynamic_cast<T *>: NULL if the object is of another class.
template <class T, class U>
ptr<T> cast_pointer(const ptr<U>& pointer) {
  T* object = pointer.valid() ? dynamic_cast<T*>(pointer.raw()) : nullptr;
  return object ? ptr<T>(object, pointer.number()) : ptr<T>();
}

}  // namespace mql

#endif
