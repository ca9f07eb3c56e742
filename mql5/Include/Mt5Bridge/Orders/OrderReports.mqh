// What becomes of orders: journalled first, then told. While the journal cannot be written, what
// opens is refused, and that is told at once if a restart will not know the id. If it will, it
// would judge the id anew: then a final result with which something may still be sent waits until it
// is on the disk.
#ifndef MT5BRIDGE_ORDERS_ORDER_REPORTS_MQH
#define MT5BRIDGE_ORDERS_ORDER_REPORTS_MQH

#include "OrderAdoption.mqh"
#include "OrderResults.mqh"

#define WRITE_AGAIN_MS 1000   // between attempts to write while a result waits for it

// Owns the journal and the results that are still to be told. Nothing else writes to either.
class OrderReports
  {
private:
   OrderJournal      m_journal;
   ResultTray        m_tray;
   bool              m_blocked;     // the journal could not be written the last time
   SignalResultFrame m_held[];      // final results that wait to be on the disk
   long              m_again_ms;    // when they are tried again

public:
                     OrderReports(void)
     {
      m_blocked = false;
      m_again_ms = 0;
     }

   // Reads the journal into the book and forgets what is final and older than `forget_msc`; false when
   // it cannot be used, Error() says why.
   bool              Begin(const string path, OrderBook &book, const long forget_msc)
     {
      m_tray.Clear();
      ArrayResize(m_held, 0);
      m_again_ms = 0;
      return(m_journal.Open(path, book, forget_msc));
     }

   // Takes what the broker has made of ids that the journal lacks into book and journal.
   void              Adopt(const BrokerView &view, const string &symbols[], OrderBook &book,
                           const Moment &now)
     {
      AdoptOrders(view, symbols, book, m_journal, now);
     }

   string            Error(void) const { return(m_journal.Error()); }

   // The results to tell.
   ResultTray        *Tray(void) { return(GetPointer(m_tray)); }

   // Writes nothing any more.
   void              End(void) { m_journal.Close(); }

   // Makes a large journal small again.
   void              Tidy(OrderBook &book)
     {
      if(m_journal.Large() && !m_journal.Compact(book, 0))
         Print(m_journal.Error(), "; the old file goes on, and it is tried again later");
     }

   void              TellUnknown(const ulong id, const Moment &now)
     {
      SignalResultFrame result;
      MakeResult(id, RESULT_UNKNOWN, 0, "this id was never seen here", now, result);
      m_tray.Put(result);
     }

   void              TellReceived(const ulong id, const Moment &now)
     {
      SignalResultFrame result;
      MakeResult(id, RESULT_RECEIVED, 0, "", now, result);
      m_tray.Put(result);
     }

   void              TellAll(OrderEntry *entry, const Moment &now)
     {
      const int count = ArraySize(entry.results) - (Holds(entry.request.id) ? 1 : 0);
      for(int i = 0; i < count; i++)
         m_tray.Put(entry.results[i]);
      if(count == 0)
         TellReceived(entry.request.id, now);
     }

   // Tells what could not be written before, as soon as that can be.
   void              TellHeld(const Moment &now)
     {
      if(ArraySize(m_held) == 0 || now.ms < m_again_ms)
         return;
      m_again_ms = now.ms + WRITE_AGAIN_MS;
      Written();
     }

   // Journals a result of an entry and tells it, in this order. What the broker has done is told in
   // any case: after a restart it is found there.
   void              Settle(OrderEntry *entry, const SignalResultFrame &result)
     {
      entry.AddResult(result);
      entry.AddFill(result);
      m_journal.WriteResult(result);
      const bool written = Written();
      if(!written)
         Print("the order journal cannot be written: ", m_journal.Error());
      const bool unfilled = IsFinal(result.status) && result.status != RESULT_EXECUTED;
      if(written || !unfilled || m_journal.Absent(entry.journal_place))
         m_tray.Put(result);
      else
         Hold(result);
     }

   // The final result of a request of which nothing was sent; always true.
   bool              Refuse(OrderEntry *entry, const ushort status, const string text,
                            const Moment &now)
     {
      ArrayResize(entry.legs, 0);
      SignalResultFrame result;
      MakeResult(entry.request.id, status, 0, text, now, result);
      Settle(entry, result);
      Print(IdText(entry.request.id), " ", entry.request.symbol, ": ", text);
      return(true);
     }

   // A request was taken up, of which nothing is planned yet.
   void              TakenUp(OrderEntry *entry) { entry.journal_place = m_journal.WriteEntry(entry); }

   // Its legs were planned.
   void              Planned(const OrderEntry &entry)
     {
      for(int i = 0; i < ArraySize(entry.legs); i++)
         m_journal.WriteLeg(entry, i);
     }

   // A leg is going to be sent. False: that cannot be written, so it must not be. The file may hold
   // that it was, if the terminal ends now: then it is looked up in vain.
   bool              Sending(OrderEntry *entry, const int index)
     {
      const bool written = !m_blocked || Written();
      if(written)
         m_journal.WriteLeg(entry, index);
      m_blocked = !written || !Written();
      if(!m_blocked)
         return(true);
      entry.legs[index].state = LEG_WAITING;
      entry.legs[index].sent_msc = 0;
      if(written)
         m_journal.WriteLeg(entry, index);
      return(false);
     }

   // A leg that was refused for now is tried again by another one. Both are on the disk before the
   // pause between them: after a crash the first must not look like one whose answer never came.
   void              Renew(OrderEntry *entry, const int index)
     {
      OrderLeg leg;
      ClearLeg(leg);
      leg.type = entry.legs[index].type;
      leg.position = entry.legs[index].position;
      leg.sl = entry.legs[index].sl;
      leg.tp = entry.legs[index].tp;
      leg.lots = NormalizeDouble(entry.legs[index].lots - entry.legs[index].filled, 8);
      leg.replaces = index + 1;
      entry.AddLeg(leg);
      m_journal.WriteLeg(entry, ArraySize(entry.legs) - 1);
      m_blocked = !Written();
      Print(IdText(entry.request.id), " ", entry.request.symbol, ": ", entry.legs[index].text,
            "; it is tried again");
     }

   // A leg's order has this ticket.
   bool              Identify(OrderEntry *entry, const int index, const ulong order)
     {
      entry.legs[index].order = order;
      entry.legs[index].state = LEG_WORKING;
      m_journal.WriteLeg(entry, index);
      Written();
      return(true);
     }

   // A leg is over without (all of) its fills. The final result flushes the journal.
   bool              EndLeg(OrderEntry *entry, const int index, const ushort ending,
                            const uint retcode, const string text)
     {
      entry.legs[index].state = LEG_DONE;
      entry.legs[index].ending = ending;
      entry.legs[index].retcode = retcode;
      entry.legs[index].text = text;
      m_journal.WriteLeg(entry, index);
      entry.request_id = 0;
      return(true);
     }

   // All legs are over and the last fill was not the end of it.
   void              Conclude(OrderEntry *entry, const Moment &now)
     {
      int worst = ArraySize(entry.legs) - 1;  // never one that is tried again
      for(int i = 0; i < ArraySize(entry.legs); i++)
         if(entry.legs[i].ending != RESULT_EXECUTED && !entry.Replaced(i))
            worst = i;
      const double filled = entry.Filled();
      ushort status = entry.legs[worst].ending;
      string text = entry.legs[worst].text;
      if(filled > 0)
        {
         status = RESULT_CANCELLED;
         text = StringFormat("%.8g of %.8g lots filled: %s", filled, entry.Planned(), text);
        }
      SignalResultFrame result;
      MakeResult(entry.request.id, status, entry.legs[worst].retcode, text, now, result);
      result.order = entry.legs[worst].order != 0 ? entry.legs[worst].order : entry.request.ticket;
      Settle(entry, result);
     }

private:
   // Whether everything is on the disk now; then what has waited for that is told.
   bool              Written(void)
     {
      if(!m_journal.Flush())
         return(false);
      for(int i = 0; i < ArraySize(m_held); i++)
         m_tray.Put(m_held[i]);
      ArrayResize(m_held, 0);
      return(true);
     }

   void              Hold(const SignalResultFrame &result)
     {
      const int count = ArraySize(m_held);
      ArrayResize(m_held, count + 1);
      m_held[count] = result;
     }

   // Whether this id's final result waits.
   bool              Holds(const ulong id) const
     {
      for(int i = 0; i < ArraySize(m_held); i++)
         if(m_held[i].id == id)
            return(true);
      return(false);
     }
  };

#endif
