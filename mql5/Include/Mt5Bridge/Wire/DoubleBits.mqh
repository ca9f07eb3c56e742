//| A double seen as its bits, without rounding.
#ifndef MT5BRIDGE_WIRE_DOUBLE_BITS_MQH
#define MT5BRIDGE_WIRE_DOUBLE_BITS_MQH

// Write one member, read the other.
union DoubleBits
  {
   double            number;
   ulong             bits;
  };

// Whether a number is neither infinite nor not a number, seen from its exponent.
bool IsFinite(const double number)
  {
   DoubleBits both;
   both.number = number;
   return(((both.bits >> 52) & 0x7FF) != 0x7FF);
  }

#endif
