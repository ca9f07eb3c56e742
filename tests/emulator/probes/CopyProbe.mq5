// Prints the answers of CopyTicks and CopyTicksRange: count, error, first and last time.
#property version "1.00"

input ulong From  = 0;   // milliseconds
input ulong To    = 0;   // milliseconds
input int   Count = 0;   // ticks
input int   Calls = 1;   // how often to ask

void Show(const string name, const int count, const MqlTick &ticks[])
  {
   const int error = GetLastError();
   const int held = MathMin(count, ArraySize(ticks));
   PrintFormat("%s %d error %d size %d from %I64d to %I64d", name, count, error, ArraySize(ticks),
               held > 0 ? ticks[0].time_msc : 0, held > 0 ? ticks[held - 1].time_msc : 0);
   ResetLastError();
  }

void OnStart()
  {
   MqlTick ticks[];
   MqlTick few[3];
   ResetLastError();
   for(int call = 0; call < Calls; call++)
      Show("copy", CopyTicks(_Symbol, ticks, COPY_TICKS_ALL, From, (uint)Count), ticks);
   Show("info", CopyTicks(_Symbol, ticks, COPY_TICKS_INFO, From, (uint)Count), ticks);
   Show("trade", CopyTicks(_Symbol, ticks, COPY_TICKS_TRADE, From, (uint)Count), ticks);
   Show("range", CopyTicksRange(_Symbol, ticks, COPY_TICKS_ALL, From, To), ticks);
   Show("static", CopyTicksRange(_Symbol, few, COPY_TICKS_ALL, From, To), few);
   Show("unknown", CopyTicks("NOSUCH", ticks, COPY_TICKS_ALL, 0, 1), ticks);
   SymbolSelect(_Symbol, false);
   Show("unselected", CopyTicks(_Symbol, ticks, COPY_TICKS_ALL, 0, 1), ticks);
   SymbolSelect(_Symbol, true);
   MqlTick newest;
   const bool known = SymbolInfoTick(_Symbol, newest);
   PrintFormat("newest %d at %I64d bid %.5f server %I64d utc %I64d", known, newest.time_msc,
               newest.bid, (long)TimeTradeServer(), (long)TimeGMT());
   PrintFormat("symbol digits %d point %.5f filling %d base %s profit %s spread %d", _Digits,
               _Point, SymbolInfoInteger(_Symbol, SYMBOL_FILLING_MODE),
               SymbolInfoString(_Symbol, SYMBOL_CURRENCY_BASE),
               SymbolInfoString(_Symbol, SYMBOL_CURRENCY_PROFIT),
               SymbolInfoInteger(_Symbol, SYMBOL_SPREAD));
  }
