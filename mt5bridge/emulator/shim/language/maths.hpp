// MQL5's mathematical functions and constants.
#ifndef MT5BRIDGE_LANGUAGE_MATHS_HPP
#define MT5BRIDGE_LANGUAGE_MATHS_HPP

#include <cfloat>
#include <climits>
#include <cmath>

#include "types.hpp"


namespace mql {

template <number T>
T MathAbs(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::fabs(value);
  else return value < T(0) ? T(-value) : value;
}
template <class A, class B>
auto MathMax(A a, B b) {
  using T = std::common_type_t<A, B>;
  return T(a) > T(b) ? T(a) : T(b);
}
template <class A, class B>
auto MathMin(A a, B b) {
  using T = std::common_type_t<A, B>;
  return T(a) < T(b) ? T(a) : T(b);
}

inline double MathSqrt(double x) { return std::sqrt(x); }
inline double MathPow(double x, double y) { return std::pow(x, y); }
inline double MathExp(double x) { return std::exp(x); }
inline double MathLog(double x) { return std::log(x); }
inline double MathLog10(double x) { return std::log10(x); }
inline double MathFloor(double x) { return std::floor(x); }
inline double MathCeil(double x) { return std::ceil(x); }
inline double MathRound(double x) { return std::round(x); }
inline double MathMod(double x, double y) { return std::fmod(x, y); }
inline double MathSin(double x) { return std::sin(x); }
inline double MathCos(double x) { return std::cos(x); }
inline double MathTan(double x) { return std::tan(x); }
inline double MathArctan(double x) { return std::atan(x); }
inline double MathArcsin(double x) { return std::asin(x); }
inline double MathArccos(double x) { return std::acos(x); }
inline double MathArctan2(double y, double x) { return std::atan2(y, x); }
inline double MathSinh(double x) { return std::sinh(x); }
inline double MathCosh(double x) { return std::cosh(x); }
inline double MathTanh(double x) { return std::tanh(x); }
inline double MathExpm1(double x) { return std::expm1(x); }
inline double MathLog1p(double x) { return std::log1p(x); }
inline bool MathIsValidNumber(double x) { return std::isfinite(x); }
uint MathSwap(uint value);
ushort MathSwap(ushort value);
ulong MathSwap(ulong value);

// 0 to 32,767, by program.
int MathRand();
void MathSrand(int seed);
inline int rand() { return MathRand(); }
inline void srand(int seed) { MathSrand(seed); }

}  // namespace mql

#endif
