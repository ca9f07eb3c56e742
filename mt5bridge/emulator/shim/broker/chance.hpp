// Draws from the script's seeded generator.
#pragma once

#include "settings.hpp"

#include <cmath>
#include <random>

namespace mql::broker {

using Random = std::mt19937_64;

// Spelled out, because the library's distributions differ between compilers.
inline double share(Random& random) { return static_cast<double>(random() >> 11) * 0x1.0p-53; }

inline bool happens(Random& random, double probability) {
  return probability > 0 && share(random) < probability;
}

inline i64 whole(Random& random, const Range& range) {
  const double width = range.most - range.least + 1;
  return static_cast<i64>(range.least + std::floor(share(random) * width));
}

}  // namespace mql::broker
