// Turns a request into orders to the broker, or says why there are none.
#ifndef MT5BRIDGE_ORDERS_ORDER_PLANNER_MQH
#define MT5BRIDGE_ORDERS_ORDER_PLANNER_MQH

#include "DeskSettings.mqh"
#include "RiskGuard.mqh"
#include "StopChange.mqh"

#define TOO_FAR_TEXT "stop or target is farther away than half the price"
#define RISK_LOTS 100.0  // whose loss is computed: what is rounded to cents there is little

// A distance in points, from points or from a distance in prices.
double DistancePoints(const double points, const double distance, const SymbolRules &rules)
  {
   return(distance > 0 && rules.Point() > 0 ? distance / rules.Point() : points);
  }

// Stops and targets as prices, from prices or from distances to `price`.
void StopPrices(const OrderRequest &request, const SymbolRules &rules, const bool buys,
                const double price, double &sl, double &tp)
  {
   const double side = buys ? rules.Point() : -rules.Point();
   const double stop_points = DistancePoints(request.stop_points, request.stop_distance, rules);
   const double target_points = DistancePoints(request.target_points, request.target_distance, rules);
   sl = stop_points > 0 ? price - side * stop_points : request.sl;
   tp = target_points > 0 ? price + side * target_points : request.tp;
   sl = rules.Price(sl);
   tp = rules.Price(tp);
  }

// Whether stop or target are farther from `price` than half of it: a distance was written as a price.
bool TooFar(const OrderRequest &request, const double price, const double sl, const double tp)
  {
   const bool sl_far = (sl != 0 || request.stop_distance > 0) && MathAbs(sl - price) > price / 2;
   const bool tp_far = (tp != 0 || request.target_distance > 0) && MathAbs(tp - price) > price / 2;
   return(request.priced && (sl_far || tp_far || request.stop_distance > price / 2
                             || request.target_distance > price / 2));
  }

// Fills entries with legs. Methods return why not, "" if all is well.
class OrderPlanner
  {
private:
   DeskSettings      m_settings;
   SymbolRules       m_rules;
   bool              m_unpriced;

public:
                     OrderPlanner(void) { m_unpriced = false; }

   void              Begin(const DeskSettings &settings) { m_settings = settings; }

   // Whether Plan() had no other reason than that there is no price yet.
   bool              Unpriced(void) const { return(m_unpriced); }

   // Whether a symbol has no price yet.
   bool              Unpriced(const string symbol) { return(!Load(symbol)); }

   string            Plan(OrderEntry &target, OrderBook &book, RiskGuard &guard, const Moment &now)
     {
      m_unpriced = false;
      if(!NumbersAllowed(target.request))
         return("a size or price is negative or no number");
      if(OfHeld(target.request))
         return(PlanHeld(target, book, guard));
      if(target.request.kind == ORDER_CANCEL || target.request.kind == ORDER_MODIFY)
         return(PlanChange(target, guard));
      if(target.request.kind == ORDER_CLOSE && target.request.ticket != 0)
        {
         if(!PositionSelectByTicket(target.request.ticket))
            return("no position has the ticket " + TicketText(target.request.ticket));
         target.request.symbol = PositionGetString(POSITION_SYMBOL);
        }
      const string refusal = guard.SymbolRefusal(target.request.symbol);
      if(refusal != "")
         return(refusal);
      if(!Load(target.request.symbol))
         return(NoPrice(target.request.symbol));
      if(target.request.kind == ORDER_CLOSE)
         return(PlanClose(target, book));
      return(PlanOpening(target, book, guard, now));
     }

   // Makes a leg that is tried again as small as what it means to close has become meanwhile; why
   // there is nothing left, "" if there is.
   string            Lessen(OrderEntry &target, const int index, OrderBook &book)
     {
      if(target.request.kind != ORDER_CLOSE || !m_rules.Load(target.request.symbol))
         return("");
      const ulong ticket = target.legs[index].position;
      const double lots = MathMin(target.legs[index].lots, Closable(ticket, target.request, book));
      if(lots <= LOTS_EPSILON)
         return("nothing is left to close of position " + TicketText(ticket));
      target.legs[index].lots = lots;
      return("");
     }

   // Whether positions and deals of a symbol ("": of all) tell the same. Right after a fill the terminal may
   // know of its deal and still show the position as it was before.
   bool              Settled(const string symbol) const
     {
      for(int i = PositionsTotal() - 1; i >= 0; i--)
        {
         if(PositionGetTicket(i) == 0
            || (symbol != "" && PositionGetString(POSITION_SYMBOL) != symbol))
            continue;
         const bool buys = PositionGetInteger(POSITION_TYPE) == POSITION_TYPE_BUY;
         const double lots = PositionGetDouble(POSITION_VOLUME) * (buys ? 1 : -1);
         if(!HistorySelectByPosition(PositionGetInteger(POSITION_IDENTIFIER))
            || MathAbs(lots - SelectedNet()) > LOTS_EPSILON)
            return(false);
        }
      return(true);
     }

   // What the plan comes to, for a dry run.
   string            Describe(const OrderEntry &target)
     {
      OrderRequest request = target.request;
      if(OfHeld(request))
         return(StringFormat(target.request.kind == ORDER_CANCEL ? "would cancel %d orders of %s"
                             : "would modify %d positions of %s", ArraySize(target.legs),
                             target.request.symbol));
      if(target.request.kind == ORDER_CANCEL)
         return("would cancel order " + TicketText(target.request.ticket));
      if(target.request.kind == ORDER_MODIFY)
         return("would modify " + TicketText(target.request.ticket));
      string text = "would";
      for(int i = 0; i < ArraySize(target.legs); i++)
         text += StringFormat("%s %s %.8g", i > 0 ? "," : "", TypeText(target.legs[i].type),
                              target.legs[i].lots);
      return(text + " " + target.request.symbol + PricesText(target));
     }

private:
   // Reads what a symbol allows and its price; false, and remembered, if there is none yet.
   bool              Load(const string symbol)
     {
      m_unpriced = !m_rules.Load(symbol);
      return(!m_unpriced);
     }

   // Sizes and prices, whoever wrote them: a comparison with what is no number is never true.
   bool              NumbersAllowed(const OrderRequest &request) const
     {
      return(SizeAllowed(request.lots) && SizeAllowed(request.price) && SizeAllowed(request.sl)
             && SizeAllowed(request.tp) && SizeAllowed(request.stop_points)
             && SizeAllowed(request.target_points) && SizeAllowed(request.stop_distance)
             && SizeAllowed(request.target_distance)
             && SizeAllowed(request.risk_percent));
     }

   string            TicketText(const ulong ticket) const
     {
      return(IntegerToString((long)ticket));
     }

   string            TypeText(const uchar type) const
     {
      switch((int)type)
        {
         case ORDER_TYPE_BUY:        return("buy");
         case ORDER_TYPE_SELL:       return("sell");
         case ORDER_TYPE_BUY_LIMIT:  return("place a buy limit of");
         case ORDER_TYPE_SELL_LIMIT: return("place a sell limit of");
         case ORDER_TYPE_BUY_STOP:   return("place a buy stop of");
        }
      return("place a sell stop of");
     }

   string            PricesText(const OrderEntry &target)
     {
      const bool buys = BuyType(target.legs[0].type);
      OrderRequest request = target.request;
      const double price = Reference(request, buys);
      double sl;
      double tp;
      StopPrices(request, m_rules, buys, price, sl, tp);
      string text = " at " + m_rules.PriceText(price);
      if(sl > 0)
         text += ", stop " + m_rules.PriceText(sl);
      if(tp > 0)
         text += ", target " + m_rules.PriceText(tp);
      return(text);
     }

   // The price an opening order is measured from.
   double            Reference(const OrderRequest &request, const bool buys) const
     {
      if(request.kind == ORDER_LIMIT || request.kind == ORDER_STOP)
         return(m_rules.Price(request.price));
      return(m_rules.Market(buys));
     }

   string            PlanOpening(OrderEntry &target, OrderBook &book, RiskGuard &guard,
                                 const Moment &now)
     {
      const bool buys = target.request.side == ORDER_BUY;
      const bool pending = target.request.kind != ORDER_MARKET;
      OrderRequest request = target.request;
      const double price = Reference(request, buys);
      double sl;
      double tp;
      StopPrices(request, m_rules, buys, price, sl, tp);
      double asked = request.lots > 0 ? request.lots : m_settings.default_lots;
      string refusal = m_rules.DirectionRefusal(buys);
      if(refusal == "" && TooFar(request, price, sl, tp))
         refusal = TOO_FAR_TEXT;
      if(refusal == "" && request.risk_percent > 0)
         refusal = LotsAtRisk(request, buys, price, sl, asked);
      const double lots = m_rules.Volume(asked);
      if(refusal == "" && !IsFinite(lots))
         refusal = StringFormat("lots: %.8g asked, which is no size", asked);
      if(refusal == "" && !(IsFinite(price) && IsFinite(sl) && IsFinite(tp)))
         refusal = "the properties of " + target.request.symbol + " make no price";
      if(refusal == "")
         refusal = m_rules.VolumeRefusal(asked, lots);
      if(refusal == "" && pending)
         refusal = m_rules.PendingRefusal(buys, target.request.kind == ORDER_LIMIT, price);
      if(refusal == "")
         refusal = m_rules.StopsRefusal(buys, pending ? price : m_rules.Market(!buys), sl, tp);
      if(refusal == "")
         refusal = guard.OrderRefusal(buys, lots, pending, target.request.symbol, book, now);
      if(refusal == "")
         Add(target, OpeningType(target.request), 0, lots);
      return(refusal);
     }

   // Lots whose loss at the stop is so many percent of the equity, the request's and the symbol's most
   // at most; why they cannot be told, "" if they can.
   string            LotsAtRisk(const OrderRequest &request, const bool buys, const double price,
                                const double sl, double &lots) const
     {
      double profit = 0;
      if(sl <= 0 || !OrderCalcProfit(buys ? ORDER_TYPE_BUY : ORDER_TYPE_SELL, request.symbol,
                                     RISK_LOTS, price, sl, profit)
         || !IsFinite(profit) || profit == 0)
         return("what the stop costs cannot be computed, and so no lots by risk");
      const double equity = MathMax(0, AccountInfoDouble(ACCOUNT_EQUITY));
      lots = equity * request.risk_percent / 100 / (MathAbs(profit) / RISK_LOTS);
      if(request.lots > 0)
         lots = MathMin(lots, request.lots);
      if(m_rules.VolumeMost() > 0)
         lots = MathMin(lots, m_rules.VolumeMost());
      return("");
     }

   uchar             OpeningType(const OrderRequest &request) const
     {
      const bool buys = request.side == ORDER_BUY;
      if(request.kind == ORDER_LIMIT)
         return((uchar)(buys ? ORDER_TYPE_BUY_LIMIT : ORDER_TYPE_SELL_LIMIT));
      if(request.kind == ORDER_STOP)
         return((uchar)(buys ? ORDER_TYPE_BUY_STOP : ORDER_TYPE_SELL_STOP));
      return((uchar)(buys ? ORDER_TYPE_BUY : ORDER_TYPE_SELL));
     }

   string            PlanClose(OrderEntry &target, OrderBook &book)
     {
      ulong tickets[];
      Positions(target.request, book, tickets);
      double rest = target.request.lots > 0 ? m_rules.Volume(target.request.lots) : DBL_MAX;
      if(rest <= 0)
         return(m_rules.VolumeRefusal(target.request.lots, rest));
      string refusal = "";
      for(int i = 0; i < ArraySize(tickets) && rest > LOTS_EPSILON && refusal == ""; i++)
        {
         const double held = Closable(tickets[i], target.request, book);
         const double lots = MathMin(rest, held);
         refusal = m_rules.PartRefusal(lots, held, tickets[i]);
         if(lots > LOTS_EPSILON)
            AddClose(target, tickets[i], lots);
         rest -= MathMax(lots, 0);
        }
      if(refusal != "")
         ArrayResize(target.legs, 0);
      if(refusal != "" || ArraySize(target.legs) > 0)
         return(refusal);
      return(StringFormat("no position in %s with the magic number %I64d to close",
                          target.request.symbol, target.request.magic));
     }

   // The positions a close means, oldest ticket first.
   void              Positions(const OrderRequest &request, OrderBook &book, ulong &tickets[])
     {
      ArrayResize(tickets, 0);
      for(int i = 0; i < PositionsTotal(); i++)
        {
         const ulong ticket = PositionGetTicket(i);
         if(ticket == 0 || PositionGetString(POSITION_SYMBOL) != request.symbol)
            continue;
         const bool meant = request.ticket != 0 ? ticket == request.ticket : !HedgingAccount()
                            || Magic(PositionGetInteger(POSITION_MAGIC), book) == request.magic;
         if(!meant)
            continue;
         const int count = ArraySize(tickets);
         ArrayResize(tickets, count + 1);
         tickets[count] = ticket;
        }
      if(ArraySize(tickets) > 1)
         ArraySort(tickets);
     }

   // Lots bought less lots sold by a deal of the selected history.
   double            SignedLots(const ulong deal) const
     {
      const long type = HistoryDealGetInteger(deal, DEAL_TYPE);
      const double lots = HistoryDealGetDouble(deal, DEAL_VOLUME);
      return(type == DEAL_TYPE_BUY ? lots : type == DEAL_TYPE_SELL ? -lots : 0);
     }

   // Lots bought less lots sold by all deals of the selected history.
   double            SelectedNet(void) const
     {
      double lots = 0;
      for(int i = HistoryDealsTotal() - 1; i >= 0; i--)
         lots += SignedLots(HistoryDealGetTicket(i));
      return(lots);
     }

   // How much of a position a close may take: on a netting account, where strategies share one
   // position, only what deals with this magic number have made of it.
   double            Closable(const ulong ticket, const OrderRequest &request, OrderBook &book)
     {
      if(!PositionSelectByTicket(ticket))
         return(0);
      const double lots = PositionGetDouble(POSITION_VOLUME);
      const double side = PositionGetInteger(POSITION_TYPE) == POSITION_TYPE_BUY ? 1 : -1;
      const long identifier = PositionGetInteger(POSITION_IDENTIFIER);
      if(request.ticket != 0 || HedgingAccount() || !HistorySelectByPosition(identifier))
         return(lots);
      double held = 0;
      for(int i = HistoryDealsTotal() - 1; i >= 0; i--)
        {
         const ulong deal = HistoryDealGetTicket(i);
         if(Magic(HistoryDealGetInteger(deal, DEAL_MAGIC), book) == request.magic)
            held += SignedLots(deal);
        }
      return(m_rules.Volume(MathMin(lots, MathMax(0, held * side))));
     }

   // The strategy's magic number of a position or deal, which may carry an id instead.
   long              Magic(const long magic, OrderBook &book)
     {
      if(m_settings.carrier != ID_IN_MAGIC)
         return(magic);
      OrderEntry *known = book.Find((ulong)magic);
      return(known == NULL ? magic : known.request.magic);
     }

   // One order to close so much of a position, or several if it is more than one may have.
   void              AddClose(OrderEntry &target, const ulong ticket, const double lots)
     {
      PositionSelectByTicket(ticket);
      const bool sells = PositionGetInteger(POSITION_TYPE) == POSITION_TYPE_BUY;
      double rest = lots;
      while(rest > LOTS_EPSILON)
        {
         const double part = m_rules.NextPart(rest);
         Add(target, (uchar)(sells ? ORDER_TYPE_SELL : ORDER_TYPE_BUY), ticket, part);
         rest = NormalizeDouble(rest - part, 8);
        }
     }

   void              Add(OrderEntry &target, const uchar type, const ulong position,
                         const double lots)
     {
      OrderLeg leg;
      ClearLeg(leg);
      leg.type = type;
      leg.position = position;
      leg.lots = lots;
      target.AddLeg(leg);
     }

   // A modification or cancellation: the ticket's symbol must be one that may be traded.
   string            PlanChange(OrderEntry &target, RiskGuard &guard)
     {
      const ulong ticket = target.request.ticket;
      const bool pending = OrderSelect(ticket);
      if(!pending && (target.request.kind == ORDER_CANCEL || !PositionSelectByTicket(ticket)))
         return((target.request.kind == ORDER_CANCEL ? "no pending order has the ticket "
                 : "no position or pending order has the ticket ") + TicketText(ticket));
      target.request.symbol = pending ? OrderGetString(ORDER_SYMBOL)
                              : PositionGetString(POSITION_SYMBOL);
      string refusal = guard.SymbolRefusal(target.request.symbol);
      if(refusal == "" && target.request.kind == ORDER_MODIFY && !Load(target.request.symbol))
         refusal = NoPrice(target.request.symbol);
      if(refusal == "" && target.request.kind == ORDER_MODIFY)
         refusal = pending ? guard.HaltRefusal() : PositionChangeRefusal(target.request, guard);
      if(refusal == "")
         Add(target, 0, pending ? 0 : ticket, 0);
      return(refusal);
     }

   // Other levels for all positions, or the end of all pending orders, of a symbol and magic number.
   string            PlanHeld(OrderEntry &target, OrderBook &book, RiskGuard &guard)
     {
      const string refusal = guard.SymbolRefusal(target.request.symbol);
      if(refusal != "")
         return(refusal);
      if(target.request.kind == ORDER_CANCEL)
         return(PlanCancels(target, book));
      if(!Load(target.request.symbol))
         return(NoPrice(target.request.symbol));
      return(PlanLevels(target, book, guard));
     }

   string            PlanCancels(OrderEntry &target, OrderBook &book)
     {
      for(int i = 0; i < OrdersTotal(); i++)
        {
         const ulong ticket = OrderGetTicket(i);
         if(ticket == 0 || OrderGetString(ORDER_SYMBOL) != target.request.symbol)
            continue;
         const long state = OrderGetInteger(ORDER_STATE);
         if((state == ORDER_STATE_PLACED || state == ORDER_STATE_PARTIAL)
            && Magic(OrderGetInteger(ORDER_MAGIC), book) == target.request.magic)
            Add(target, 0, ticket, 0);
        }
      if(ArraySize(target.legs) > 0)
         return("");
      return(StringFormat("no pending order in %s with the magic number %I64d to cancel",
                          target.request.symbol, target.request.magic));
     }

   // A leg for each position, oldest first. One that has these levels already or may not have them is
   // over at once: the others are changed.
   string            PlanLevels(OrderEntry &target, OrderBook &book, RiskGuard &guard)
     {
      ulong tickets[];
      Positions(target.request, book, tickets);
      string refusal = StringFormat("no position in %s with the magic number %I64d to modify",
                                    target.request.symbol, target.request.magic);
      bool good = false;
      for(int i = 0; i < ArraySize(tickets); i++)
        {
         if(Closable(tickets[i], target.request, book) <= LOTS_EPSILON)
            continue;
         OrderLeg leg;
         ClearLeg(leg);
         leg.position = tickets[i];
         SetLevels(target.request, guard, leg);
         if(leg.state == LEG_DONE && leg.ending == RESULT_REJECTED)
            refusal = leg.text;
         else
            good = true;
         target.AddLeg(leg);
        }
      if(good)
         return("");
      ArrayResize(target.legs, 0);
      return(refusal);
     }

   // The levels of a leg, measured from what closing its position brings now.
   void              SetLevels(const OrderRequest &request, RiskGuard &guard, OrderLeg &leg)
     {
      PositionSelectByTicket(leg.position);
      const bool buys = PositionGetInteger(POSITION_TYPE) == POSITION_TYPE_BUY;
      const double price = m_rules.Market(!buys);
      StopPrices(request, m_rules, buys, price, leg.sl, leg.tp);
      if(TooFar(request, price, leg.sl, leg.tp))
         leg.text = TOO_FAR_TEXT;
      else if(!(IsFinite(leg.sl) && IsFinite(leg.tp)))
         leg.text = "the properties of " + request.symbol + " make no price";
      else if(Stands(leg.sl, PositionGetDouble(POSITION_SL)) && Stands(leg.tp, PositionGetDouble(POSITION_TP)))
        {
         leg.state = LEG_DONE;
         leg.ending = RESULT_EXECUTED;
         leg.retcode = TRADE_RETCODE_DONE;
         return;
        }
      else
        {
         OrderRequest own = request;
         own.sl = leg.sl;
         own.tp = leg.tp;
         leg.text = StopsComeNearer(own) ? "" : guard.HaltRefusal();
         if(leg.text == "")
            leg.text = m_rules.StopsRefusal(buys, price, leg.sl, leg.tp);
        }
      if(leg.text != "")
         leg.state = LEG_DONE;
     }

   // Whether a level is there already; one that is not said stays.
   bool              Stands(const double asked, const double present) const
     {
      return(asked == 0 || MathAbs(asked - present) < m_rules.Point() / 10);
     }

   // While halted, stops may only come nearer. The position is selected.
   string            PositionChangeRefusal(const OrderRequest &request, RiskGuard &guard) const
     {
      const bool buys = PositionGetInteger(POSITION_TYPE) == POSITION_TYPE_BUY;
      if(!StopsComeNearer(request))
        {
         const string halted = guard.HaltRefusal();
         if(halted != "")
            return(halted);
        }
      return(m_rules.StopsRefusal(buys, m_rules.Market(!buys), m_rules.Price(request.sl),
                                  m_rules.Price(request.tp)));
     }
  };

#endif
