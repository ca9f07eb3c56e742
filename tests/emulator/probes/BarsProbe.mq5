// Prints the bars of some periods, all ways of asking for them, and indicators of them.
#property version "1.00"

input int                Length = 3;
input int                Shift = 0;
input ENUM_APPLIED_PRICE Price = PRICE_CLOSE;

const ENUM_TIMEFRAMES PERIODS[] = {PERIOD_M1, PERIOD_M5, PERIOD_H1, PERIOD_D1, PERIOD_W1, PERIOD_MN1};

void Bar(const string name, const MqlRates &bar)
  {
   PrintFormat("%s %I64d %.5f %.5f %.5f %.5f %I64d %d %I64d", name, (long)bar.time, bar.open, bar.high, bar.low, bar.close, bar.tick_volume, bar.spread, bar.real_volume);
  }

void Asked(const string name, const int count, const MqlRates &bars[])
  {
   PrintFormat("%s %d %d %I64d %I64d", name, count, GetLastError(), count > 0 ? (long)bars[0].time : 0, count > 0 ? (long)bars[count - 1].time : 0);
   ResetLastError();
  }

void Values(const string name, const int handle)
  {
   double values[];
   ArraySetAsSeries(values, true);
   const int count = CopyBuffer(handle, 0, 0, BarsCalculated(handle), values);
   for(int i = 0; i < count; i++)
      PrintFormat("%s %d %.10f", name, i, values[i] == EMPTY_VALUE ? -1.0 : values[i]);
   IndicatorRelease(handle);
   if(CopyBuffer(handle, 0, 0, 1, values) != -1)
      Print("a buffer of a handle that was released");
  }

void Ask(void)
  {
   MqlRates bars[];
   const datetime newest = iTime(NULL, PERIOD_M1, 0);
   ResetLastError();
   Asked("two", CopyRates(_Symbol, PERIOD_M1, 0, 2, bars), bars);
   Asked("one_before", CopyRates(_Symbol, PERIOD_CURRENT, 1, 1, bars), bars);
   Asked("from_time", CopyRates(_Symbol, PERIOD_M1, newest - 1, 3, bars), bars);
   Asked("between", CopyRates(_Symbol, PERIOD_M1, newest - 120, newest - 1 + 1, bars), bars);
   Asked("beyond", CopyRates(_Symbol, PERIOD_M1, 1000000, 2, bars), bars);
   Asked("unknown", CopyRates("NOSUCH", PERIOD_M1, 0, 2, bars), bars);
   double closes[];
   ArraySetAsSeries(closes, true);
   const int count = CopyClose(NULL, PERIOD_M1, 0, Bars(NULL, PERIOD_M1), closes);
   int differing = 0;
   for(int i = 0; i < count; i++)
      if(iClose(NULL, PERIOD_M1, i) != closes[i] || iBarShift(NULL, PERIOD_M1, iTime(NULL, PERIOD_M1, i) + 59) != i)
         differing++;
   const int highest = iHighest(NULL, PERIOD_M1, MODE_HIGH, WHOLE_ARRAY, 1);
   const int lowest = iLowest(NULL, PERIOD_M1, MODE_LOW, 3);
   PrintFormat("closes %d differing %d highest %.5f lowest %.5f before %d exact %d", count, differing, iHigh(NULL, PERIOD_M1, highest), iLow(NULL, PERIOD_M1, lowest), iBarShift(NULL, PERIOD_M1, D'1970.01.02'), iBarShift(NULL, PERIOD_M1, newest + 60, true));
  }

void OnStart()
  {
   for(int k = 0; k < ArraySize(PERIODS); k++)
      for(int i = iBars(_Symbol, PERIODS[k]) - 1; i >= 0; i--)
        {
         MqlRates bars[];
         if(CopyRates(_Symbol, PERIODS[k], i, 1, bars) == 1)
            Bar(EnumToString(PERIODS[k]), bars[0]);
        }
   for(int method = MODE_SMA; method <= MODE_LWMA; method++)
      Values(EnumToString((ENUM_MA_METHOD)method), iMA(NULL, PERIOD_M1, Length, Shift, (ENUM_MA_METHOD)method, Price));
   Values("RSI", iRSI(NULL, PERIOD_M1, Length, Price));
   Values("ATR", iATR(NULL, PERIOD_M1, Length));
   Ask();
  }
