// MQL5's functions on strings and conversions.
#ifndef MT5BRIDGE_LANGUAGE_STRINGS_HPP
#define MT5BRIDGE_LANGUAGE_STRINGS_HPP

#include "array.hpp"
#include "string.hpp"

namespace mql {

inline constexpr int TIME_DATE = 1, TIME_MINUTES = 2, TIME_SECONDS = 4;

int StringLen(const string& text);
string StringSubstr(const string& text, int start, int length = -1);
int StringFind(const string& text, const string& part, int start = 0);
ushort StringGetCharacter(const string& text, int at);
bool StringSetCharacter(string& text, int at, ushort value);
int StringCompare(const string& left, const string& right, bool case_sensitive = true);
bool StringToLower(string& text);
bool StringToUpper(string& text);
int StringTrimLeft(string& text);
int StringTrimRight(string& text);
int StringReplace(string& text, const string& find, const string& replacement);
int StringSplit(const string& text, ushort separator, array_ref<string> parts);
bool StringAdd(string& text, const string& added);
bool StringInit(string& text, int length = 0, ushort character = 0);
bool StringFill(string& text, ushort character);
bool StringReserve(string& text, uint characters);
int StringBufferLen(const string& text);

long StringToInteger(const string& text);
double StringToDouble(const string& text);
datetime StringToTime(const string& text);
int StringToCharArray(const string& text, array_ref<uchar> bytes, int start = 0, int count = -1,
                      uint codepage = CP_ACP);
string CharArrayToString(array_ref<const uchar> bytes, int start = 0, int count = -1,
                         uint codepage = CP_ACP);
int StringToShortArray(const string& text, array_ref<ushort> units, int start = 0, int count = -1);
string ShortArrayToString(array_ref<const ushort> units, int start = 0, int count = -1);
string CharToString(uchar value);
string ShortToString(ushort value);
string IntegerToString(long value, int length = 0, ushort fill = ' ');
string DoubleToString(double value, int digits = 8);
double NormalizeDouble(double value, int digits);
string TimeToString(datetime time, int mode = TIME_DATE | TIME_MINUTES);
string ColorToString(color value, bool by_name = false);
color StringToColor(const string& text);
uint ColorToARGB(color value, uchar alpha = 255);

}  // namespace mql

#endif
