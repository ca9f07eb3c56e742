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

#define BUSY_MS        2000   // an answer to a change of stops is waited for, before another one is sent

#define SUPERSEDED_TEXT "the stops were changed since then"

class OrderRetry
  {
private:
   long              m_retry_ms;

public:
                     OrderRetry(void) { m_retry_ms = 0; }

   // So long what has no end of its own is tried.
   void              Begin(const long retry_ms) { m_retry_ms = retry_ms; }

   // Whether a leg (-1: what is not planned yet) may be tried until it goes well, as the account is now.
   bool              May(OrderEntry *entry, const int index, const Moment &now) const
     {
      return(Reduces(entry, index) && !Over(entry, now));
     }

   // Takes up again all legs that were refused for now; false if there is none to be tried. Drop()
   // ends them when their time is over.
   bool              Renew(OrderEntry *entry, OrderReports &reports) const
     {
      bool renewed = false;
      const int count = ArraySize(entry.legs);
      for(int i = 0; i < count; i++)
         if(Refused(entry, i) && Reduces(entry, i))
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
         return(Superseded(entry, index, book) && reports.EndLeg(entry, index, RESULT_REJECTED, 0,
                SUPERSEDED_TEXT));
      OrderLeg before = entry.legs[entry.legs[index].replaces - 1];
      const string text = StringFormat("%s (attempts: %d)", before.text, entry.TriedBefore(index));
      if(Late(entry.request, now))
         return(reports.EndLeg(entry, index, RESULT_EXPIRED, before.retcode,
                               LateText(entry.request, now) + ", before that " + text));
      if(Over(entry, now))
         return(reports.EndLeg(entry, index, RESULT_REJECTED, before.retcode, text));
      return((!Reduces(entry, index) || Superseded(entry, index, book))
             && reports.EndLeg(entry, index, RESULT_REJECTED, 0,
                               text + ", and " + SUPERSEDED_TEXT));
     }

   // Whether stops that a leg changes were asked to be changed once more; -1: those of a request that
   // means all that is held and is not planned yet.
   bool              Superseded(OrderEntry *entry, const int index, OrderBook &book) const
     {
      if(entry.request.kind != ORDER_MODIFY || (index < 0 && !OfHeld(entry.request)))
         return(false);
      for(int i = book.Count() - 1; i >= 0; i--)
        {
         OrderEntry *later = book.At(i);
         if(later.request.id == entry.request.id)
            return(false);
         if(later.request.kind == ORDER_MODIFY && (!later.Final() || later.Has(RESULT_EXECUTED))
            && MeansToo(later, entry, index))
            return(true);
        }
      return(false);
     }

   // Whether a change of a position's stops is on its way, which an answer will soon end: a later one does
   // not overtake it, and of those that wait the newest goes.
   bool              Busy(OrderEntry *entry, const int index, OrderBook &book, const Moment &now) const
     {
      if(entry.request.kind != ORDER_MODIFY || !OfHeld(entry.request))
         return(false);
      const ulong ticket = entry.legs[index].position;
      for(int i = book.OpenCount() - 1; i >= 0; i--)
        {
         OrderEntry *other = book.OpenAt(i);
         const int at = other.request.kind == ORDER_MODIFY ? other.Current() : -1;
         if(at >= 0 && other.request.id != entry.request.id && other.legs[at].state == LEG_SENT
            && other.legs[at].position == ticket && now.ms - other.since_ms < BUSY_MS)
            return(true);
        }
      return(false);
     }

private:
   // Whether a leg can only make risk smaller.
   bool              Reduces(OrderEntry *entry, const int index) const
     {
      OrderRequest request = entry.request;
      if(index >= 0)
         LegRequest(entry, index, request);
      if(request.kind == ORDER_CLOSE || request.kind == ORDER_CANCEL)
         return(true);
      return(request.kind == ORDER_MODIFY && request.ticket != 0 && !OrderSelect(request.ticket)
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

   // Whether a later change means the position or order of a leg, too.
   bool              MeansToo(OrderEntry *later, OrderEntry *entry, const int index) const
     {
      const bool both = OfHeld(later.request) && later.request.symbol == entry.request.symbol
                        && later.request.magic == entry.request.magic && OfHeld(entry.request);
      const int count = ArraySize(later.legs);
      if(index < 0 || (both && count == 0))
         return(both);
      OrderRequest own;
      LegRequest(entry, index, own);
      bool found = !OfHeld(later.request) && later.request.ticket == own.ticket;
      for(int i = 0; i < count && !found; i++)
         found = later.legs[i].position != 0 && later.legs[i].position == own.ticket;
      return(found);
     }
  };

#endif
