//| What SYMBOLS says of a symbol, as the terminal gives it.
#ifndef MT5BRIDGE_MARKET_SYMBOL_PROPERTIES
#define MT5BRIDGE_MARKET_SYMBOL_PROPERTIES

#include "../Wire/Codes.mqh"
#include "../Wire/Frames.mqh"
#include "../Wire/Utf8.mqh"

// False, and the user is told why, when there is no such symbol or the protocol cannot name it.
bool ReadSymbol(const string name, SymbolEntry &entry)
  {
   uchar bytes[];
   if(Utf8Bytes(name, bytes) > SYMBOL_BYTES_MAX)
     {
      Alert("Mt5Bridge: the name of symbol " + name + " is longer than " + IntegerToString(SYMBOL_BYTES_MAX) + " bytes; remove it from the input Symbols");
      return false;
     }
   if(!SymbolSelect(name, true))
     {
      Alert("Mt5Bridge: this broker has no symbol " + name + "; correct the input Symbols");
      return false;
     }
   entry.stream = 0;
   entry.name = name;
   entry.digits = (uint)SymbolInfoInteger(name, SYMBOL_DIGITS);
   entry.filling_modes = (uint)SymbolInfoInteger(name, SYMBOL_FILLING_MODE);
   entry.point = SymbolInfoDouble(name, SYMBOL_POINT);
   entry.tick_size = SymbolInfoDouble(name, SYMBOL_TRADE_TICK_SIZE);
   entry.contract_size = SymbolInfoDouble(name, SYMBOL_TRADE_CONTRACT_SIZE);
   entry.volume_min = SymbolInfoDouble(name, SYMBOL_VOLUME_MIN);
   entry.volume_max = SymbolInfoDouble(name, SYMBOL_VOLUME_MAX);
   entry.volume_step = SymbolInfoDouble(name, SYMBOL_VOLUME_STEP);
   return true;
  }

// A symbol's trade sessions in the order of the week; none if there are more than can be told.
void ReadSessions(const string name, TradeSession &sessions[])
  {
   int count = 0;
   uint reached = 0;
   ArrayResize(sessions, 0, SESSIONS_MAX);
   for(int day = 0; day < DAYS_A_WEEK; day++)
     {
      const uint midnight = (uint)(day * MINUTES_A_DAY);
      datetime from, to;
      for(uint i = 0; SymbolInfoSessionTrade(name, (ENUM_DAY_OF_WEEK)day, i, from, to); i++)
        {
         if(count == SESSIONS_MAX)
           {
            ArrayResize(sessions, 0, SESSIONS_MAX);
            return;
           }
         const uint begin = MathMax(midnight + (uint)from / 60, reached);
         const uint end = midnight + MathMin(((uint)to + 59) / 60, (uint)MINUTES_A_DAY);
         if(begin >= end)
            continue;
         ArrayResize(sessions, count + 1, SESSIONS_MAX);
         sessions[count].from_minute = begin;
         sessions[count].to_minute = end;
         reached = end;
         count++;
        }
     }
  }

// What swaps are, as far as the protocol has a word for it.
SwapModeCode SwapModeOf(const string name)
  {
   switch((ENUM_SYMBOL_SWAP_MODE)SymbolInfoInteger(name, SYMBOL_SWAP_MODE))
     {
      case SYMBOL_SWAP_MODE_DISABLED:         return SWAP_IS_NONE;
      case SYMBOL_SWAP_MODE_POINTS:           return SWAP_IS_POINTS;
      case SYMBOL_SWAP_MODE_CURRENCY_DEPOSIT: return SWAP_IS_MONEY;
      case SYMBOL_SWAP_MODE_INTEREST_CURRENT: return SWAP_IS_PERCENT;
     }
   return SWAP_IS_UNTOLD;
  }

// What PROPERTIES says of a symbol of SYMBOLS.
void ReadProperties(const string name, PropertiesFrame &frame)
  {
   const SwapModeCode mode = SwapModeOf(name);
   const bool told = mode != SWAP_IS_UNTOLD;
   const double tick_value = SymbolInfoDouble(name, SYMBOL_TRADE_TICK_VALUE);
   frame.stops_level_points = (uint)SymbolInfoInteger(name, SYMBOL_TRADE_STOPS_LEVEL);
   frame.freeze_level_points = (uint)SymbolInfoInteger(name, SYMBOL_TRADE_FREEZE_LEVEL);
   frame.swap_mode = (uchar)mode;
   frame.swap_triple_day = (uchar)SymbolInfoInteger(name, SYMBOL_SWAP_ROLLOVER3DAYS);
   frame.swap_long = told ? SymbolInfoDouble(name, SYMBOL_SWAP_LONG) : 0;
   frame.swap_short = told ? SymbolInfoDouble(name, SYMBOL_SWAP_SHORT) : 0;
   frame.tick_value = MathMax(tick_value, 0.0);
   frame.profit_currency = SymbolInfoString(name, SYMBOL_CURRENCY_PROFIT);
   ReadSessions(name, frame.sessions);
  }

// Adds a name that is not empty and not there yet.
void AddSymbolName(const string name, string &names[])
  {
   int count = ArraySize(names);
   for(int i = 0; i < count; i++)
      if(names[i] == name)
         return;
   if(name == "")
      return;
   ArrayResize(names, count + 1, 16);
   names[count] = name;
  }

// The names in a comma-separated list, each once, blanks trimmed.
void SymbolNames(const string list, string &names[])
  {
   string parts[];
   int count = StringSplit(list, ',', parts);
   for(int i = 0; i < count; i++)
     {
      StringTrimLeft(parts[i]);
      StringTrimRight(parts[i]);
      AddSymbolName(parts[i], names);
     }
  }

#endif
