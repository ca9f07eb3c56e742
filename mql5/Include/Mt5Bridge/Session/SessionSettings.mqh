//| Where the daemon is, and how much a session keeps and dares.
#ifndef MT5BRIDGE_SESSION_SETTINGS
#define MT5BRIDGE_SESSION_SETTINGS

struct SessionSettings
  {
   string host;
   int    port;
   string user;           // empty: the credential in Files\Mt5Bridge
   string password;
   int    block_ms;       // the longest one event may take in sockets: a Step and a Send; but for attempts to connect elsewhere
   int    kept_ticks;     // unacknowledged ticks kept for each symbol
   int    batch_records;  // ticks a frame
   bool   publishes;      // has streams of its own; a trader has none

          SessionSettings(void)
     {
      host = "127.0.0.1";
      port = 5655;
      user = "";
      password = "";
      block_ms = 50;
      kept_ticks = 131072;
      batch_records = 1000;
      publishes = true;
     }
  };

#endif
