//| Follows the end of a symbol's tick base, whatever woke it: each tick once and in order.
#ifndef MT5BRIDGE_MARKET_TICK_TAIL
#define MT5BRIDGE_MARKET_TICK_TAIL

#include "../EventsCallback.mqh"
#include "TickBase.mqh"
#include "TickCursor.mqh"
#include "TickStart.mqh"

#define TAIL_TICKS_MAX 8192   // told in one look; the rest at the next one

// Events only say that there may be ticks, and the terminal merges and drops them; the base has all
// of them. It is asked from the millisecond of the last tick on, leaving out what was told of it.
class TickTail
  {
private:
   TickBase     m_base;
   TickCursor   m_cursor;
   TickStart    m_from;
   bool         m_started;
   long         m_silent_msc;  // ticks up to then were there before the start

public:
                TickTail(void) { m_started = false; m_silent_msc = 0; }
   void         Begin(const string symbol, const long since_msc);
   int          Look(MqlTick &buffer[], EventsCallback *callback);
   string       Symbol(void) const { return m_base.Symbol(); }

private:
   bool         Start(void);
   int          TellNew(const MqlTick &ticks[], const int count, EventsCallback *callback);
   int          Tell(const MqlTick &tick, EventsCallback *callback);
  };

// Ticks from a millisecond of the server's time on; 0: those that come from now on.
void TickTail::Begin(const string symbol, const long since_msc)
  {
   m_base.Begin(symbol);
   m_from.Begin(symbol);
   m_silent_msc = 0;
   m_started = since_msc > 0;
   if(m_started)
      m_cursor.Seek(since_msc, 0);
   else
      Start();
  }

// False while it is not known what is new.
bool TickTail::Start(void)
  {
   m_started = m_from.Find();
   if(!m_started)
      return false;
   m_silent_msc = m_from.Msc() - 1;
   m_cursor.Seek(m_from.Msc(), m_from.Count());
   return true;
  }

// Calls OnTick for each new tick; how many there were.
int TickTail::Look(MqlTick &buffer[], EventsCallback *callback)
  {
   int told = 0;
   bool more = (m_started || Start()) && m_base.Ready((long)GetMicrosecondCount());
   while(more && told < TAIL_TICKS_MAX)
     {
      const int asked = m_cursor.CountAtMsc() + TICK_BASE_BATCH;
      const int count = m_base.Read(buffer, m_cursor.Msc(), asked);
      if(count < 0)
         return told;
      const long before_msc = m_cursor.Msc();
      const int before = m_cursor.CountAtMsc();
      told += TellNew(buffer, count, callback);
      const bool moved = m_cursor.Msc() > before_msc || m_cursor.CountAtMsc() > before;
      more = moved && count >= MathMin(asked, TICK_BASE_FULL);
     }
   return told;
  }

// Those of the cursor's millisecond are looked at one by one where a late one has slipped in.
int TickTail::TellNew(const MqlTick &ticks[], const int count, EventsCallback *callback)
  {
   int told = 0;
   const int first = m_cursor.FirstNew(ticks, count);
   const bool odd = first < 0;
   const long head_msc = m_cursor.Msc();
   for(int i = MathMax(0, first); i < count; i++)
      if(!odd || ticks[i].time_msc > head_msc || m_cursor.IsNew(ticks[i], ticks, i))
         told += Tell(ticks[i], callback);
   return told;
  }

int TickTail::Tell(const MqlTick &tick, EventsCallback *callback)
  {
   m_cursor.Take(tick);
   if(tick.time_msc <= m_silent_msc)
      return 0;
   callback.OnTick(m_base.Symbol(), tick);
   return 1;
  }

#endif
