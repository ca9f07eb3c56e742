// Dates by the calendar of 1970 to 3000, and their texts.
#include "calendar.hpp"

#include <chrono>
#include <cstdio>

#include "errors.hpp"
#include "strings.hpp"

namespace mql {

namespace {

using std::chrono::day;
using std::chrono::days;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr long seconds_a_day = 86400;

long days_since_1970(int y, int m, int d) {
  return sys_days(year(y) / month(static_cast<unsigned>(m)) / day(static_cast<unsigned>(d)))
      .time_since_epoch()
      .count();
}

}  // namespace

bool TimeToStruct(datetime time, MqlDateTime& parts) {
  const long total = time < 0 ? 0 : static_cast<long>(time);
  const long whole = total / seconds_a_day, rest = total % seconds_a_day;
  const year_month_day date{sys_days(days(whole))};
  const int y = static_cast<int>(date.year());
  parts.year = y;
  parts.mon = static_cast<int>(static_cast<unsigned>(date.month()));
  parts.day = static_cast<int>(static_cast<unsigned>(date.day()));
  parts.hour = static_cast<int>(rest / 3600);
  parts.min = static_cast<int>(rest / 60 % 60);
  parts.sec = static_cast<int>(rest % 60);
  parts.day_of_week = static_cast<int>((whole + 4) % 7);
  parts.day_of_year = static_cast<int>(whole - days_since_1970(y, 1, 1));
  return true;
}

datetime StructToTime(MqlDateTime& parts) {
  if (parts.year < 1970 || parts.mon < 1 || parts.mon > 12 || parts.day < 1 || parts.day > 31)
    return 0;
  return days_since_1970(parts.year, parts.mon, parts.day) * seconds_a_day + parts.hour * 3600L +
         parts.min * 60L + parts.sec;
}

string TimeToString(datetime time, int mode) {
  MqlDateTime parts;
  TimeToStruct(time, parts);
  char date[32] = "", clock[32] = "";
  if (mode & TIME_DATE)
    std::snprintf(date, sizeof date, "%04d.%02d.%02d", parts.year, parts.mon, parts.day);
  if (mode & TIME_SECONDS)
    std::snprintf(clock, sizeof clock, "%02d:%02d:%02d", parts.hour, parts.min, parts.sec);
  else if (mode & TIME_MINUTES)
    std::snprintf(clock, sizeof clock, "%02d:%02d", parts.hour, parts.min);
  return string(std::string(date) + (*date && *clock ? " " : "") + clock);
}

datetime StringToTime(const string& text) {
  MqlDateTime parts{};
  char separator[3] = "";
  const std::string ascii = text.utf8();
  const int found = std::sscanf(ascii.c_str(), "%4d%1[./-]%2d%1[./-]%2d%*[ T]%2d:%2d:%2d",
                                &parts.year, separator, &parts.mon, separator + 1, &parts.day,
                                &parts.hour, &parts.min, &parts.sec);
  if (found < 5) return fail(ERR_WRONG_STRING_DATE);
  return StructToTime(parts);
}

}  // namespace mql
