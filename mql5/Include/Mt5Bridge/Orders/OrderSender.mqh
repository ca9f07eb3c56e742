// Builds the request to the broker for one leg and sends it without waiting.
#ifndef MT5BRIDGE_ORDERS_ORDER_SENDER_MQH
#define MT5BRIDGE_ORDERS_ORDER_SENDER_MQH

#include "Freezing.mqh"
#include "OrderPlanner.mqh"

// Why nothing can be sent at all now, "" if it can.
string TradingRefusal(void)
  {
   if(!TerminalInfoInteger(TERMINAL_CONNECTED))
      return("the terminal is not connected to its trade server");
   if(!TerminalInfoInteger(TERMINAL_TRADE_ALLOWED))
      return("algo trading is off in the terminal: press the Algo Trading button");
   if(!MQLInfoInteger(MQL_TRADE_ALLOWED))
      return("algo trading is off for this program: allow it in its properties");
   if(!AccountInfoInteger(ACCOUNT_TRADE_ALLOWED))
      return("the account may not trade: is it an investor login?");
   if(!AccountInfoInteger(ACCOUNT_TRADE_EXPERT))
      return("the trade server does not let programs trade on this account");
   return("");
  }

class OrderSender
  {
private:
   DeskSettings      m_settings;
   SymbolRules       m_rules;
   bool              m_passing;

public:
                     OrderSender(void) { m_passing = false; }

   void              Begin(const DeskSettings &settings) { m_settings = settings; }

   // Whether Build() may find no reason any more in a moment, at another price, or once the user has
   // done something.
   bool              Passing(void) const { return(m_passing); }

   // Fills `trade` for a leg from what the market is now; why that cannot be, "" if it can. A
   // close that has become smaller since it was planned is made smaller in the leg.
   string            Build(OrderEntry &source, const int index, MqlTradeRequest &trade,
                           const Moment &now)
     {
      ZeroMemory(trade);
      const string refusal = TradingRefusal();
      m_passing = refusal != "";
      if(m_passing)
         return(refusal);
      trade.symbol = source.request.symbol;
      m_passing = !m_rules.Load(source.request.symbol);
      OrderRequest own;
      LegRequest(source, index, own);
      if(own.kind == ORDER_CANCEL)
         return(BuildCancel(own, trade));
      if(m_passing)
         return(NoPrice(source.request.symbol));
      switch((int)source.request.kind)
        {
         case ORDER_MODIFY: return(BuildModify(own, source.legs[index], trade));
         case ORDER_CLOSE:  return(BuildClose(source, index, trade));
        }
      BuildOpening(source, index, trade, now);
      return("");
     }

private:
   // What every order has: id, size, side.
   void              Common(const OrderEntry &source, const int index, MqlTradeRequest &trade) const
     {
      trade.type = (ENUM_ORDER_TYPE)source.legs[index].type;
      trade.volume = source.legs[index].lots;
      OrderRequest request = source.request;
      trade.comment = CommentOf(request, index);
      trade.magic = m_settings.carrier == ID_IN_MAGIC ? source.request.id
                    : (ulong)source.request.magic;
      trade.deviation = source.request.deviation_points > 0 ? source.request.deviation_points
                        : m_settings.deviation_points;
      trade.type_time = ORDER_TIME_GTC;
     }

   void              BuildOpening(const OrderEntry &source, const int index, MqlTradeRequest &trade,
                                  const Moment &now)
     {
      Common(source, index, trade);
      const bool buys = BuyType(source.legs[index].type);
      const bool pending = source.request.kind != ORDER_MARKET;
      trade.action = pending ? TRADE_ACTION_PENDING : TRADE_ACTION_DEAL;
      trade.price = pending ? m_rules.Price(source.request.price) : m_rules.Market(buys);
      trade.type_filling = pending ? ORDER_FILLING_RETURN : m_rules.Filling(m_settings.filling);
      OrderRequest request = source.request;
      StopPrices(request, m_rules, buys, trade.price, trade.sl, trade.tp);
      if(!pending)
         return;
      trade.type_time = m_rules.Lifetime(request.valid_until_msc > 0);
      if(trade.type_time == ORDER_TIME_SPECIFIED || trade.type_time == ORDER_TIME_SPECIFIED_DAY)
         trade.expiration = (datetime)((request.valid_until_msc + now.utc_offset_ms) / 1000);
     }

   string            BuildClose(OrderEntry &source, const int index, MqlTradeRequest &trade)
     {
      const ulong ticket = source.legs[index].position;
      if(!PositionSelectByTicket(ticket))
         return("position " + IntegerToString((long)ticket) + " is closed already");
      const bool sells = PositionGetInteger(POSITION_TYPE) == POSITION_TYPE_BUY;
      if(sells == BuyType(source.legs[index].type))
         return("position " + IntegerToString((long)ticket) + " was reversed meanwhile");
      const string frozen = FrozenPosition(m_rules);
      m_passing = frozen != "";
      if(m_passing)
         return(frozen);
      const double lots = PositionGetDouble(POSITION_VOLUME);
      if(source.legs[index].lots > lots)
         source.legs[index].lots = lots;
      Common(source, index, trade);
      trade.action = TRADE_ACTION_DEAL;
      trade.position = ticket;
      trade.price = m_rules.Market(!sells);
      trade.type_filling = m_rules.Filling(m_settings.filling);
      return("");
     }

   // Needs no price: without one the trade server judges whether the order is frozen.
   string            BuildCancel(const OrderRequest &request, MqlTradeRequest &trade)
     {
      const bool priced = !m_passing;
      m_passing = false;
      if(!OrderSelect(request.ticket))
         return("order " + IntegerToString((long)request.ticket) + " is not pending any more");
      const string frozen = priced ? FrozenOrder(m_rules) : "";
      m_passing = frozen != "";
      if(m_passing)
         return(frozen);
      trade.action = TRADE_ACTION_REMOVE;
      trade.order = request.ticket;
      return("");
     }

   // What is not given stays as it is.
   string            BuildModify(const OrderRequest &request, const OrderLeg &leg,
                                 MqlTradeRequest &trade)
     {
      if(leg.position != 0)
         return(BuildStops(request, leg.position, trade));
      if(!OrderSelect(request.ticket))
         return("order " + IntegerToString((long)request.ticket) + " is not pending any more");
      const string frozen = FrozenOrder(m_rules);
      m_passing = frozen != "";
      if(m_passing)
         return(frozen);
      trade.action = TRADE_ACTION_MODIFY;
      trade.order = request.ticket;
      trade.price = Given(request.price, OrderGetDouble(ORDER_PRICE_OPEN));
      trade.sl = Given(request.sl, OrderGetDouble(ORDER_SL));
      trade.tp = Given(request.tp, OrderGetDouble(ORDER_TP));
      trade.type_time = (ENUM_ORDER_TYPE_TIME)OrderGetInteger(ORDER_TYPE_TIME);
      trade.expiration = (datetime)OrderGetInteger(ORDER_TIME_EXPIRATION);
      return(OrderChangeRefusal(request, trade));
     }

   // What the trade server would say to the new price, stop and target of the selected order.
   string            OrderChangeRefusal(const OrderRequest &request, const MqlTradeRequest &trade) const
     {
      const long type = OrderGetInteger(ORDER_TYPE);
      const bool limit = type == ORDER_TYPE_BUY_LIMIT || type == ORDER_TYPE_SELL_LIMIT;
      if(!limit && type != ORDER_TYPE_BUY_STOP && type != ORDER_TYPE_SELL_STOP)
         return("");  // a stop limit has a price of its own for its stops
      const string refusal = request.price > 0
                             ? m_rules.PendingRefusal(BuyType(type), limit, trade.price) : "";
      return(refusal != "" ? refusal : m_rules.StopsRefusal(BuyType(type), trade.price, trade.sl, trade.tp));
     }

   // Stops that are not given stay as they are, and are the trade server's to judge.
   string            BuildStops(const OrderRequest &request, const ulong ticket,
                                MqlTradeRequest &trade)
     {
      if(!PositionSelectByTicket(ticket))
         return("position " + IntegerToString((long)ticket) + " is closed already");
      const string frozen = FrozenPosition(m_rules);
      m_passing = frozen != "";
      if(m_passing)
         return(frozen);
      trade.action = TRADE_ACTION_SLTP;
      trade.position = ticket;
      trade.sl = Given(request.sl, PositionGetDouble(POSITION_SL));
      trade.tp = Given(request.tp, PositionGetDouble(POSITION_TP));
      const bool buys = PositionGetInteger(POSITION_TYPE) == POSITION_TYPE_BUY;
      return(m_rules.StopsRefusal(buys, m_rules.Market(!buys), m_rules.Price(request.sl),
                                  m_rules.Price(request.tp)));
     }

   double            Given(const double asked, const double present) const
     {
      return(asked > 0 ? m_rules.Price(asked) : present);
     }
  };

#endif
