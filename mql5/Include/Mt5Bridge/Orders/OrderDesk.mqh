// Executes client orders at most once each, and knows afterwards what became of them.
//
// An id is an OrderEntry. Its orders to the broker (legs) go one after another:
//
//   leg       event                            action                                 next
//   (none)    request, not in the journal      journal the entry                      (none)
//             others come first, or a close's  wait                                   (none)
//             positions disagree with deals
//             refused by rules or the guard    journal the result, flush, tell it     final
//             accepted                         journal the legs                       WAITING
//   (any)     request, in the journal          tell all results again                 same
//   WAITING   its turn                         journal SENT, flush, OrderSendAsync    SENT
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
//   all DONE  no final result yet              journal the final result, tell it      final
//
// A restart is no event of its own: legs found SENT in the journal are looked up, legs found
// WORKING are followed by their ticket, and a plan of which nothing was sent is made anew. The results of WORKING legs come from orders and deals
// alone; transactions only say that it is time to look.
#ifndef MT5BRIDGE_ORDERS_ORDER_DESK_MQH
#define MT5BRIDGE_ORDERS_ORDER_DESK_MQH

#include "OrderAdoption.mqh"
#include "OrderFinder.mqh"
#include "OrderJournal.mqh"
#include "OrderResults.mqh"
#include "OrderSender.mqh"
#include "Retcodes.mqh"

#define LOOK_EVERY_MS   500      // at the broker, while anything is open
#define LOOK_UP_MS      2000     // an unanswered order is looked for by its id
#define LOOK_BACK_MS    3600000  // how far before the oldest open order history is read
#define ON_ITS_WAY_MS   5000     // an order at the broker that a close waits for
#define SETTLE_MS       5000     // positions that do not agree with deals are taken as they are
#define REMOVE_AGAIN_MS 5000     // a pending order that still stands is taken back again

#define NO_JOURNAL_TEXT  "the order journal cannot be written, so nothing is executed"
#define TRADING_OFF_TEXT "trading is off in this terminal: set the input Trading"

class OrderDesk
  {
private:
   DeskSettings      m_settings;
   OrderBook         m_book;
   OrderJournal      m_journal;
   OrderPlanner      m_planner;
   OrderSender       m_sender;
   OrderFinder       m_finder;
   BrokerView        m_view;
   RiskGuard         m_guard;
   ResultTray        m_tray;
   bool              m_dirty;
   bool              m_halted;
   long              m_looked_ms;

public:
                     OrderDesk(void) { Reset(); }

   // Begins anew with what the journal holds; false when this trader must not run, Error() says why.
   bool              Begin(const DeskSettings &settings, const RiskLimits &limits,
                           const string &symbols[], const bool halted, const Moment &now)
     {
      Reset();
      m_settings = settings;
      m_planner.Begin(settings);
      m_sender.Begin(settings);
      m_finder.Begin(settings.carrier);
      m_guard.Begin(limits, symbols, settings.halt_path, halted);
      // Ids in magic numbers lead from positions to strategies, as long as positions live.
      const bool forgets = settings.carrier != ID_IN_MAGIC;
      if(!m_journal.Open(settings.journal_path, m_book,
                         forgets ? now.utc_msc - settings.retention_ms : 0))
         return(false);
      if(m_view.Refresh(now.quoted_msc - settings.retention_ms))
         AdoptOrders(m_view, symbols, m_book, m_journal, now);
      return(true);
     }

   string            Error(void) const { return(m_journal.Error()); }
   int               OpenCount(void) { return(m_book.Sweep()); }
   int               Count(void) const { return(m_book.Count()); }
   string            HaltReason(void) const { return(m_guard.HaltReason()); }

   // Writes nothing any more.
   void              End(void) { m_journal.Close(); }

   // The daemon's kill switch.
   void              Halt(const bool halted, const string reason)
     {
      Print(halted ? "halted: " + reason : "released: " + reason);
      if(!m_guard.Halt(halted, reason))
         Print("the kill switch cannot be kept on the disk: it holds until this program ends");
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
      TellAll(entry, now);
     }

   // Tells all that is known of an id, or that it is unknown. Fills are told too, since they may
   // have been lost on their way; the newest result comes last.
   void              Ask(const ulong id, const Moment &now)
     {
      OrderEntry *entry = m_book.Find(id);
      if(entry != NULL)
         TellAll(entry, now);
      else
        {
         SignalResultFrame result;
         MakeResult(id, RESULT_UNKNOWN, 0, "this id was never seen here", now, result);
         m_tray.Put(result);
        }
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
         TakeAnswer(entry, index, answer.retcode, answer.order, answer.comment);
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
            TellAll(entry, now);
        }
     }

   // Follows everything that is open.
   void              Step(const Moment &now)
     {
      const int open = m_book.Sweep();
      const bool due = m_dirty ? now.ms != m_looked_ms : now.ms >= m_looked_ms + LOOK_EVERY_MS;
      if(open == 0 || !due)
         return;
      m_dirty = false;
      m_looked_ms = now.ms;
      if(!m_view.Refresh(OldestSent(now) - LOOK_BACK_MS))
         return;
      m_halted = m_guard.HaltReason() != "";
      for(int i = 0; i < open; i++)
        {
         OrderEntry *entry = m_book.OpenAt(i);
         Advance(entry, true, now);
        }
      if(m_journal.Large() && !m_journal.Compact(m_book, 0))
         Print(m_journal.Error(), "; the old file goes on, and it is tried again later");
     }

   // The results to tell.
   ResultTray        *Results(void) { return(GetPointer(m_tray)); }

private:
   // What is not in the journal; Begin() must not find anything of an earlier run here.
   void              Reset(void)
     {
      m_tray.Clear();
      m_dirty = true;
      m_halted = false;
      m_looked_ms = 0;
     }

   void              TellReceived(const ulong id, const Moment &now)
     {
      SignalResultFrame result;
      MakeResult(id, RESULT_RECEIVED, 0, "", now, result);
      m_tray.Put(result);
     }

   void              TellAll(OrderEntry *entry, const Moment &now)
     {
      for(int i = 0; i < ArraySize(entry.results); i++)
         m_tray.Put(entry.results[i]);
      if(ArraySize(entry.results) == 0)
         TellReceived(entry.request.id, now);
     }

   // Journals a result of an entry and tells it, in this order.
   void              Settle(OrderEntry *entry, const SignalResultFrame &result)
     {
      entry.AddResult(result);
      entry.AddFill(result);
      m_journal.WriteResult(result);
      if(!m_journal.Flush())
         Print("the order journal cannot be written: ", m_journal.Error());
      m_tray.Put(result);
     }

   // Takes up a request that was never seen.
   void              TakeNew(const OrderRequest &request, const Moment &now)
     {
      OrderEntry *entry = m_book.Add(request, now.utc_msc);
      m_journal.WriteEntry(entry);
      Advance(entry, false, now);
      if(!entry.Final())
         TellReceived(request.id, now);
     }

   // Turns a request into legs, or refuses it; false while that cannot be said yet.
   bool              Plan(OrderEntry *entry, const Moment &now)
     {
      if(Late(entry.request, now))
         return(Refuse(entry, RESULT_EXPIRED, LateText(entry.request, now), now));
      if(m_settings.trading == TRADING_OFF)
         return(Refuse(entry, RESULT_REJECTED, TRADING_OFF_TEXT, now));
      if(MustWait(entry, now) || !Settled(entry, now))
         return(false);
      const string refusal = m_planner.Plan(entry, m_book, m_guard, now);
      if(refusal != "")
         return(Refuse(entry, RESULT_REJECTED, refusal, now));
      if(m_settings.trading == TRADING_DRY)
         return(Refuse(entry, RESULT_DRY_RUN, m_planner.Describe(entry), now));
      for(int i = 0; i < ArraySize(entry.legs); i++)
         m_journal.WriteLeg(entry, i);
      return(true);
     }

   // Whether earlier requests come first. A close waits for orders that are on their way: what
   // they buy must be closed too, and what they close must not be closed twice. Nothing overtakes
   // a request that waits.
   bool              MustWait(OrderEntry *waiting, const Moment &now)
     {
      if(waiting.request.kind == ORDER_CANCEL || waiting.request.kind == ORDER_MODIFY)
         return(false);
      const bool closes = waiting.request.kind == ORDER_CLOSE;
      const int open = m_book.OpenCount();
      for(int i = 0; i < open; i++)
        {
         OrderEntry *entry = m_book.OpenAt(i);
         if(entry.request.id == waiting.request.id)
            return(false);
         const bool near = entry.request.symbol == waiting.request.symbol
                           || entry.request.symbol == "" || waiting.request.symbol == "";
         if(near && !entry.Final() && (ArraySize(entry.legs) == 0 || (closes && OnItsWay(entry, now))))
            return(true);
        }
      return(false);
     }

   // Whether the terminal shows the positions of a close as they are; not waited for without end.
   bool              Settled(OrderEntry *entry, const Moment &now) const
     {
      if(entry.since_ms < 0)
         entry.since_ms = now.ms;
      return(entry.request.kind != ORDER_CLOSE || m_planner.Settled(entry.request.symbol)
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

   bool              Late(const OrderRequest &request, const Moment &now) const
     {
      return(request.valid_until_msc > 0 && now.market_msc > request.valid_until_msc);
     }

   string            LateText(const OrderRequest &request, const Moment &now) const
     {
      return(StringFormat("too late by %I64d ms", now.market_msc - request.valid_until_msc));
     }

   // Server time of the oldest leg that is open.
   long              OldestSent(const Moment &now)
     {
      long oldest = now.quoted_msc;
      for(int i = m_book.OpenCount() - 1; i >= 0; i--)
        {
         OrderEntry *entry = m_book.OpenAt(i);
         if(entry.Sent())
            oldest = MathMin(oldest, entry.legs[0].sent_msc);
        }
      return(oldest);
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
            Conclude(entry, now);
            return;
           }
         const uchar state = entry.legs[index].state;
         bool moved = false;
         if(state == LEG_WAITING)
            moved = SendLeg(entry, index, now);
         else if(looked && state == LEG_SENT)
            moved = Resolve(entry, index, now);
         else if(looked && state == LEG_WORKING)
            moved = Follow(entry, index, now);
         if(!moved)
            return;
        }
     }

   // Sends a leg; true if that is over already.
   bool              SendLeg(OrderEntry *entry, const int index, const Moment &now)
     {
      if(Late(entry.request, now))
         return(EndLeg(entry, index, RESULT_EXPIRED, 0, LateText(entry.request, now)));
      if(m_settings.trading != TRADING_LIVE)
         return(EndLeg(entry, index, RESULT_REJECTED, 0, TRADING_OFF_TEXT));
      MqlTradeRequest trade;
      const string refusal = m_sender.Build(entry, index, trade, now);
      if(refusal != "")
         return(EndLeg(entry, index, RESULT_REJECTED, 0, refusal));
      entry.legs[index].state = LEG_SENT;
      entry.legs[index].sent_msc = MathMax(now.quoted_msc, (long)1);
      entry.legs[index].sent_by_msc = MathMax(now.quoted_msc, now.utc_msc + now.utc_offset_ms);
      entry.since_ms = now.ms;
      entry.doubtful = false;
      m_journal.WriteLeg(entry, index);
      if(!m_journal.Flush())
         return(EndLeg(entry, index, RESULT_REJECTED, 0, NO_JOURNAL_TEXT));
      MqlTradeResult answer;
      ZeroMemory(answer);
      ResetLastError();
      const bool sent = OrderSendAsync(trade, answer);
      entry.request_id = answer.request_id;
      if(!sent && MeaningOf(answer.retcode) != RETCODE_UNCERTAIN)
         return(EndLeg(entry, index, RESULT_REJECTED, answer.retcode,
                       StringFormat("%s (error %d)", RetcodeText(answer.retcode), GetLastError())));
      entry.doubtful = !sent;
      return(false);
     }

   // What the broker says to a leg that was sent.
   void              TakeAnswer(OrderEntry *entry, const int index, const uint retcode,
                                const ulong order, const string comment)
     {
      const RetcodeMeaning meaning = MeaningOf(retcode);
      if(meaning == RETCODE_UNCERTAIN)
        {
         entry.doubtful = true;
         return;
        }
      const bool changes = !Opens(entry.request) && entry.request.kind != ORDER_CLOSE;
      if(changes && (retcode == TRADE_RETCODE_DONE || retcode == TRADE_RETCODE_NO_CHANGES))
         EndLeg(entry, index, RESULT_EXECUTED, retcode, "");
      else if(!changes && order != 0)
        {
         // Also a refused order is one: it is followed to its end, so that nobody claims it later.
         entry.legs[index].retcode = meaning == RETCODE_ACCEPTED ? 0 : retcode;
         Identify(entry, index, order);
        }
      else if(meaning != RETCODE_ACCEPTED)
         EndLeg(entry, index, RESULT_REJECTED, retcode,
                RetcodeText(retcode) + (comment == "" ? "" : " (" + comment + ")"));
     }

   // A leg's order has this ticket.
   bool              Identify(OrderEntry *entry, const int index, const ulong order)
     {
      entry.legs[index].order = order;
      entry.legs[index].state = LEG_WORKING;
      m_journal.WriteLeg(entry, index);
      m_journal.Flush();
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

   // Looks for a leg that was sent and whose ticket is not known.
   bool              Resolve(OrderEntry *entry, const int index, const Moment &now)
     {
      const bool restarted = entry.since_ms < 0;
      const bool connected = (bool)TerminalInfoInteger(TERMINAL_CONNECTED);
      if(restarted)
        {
         entry.since_ms = now.ms;
         entry.doubtful = true;
        }
      const long waited_ms = now.ms - entry.since_ms;
      if(!entry.doubtful && waited_ms < LOOK_UP_MS)
         return(false);
      const bool changes = !Opens(entry.request) && entry.request.kind != ORDER_CLOSE;
      if(changes && m_finder.InPlace(entry.request, entry.legs[index]))
         return(EndLeg(entry, index, RESULT_EXECUTED, TRADE_RETCODE_DONE, ""));
      const ulong order = changes ? 0
                          : m_finder.Find(entry, index, m_view, m_book);
      if(order != 0)
         return(Identify(entry, index, order));
      if(!connected)
        {
         entry.since_ms = now.ms;  // time counts only while the broker can be asked
         entry.doubtful = true;    // and the answer may have been missed
        }
      if(waited_ms < (entry.doubtful ? m_settings.reconcile_ms : ANSWER_MS) || !connected)
         return(false);
      return(EndLeg(entry, index, RESULT_REJECTED, 0, "not found at the broker"));
     }

   // Follows an order by its ticket.
   bool              Follow(OrderEntry *entry, const int index, const Moment &now)
     {
      BrokerFill fill;
      while(m_view.NextFill(entry, entry.legs[index].order, fill))
         TellFill(entry, index, fill, now);
      if(entry.legs[index].filled + LOTS_EPSILON >= entry.legs[index].lots)
         return(EndLeg(entry, index, RESULT_EXECUTED, TRADE_RETCODE_DONE, ""));
      BrokerOrder order;
      const int at = m_view.OrderOf(entry.legs[index].order);
      const uint refusal = entry.legs[index].retcode;
      if(at < 0 && refusal != 0 && now.ms - entry.since_ms > m_settings.reconcile_ms)
         return(EndLeg(entry, index, RESULT_REJECTED, refusal, RetcodeText(refusal)));
      if(at < 0)
         return(false);
      m_view.Order(at, order);
      if(order.live)
         return(FollowLive(entry, order, now));
      if(entry.legs[index].filled + LOTS_EPSILON < order.lots - order.rest)
         return(false);  // its deals are still to come
      return(EndLeg(entry, index, EndingOf(order, Late(entry.request, now)), EndingRetcode(order),
                    EndingText(order)));
     }

   // A working order: tells that it stands, takes it back when its time has passed.
   bool              FollowLive(OrderEntry *entry, const BrokerOrder &order, const Moment &now)
     {
      const bool stands = order.state == ORDER_STATE_PLACED || order.state == ORDER_STATE_PARTIAL;
      const bool pending = entry.request.kind == ORDER_LIMIT || entry.request.kind == ORDER_STOP;
      if(stands && pending && !entry.Has(RESULT_PLACED))
        {
         SignalResultFrame result;
         MakeResult(entry.request.id, RESULT_PLACED, TRADE_RETCODE_PLACED, "", now, result);
         result.order = order.ticket;
         result.lots = order.lots;
         result.price = entry.request.price;
         Settle(entry, result);
        }
      const bool unwanted = Late(entry.request, now) || (pending && m_halted);
      if(stands && unwanted && now.ms - entry.removed_ms > REMOVE_AGAIN_MS)
        {
         entry.removed_ms = now.ms;
         Remove(order.ticket);
        }
      return(false);
     }

   // Takes a pending order back. What comes of it shows when the order ends.
   void              Remove(const ulong ticket)
     {
      MqlTradeRequest trade;
      MqlTradeResult answer;
      ZeroMemory(trade);
      ZeroMemory(answer);
      trade.action = TRADE_ACTION_REMOVE;
      trade.order = ticket;
      if(!OrderSendAsync(trade, answer))
         Print("order ", ticket, " cannot be taken back now: ", RetcodeText(answer.retcode));
     }

   // Journals and tells one fill; the last one is the final result.
   void              TellFill(OrderEntry *entry, const int index, const BrokerFill &fill,
                              const Moment &now)
     {
      const bool last = entry.Filled() + fill.lots + LOTS_EPSILON >= entry.Planned();
      SignalResultFrame result;
      MakeResult(entry.request.id, (ushort)(last ? RESULT_EXECUTED : RESULT_PARTIAL),
                 last ? TRADE_RETCODE_DONE : TRADE_RETCODE_DONE_PARTIAL, "", now, result);
      result.deal = fill.deal;
      result.order = fill.order;
      result.time_msc = fill.time_msc - now.utc_offset_ms;
      result.lots = fill.lots;
      result.price = fill.price;
      Settle(entry, result);
     }

   // All legs are over and the last fill was not the end of it.
   void              Conclude(OrderEntry *entry, const Moment &now)
     {
      int worst = 0;
      for(int i = 0; i < ArraySize(entry.legs); i++)
         if(entry.legs[i].ending != RESULT_EXECUTED)
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

  };

#endif
