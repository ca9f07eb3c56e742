//| One number that stands for all of a tick's content.
#ifndef MT5BRIDGE_MARKET_TICK_HASH
#define MT5BRIDGE_MARKET_TICK_HASH

#include "../Wire/DoubleBits.mqh"

#define HASH_MULTIPLIER 0x9E3779B97F4A7C15

// Mixes one more word in; after Fibonacci hashing, with the high half folded back.
ulong HashWord(const ulong hash, const ulong word)
  {
   ulong mixed = (hash ^ word) * HASH_MULTIPLIER;
   return mixed ^ (mixed >> 32);
  }

ulong HashDouble(const ulong hash, const double value)
  {
   DoubleBits both;
   both.number = value;
   return HashWord(hash, both.bits);
  }

// Two ticks with one hash are the same tick, but for a chance of 1 in 2^64.
ulong TickHash(const MqlTick &tick)
  {
   ulong hash = HashWord((ulong)tick.time_msc, (ulong)tick.flags);
   hash = HashDouble(hash, tick.bid);
   hash = HashDouble(hash, tick.ask);
   hash = HashDouble(hash, tick.last);
   hash = HashWord(hash, tick.volume);
   return HashDouble(hash, tick.volume_real);
  }

// A hash without its lowest bit: the same order, whether ArraySort takes it for signed or not.
ulong Sortable(const ulong hash) { return hash >> 1; }

#endif
