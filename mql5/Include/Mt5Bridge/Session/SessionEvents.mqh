//| What a session tells its owner; override what you need.
#ifndef MT5BRIDGE_SESSION_EVENTS
#define MT5BRIDGE_SESSION_EVENTS

#include "../ComplexEvent.mqh"

class SessionEvents
  {
public:
   virtual     ~SessionEvents(void) {}

   // The daemon knows us, and every stream has its place; `first` of this program's run.
   virtual void OnLive(const bool first) {}

   // The line is down; everything that is not acknowledged is kept.
   virtual void OnOffline(const string reason) {}

   virtual void OnSignal(const SignalFrame &frame) {}
   virtual void OnSignalOrder(const SignalOrderFrame &frame) {}
   virtual void OnOrder(const OrderFrame &frame) {}
   virtual void OnAsk(const AskFrame &frame) {}
   virtual void OnHalt(const HaltFrame &frame) {}

   // A complex event that is wanted, each once and in the order of its numbers.
   virtual void OnComplexEvent(const ComplexEvent &event) {}

   // The daemon will not have this terminal (PROTOCOL 9.2); `text` says why. Told once, although
   // it is tried again.
   virtual void OnRefused(const int code, const string text) {}
  };

#endif
