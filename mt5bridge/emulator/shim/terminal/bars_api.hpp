// MQL5's functions of bars and of the built-in indicators that are computed here.
#pragma once

#include "enum_names.hpp"
#include "language/language.hpp"

namespace mql {

#pragma pack(push, 1)
struct MqlRates {  // not initialised, as in the terminal
  datetime time;
  double open, high, low, close;
  long tick_volume;
  int spread;
  long real_volume;
};
#pragma pack(pop)
static_assert(sizeof(MqlRates) == 60, "MqlRates is 60 bytes in the terminal");

enum ENUM_SERIESMODE : int {
  MODE_OPEN = 0, MODE_LOW = 1, MODE_HIGH = 2, MODE_CLOSE = 3, MODE_VOLUME = 4,
  MODE_REAL_VOLUME = 5, MODE_SPREAD = 6,
};

enum ENUM_SERIES_INFO_INTEGER : int {
  SERIES_BARS_COUNT = 0, SERIES_FIRSTDATE = 1, SERIES_SERVER_FIRSTDATE = 2,
  SERIES_TERMINAL_FIRSTDATE = 3, SERIES_SYNCHRONIZED = 4, SERIES_LASTBAR_DATE = 5,
};

enum ENUM_MA_METHOD : int { MODE_SMA = 0, MODE_EMA = 1, MODE_SMMA = 2, MODE_LWMA = 3 };
MQL_ENUM_NAMES(ENUM_MA_METHOD,
  MQL_ENUM_VALUE(MODE_SMA) MQL_ENUM_VALUE(MODE_EMA) MQL_ENUM_VALUE(MODE_SMMA)
  MQL_ENUM_VALUE(MODE_LWMA))

enum ENUM_APPLIED_PRICE : int {
  PRICE_CLOSE = 1, PRICE_OPEN = 2, PRICE_HIGH = 3, PRICE_LOW = 4, PRICE_MEDIAN = 5,
  PRICE_TYPICAL = 6, PRICE_WEIGHTED = 7,
};
MQL_ENUM_NAMES(ENUM_APPLIED_PRICE,
  MQL_ENUM_VALUE(PRICE_CLOSE) MQL_ENUM_VALUE(PRICE_OPEN) MQL_ENUM_VALUE(PRICE_HIGH)
  MQL_ENUM_VALUE(PRICE_LOW) MQL_ENUM_VALUE(PRICE_MEDIAN) MQL_ENUM_VALUE(PRICE_TYPICAL)
  MQL_ENUM_VALUE(PRICE_WEIGHTED))

// --- bars; each Copy function by position and count, by time and count, or by two times. What is
// computed with a time, as `TimeCurrent() - 60`, is a long here and means a time.
#define MQL_COPY(name, type)                                                                 \
  int name(const string& symbol, ENUM_TIMEFRAMES period, int start, int count,               \
           array_ref<type> values);                                                          \
  int name(const string& symbol, ENUM_TIMEFRAMES period, datetime start, int count,          \
           array_ref<type> values);                                                          \
  int name(const string& symbol, ENUM_TIMEFRAMES period, datetime start, datetime stop,      \
           array_ref<type> values);                                                          \
  template <std::same_as<long> Stop>                                                         \
  int name(const string& symbol, ENUM_TIMEFRAMES period, datetime start, Stop stop,          \
           array_ref<type> values) {                                                         \
    return name(symbol, period, start, datetime(stop), values);                              \
  }                                                                                          \
  template <std::same_as<long> Start, class Stop>                                            \
  int name(const string& symbol, ENUM_TIMEFRAMES period, Start start, Stop stop,             \
           array_ref<type> values) {                                                         \
    return name(symbol, period, datetime(start), stop, values);                              \
  }
MQL_COPY(CopyRates, MqlRates)
MQL_COPY(CopyTime, datetime)
MQL_COPY(CopyOpen, double)
MQL_COPY(CopyHigh, double)
MQL_COPY(CopyLow, double)
MQL_COPY(CopyClose, double)
MQL_COPY(CopyTickVolume, long)
MQL_COPY(CopyRealVolume, long)
MQL_COPY(CopySpread, int)
#undef MQL_COPY
datetime iTime(const string& symbol, ENUM_TIMEFRAMES period, int shift);
double iOpen(const string& symbol, ENUM_TIMEFRAMES period, int shift);
double iHigh(const string& symbol, ENUM_TIMEFRAMES period, int shift);
double iLow(const string& symbol, ENUM_TIMEFRAMES period, int shift);
double iClose(const string& symbol, ENUM_TIMEFRAMES period, int shift);
long iVolume(const string& symbol, ENUM_TIMEFRAMES period, int shift);
long iTickVolume(const string& symbol, ENUM_TIMEFRAMES period, int shift);
long iRealVolume(const string& symbol, ENUM_TIMEFRAMES period, int shift);
int iSpread(const string& symbol, ENUM_TIMEFRAMES period, int shift);
int iBars(const string& symbol, ENUM_TIMEFRAMES period);
int iBarShift(const string& symbol, ENUM_TIMEFRAMES period, datetime time, bool exact = false);
int iHighest(const string& symbol, ENUM_TIMEFRAMES period, ENUM_SERIESMODE type,
             int count = WHOLE_ARRAY, int start = 0);
int iLowest(const string& symbol, ENUM_TIMEFRAMES period, ENUM_SERIESMODE type,
            int count = WHOLE_ARRAY, int start = 0);
int Bars(const string& symbol, ENUM_TIMEFRAMES period);
int Bars(const string& symbol, ENUM_TIMEFRAMES period, datetime start, datetime stop);
long SeriesInfoInteger(const string& symbol, ENUM_TIMEFRAMES period,
                       ENUM_SERIES_INFO_INTEGER property);

// --- indicators
int iMA(const string& symbol, ENUM_TIMEFRAMES period, int length, int shift,
        ENUM_MA_METHOD method, ENUM_APPLIED_PRICE price);
int iRSI(const string& symbol, ENUM_TIMEFRAMES period, int length, ENUM_APPLIED_PRICE price);
int iATR(const string& symbol, ENUM_TIMEFRAMES period, int length);
int CopyBuffer(int handle, int buffer, int start, int count, array_ref<double> values);
int CopyBuffer(int handle, int buffer, datetime start, int count, array_ref<double> values);
int CopyBuffer(int handle, int buffer, datetime start, datetime stop, array_ref<double> values);

}  // namespace mql
