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
