//| UTC in milliseconds, and how far the trade server's clock is from it.
#ifndef MT5BRIDGE_MARKET_SERVER_CLOCK
#define MT5BRIDGE_MARKET_SERVER_CLOCK

#include "../Session/Moment.mqh"

#define OFFSET_STEP_S 900     // zones of the world differ by quarter hours
#define OFFSET_MAX_S  86400   // PROTOCOL 11.1
#define SECOND_MS     1000
#define LIVE_SPAN_MS  5000    // quotes that kept pace for so long come as they are made
#define LIVE_SLACK_MS 2000

// MetaTrader gives UTC and server time in whole seconds: the milliseconds are counted by the
// steady clock from the moment at which the second was seen to flip. The offset of the server is
// the difference of the two clocks, rounded to what a time zone can be.
//
// TimeTradeServer() is counted by this computer's clock, which may be set wrong. TimeCurrent() is the
// server's own time of its newest quote, which never runs ahead. It may be old: of a closed market,
// or of a terminal that is still behind. Once it has kept pace with the steady clock it is not.
class ServerClock
  {
private:
   long m_second;         // newest UTC second seen
   long m_flip_ms;        // steady clock when it was first seen
   int  m_offset_ms;
   bool m_measured;
   long m_quote;          // newest TimeCurrent(), seconds
   long m_quote_ms;       // steady clock when it was first seen
   long m_pace;           // a TimeCurrent() that all later ones kept pace with
   long m_pace_ms;
   bool m_live;           // they did for LIVE_SPAN_MS

public:
        ServerClock(void);
   void Read(Moment &now);

private:
   long UtcMsc(const long steady_ms);
   long MeasureOffset(void);
   long QuotedMsc(const long steady_ms);
   long MarketMsc(const Moment &now) const;
  };

ServerClock::ServerClock(void)
  {
   m_second = 0;
   m_flip_ms = 0;
   m_offset_ms = 0;
   m_measured = false;
   m_quote = 0;
   m_quote_ms = 0;
   m_pace = 0;
   m_pace_ms = 0;
   m_live = false;
  }

// All clocks at once.
void ServerClock::Read(Moment &now)
  {
   now.us = (long)GetMicrosecondCount();
   now.ms = (long)GetTickCount64();
   now.utc_msc = UtcMsc(now.ms);
   now.server_msc = MeasureOffset();
   now.utc_offset_ms = m_offset_ms;
   now.quoted_msc = QuotedMsc(now.ms);
   now.live = m_live;
   now.market_msc = MarketMsc(now);
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

// The steady clock carries the time of the newest quote on.
long ServerClock::QuotedMsc(const long steady_ms)
  {
   long quote = (long)TimeCurrent();
   if(quote != m_quote)
     {
      long ahead_ms = (quote - m_pace) * SECOND_MS - (steady_ms - m_pace_ms);
      if(MathAbs(ahead_ms) > LIVE_SLACK_MS)
        {
         m_pace = quote;
         m_pace_ms = steady_ms;
        }
      m_live = steady_ms - m_pace_ms >= LIVE_SPAN_MS;
      m_quote = quote;
      m_quote_ms = steady_ms;
     }
   return quote == 0 ? 0 : quote * SECOND_MS + steady_ms - m_quote_ms;
  }

// Quotes that may be old only tell that it is not earlier; further from this computer's clock than
// a zone can be, they tell nothing of UTC.
long ServerClock::MarketMsc(const Moment &now) const
  {
   long market_msc = now.quoted_msc - now.utc_offset_ms;
   if(MathAbs(market_msc - now.utc_msc) >= (long)OFFSET_MAX_S * SECOND_MS)
      return now.utc_msc;
   return m_live ? market_msc : MathMax(market_msc, now.utc_msc);
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
