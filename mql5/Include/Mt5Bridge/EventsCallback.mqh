//| For authors of Expert Advisors: what happens, as method calls.
#ifndef MT5BRIDGE_EVENTS_CALLBACK
#define MT5BRIDGE_EVENTS_CALLBACK

#include "ComplexEvent.mqh"

// Override what you need. TickEvents calls OnTick, DealEvents OnDeal and ClientOrders OnOrderResult,
// and all three work without a daemon; SignalReceiver calls everything but OnTick and OnOrderResult.
class EventsCallback
  {
public:
   virtual       ~EventsCallback(void) {}

   // A signal that was not answered yet; fill in what became of it: at least `status`, and `text`
   // when you refuse it. The daemon repeats a signal until its answer is final, also after a
   // restart: trade on each `id` at most once.
   virtual void   OnSignal(const SignalFrame &signal, SignalResultFrame &result)
     {
      result.status = RESULT_REJECTED;
      result.text = "this program does not trade on signals";
     }

   // The daemon asks what became of a signal, of an earlier run maybe. `result` says that this program
   // has never seen the id; whoever trades fills in what OnSignal answered, else the daemon takes it
   // that nothing was done.
   virtual void   OnAsk(const ulong id, SignalResultFrame &result) {}

   // A complex event of the daemon's rules that was subscribed, each once and in order. It comes when
   // its records are on the daemon's disk; `event.missed` counts those that were lost on the way.
   virtual void   OnComplexEvent(const ComplexEvent &event) {}

   // The daemon's kill switch, when it changes, to a program that trades: hand it to ClientOrders.
   virtual void   OnHalt(const bool halted, const string reason) {}

   // What became of an order that ClientOrders has taken: fills as they come, then one final status.
   // Results come again if the order is asked for again.
   virtual void   OnOrderResult(const SignalResultFrame &result) {}

   // The connection to the daemon stands, or is gone.
   virtual void   OnConnected(void) {}
   virtual void   OnDisconnected(const string reason) {}

   // A tick of one of the symbols that TickEvents follows, each once and in order.
   virtual void   OnTick(const string symbol, const MqlTick &tick) {}

   // Each new revision of a deal of this account since OnInit, once and in order.
   virtual void   OnDeal(const DealRecord &deal) {}
  };

#endif
