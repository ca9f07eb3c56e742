// What differs from terminal to terminal about arrays.
#include "arrays.hpp"

#include "terminal/host.hpp"

namespace mql {

bool sorts_signed() {
  static const bool drawn = host::chance(host::random("arrays.sort"), 0.5);
  return drawn;
}

}  // namespace mql
