//| What values a frame may hold beyond its layout (PROTOCOL.md sections 2, 4 and 11).
#ifndef MT5BRIDGE_WIRE_CHECKS_MQH
#define MT5BRIDGE_WIRE_CHECKS_MQH

#include "Frames.mqh"
#include "DoubleBits.mqh"

// An identity or symbol: 1 to `bytes_max` bytes of UTF-8, all of them visible.
bool NameAllowed(const string name, const int bytes_max)
  {
   uchar bytes[];
   const int size = Utf8Bytes(name, bytes);
   return(size >= 1 && size <= bytes_max && Utf8Printable(bytes, size));
  }

// Sequences from `first` to `last`.
bool IntervalAllowed(const ulong first, const ulong last)
  {
   return(first >= 1 && first <= last && last <= SEQUENCE_MAX);
  }

// Server time minus UTC is within a day.
bool OffsetAllowed(const int utc_offset_ms)
  {
   return(utc_offset_ms >= -UTC_OFFSET_MS_MAX && utc_offset_ms <= UTC_OFFSET_MS_MAX);
  }

// A time of somebody's clock, in the years 1 to 9999.
bool TimeAllowed(const long time_msc)
  {
   return(time_msc >= TIME_MSC_MIN && time_msc <= TIME_MSC_MAX);
  }

// `count` records, the first one numbered `first`.
bool BatchAllowed(const ulong first, const int utc_offset_ms, const int count, const int count_max)
  {
   if(count < 1 || count > count_max || first > SEQUENCE_MAX)
      return(false);
   return(IntervalAllowed(first, first + (ulong)count - 1) && OffsetAllowed(utc_offset_ms));
  }

// A size or price: finite and not negative.
bool SizeAllowed(const double size)
  {
   return(IsFinite(size) && size >= 0);
  }

// The sizes of a symbol.
bool SymbolAllowed(const SymbolEntry &symbol)
  {
   return(SizeAllowed(symbol.point) && SizeAllowed(symbol.tick_size)
          && SizeAllowed(symbol.contract_size) && SizeAllowed(symbol.volume_min)
          && SizeAllowed(symbol.volume_max) && SizeAllowed(symbol.volume_step));
  }

// A part of one day of the week.
bool SessionAllowed(const TradeSession &session)
  {
   return(session.from_minute < session.to_minute && session.to_minute <= DAYS_A_WEEK * MINUTES_A_DAY
          && session.from_minute / MINUTES_A_DAY == (session.to_minute - 1) / MINUTES_A_DAY);
  }

// Sessions in their order; each is judged apart.
bool SessionsAllowed(const TradeSession &sessions[])
  {
   const int count = ArraySize(sessions);
   for(int i = 1; i < count; i++)
      if(sessions[i - 1].to_minute > sessions[i].from_minute)
         return(false);
   return(count <= SESSIONS_MAX);
  }

// What else is told of a symbol.
bool PropertiesAllowed(const PropertiesFrame &properties)
  {
   return(properties.stream != DEALS_STREAM && properties.swap_triple_day < DAYS_A_WEEK
          && IsFinite(properties.swap_long) && IsFinite(properties.swap_short)
          && SizeAllowed(properties.tick_value)
          && (StringLen(properties.profit_currency) == 0
              || NameAllowed(properties.profit_currency, CURRENCY_BYTES_MAX))
          && SessionsAllowed(properties.sessions));
  }

// The sizes and times of a signal.
bool SignalAllowed(const SignalFrame &signal)
  {
   return(TimeAllowed(signal.time_msc) && TimeAllowed(signal.valid_until_msc)
          && SizeAllowed(signal.lots) && SizeAllowed(signal.stop_points)
          && SizeAllowed(signal.target_points));
  }

// What a signal must say that deals nothing: other levels for what is held, or none to take back what is pending.
bool SignalChangeAllowed(const SignalOrderFrame &order)
  {
   const bool levels = order.stop > 0 || order.stop_distance > 0 || order.signal.stop_points > 0
                       || order.target > 0 || order.target_distance > 0 || order.signal.target_points > 0;
   return((order.kind == ORDER_MODIFY || order.kind == ORDER_CANCEL) && order.signal.side == SIGNAL_CLOSE
          && StringLen(order.signal.symbol) > 0 && order.signal.lots == 0 && order.risk_percent == 0
          && levels == (order.kind == ORDER_MODIFY));
  }

// What a signal that says prices must say; its signal is judged apart.
bool SignalOrderAllowed(const SignalOrderFrame &order)
  {
   const bool pending = order.kind == ORDER_LIMIT || order.kind == ORDER_STOP;
   return(SizeAllowed(order.price) && SizeAllowed(order.stop) && SizeAllowed(order.target)
          && SizeAllowed(order.stop_distance) && SizeAllowed(order.target_distance)
          && SizeAllowed(order.risk_percent) && pending == (order.price > 0)
          && (SignalChangeAllowed(order) || (order.kind <= ORDER_STOP && order.signal.side != SIGNAL_CLOSE)));
  }

// What a terminal says of a fill; prices of some instruments are negative.
bool ResultAllowed(const SignalResultFrame &result)
  {
   return(TimeAllowed(result.time_msc) && SizeAllowed(result.lots) && IsFinite(result.price));
  }

// The six amounts of an account, which may be negative.
bool AccountAllowed(const AccountFrame &account)
  {
   return(TimeAllowed(account.time_msc) && IsFinite(account.balance) && IsFinite(account.credit) && IsFinite(account.profit)
          && IsFinite(account.equity) && IsFinite(account.margin)
          && IsFinite(account.margin_free));
  }

// What an order of each kind must say.
bool OrderAllowed(const OrderFrame &order)
  {
   if(!TimeAllowed(order.time_msc) || !TimeAllowed(order.valid_until_msc)
      || !SizeAllowed(order.lots) || !SizeAllowed(order.price)
      || !SizeAllowed(order.sl) || !SizeAllowed(order.tp))
      return(false);
   switch(order.kind)
     {
      case ORDER_MARKET:
         return(order.side != ORDER_NO_SIDE && order.lots > 0);
      case ORDER_LIMIT:
      case ORDER_STOP:
         return(order.side != ORDER_NO_SIDE && order.lots > 0 && order.price > 0);
      case ORDER_MODIFY:
      case ORDER_CANCEL:
         return(order.ticket > 0);
     }
   return(order.ticket > 0 || StringLen(order.symbol) > 0);
  }

// A wish has a name, unless it is for all; only a known number is one.
bool WantedAllowed(const WantedEntry &entry)
  {
   return((entry.wanted == WANTED_KNOWN || entry.number == 0) && entry.number <= SEQUENCE_MAX
          && (entry.wanted == WANTED_ALL) == (StringLen(entry.name) == 0));
  }

// Number, name and times of a complex event.
bool EventAllowed(const EventFrame &event)
  {
   return(event.number >= 1 && event.number <= SEQUENCE_MAX && StringLen(event.name) > 0
          && TimeAllowed(event.time_msc) && TimeAllowed(event.first_msc));
  }

// So many hexadecimal digits, in small letters.
bool DigitsAllowed(const string text, const int count)
  {
   if(StringLen(text) != count)
      return(false);
   for(int i = 0; i < count; i++)
     {
      const ushort digit = StringGetCharacter(text, i);
      if(!((digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f')))
         return(false);
     }
   return(true);
  }

// An interval of a tick stream.
bool RecountAllowed(const RecountFrame &recount)
  {
   return(recount.stream != DEALS_STREAM && recount.sequence <= SEQUENCE_MAX
          && TimeAllowed(recount.from_msc) && TimeAllowed(recount.to_msc)
          && recount.from_msc < recount.to_msc);
  }

#endif
