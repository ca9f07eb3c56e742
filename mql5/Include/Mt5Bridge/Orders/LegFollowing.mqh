// Follows legs whose ticket is known, to their end.
#ifndef MT5BRIDGE_ORDERS_LEG_FOLLOWING_MQH
#define MT5BRIDGE_ORDERS_LEG_FOLLOWING_MQH

#include "BrokerView.mqh"
#include "Freezing.mqh"
#include "OrderReports.mqh"
#include "Retcodes.mqh"

#define REMOVE_AGAIN_MS 5000  // a pending order that still stands is taken back again

class LegFollowing
  {
private:
   SymbolRules       m_rules;
   long              m_reconcile_ms;
   bool              m_halted;

public:
                     LegFollowing(void) { Begin(0); }

   // `reconcile_ms` after an order was refused it is not expected at the broker any more.
   void              Begin(const long reconcile_ms)
     {
      m_reconcile_ms = reconcile_ms;
      m_halted = false;
     }

   // Whether pending orders are to be taken back.
   void              Halt(const bool halted) { m_halted = halted; }

   // Follows an order by its ticket.
   bool              Follow(OrderEntry *entry, const int index, const BrokerView &view,
                            OrderReports &reports, const Moment &now)
     {
      BrokerFill fill;
      while(view.NextFill(entry, entry.legs[index].order, fill))
         TellFill(entry, fill, reports, now);
      if(entry.legs[index].filled + LOTS_EPSILON >= entry.legs[index].lots)
         return(reports.EndLeg(entry, index, RESULT_EXECUTED, TRADE_RETCODE_DONE, ""));
      BrokerOrder order;
      const int at = view.OrderOf(entry.legs[index].order);
      const uint refusal = entry.legs[index].retcode;
      if(at < 0 && refusal != 0 && now.ms - entry.since_ms > m_reconcile_ms)
         return(reports.EndLeg(entry, index, RESULT_REJECTED, refusal, RetcodeText(refusal)));
      if(at < 0)
         return(false);
      view.Order(at, order);
      if(order.live)
         return(FollowLive(entry, order, reports, now));
      if(entry.legs[index].filled + LOTS_EPSILON < order.lots - order.rest)
         return(false);  // its deals are still to come
      if(refusal != 0)
         return(reports.EndLeg(entry, index, RESULT_REJECTED, refusal, RetcodeText(refusal)));
      return(reports.EndLeg(entry, index, EndingOf(order, Late(entry.request, now)),
                            EndingRetcode(order), EndingText(order)));
     }

private:
   // A working order: tells that it stands, takes it back when its time has passed.
   bool              FollowLive(OrderEntry *entry, const BrokerOrder &order,
                                OrderReports &reports, const Moment &now)
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
         reports.Settle(entry, result);
        }
      const bool unwanted = Late(entry.request, now) || (pending && m_halted);
      if(stands && unwanted && now.ms - entry.removed_ms > REMOVE_AGAIN_MS && !Frozen(order))
        {
         entry.removed_ms = now.ms;
         Remove(order.ticket);
        }
      return(false);
     }

   // Whether the trade server would not take a pending order back now. Then it is looked at again.
   bool              Frozen(const BrokerOrder &order)
     {
      return(m_rules.Load(order.symbol) && OrderSelect(order.ticket) && FrozenOrder(m_rules) != "");
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
   void              TellFill(OrderEntry *entry, const BrokerFill &fill, OrderReports &reports,
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
      reports.Settle(entry, result);
     }
  };

#endif
