// The terminal's risk guard: refuses before anything is executed, whatever the daemon allows.
//
// It keeps no counters. Everything is counted anew from the journal, the positions and the history,
// so that nothing starts at zero because a program was attached again.
#ifndef MT5BRIDGE_ORDERS_RISK_GUARD_MQH
#define MT5BRIDGE_ORDERS_RISK_GUARD_MQH

#include "..\Session\Moment.mqh"
#include "..\Wire\Checks.mqh"
#include "Exposure.mqh"
#include "KillSwitch.mqh"
#include "SymbolRules.mqh"

#define MINUTE_MS 60000

// Limits of the user; 0 is no limit.
struct RiskLimits
  {
   double            lots_per_order;
   double            lots_per_symbol;   // positions and working orders
   double            lots_per_day;      // ordered since the server's midnight
   int               orders_per_minute;
   double            daily_loss;        // realised and floating, in the account's currency
  };

class RiskGuard
  {
private:
   RiskLimits        m_limits;
   string            m_symbols[];
   KillSwitch        m_switch;

public:
   // `symbols` are the only ones that may be traded.
   void              Begin(const RiskLimits &limits, const string &symbols[],
                           const string halt_path, const bool halted)
     {
      m_limits = limits;
      ArrayResize(m_symbols, ArraySize(symbols));
      for(int i = 0; i < ArraySize(symbols); i++)
         m_symbols[i] = symbols[i];
      m_switch.Begin(halt_path, halted);
     }

   // The daemon's kill switch; call KeepHalt() until it is on the disk.
   void              Halt(const bool halted, const string reason) { m_switch.Set(halted, reason); }
   bool              HaltKept(void) const { return(m_switch.Kept()); }
   bool              KeepHalt(void) { return(m_switch.Keep()); }

   // Why nothing may be opened now, "" if it may.
   string            HaltReason(void) const { return(m_switch.Reason()); }

   // Why this symbol may not be traded, "" if it may.
   string            SymbolRefusal(const string symbol) const
     {
      for(int i = 0; i < ArraySize(m_symbols); i++)
         if(m_symbols[i] == symbol)
            return("");
      return("symbol: " + symbol + " is not one of the symbols this trader may trade");
     }

   // Why an order of so many lots may not be sent, "" if it may. Orders that only make a net
   // position smaller are always allowed; pending ones may come to enlarge another.
   string            OrderRefusal(const bool buys, const double lots, const bool pending,
                                  const string symbol, OrderBook &book, const Moment &now)
     {
      Exposure exposure;
      ReadExposure(symbol, book, exposure);
      const bool hedging = HedgingAccount();
      if(!pending && OnlyReduces(exposure, buys, lots, hedging))
         return("");
      string refusal = HaltRefusal();
      if(refusal == "")
         refusal = LimitsRefusal();
      if(refusal == "")
         refusal = Above("lots per order", lots, 0, m_limits.lots_per_order, "");
      if(refusal == "")
         refusal = Above("orders per minute", 1, SentSince(book, now.utc_msc - MINUTE_MS),
                         m_limits.orders_per_minute, "");
      if(refusal == "")
         refusal = Above("lots per symbol", lots,
                         ExposureAfter(exposure, buys, lots, hedging) - lots,
                         m_limits.lots_per_symbol, symbol + " ");
      if(refusal == "")
         refusal = Above("lots per day", lots, LotsSince(book, Midnight(now)),
                         m_limits.lots_per_day, "");
      return(refusal == "" ? LossRefusal(now) : refusal);
     }

   // Why something that is no order but adds risk may not be done now, "" if it may.
   string            HaltRefusal(void) const
     {
      const string reason = m_switch.Reason();
      return(reason == "" ? "" : "halted: " + reason);
     }

private:
   // Why these limits hold nothing back, "" if they are limits: a typing error must not trade.
   string            LimitsRefusal(void) const
     {
      if(SizeAllowed(m_limits.lots_per_order) && SizeAllowed(m_limits.lots_per_symbol)
         && SizeAllowed(m_limits.lots_per_day) && m_limits.orders_per_minute >= 0
         && SizeAllowed(m_limits.daily_loss))
         return("");
      return("a risk limit in the inputs is negative or no number: use 0 for no limit");
     }

   // The text of a limit that would be passed, "" if it is kept. What is no number passes it.
   string            Above(const string limit, const double asked, const double used,
                           const double most, const string where) const
     {
      if(IsFinite(asked) && (most <= 0 || used + asked <= most + LOTS_EPSILON))
         return("");
      return(StringFormat("%s: %s%.8g asked, %.8g there already, limit %.8g", limit, where, asked,
                          used, most));
     }

   string            LossRefusal(const Moment &now) const
     {
      if(m_limits.daily_loss <= 0)
         return("");
      double result;
      if(!DayResult(now.utc_msc + now.utc_offset_ms, result))
         return("daily loss: the history of deals cannot be read now");
      if(result > -m_limits.daily_loss)
         return("");
      return(StringFormat("daily loss: %.2f %s today, limit %.2f", -result,
                          AccountInfoString(ACCOUNT_CURRENCY), m_limits.daily_loss));
     }

   // The last midnight of the server, in UTC.
   long              Midnight(const Moment &now) const
     {
      return(ServerMidnight(now.utc_msc + now.utc_offset_ms) - now.utc_offset_ms);
     }

   // How many ids were sent to the broker since `msc` (UTC).
   int               SentSince(OrderBook &book, const long msc) const
     {
      int count = 0;
      for(int i = book.Count() - 1; i >= 0 && book.At(i).accepted_msc > msc; i--)
         if(book.At(i).Sent())
            count++;
      return(count);
     }

   // Lots of orders that open: filled, or still to be filled, accepted since `msc` (UTC).
   double            LotsSince(OrderBook &book, const long msc) const
     {
      double lots = 0;
      for(int i = book.Count() - 1; i >= 0 && book.At(i).accepted_msc >= msc; i--)
        {
         OrderEntry *entry = book.At(i);
         if(Opens(entry.request))
            lots += entry.Filled() + entry.Open();
        }
      return(lots);
     }
  };

#endif
