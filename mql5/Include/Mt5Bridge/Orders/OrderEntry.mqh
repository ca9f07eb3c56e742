// What this terminal knows of one client order id: the request, the broker's orders, the results.
#ifndef MT5BRIDGE_ORDERS_ORDER_ENTRY_MQH
#define MT5BRIDGE_ORDERS_ORDER_ENTRY_MQH

#include "OrderRequest.mqh"

#define LOTS_EPSILON 0.0000001

// Where one order to the broker stands.
enum LegState
  {
   LEG_WAITING,   // not sent yet
   LEG_SENT,      // sent, or perhaps not: its ticket is unknown
   LEG_WORKING,   // the broker has it under `order`
   LEG_DONE       // nothing more will come of it
  };

// One order to the broker. An id has several when a close takes several; one is on its way at most.
// Everything but the last member is in the journal.
struct OrderLeg
  {
   uchar             state;
   uchar             type;          // ENUM_ORDER_TYPE
   ulong             position;      // the position to close or to change, or the pending order to take back where
                                    // the request means all of them, 0 none
   double            sl;            // what a position gets where the request means all of them, 0 what it has
   double            tp;
   double            lots;
   double            filled;
   ulong             order;         // the broker's ticket, 0 unknown
   long              sent_msc;      // server time when it was sent, at least
   long              sent_by_msc;   // and at most
   ushort            ending;        // how it ended without a full fill: a ResultStatus
   uint              retcode;
   string            text;
   int               replaces;      // 1 + the index of the refused leg that is tried again, 0 none
   long              retry_ms;      // steady time when it may be sent, -1 not known
  };

// Whether no other result follows this one.
bool IsFinal(const ushort status)
  {
   return(status == RESULT_EXECUTED || status == RESULT_REJECTED || status == RESULT_EXPIRED
          || status == RESULT_DRY_RUN || status == RESULT_CANCELLED);
  }

// A leg that is not sent.
void ClearLeg(OrderLeg &leg)
  {
   leg.state = LEG_WAITING;
   leg.type = 0;
   leg.position = 0;
   leg.sl = 0;
   leg.tp = 0;
   leg.lots = 0;
   leg.filled = 0;
   leg.order = 0;
   leg.sent_msc = 0;
   leg.sent_by_msc = 0;
   leg.ending = RESULT_REJECTED;
   leg.retcode = 0;
   leg.text = "";
   leg.replaces = 0;
   leg.retry_ms = -1;
  }

// One client order id. Everything but the last seven members is in the journal.
class OrderEntry
  {
public:
   OrderRequest      request;
   long              accepted_msc;     // UTC
   OrderLeg          legs[];
   SignalResultFrame results[];
   uint              request_id;       // of OrderSendAsync in this run, 0 none
   long              since_ms;         // steady time since when a sent leg is looked for
   bool              doubtful;         // what became of the sent leg has to be looked up
   long              removed_ms;       // steady time when its pending order was taken back last
   string            waited;           // what it waits for while nothing of it is planned
   bool              adopted;          // its legs were found at the broker in this run
   long              journal_place;    // of its record in this run's journal, -1 the file had it before

                     OrderEntry(void)
     {
      accepted_msc = 0;
      request_id = 0;
      since_ms = -1;
      doubtful = false;
      removed_ms = -86400000;
      waited = "";
      adopted = false;
      journal_place = -1;
     }

   // Whether its final result is known.
   bool              Final(void) const
     {
      const int count = ArraySize(results);
      return(count > 0 && IsFinal(results[count - 1].status));
     }

   // The leg that is on its way, else the first that waits, -1 none: one that cannot be sent yet
   // holds up no other.
   int               Current(void) const
     {
      int found = -1;
      for(int i = ArraySize(legs) - 1; i >= 0; i--)
        {
         if(legs[i].state == LEG_SENT || legs[i].state == LEG_WORKING)
            return(i);
         if(legs[i].state == LEG_WAITING)
            found = i;
        }
      return(found);
     }

   // Whether another leg tries this one's rest again.
   bool              Replaced(const int index) const
     {
      for(int i = index + 1; i < ArraySize(legs); i++)
         if(legs[i].replaces == index + 1)
            return(true);
      return(false);
     }

   // How often what a leg asks for was tried before.
   int               TriedBefore(const int index) const
     {
      int count = 0;
      for(int i = index; legs[i].replaces > 0; i = legs[i].replaces - 1)
         count++;
      return(count);
     }

   // Lots of all legs; of one that is tried again, what it has filled.
   double            Planned(void) const
     {
      double lots = 0;
      for(int i = 0; i < ArraySize(legs); i++)
         lots += Replaced(i) ? legs[i].filled : legs[i].lots;
      return(lots);
     }

   // Lots of all fills.
   double            Filled(void) const
     {
      double lots = 0;
      for(int i = 0; i < ArraySize(legs); i++)
         lots += legs[i].filled;
      return(lots);
     }

   // Lots that may still be filled.
   double            Open(void) const
     {
      double lots = 0;
      for(int i = 0; i < ArraySize(legs); i++)
         if(legs[i].state != LEG_DONE)
            lots += legs[i].lots - legs[i].filled;
      return(Final() ? 0 : lots);
     }

   // Whether one of its legs has this order ticket.
   bool              Owns(const ulong order) const
     {
      for(int i = 0; i < ArraySize(legs); i++)
         if(order != 0 && legs[i].order == order)
            return(true);
      return(false);
     }

   // Whether this deal is among the results.
   bool              Told(const ulong deal) const
     {
      for(int i = 0; i < ArraySize(results); i++)
         if(results[i].deal == deal)
            return(true);
      return(false);
     }

   // Whether a result has this status.
   bool              Has(const ushort status) const
     {
      for(int i = 0; i < ArraySize(results); i++)
         if(results[i].status == status)
            return(true);
      return(false);
     }

   // Whether a leg was sent, so that it counts as an order.
   bool              Sent(void) const { return(SentMsc() != 0); }

   // Server time of the leg that was sent first, at least; 0 none was. Any may be the first.
   long              SentMsc(void) const
     {
      long first_msc = 0;
      for(int i = 0; i < ArraySize(legs); i++)
         if(legs[i].state != LEG_WAITING && legs[i].sent_msc != 0
            && (first_msc == 0 || legs[i].sent_msc < first_msc))
            first_msc = legs[i].sent_msc;
      return(first_msc);
     }

   // Whether it may be forgotten: it is final and was accepted before `msc` (UTC).
   bool              Forgettable(const long msc) const { return(Final() && accepted_msc < msc); }

   // Forgets a plan of which nothing was sent; false if there is none.
   bool              Unplan(void)
     {
      for(int i = 0; i < ArraySize(legs); i++)
         if(legs[i].state != LEG_WAITING)
            return(false);
      const bool planned = ArraySize(legs) > 0;
      ArrayResize(legs, 0);
      return(planned);
     }

   // Appends a leg.
   void              AddLeg(const OrderLeg &leg)
     {
      const int count = ArraySize(legs);
      ArrayResize(legs, count + 1);
      legs[count] = leg;
     }

   // Counts a fill in its leg; results without a deal are none.
   void              AddFill(const SignalResultFrame &result)
     {
      for(int i = 0; result.deal != 0 && i < ArraySize(legs); i++)
         if(legs[i].order == result.order)
            legs[i].filled += result.lots;
     }

   // Appends a result.
   void              AddResult(const SignalResultFrame &result)
     {
      const int count = ArraySize(results);
      ArrayResize(results, count + 1);
      results[count] = result;
     }
  };

// What one leg asks for: where the request means all that is held, its own ticket and levels.
void LegRequest(const OrderEntry &entry, const int index, OrderRequest &request)
  {
   request = entry.request;
   if(!OfHeld(request))
      return;
   request.ticket = entry.legs[index].position;
   request.sl = entry.legs[index].sl;
   request.tp = entry.legs[index].tp;
  }

#endif
