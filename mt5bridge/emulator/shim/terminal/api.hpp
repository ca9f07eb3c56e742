// The terminal's half of MQL5's functions and structures, as programs see them: symbols, ticks,
// time, events, indicators, sockets and information about the terminal.
#pragma once

#include "bars_api.hpp"
#include "enum_names.hpp"
#include "enums.hpp"
#include "objects_api.hpp"
#include "language/language.hpp"

namespace mql {

#pragma pack(push, 1)
struct MqlTick {  // not initialised, as in the terminal
  datetime time;
  double bid, ask, last;
  ulong volume;
  long time_msc;
  uint flags;
  double volume_real;
};

struct MqlBookInfo {
  ENUM_BOOK_TYPE type;
  double price;
  long volume;
  double volume_real;
};

#pragma pack(pop)

struct MqlParam {
  ENUM_DATATYPE type{};
  long integer_value = 0;
  double double_value = 0;
  string string_value;
};
static_assert(sizeof(MqlTick) == 60, "MqlTick is 60 bytes in the terminal");

// --- ticks
int CopyTicks(const string& symbol, array_ref<MqlTick> ticks, uint flags = COPY_TICKS_ALL,
              ulong from_msc = 0, uint count = 0);
int CopyTicksRange(const string& symbol, array_ref<MqlTick> ticks, uint flags = COPY_TICKS_ALL,
                   ulong from_msc = 0, ulong to_msc = 0);

// --- symbols
int SymbolsTotal(bool selected);
string SymbolName(int index, bool selected);
bool SymbolSelect(const string& symbol, bool select);
bool SymbolExist(const string& symbol, bool& is_custom);
bool SymbolIsSynchronized(const string& symbol);
bool SymbolInfoTick(const string& symbol, MqlTick& tick);
long SymbolInfoInteger(const string& symbol, ENUM_SYMBOL_INFO_INTEGER property);
bool SymbolInfoInteger(const string& symbol, ENUM_SYMBOL_INFO_INTEGER property, long& value);
double SymbolInfoDouble(const string& symbol, ENUM_SYMBOL_INFO_DOUBLE property);
bool SymbolInfoDouble(const string& symbol, ENUM_SYMBOL_INFO_DOUBLE property, double& value);
string SymbolInfoString(const string& symbol, ENUM_SYMBOL_INFO_STRING property);
bool SymbolInfoString(const string& symbol, ENUM_SYMBOL_INFO_STRING property, string& value);
bool SymbolInfoSessionQuote(const string& symbol, ENUM_DAY_OF_WEEK day, uint session,
                            datetime& from, datetime& to);
bool SymbolInfoSessionTrade(const string& symbol, ENUM_DAY_OF_WEEK day, uint session,
                            datetime& from, datetime& to);
bool MarketBookAdd(const string& symbol);
bool MarketBookRelease(const string& symbol);
bool MarketBookGet(const string& symbol, array_ref<MqlBookInfo> book);

// --- the chart of the running program
string Symbol();
double Point();
int Digits();
ENUM_TIMEFRAMES Period();
int PeriodSeconds(ENUM_TIMEFRAMES period = PERIOD_CURRENT);
long ChartID();
string ChartSymbol(long chart_id = 0);
bool ChartSetSymbolPeriod(long chart_id, const string& symbol, ENUM_TIMEFRAMES period);

// --- time
datetime TimeCurrent();
datetime TimeTradeServer();
datetime TimeGMT();
datetime TimeLocal();
int TimeGMTOffset();
int TimeDaylightSavings();
uint GetTickCount();
ulong GetTickCount64();
ulong GetMicrosecondCount();
void Sleep(int ms);

// --- events and the running program
bool EventSetTimer(int seconds);
bool EventSetMillisecondTimer(int ms);
void EventKillTimer();
bool EventChartCustom(long chart_id, ushort event, long lparam, double dparam,
                      const string& sparam);
bool IsStopped();
void ExpertRemove();
int UninitializeReason();
int MQLInfoInteger(ENUM_MQL_INFO_INTEGER property);
string MQLInfoString(ENUM_MQL_INFO_STRING property);
int TerminalInfoInteger(ENUM_TERMINAL_INFO_INTEGER property);
double TerminalInfoDouble(ENUM_TERMINAL_INFO_DOUBLE property);
string TerminalInfoString(ENUM_TERMINAL_INFO_STRING property);

// --- indicators
int create_indicator(const string& symbol, const string& name,
                     const std::vector<std::string>& inputs);
bool IndicatorRelease(int handle);
int IndicatorCreate(const string& symbol, ENUM_TIMEFRAMES period, ENUM_INDICATOR type, int count = 0,
                    array_ref<const MqlParam> parameters = null);
int BarsCalculated(int handle);

template <class... Inputs>
int iCustom(const string& symbol, ENUM_TIMEFRAMES, const string& name, const Inputs&... inputs) {
  return create_indicator(symbol, name, {input_text(inputs)...});
}

// --- sockets (client TCP)
int SocketCreate(uint flags = 0);
bool SocketConnect(int socket, const string& server, uint port, uint timeout_ms);
bool SocketIsConnected(int socket);
uint SocketIsReadable(int socket);
bool SocketIsWritable(int socket);
bool SocketTimeouts(int socket, uint send_ms, uint receive_ms);
int SocketRead(int socket, array_ref<uchar> buffer, uint size, uint timeout_ms);
int SocketSend(int socket, array_ref<const uchar> buffer, uint size);
bool SocketClose(int socket);

// Not part of the emulated terminal: a program that uses them does not compile.
bool SocketTlsHandshake(int socket, const string& host) = delete;
int SocketTlsRead(int socket, array_ref<uchar> buffer, uint size) = delete;
int SocketTlsReadAvailable(int socket, array_ref<uchar> buffer, uint size) = delete;
int SocketTlsSend(int socket, array_ref<const uchar> buffer, uint size) = delete;

}  // namespace mql
