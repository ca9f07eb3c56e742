//| How far the trade server's quotes have reached this terminal.
#ifndef MT5BRIDGE_MARKET_FEED_CLOCK
#define MT5BRIDGE_MARKET_FEED_CLOCK

#include "../Session/Moment.mqh"

#define FEED_STEP_MS 1000  // quotes of different symbols are no further out of step

// The newest quote of any symbol says that older ones of all symbols are here. While none comes, the
// server's clock does, `grace_ms` later, as long as the terminal is connected. After an interruption
// nothing is known until the terminal has had `grace_ms` to fetch what it missed.
//
// The server's clock is its quotes', carried on by the steady clock. TimeTradeServer() is counted by this
// computer's, which may be set wrong: ahead, it would promise what is still to come. So it only
// holds the other back, and goes on alone where there are no quotes that could tell, as at a weekend.
class FeedClock
  {
private:
   long m_grace_ms;
   bool m_connected;
   long m_since_ms;    // steady clock when it was first seen connected
   long m_quote;       // newest TimeCurrent(), seconds
   long m_quote_ms;    // steady clock when it was first seen
   bool m_told;        // that this computer's clock decides

public:
        FeedClock(void) { Begin(0); }
   void Begin(const long grace_ms);
   long ReachedMsc(const Moment &now);

private:
   long SilentMsc(const Moment &now);
  };

void FeedClock::Begin(const long grace_ms)
  {
   m_grace_ms = grace_ms;
   m_connected = false;
   m_since_ms = 0;
   m_quote = 0;
   m_quote_ms = 0;
   m_told = false;
  }

// Server time: every earlier tick is in the tick bases by now, but for late ones; 0: not known.
long FeedClock::ReachedMsc(const Moment &now)
  {
   if(now.server_msc == 0)
     {
      m_connected = false;
      return 0;
     }
   if(!m_connected)
     {
      m_connected = true;
      m_since_ms = now.ms;
     }
   long quote = (long)TimeCurrent();
   if(quote != m_quote)
     {
      m_quote = quote;
      m_quote_ms = now.ms;
     }
   if(now.ms - m_since_ms < m_grace_ms)
      return 0;
   long quoted_msc = MathMin(quote * 1000 - FEED_STEP_MS, now.server_msc);
   return MathMax(quoted_msc, SilentMsc(now) - m_grace_ms);
  }

// The server's clock, as far as it is known without a new quote; 0: not at all.
long FeedClock::SilentMsc(const Moment &now)
  {
   if(now.live)
      return MathMin(now.quoted_msc, now.server_msc);
   const long silent_ms = now.ms - MathMax(m_quote_ms, m_since_ms);
   if(silent_ms < 2 * m_grace_ms)
      return 0;
   if(!m_told)
      Print("no quotes: up to when ticks are complete follows this computer's clock until one comes");
   m_told = true;
   return now.server_msc;
  }

#endif
