//| UTC in milliseconds, and how far the trade server's clock is from it.
#ifndef MT5BRIDGE_MARKET_SERVER_CLOCK
#define MT5BRIDGE_MARKET_SERVER_CLOCK

#include "../Session/Moment.mqh"

#define OFFSET_STEP_S 900     // zones of the world differ by quarter hours
#define OFFSET_MAX_S  86400   // PROTOCOL 11.1
#define SECOND_MS     1000

// MetaTrader gives UTC and server time in whole seconds: the milliseconds are counted by the
// steady clock from the moment at which the second was seen to flip. The offset of the server is
// the difference of the two clocks, rounded to what a time zone can be.
class ServerClock
  {
private:
   long m_second;         // newest UTC second seen
   long m_flip_ms;        // steady clock when it was first seen
   int  m_offset_ms;
   bool m_measured;

public:
        ServerClock(void);
   void Read(Moment &now);
   long ServerMsc(const Moment &now) const { return now.utc_msc + now.utc_offset_ms; }

private:
   long UtcMsc(const long steady_ms);
   long MeasureOffset(void);
  };

ServerClock::ServerClock(void)
  {
   m_second = 0;
   m_flip_ms = 0;
   m_offset_ms = 0;
   m_measured = false;
  }

// All clocks at once.
void ServerClock::Read(Moment &now)
  {
   now.us = (long)GetMicrosecondCount();
   now.ms = (long)GetTickCount64();
   now.utc_msc = UtcMsc(now.ms);
   now.server_msc = MeasureOffset();
   now.utc_offset_ms = m_offset_ms;
  }

long ServerClock::UtcMsc(const long steady_ms)
  {
   long second = (long)TimeGMT();
   if(second != m_second)
     {
      m_second = second;
      m_flip_ms = steady_ms;
     }
   long past_flip_ms = MathMin(steady_ms - m_flip_ms, (long)(SECOND_MS - 1));
   return m_second * SECOND_MS + past_flip_ms;
  }

// Without a connection the terminal does not know the server's time: the last offset holds, and the
// time is 0.
long ServerClock::MeasureOffset(void)
  {
   bool connected = (bool)TerminalInfoInteger(TERMINAL_CONNECTED);
   if(m_measured && !connected)
      return 0;
   long server_s = (long)TimeTradeServer();
   long difference_s = server_s - (long)TimeGMT();
   if(difference_s <= -OFFSET_MAX_S || difference_s >= OFFSET_MAX_S)
      return 0;
   long shifted_s = difference_s + OFFSET_MAX_S + OFFSET_STEP_S / 2;
   m_offset_ms = (int)((shifted_s / OFFSET_STEP_S) * OFFSET_STEP_S - OFFSET_MAX_S) * SECOND_MS;
   m_measured = true;
   return connected ? server_s * SECOND_MS : 0;
  }

#endif
