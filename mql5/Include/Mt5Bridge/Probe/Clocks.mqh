//| How fine the clocks are, and how they go together.
#ifndef MT5BRIDGE_PROBE_CLOCKS_MQH
#define MT5BRIDGE_PROBE_CLOCKS_MQH

#include "Facts.mqh"

#define PROBE_STEPS_US    100000
#define PROBE_FLIP_MS_MAX 1500
#define QUARTER_HOUR_S    900

// The smallest step of each steady clock, and whether one ever goes back.
void ProbeSteps(ProbeFacts &facts)
  {
   const ulong begin_us = GetMicrosecondCount();
   ulong before_us = begin_us;
   ulong before_ms = GetTickCount64();
   ulong step_us = 0;
   ulong step_ms = 0;
   int backwards = 0;
   while(before_us - begin_us < PROBE_STEPS_US)
     {
      const ulong us = GetMicrosecondCount();
      const ulong ms = GetTickCount64();
      backwards += us < before_us || ms < before_ms ? 1 : 0;
      if(us > before_us && (step_us == 0 || us - before_us < step_us))
         step_us = us - before_us;
      if(ms > before_ms && (step_ms == 0 || ms - before_ms < step_ms))
         step_ms = ms - before_ms;
      before_us = us;
      before_ms = ms;
     }
   facts.Whole("clock.backwards", backwards);
   facts.Whole("clock.microsecond_step_us", (long)step_us);
   facts.Whole("clock.tick_count_step_ms", (long)step_ms);
  }

// The steady clock when TimeGMT is next seen to flip; 0: it does not.
ulong ProbeFlip(void)
  {
   const datetime second = TimeGMT();
   const ulong begin_us = GetMicrosecondCount();
   ulong us = begin_us;
   while(us - begin_us < PROBE_FLIP_MS_MAX * 1000)
     {
      if(TimeGMT() != second)
         return(us);
      us = GetMicrosecondCount();
     }
   return(0);
  }

void ProbeSeconds(ProbeFacts &facts)
  {
   const ulong first_us = ProbeFlip();
   const ulong second_us = first_us > 0 ? ProbeFlip() : 0;
   if(first_us == 0 || second_us == 0)
      facts.Skip("clock.gmt_second_ms", "TimeGMT did not go on");
   else
      facts.Whole("clock.gmt_second_ms", (long)(second_us - first_us) / 1000);
   const long offset_s = (long)TimeTradeServer() - (long)TimeGMT();
   const long shifted_s = (offset_s % QUARTER_HOUR_S + QUARTER_HOUR_S + QUARTER_HOUR_S / 2) % QUARTER_HOUR_S;
   facts.Whole("clock.server_offset_odd_s", shifted_s - QUARTER_HOUR_S / 2);
   facts.Whole("clock.current_ahead_s", MathMax((long)0, (long)TimeCurrent() - (long)TimeTradeServer()));
  }

void ProbeClocks(ProbeFacts &facts)
  {
   ProbeSteps(facts);
   ProbeSeconds(facts);
  }

#endif
