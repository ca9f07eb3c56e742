// MQL5's functions on times that need no clock.
#ifndef MT5BRIDGE_LANGUAGE_CALENDAR_HPP
#define MT5BRIDGE_LANGUAGE_CALENDAR_HPP

#include "types.hpp"

namespace mql {

struct MqlDateTime {
  int year;
  int mon;
  int day;
  int hour;
  int min;
  int sec;
  int day_of_week;  // 0 is Sunday
  int day_of_year;  // 0 is January 1st
};

bool TimeToStruct(datetime time, MqlDateTime& parts);
datetime StructToTime(MqlDateTime& parts);

}  // namespace mql

#endif
