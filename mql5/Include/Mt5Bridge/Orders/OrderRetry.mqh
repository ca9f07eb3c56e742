// What is tried again: what was refused for now and can only make risk smaller.
//
// What opens or enlarges a position is never tried again: the price it was meant for is gone.
#ifndef MT5BRIDGE_ORDERS_ORDER_RETRY_MQH
#define MT5BRIDGE_ORDERS_ORDER_RETRY_MQH

#include "OrderReports.mqh"
#include "Retcodes.mqh"
#include "StopChange.mqh"

#define RETRY_FIRST_MS 250    // pause before the second attempt; it doubles with each further one
#define RETRY_MOST_MS  60000  // up to this

#define SUPERSEDED_TEXT "the stops were changed since then"

class OrderRetry
  {
private:
   long              m_retry_ms;

public:
                     OrderRetry(void) { m_retry_ms = 0; }

   // So long what has no end of its own is tried.
   void              Begin(const long retry_ms) { m_retry_ms = retry_ms; }

   // Whether a request may be tried until it goes well, as the account is now.
   bool              May(OrderEntry *entry, const Moment &now) const
     {
      return(Reduces(entry.request) && !Over(entry, now));
     }

   // Takes up again all legs that were refused for now; false if there is none to be tried. Drop()
   // ends them when their time is over.
   bool              Renew(OrderEntry *entry, OrderReports &reports) const
     {
      if(!Reduces(entry.request))
         return(false);
      bool renewed = false;
      const int count = ArraySize(entry.legs);
      for(int i = 0; i < count; i++)
         if(Refused(entry, i))
           {
            reports.Renew(entry, i);
            renewed = true;
           }
      return(renewed);
     }

   // Whether it is not time yet for a leg. A restart begins the pause anew.
   bool              Pauses(OrderEntry *entry, const int index, const Moment &now) const
     {
      if(entry.legs[index].retry_ms < 0)
         entry.legs[index].retry_ms = now.ms + PauseMs(entry.TriedBefore(index));
      return(now.ms < entry.legs[index].retry_ms);
     }

   // A leg could not be sent now.
   void              Hold(OrderEntry *entry, const int index, const Moment &now) const
     {
      entry.legs[index].retry_ms = now.ms + RETRY_FIRST_MS;
     }

   // Ends a leg that has waited or was refused, and is not to be tried after all; false if it is.
   bool              Drop(OrderEntry *entry, const int index, OrderBook &book,
                          OrderReports &reports, const Moment &now) const
     {
      if(entry.legs[index].replaces == 0)
         return(Superseded(entry, book) && reports.EndLeg(entry, index, RESULT_REJECTED, 0,
                SUPERSEDED_TEXT));
      OrderLeg before = entry.legs[entry.legs[index].replaces - 1];
      const string text = StringFormat("%s (attempts: %d)", before.text, entry.TriedBefore(index));
      if(Late(entry.request, now))
         return(reports.EndLeg(entry, index, RESULT_EXPIRED, before.retcode,
                               LateText(entry.request, now) + ", before that " + text));
      if(Over(entry, now))
         return(reports.EndLeg(entry, index, RESULT_REJECTED, before.retcode, text));
      return((!Reduces(entry.request) || Superseded(entry, book))
             && reports.EndLeg(entry, index, RESULT_REJECTED, 0,
                               text + ", and " + SUPERSEDED_TEXT));
     }

private:
   // Whether a request can only make risk smaller.
   bool              Reduces(const OrderRequest &request) const
     {
      if(request.kind == ORDER_CLOSE || request.kind == ORDER_CANCEL)
         return(true);
      return(request.kind == ORDER_MODIFY && !OrderSelect(request.ticket)
             && (!PositionSelectByTicket(request.ticket) || StopsComeNearer(request)));
     }

   bool              Over(OrderEntry *entry, const Moment &now) const
     {
      if(entry.request.valid_until_msc > 0)
         return(Late(entry.request, now));
      return(now.utc_msc - entry.accepted_msc >= m_retry_ms);
     }

   // Whether a leg was sent and refused for now, and nobody tries it again yet.
   bool              Refused(OrderEntry *entry, const int index) const
     {
      return(entry.legs[index].ending == RESULT_REJECTED && entry.legs[index].sent_msc != 0
             && MeaningOf(entry.legs[index].retcode) == RETCODE_PASSING && !entry.Replaced(index));
     }

   long              PauseMs(const int tried) const
     {
      long pause_ms = tried > 0 ? RETRY_FIRST_MS : 0;
      for(int i = 1; i < tried && pause_ms < RETRY_MOST_MS; i++)
         pause_ms *= 2;
      return(MathMin(pause_ms, (long)RETRY_MOST_MS));
     }

   // Whether the same position's stops were asked to be changed once more.
   bool              Superseded(OrderEntry *entry, OrderBook &book) const
     {
      for(int i = book.Count() - 1; i >= 0 && entry.request.kind == ORDER_MODIFY; i--)
        {
         OrderEntry *later = book.At(i);
         if(later.request.id == entry.request.id)
            return(false);
         if(later.request.kind == ORDER_MODIFY && later.request.ticket == entry.request.ticket
            && (!later.Final() || later.Has(RESULT_EXECUTED)))
            return(true);
        }
      return(false);
     }
  };

#endif
