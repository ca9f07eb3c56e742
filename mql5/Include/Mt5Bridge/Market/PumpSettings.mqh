//| How much a pump takes at once, and how it recounts.
#ifndef MT5BRIDGE_MARKET_PUMP_SETTINGS
#define MT5BRIDGE_MARKET_PUMP_SETTINGS

struct PumpSettings
  {
   int    ticks_max;       // taken in one call
   long   us_max;          // after so long a call ends at the next batch
   long   backfill_ms;     // a stream the daemon never saw begins so far before now
   long   interval_ms;     // of a recount
   long   grace_ms;        // a closed interval is recounted so much later
   long   quiet_ms;        // without a tick for so long, the open interval is closed early
   string folder;          // of the ledgers, under MQL5/Files; empty: none are kept
   bool   appends;         // the ledger's file stays open; a program may have 64 of them
   bool   writes_ahead;    // nothing is sent before the ledger has it

          PumpSettings(void)
     {
      ticks_max = 8192;
      us_max = 10000;
      backfill_ms = 0;
      interval_ms = 60000;
      grace_ms = 5000;
      quiet_ms = 60000;
      folder = "";
      appends = true;
      writes_ahead = false;
     }
  };

#endif
