//| Where what is new of a symbol begins, when a program has started.
#ifndef MT5BRIDGE_MARKET_TICK_START
#define MT5BRIDGE_MARKET_TICK_START

#define START_TICKS_MAX 1024   // of one millisecond
#define START_SLACK_MS  1000   // a quote's time and the time at which it comes

// Behind the symbol's quote of now. Right after a login there may be none yet: then behind the newest
// tick that the base has of earlier days. While that cannot be asked, nothing is known, and the first
// quote decides: it came after the last look that found none, and so did all that is new.
class TickStart
  {
private:
   string m_symbol;
   long   m_msc;          // of the first tick that is new, -1 not known
   int    m_count;        // so many of that millisecond are not new
   long   m_unquoted_ms;  // steady time of the last look that found no quote, -1 none

public:
          TickStart(void) { Begin(""); }
   void   Begin(const string symbol);
   bool   Find(void);
   long   Msc(void) const { return m_msc; }
   int    Count(void) const { return m_count; }

private:
   bool   Found(const long msc, const int count);
   bool   Quote(MqlTick &newest) const { return SymbolInfoTick(m_symbol, newest) && newest.time_msc > 0; }
   bool   Quoted(void);
   bool   FindInBase(void);
  };

void TickStart::Begin(const string symbol)
  {
   m_symbol = symbol;
   m_msc = m_unquoted_ms = -1;
   m_count = 0;
  }

bool TickStart::Found(const long msc, const int count)
  {
   m_msc = MathMax((long)0, msc);
   m_count = count;
   return true;
  }

// Whether it is known; call it until it is, at least as often as ticks are looked for.
bool TickStart::Find(void)
  {
   if(m_msc >= 0 || Quoted())
      return true;
   const long looked_ms = (long)GetTickCount64();
   if(FindInBase())
      return true;
   if(TimeCurrent() > 0)
      return Found((long)TimeCurrent() * 1000, 0);
   m_unquoted_ms = looked_ms;
   return false;
  }

// A quote that was there at the first look is not new.
bool TickStart::Quoted(void)
  {
   MqlTick newest;
   if(!Quote(newest))
      return false;
   if(m_unquoted_ms < 0)
      return Found(newest.time_msc + 1, 0);
   return Found(newest.time_msc - ((long)GetTickCount64() - m_unquoted_ms) - START_SLACK_MS, 0);
  }

// Asking may take as long as the terminal needs to fetch the history; if a quote has come meanwhile,
// the newest tick may be a new one.
bool TickStart::FindInBase(void)
  {
   MqlTick ticks[];
   MqlTick quote;
   if(!TerminalInfoInteger(TERMINAL_CONNECTED))
      return false;
   ResetLastError();
   const int count = CopyTicks(m_symbol, ticks, COPY_TICKS_ALL, 0, START_TICKS_MAX);
   if(count <= 0 || GetLastError() != 0 || Quote(quote))
      return false;
   const long msc = ticks[count - 1].time_msc;
   int same = 1;
   while(same < count && ticks[count - 1 - same].time_msc == msc)
      same++;
   return Found(msc, same);
  }

#endif
