// What a symbol allows: volumes, prices, distances, filling modes, directions.
#ifndef MT5BRIDGE_ORDERS_SYMBOL_RULES_MQH
#define MT5BRIDGE_ORDERS_SYMBOL_RULES_MQH

#include "OrderEntry.mqh"

// The user's choice of what happens when not all can be filled at once.
enum FillingChoice
  {
   FILLING_BY_SYMBOL,   // all or nothing where the symbol allows it
   FILLING_ALL,         // all or nothing (FOK)
   FILLING_AVAILABLE,   // what is there, cancel the rest (IOC)
   FILLING_REST_WORKS   // what is there, the rest stays working (RETURN)
  };

// Why nothing can be planned without a price.
string NoPrice(const string symbol) { return("no price for " + symbol); }

// Read anew for every request, since brokers change properties during the day.
class SymbolRules
  {
private:
   string            m_name;
   int               m_digits;
   double            m_point;
   double            m_tick_size;
   double            m_volume_min;
   double            m_volume_max;
   double            m_volume_step;
   long              m_stops_level;
   long              m_freeze_level;
   long              m_filling_modes;
   long              m_execution;
   long              m_trade_mode;
   long              m_expiration_modes;
   MqlTick           m_tick;

public:
   // Reads a symbol; false if there is none or it has no price yet.
   bool              Load(const string symbol)
     {
      m_name = symbol;
      if(!SymbolSelect(symbol, true) || !SymbolInfoTick(symbol, m_tick))
         return(false);
      m_digits = (int)SymbolInfoInteger(symbol, SYMBOL_DIGITS);
      m_point = SymbolInfoDouble(symbol, SYMBOL_POINT);
      m_tick_size = SymbolInfoDouble(symbol, SYMBOL_TRADE_TICK_SIZE);
      m_volume_min = SymbolInfoDouble(symbol, SYMBOL_VOLUME_MIN);
      m_volume_max = SymbolInfoDouble(symbol, SYMBOL_VOLUME_MAX);
      m_volume_step = SymbolInfoDouble(symbol, SYMBOL_VOLUME_STEP);
      m_stops_level = SymbolInfoInteger(symbol, SYMBOL_TRADE_STOPS_LEVEL);
      m_freeze_level = SymbolInfoInteger(symbol, SYMBOL_TRADE_FREEZE_LEVEL);
      m_filling_modes = SymbolInfoInteger(symbol, SYMBOL_FILLING_MODE);
      m_execution = SymbolInfoInteger(symbol, SYMBOL_TRADE_EXEMODE);
      m_trade_mode = SymbolInfoInteger(symbol, SYMBOL_TRADE_MODE);
      m_expiration_modes = SymbolInfoInteger(symbol, SYMBOL_EXPIRATION_MODE);
      return(m_tick.bid > 0 && m_tick.ask > 0);
     }

   double            Point(void) const { return(m_point); }
   double            VolumeMost(void) const { return(m_volume_max); }
   double            Ask(void) const { return(m_tick.ask); }
   double            Bid(void) const { return(m_tick.bid); }

   // Where a market order of this direction trades now.
   double            Market(const bool buys) const { return(buys ? m_tick.ask : m_tick.bid); }

   // Lots rounded down to whole steps.
   double            Volume(const double lots) const
     {
      if(m_volume_step <= 0)
         return(lots);
      const double steps = MathFloor(lots / m_volume_step + 0.000001);
      return(NormalizeDouble(steps * m_volume_step, 8));
     }

   // The nearest price the symbol can have; 0 stays 0.
   double            Price(const double price) const
     {
      const double step = m_tick_size > 0 ? m_tick_size : m_point;
      if(price <= 0 || step <= 0)
         return(0);
      return(NormalizeDouble(MathRound(price / step) * step, m_digits));
     }

   // Prices and lots as a text says them.
   string            PriceText(const double price) const
     {
      return(DoubleToString(price, m_digits));
     }

   // Why so many lots cannot be ordered at once, "" if they can.
   string            VolumeRefusal(const double asked, const double lots) const
     {
      if(lots + LOTS_EPSILON < m_volume_min)
         return(StringFormat("lots: %.8g asked, the least of %s is %.8g in steps of %.8g",
                             asked, m_name, m_volume_min, m_volume_step));
      if(m_volume_max > 0 && lots > m_volume_max + LOTS_EPSILON)
         return(StringFormat("lots: %.8g asked, the most of %s is %.8g an order",
                             asked, m_name, m_volume_max));
      return("");
     }

   // How much of so many lots one order may have: what is left is never less than another may have.
   double            NextPart(const double lots) const
     {
      if(m_volume_max <= 0 || lots <= m_volume_max + LOTS_EPSILON)
         return(lots);
      const double most = lots - m_volume_max + LOTS_EPSILON < m_volume_min
                          ? Volume(lots - m_volume_min) : m_volume_max;
      return(most > 0 ? most : m_volume_max);
     }

   // Why so many of the lots that are held of a position cannot be closed, "" if they can. What would
   // be left must be enough for an order, else it could not be closed any more.
   string            PartRefusal(const double lots, const double held, const ulong ticket) const
     {
      const double left = held - lots;
      if(lots <= LOTS_EPSILON || left <= LOTS_EPSILON)
         return("");
      const double less = MathMin(lots, left);
      if(less + LOTS_EPSILON >= m_volume_min)
         return("");
      return(StringFormat("lots: closing %.8g of %.8g of position %s %s %.8g, less than the least "
                          "of %s, %.8g: close more, or all", lots, held, IntegerToString((long)ticket),
                          less == lots ? "asks for" : "leaves", less, m_name, m_volume_min));
     }

   // Why positions in this direction cannot be opened, "" if they can.
   string            DirectionRefusal(const bool buys) const
     {
      if(m_trade_mode == SYMBOL_TRADE_MODE_FULL)
         return("");
      if(m_trade_mode == SYMBOL_TRADE_MODE_LONGONLY)
         return(buys ? "" : m_name + " can only be bought");
      if(m_trade_mode == SYMBOL_TRADE_MODE_SHORTONLY)
         return(buys ? m_name + " can only be sold" : "");
      if(m_trade_mode == SYMBOL_TRADE_MODE_CLOSEONLY)
         return(m_name + ": positions can only be closed");
      return(m_name + ": trading is disabled");
     }

   // Why a stop or target cannot stand there for a position opened at `price`, "" if it can.
   string            StopsRefusal(const bool buys, const double price, const double sl,
                                  const double tp) const
     {
      const double side = buys ? 1 : -1;
      if(sl > 0 && (price - sl) * side < LeastDistance())
         return(TooNear("stop", sl, price));
      if(tp > 0 && (tp - price) * side < LeastDistance())
         return(TooNear("target", tp, price));
      return("");
     }

   // Why a pending order cannot stand at `price`, "" if it can.
   string            PendingRefusal(const bool buys, const bool limit, const double price) const
     {
      const double side = buys == limit ? 1 : -1;
      const double market = Market(buys);
      if((market - price) * side >= LeastDistance())
         return("");
      return(TooNear(limit ? "limit price" : "stop price", price, market));
     }

   // Whether what is so far from being carried out can neither be changed nor taken back.
   bool              Freezes(const double distance) const
     {
      return(m_freeze_level > 0 && distance < ((double)m_freeze_level + 0.1) * m_point);
     }

   string            FrozenText(const string what, const long ticket, const string level,
                                const double price, const double from) const
     {
      return(StringFormat("%s %s is frozen: its %s %s is within %d points (the freeze level of %s) of %s",
                          what, IntegerToString(ticket), level, PriceText(price),
                          (int)m_freeze_level, m_name, PriceText(from)));
     }

   // How a market order is to be filled; pending orders may always leave a rest working.
   ENUM_ORDER_TYPE_FILLING Filling(const FillingChoice choice) const
     {
      if(m_execution == SYMBOL_TRADE_EXECUTION_REQUEST
         || m_execution == SYMBOL_TRADE_EXECUTION_INSTANT)
         return(choice == FILLING_REST_WORKS ? ORDER_FILLING_RETURN : ORDER_FILLING_FOK);
      const bool rest_may_work = m_execution == SYMBOL_TRADE_EXECUTION_EXCHANGE;
      if(choice == FILLING_REST_WORKS && rest_may_work)
         return(ORDER_FILLING_RETURN);
      if(choice == FILLING_AVAILABLE && (m_filling_modes & SYMBOL_FILLING_IOC) != 0)
         return(ORDER_FILLING_IOC);
      if((m_filling_modes & SYMBOL_FILLING_FOK) != 0)
         return(ORDER_FILLING_FOK);
      if((m_filling_modes & SYMBOL_FILLING_IOC) != 0)
         return(ORDER_FILLING_IOC);
      return(rest_may_work ? ORDER_FILLING_RETURN : ORDER_FILLING_FOK);
     }

   // Until when the broker keeps a pending order, one that has an end or not. Where it cannot be told the
   // end, it is told no earlier one if it can be helped: the trader takes the order back then.
   ENUM_ORDER_TYPE_TIME Lifetime(const bool ends) const
     {
      if(ends && Keeps(SYMBOL_EXPIRATION_SPECIFIED))
         return(ORDER_TIME_SPECIFIED);
      if(Keeps(SYMBOL_EXPIRATION_GTC))
         return(ORDER_TIME_GTC);
      if(ends && Keeps(SYMBOL_EXPIRATION_SPECIFIED_DAY))
         return(ORDER_TIME_SPECIFIED_DAY);
      return(Keeps(SYMBOL_EXPIRATION_DAY) ? ORDER_TIME_DAY : ORDER_TIME_GTC);
     }

private:
   bool              Keeps(const int mode) const { return((m_expiration_modes & mode) != 0); }

   double            LeastDistance(void) const
     {
      const double level = (double)m_stops_level * m_point;
      return(level > 0 ? level - 0.1 * m_point : 0.1 * m_point);
     }

   string            TooNear(const string what, const double price, const double from) const
     {
      return(StringFormat("%s %s is not %d points (the stops level of %s) away from %s on the "
                          "right side", what, PriceText(price), (int)m_stops_level, m_name,
                          PriceText(from)));
     }
  };

#endif
