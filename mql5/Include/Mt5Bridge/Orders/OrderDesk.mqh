// Executes client orders at most once each, and knows afterwards what became of them.
//
// An id is an OrderEntry. Of its orders to the broker (legs) one is on its way at most:
//
//   leg       event                            action                                 next
//   (none)    request, not in the journal      journal the entry                      (none)
//             others come first, or a close's  wait                                   (none)
//             positions disagree with deals
//             refused by rules or the guard    journal the result, flush, tell it     final
//             accepted                         journal the legs                       WAITING
//   (any)     request, in the journal          tell all results again                 same
//   WAITING   its turn                         journal SENT, flush, OrderSendAsync    SENT
//             cannot be sent now, and the      nothing; the next leg has its turn     WAITING
//             request only makes risk smaller
//             validity passed, cannot be sent  nothing is sent                        DONE
//   SENT      answer with a ticket             journal the ticket                     WORKING
//             answer: refused, no ticket       journal                                DONE
//             answer: timeout, no connection   look it up                             SENT
//             looked up: found                 journal the ticket                     WORKING
//             not found for reconcile_ms       journal; it is never sent again        DONE
//   WORKING   a deal of this order             journal the result, flush, tell it     WORKING
//             all lots filled                                                         DONE
//             pending, too late or halted      take the order back                    WORKING
//             order ended, its deals told      journal how                            DONE
//   all DONE  some refused for now, and the    journal a new leg for what is left of  new: WAITING
//             request only makes risk smaller  each; it is sent after a pause
//             no final result yet                        journal the final result, tell it      final
//
// A restart is no event of its own: legs found SENT in the journal are looked up, legs found
// WORKING are followed by their ticket, and a plan of which nothing was sent is made anew. What is
// tried again follows from the legs that the journal has. The results of WORKING legs come from
// orders and deals alone; transactions only say that it is time to look.
#ifndef MT5BRIDGE_ORDERS_ORDER_DESK_MQH
#define MT5BRIDGE_ORDERS_ORDER_DESK_MQH

#include "LegFollowing.mqh"
#include "LegSending.mqh"
#include "OrderRetry.mqh"

#define LOOK_EVERY_MS   500      // at the broker, while anything is open
#define LOOK_BACK_MS    3600000  // how far before the oldest open order history is read
#define ON_ITS_WAY_MS   5000     // an order at the broker that a close waits for
#define KEEP_AGAIN_MS   1000     // between attempts to bring the kill switch to the disk
#define BEHIND_TEXT     "earlier requests of its symbol came first"
#define UNSETTLED_TEXT  "the terminal's positions did not agree with its deals"
#define SETTLE_MS       5000     // positions that do not agree with deals are taken as they are

class OrderDesk
  {
private:
   DeskSettings      m_settings;
   OrderBook         m_book;
   OrderReports      m_reports;
   OrderPlanner      m_planner;
   LegSending        m_sending;
   LegFollowing      m_following;
   OrderRetry        m_retry;
   BrokerView        m_view;
   RiskGuard         m_guard;
   bool              m_dirty;
   long              m_looked_ms;
   long              m_keep_ms;     // when the kill switch is brought to the disk again

public:
                     OrderDesk(void) { Reset(); }

   // Begins anew with what the journal holds; false when this trader must not run, Error() says why.
   bool              Begin(const DeskSettings &settings, const RiskLimits &limits,
                           const string &symbols[], const bool halted, const Moment &now)
     {
      Reset();
      m_settings = settings;
      m_planner.Begin(settings);
      m_sending.Begin(settings);
      m_following.Begin(settings.reconcile_ms);
      m_retry.Begin(settings.retry_ms);
      m_guard.Begin(limits, symbols, settings.halt_path, halted);
      // Ids in magic numbers lead from positions to strategies, as long as positions live.
      const bool forgets = settings.carrier != ID_IN_MAGIC;
      if(!m_reports.Begin(settings.journal_path, m_book,
                          forgets ? now.utc_msc - settings.retention_ms : 0))
         return(false);
      if(m_view.Refresh(now.quoted_msc - settings.retention_ms))
         m_reports.Adopt(m_view, symbols, m_book, now);
      return(true);
     }

   string            Error(void) const { return(m_reports.Error()); }
   int               OpenCount(void) { return(m_book.Sweep()); }
   int               Count(void) const { return(m_book.Count()); }
   string            HaltReason(void) const { return(m_guard.HaltReason()); }

   // Writes nothing any more.
   void              End(void)
     {
      m_guard.KeepHalt();
      m_reports.End();
     }

   // The daemon's kill switch.
   void              Halt(const bool halted, const string reason)
     {
      Print(halted ? "halted: " + reason : "released: " + reason);
      m_guard.Halt(halted, reason);
      if(!m_guard.KeepHalt())
         Print("the kill switch cannot be written to the disk now: it is tried again, and nothing is opened until then");
     }

   // Executes a request, or tells what became of it when it was asked for before.
   void              Take(const OrderRequest &request, const Moment &now)
     {
      OrderEntry *entry = m_book.Find(request.id);
      if(entry == NULL)
        {
         TakeNew(request, now);
         return;
        }
      if(!SameRequest(request, entry.request))
         Print("id ", IdText(request.id), " comes again and asks for something else: the first counts");
      m_reports.TellAll(entry, now);
     }

   // Tells all that is known of an id, or that it is unknown. Fills are told too, since they may
   // have been lost on their way; the newest result comes last.
   void              Ask(const ulong id, const Moment &now)
     {
      OrderEntry *entry = m_book.Find(id);
      if(entry != NULL)
         m_reports.TellAll(entry, now);
      else
         m_reports.TellUnknown(id, now);
     }

   // The broker's answer to a request that was sent without waiting.
   void              Answer(const MqlTradeResult &answer)
     {
      m_dirty = true;
      const int open = m_book.OpenCount();
      for(int i = 0; i < open; i++)
        {
         OrderEntry *entry = m_book.OpenAt(i);
         const int index = entry.Current();
         if(entry.request_id == 0 || entry.request_id != answer.request_id || index < 0
            || entry.legs[index].state != LEG_SENT)
            continue;
         m_sending.TakeAnswer(entry, index, answer, m_reports);
         return;
        }
     }

   // Something has happened at the broker.
   void              Wake(void) { m_dirty = true; }

   // Tells again what is known of everything open: results may have been lost with a connection,
   // and a final one must not come before the fills that led to it.
   void              TellOpen(const Moment &now)
     {
      const int open = m_book.OpenCount();
      for(int i = 0; i < open; i++)
        {
         OrderEntry *entry = m_book.OpenAt(i);
         if(!entry.Final())
            m_reports.TellAll(entry, now);
        }
     }

   // Follows everything that is open.
   void              Step(const Moment &now)
     {
      KeepHalt(now);
      m_reports.TellHeld(now);
      const int open = m_book.Sweep();
      const bool due = m_dirty ? now.ms != m_looked_ms : now.ms >= m_looked_ms + LOOK_EVERY_MS;
      if(open == 0 || !due)
         return;
      m_dirty = false;
      m_looked_ms = now.ms;
      if(!m_view.Refresh(OldestSent(now) - LOOK_BACK_MS))
         return;
      m_following.Halt(m_guard.HaltReason() != "");
      for(int i = 0; i < open; i++)
        {
         OrderEntry *entry = m_book.OpenAt(i);
         Advance(entry, true, now);
        }
      m_reports.Tidy(m_book);
     }

   // The results to tell.
   ResultTray        *Results(void) { return(m_reports.Tray()); }

private:
   // What is not in the journal; Begin() must not find anything of an earlier run here.
   void              Reset(void)
     {
      m_dirty = true;
      m_looked_ms = 0;
      m_keep_ms = 0;
     }

   // Brings the kill switch to the disk, if that has failed.
   void              KeepHalt(const Moment &now)
     {
      if(m_guard.HaltKept() || now.ms < m_keep_ms)
         return;
      m_keep_ms = now.ms + KEEP_AGAIN_MS;
      if(m_guard.KeepHalt())
         Print("the kill switch is on the disk now");
     }

   // Takes up a request that was never seen.
   void              TakeNew(const OrderRequest &request, const Moment &now)
     {
      OrderEntry *entry = m_book.Add(request, now.utc_msc);
      m_reports.TakenUp(entry);
      Advance(entry, false, now);
      if(!entry.Final())
         m_reports.TellReceived(request.id, now);
     }

   // Turns a request into legs, or refuses it; false while that cannot be said yet.
   bool              Plan(OrderEntry *entry, const Moment &now)
     {
      if(Late(entry.request, now))
         return(m_reports.Refuse(entry, RESULT_EXPIRED, LateText(entry.request, now)
                                 + m_sending.Hindrance(entry.waited), now));
      if(m_settings.trading == TRADING_OFF)
         return(m_reports.Refuse(entry, RESULT_REJECTED, TRADING_OFF_TEXT, now));
      if(m_retry.Superseded(entry, -1, m_book))
         return(m_reports.Refuse(entry, RESULT_REJECTED, SUPERSEDED_TEXT, now));
      const bool behind = MustWait(entry, now);
      const bool waits = behind || !Settled(entry, now);
      if(waits && Opens(entry.request) && m_planner.Unpriced(entry.request.symbol))
         return(m_reports.Refuse(entry, RESULT_REJECTED, NoPrice(entry.request.symbol), now));
      if(waits)
         return(Waits(entry, behind ? BEHIND_TEXT : UNSETTLED_TEXT));
      const string refusal = m_planner.Plan(entry, m_book, m_guard, now);
      if(refusal != "" && m_planner.Unpriced() && m_retry.May(entry, -1, now))
         return(Waits(entry, refusal));
      if(refusal != "")
         return(m_reports.Refuse(entry, RESULT_REJECTED, refusal, now));
      if(m_settings.trading == TRADING_DRY)
         return(m_reports.Refuse(entry, RESULT_DRY_RUN, m_planner.Describe(entry), now));
      m_reports.Planned(entry);
      return(true);
     }

   // Nothing can be planned yet, for this reason; always false.
   bool              Waits(OrderEntry *entry, const string reason) const
     {
      entry.waited = reason;
      return(false);
     }

   // Whether earlier requests come first. A close waits for orders that are on their way: what
   // they buy must be closed too, and what they close must not be closed twice. So do changes of all
   // that is held, and of all that is pending. Nothing overtakes a request that waits.
   bool              MustWait(OrderEntry *waiting, const Moment &now)
     {
      const bool held = OfHeld(waiting.request);
      if(!held && (waiting.request.kind == ORDER_CANCEL || waiting.request.kind == ORDER_MODIFY))
         return(false);
      const bool closes = waiting.request.kind == ORDER_CLOSE;
      const int open = m_book.OpenCount();
      for(int i = 0; i < open; i++)
        {
         OrderEntry *entry = m_book.OpenAt(i);
         if(entry.request.id == waiting.request.id)
            return(false);
         const bool near = !Apart(entry.request, waiting.request)
                           && (entry.request.symbol == waiting.request.symbol
                               || entry.request.symbol == "" || waiting.request.symbol == "");
         if(near && !entry.Final() && (ArraySize(entry.legs) == 0 || (closes && OnItsWay(entry, now))
                                      || (held && Sent(entry, waiting.request.kind, now))))
            return(true);
        }
      return(false);
     }

   // Whether two requests name different positions or orders.
   bool              Apart(const OrderRequest &a, const OrderRequest &b) const
     {
      return(a.ticket != 0 && b.ticket != 0 && a.ticket != b.ticket);
     }

   // Whether the terminal shows the positions of a close as they are; not waited for without end.
   bool              Settled(OrderEntry *entry, const Moment &now) const
     {
      if(entry.since_ms < 0)
         entry.since_ms = now.ms;
      const bool levels = OfHeld(entry.request) && entry.request.kind == ORDER_MODIFY;
      return((entry.request.kind != ORDER_CLOSE && !levels) || m_planner.Settled(entry.request.symbol)
             || now.ms - entry.since_ms > SETTLE_MS);
     }

   // Whether orders of an entry may still change positions soon.
   bool              OnItsWay(OrderEntry *entry, const Moment &now) const
     {
      if(entry.request.kind != ORDER_MARKET && entry.request.kind != ORDER_CLOSE)
         return(false);
      const int index = entry.Current();
      const bool works = index >= 0 && entry.legs[index].state == LEG_WORKING;
      return(!works || now.ms - entry.since_ms < ON_ITS_WAY_MS);
     }

   // Whether an order is at the broker that a change of all that is held or pending will mean, and does
   // not show there yet.
   bool              Sent(OrderEntry *entry, const uchar kind, const Moment &now) const
     {
      const bool pending = entry.request.kind == ORDER_LIMIT || entry.request.kind == ORDER_STOP;
      const int index = entry.Current();
      if(index < 0 || entry.legs[index].state == LEG_WAITING)
         return(false);
      return(kind == ORDER_CANCEL ? pending && entry.legs[index].state == LEG_SENT : OnItsWay(entry, now));
     }

   // Server time of the oldest leg that is open.
   long              OldestSent(const Moment &now)
     {
      long oldest = now.quoted_msc;
      for(int i = m_book.OpenCount() - 1; i >= 0; i--)
        {
         OrderEntry *entry = m_book.OpenAt(i);
         if(entry.Sent())
            oldest = MathMin(oldest, entry.SentMsc());
        }
      return(oldest);
     }

   // Sends a leg when its time has come; true if that came to something else.
   bool              SendLeg(OrderEntry *entry, const int index, const Moment &now)
     {
      if((index > 0 || entry.Sent()) && m_sending.Made(entry, index, m_view, m_book, m_reports))
         return(true);
      if(m_retry.Drop(entry, index, m_book, m_reports, now))
         return(true);
      if(m_retry.Busy(entry, index, m_book, now))
         return(false);
      const bool may_wait = m_retry.May(entry, index, now);
      if(may_wait && m_retry.Pauses(entry, index, now))
         return(false);
      const string refusal = entry.legs[index].replaces > 0 ? m_planner.Lessen(entry, index, m_book) : "";
      if(refusal != "")
         return(m_reports.EndLeg(entry, index, RESULT_REJECTED, 0, refusal));
      const bool over = m_sending.Send(entry, index, may_wait, m_reports, now);
      if(entry.legs[index].state == LEG_WAITING)
         m_retry.Hold(entry, index, now);
      return(over);
     }

   // Sends the first leg that can go, if any can; true if that came to something else. One that waits
   // for a moment or a price must not hold up what else makes risk smaller.
   bool              SendNext(OrderEntry *entry, const Moment &now)
     {
      for(int i = 0; i < ArraySize(entry.legs); i++)
        {
         if(entry.legs[i].state != LEG_WAITING)
            continue;
         if(SendLeg(entry, i, now))
            return(true);
         if(entry.legs[i].state != LEG_WAITING)
            return(false);
        }
      return(false);
     }

   // Brings an entry as far as it goes. Only after a look may broker's orders be judged.
   void              Advance(OrderEntry *entry, const bool looked, const Moment &now)
     {
      while(!entry.Final())
        {
         if(ArraySize(entry.legs) == 0)
           {
            if(!Plan(entry, now))
               return;
            continue;
           }
         const int index = entry.Current();
         if(index < 0)
           {
            if(m_retry.Renew(entry, m_reports))
               continue;
            m_reports.Conclude(entry, now);
            return;
           }
         const uchar state = entry.legs[index].state;
         bool moved = false;
         if(state == LEG_WAITING)
            moved = SendNext(entry, now);
         else if(looked && state == LEG_SENT)
            moved = m_sending.Resolve(entry, index, m_view, m_book, m_reports, now);
         else if(looked && state == LEG_WORKING)
            moved = m_following.Follow(entry, index, m_view, m_reports, now);
         if(!moved)
            return;
        }
     }
  };

#endif
