// Random numbers as MQL5 has them: 15 bits, a sequence for each program.
#include "maths.hpp"

#include "program.hpp"

namespace mql {

int MathRand() {
  uint& state = current().random_state;
  state = state * 214013u + 2531011u;
  return static_cast<int>(state >> 16 & 0x7FFF);
}

void MathSrand(int seed) { current().random_state = static_cast<uint>(seed); }

uint MathSwap(uint value) { return __builtin_bswap32(value); }
ushort MathSwap(ushort value) { return __builtin_bswap16(value); }
ulong MathSwap(ulong value) { return __builtin_bswap64(value); }

}  // namespace mql
