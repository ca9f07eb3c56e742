//| Asks a symbol's tick base, and leaves it alone for a while when it fails.
#ifndef MT5BRIDGE_MARKET_TICK_BASE
#define MT5BRIDGE_MARKET_TICK_BASE

#define TICK_BASE_BATCH 2048   // asked at once
#define TICK_BASE_FULL 1024    // so many new ones: there may be more, whatever was asked

class TickBase
  {
private:
   string m_symbol;
   long   m_retry_us;     // it is not asked before
   int    m_told_error;
   ulong  m_failures;

public:
          TickBase(void) { m_retry_us = 0; m_told_error = 0; m_failures = 0; }
   void   Begin(const string symbol) { m_symbol = symbol; }
   string Symbol(void) const { return m_symbol; }
   bool   Ready(const long now_us) const { return now_us >= m_retry_us; }
   int    Read(MqlTick &buffer[], const long from_msc, const int asked);
   ulong  Failures(void) const { return m_failures; }
  };

// At most `asked` ticks from a millisecond on, in order; -1: it failed. A part may lack its
// beginning, so nothing is taken of it. A base that fails slowly gets at most half of the time.
int TickBase::Read(MqlTick &buffer[], const long from_msc, const int asked)
  {
   long begun_us = (long)GetMicrosecondCount();
   ResetLastError();
   int count = CopyTicks(m_symbol, buffer, COPY_TICKS_ALL, (ulong)MathMax((long)1, from_msc), (uint)asked);
   int error = GetLastError();
   if(count >= 0 && error == 0)
      return count;
   m_failures++;
   if(error != m_told_error)
      PrintFormat("%s: the tick base fails (error %d); it is asked again", m_symbol, error);
   m_told_error = error;
   long ended_us = (long)GetMicrosecondCount();
   m_retry_us = ended_us + (ended_us - begun_us);
   return -1;
  }

#endif
