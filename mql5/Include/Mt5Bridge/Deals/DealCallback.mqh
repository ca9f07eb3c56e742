//| What DealHandler calls once for each revision of a deal; override it.
#ifndef MT5BRIDGE_DEALS_DEAL_CALLBACK
#define MT5BRIDGE_DEALS_DEAL_CALLBACK

#include "../Wire/Frames.mqh"

class DealCallback
  {
public:
   virtual     ~DealCallback(void) {}

   // `deal.revision` counts from 0 for each ticket, `deal.kind` says added, updated or deleted;
   // `hash` stands for the content. False: not taken, it is offered again later.
   virtual bool OnDeal(const DealRecord &deal, const ulong hash) { return true; }
  };

#endif
