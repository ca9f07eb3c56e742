//| One reading of all clocks; handlers take it once and pass it on.
#ifndef MT5BRIDGE_SESSION_MOMENT
#define MT5BRIDGE_SESSION_MOMENT

struct Moment
  {
   long ms;             // steady, milliseconds
   long us;             // steady, microseconds
   long utc_msc;        // milliseconds since 1970, UTC
   int  utc_offset_ms;  // trade server's time minus UTC
   long server_msc;     // trade server's time, whole seconds; 0: not connected to it
   long quoted_msc;     // trade server's time, at least: its newest quote's, counted on; 0: none
   bool live;           // its quotes come as they are made: quoted_msc is its time, to a second or two
   long market_msc;     // UTC by its quotes while they come, however this computer's clock is set
  };

#endif
