//| The frames of complex events: what an opened one means, for a session's owner.
#ifndef MT5BRIDGE_SESSION_EVENT_FRAMES
#define MT5BRIDGE_SESSION_EVENT_FRAMES

#include "../Wire/Decoder.mqh"
#include "SessionEvents.mqh"
#include "Subscription.mqh"

// Hands a complex event on, each once; false for any other frame, and for one that is damaged: the
// decoder's reason tells.
bool TakeEventFrame(Decoder &decoder, Subscription &subscription, SessionEvents *events)
  {
   const int type = decoder.Type();
   if(type == FRAME_SUBSCRIBED)
     {
      SubscribedFrame standings;
      if(!decoder.Decode(standings))
         return false;
      subscription.Answered(standings);
      return true;
     }
   if(type != FRAME_EVENT)
      return false;
   ComplexEvent event;
   if(!decoder.Decode(event.frame))
      return false;
   if(subscription.Take(event))
      events.OnComplexEvent(event);
   return true;
  }

#endif
