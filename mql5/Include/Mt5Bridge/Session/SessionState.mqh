//| Where the dialog with the daemon stands.
#ifndef MT5BRIDGE_SESSION_STATE
#define MT5BRIDGE_SESSION_STATE

enum SessionState
  {
   SESSION_OFFLINE,
   SESSION_PROVING,    // neither side knows yet that the other one knows the password
   SESSION_GREETING,   // HELLO is sent
   SESSION_SETTLING,   // WELCOME came; fresh streams wait for their place
   SESSION_LIVE,
   SESSION_REFUSED
  };

#endif
