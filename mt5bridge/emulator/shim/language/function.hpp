// Variables of a function's type.
#ifndef MT5BRIDGE_LANGUAGE_FUNCTION_HPP
#define MT5BRIDGE_LANGUAGE_FUNCTION_HPP

#include "errors.hpp"
#include "types.hpp"

namespace mql {

template <class Signature>
class function;

template <class R, class... A>
class function<R(A...)> {
 public:
  constexpr function() = default;
  constexpr function(null_t) {}
  constexpr function(R (*called)(A...)) : called_(called) {}

  // NULL stops the program.
  R operator()(A... arguments, const char* file = __builtin_FILE(),
               int line = __builtin_LINE()) const {
    if (!called_) stop_program("call of a NULL function pointer", file, line);
    return called_(static_cast<A&&>(arguments)...);
  }
  explicit operator bool() const { return called_; }
  friend bool operator==(function left, function right) { return left.called_ == right.called_; }

 private:
  R (*called_)(A...) = nullptr;
};

}  // namespace mql

#endif
