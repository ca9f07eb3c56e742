//| The frames that a daemon trades by: what an opened one means, for a session's owner.
#ifndef MT5BRIDGE_SESSION_TRADING_FRAMES
#define MT5BRIDGE_SESSION_TRADING_FRAMES

#include "../Wire/Decoder.mqh"
#include "SessionEvents.mqh"

// Hands a signal, an order, a question or the kill switch on; false for any other frame, and for one
// that is damaged: the decoder's reason tells.
bool TakeTradingFrame(Decoder &decoder, SessionEvents *events)
  {
   const int type = decoder.Type();
   if(type == FRAME_SIGNAL)
     {
      SignalFrame signal;
      if(!decoder.Decode(signal))
         return false;
      events.OnSignal(signal);
      return true;
     }
   if(type == FRAME_SIGNAL_ORDER)
     {
      SignalOrderFrame priced;
      if(!decoder.Decode(priced))
         return false;
      events.OnSignalOrder(priced);
      return true;
     }
   if(type == FRAME_ORDER)
     {
      OrderFrame order;
      if(!decoder.Decode(order))
         return false;
      events.OnOrder(order);
      return true;
     }
   if(type == FRAME_ASK)
     {
      AskFrame ask;
      if(!decoder.Decode(ask))
         return false;
      events.OnAsk(ask);
      return true;
     }
   if(type != FRAME_HALT)
      return false;
   HaltFrame halt;
   if(!decoder.Decode(halt))
      return false;
   events.OnHalt(halt);
   return true;
  }

#endif
