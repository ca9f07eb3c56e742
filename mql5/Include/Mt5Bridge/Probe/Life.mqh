//| What only an expert can measure: events, and what is left of it when its chart's period changes.
#ifndef MT5BRIDGE_PROBE_LIFE_MQH
#define MT5BRIDGE_PROBE_LIFE_MQH

#include "Facts.mqh"

#define PROBE_LIFE_FILE     "Mt5Bridge\\probe-life.json"
#define PROBE_LIFE_SCRATCH  "Mt5Bridge\\probe-life.tmp"
#define PROBE_LIFE_VARIABLE "Mt5Bridge.ProbeLife"  // there while the period is being changed
#define PROBE_EVENT_MANY    1      // number of the custom event that is sent many times
#define PROBE_EVENT_WHOLE   2      // of one with numbers and a text in it
#define PROBE_EVENTS        100
#define PROBE_NUMBER        9007199254740993  // a double has no such number
#define PROBE_TIMERS        50
#define PROBE_EVENTS_MS     5000   // so long for what has been sent
#define PROBE_QUIET_MS      1000   // so long for a timer that nobody has set in this run

enum ProbePhase
  {
   PROBE_NEW,
   PROBE_EVENTS_SENT,
   PROBE_CHANGING,   // the terminal was asked for another period
   PROBE_CHANGED,
   PROBE_DONE
  };

// A global object of an expert; it changes the chart's period, and back, and removes the expert.
class LifeProbe
  {
private:
   ProbeFacts        m_facts;
   ProbePhase        m_phase;
   ENUM_TIMEFRAMES   m_period;      // the user's
   int               m_file;
   int               m_reason;      // that OnDeinit was told
   ulong             m_begin_ms;
   ulong             m_before_us;
   ulong             m_least_us;    // between two timers
   int               m_timers;
   int               m_many;
   bool              m_arrived;
   bool              m_whole;

   void              Send(void) const
     {
      for(int i = 0; i < PROBE_EVENTS; i++)
         EventChartCustom(0, PROBE_EVENT_MANY, i, 0.0, "");
      EventChartCustom(0, PROBE_EVENT_WHOLE, PROBE_NUMBER, 0.1, "Mt5");
     }

   void              Measure(void)
     {
      const ulong us = GetMicrosecondCount();
      if(m_timers == 0)
         Send();
      else if(m_least_us == 0 || us - m_before_us < m_least_us)
         m_least_us = us - m_before_us;
      m_before_us = us;
      m_timers++;
      if(m_timers <= PROBE_TIMERS || (!m_arrived && GetTickCount64() - m_begin_ms < PROBE_EVENTS_MS))
         return;
      m_facts.Whole("event.timer_step_us", (long)m_least_us);
      m_facts.Whole("event.many_of_one_number", m_many);
      m_facts.Truth("event.whole", m_whole);
      Change();
     }

   // What is left open here is left on purpose.
   void              Change(void)
     {
      m_file = FileOpen(PROBE_LIFE_SCRATCH, FILE_WRITE | FILE_TXT | FILE_ANSI);
      GlobalVariableTemp(PROBE_LIFE_VARIABLE);
      m_period = _Period;
      m_phase = PROBE_CHANGING;
      if(ChartSetSymbolPeriod(0, NULL, m_period == PERIOD_M1 ? PERIOD_M5 : PERIOD_M1))
         return;
      m_facts.Skip("life.", StringFormat("the chart's period cannot be changed (error %d)", GetLastError()));
      Finish();
      ExpertRemove();
     }

   void              Remember(const bool kept) { m_facts.Truth("life.globals_kept", kept); }

   void              Look(void)
     {
      Remember(true);
      m_facts.Whole("life.reason_of_ondeinit", m_reason);
      m_facts.Whole("life.reason_in_oninit", UninitializeReason());
      m_facts.Truth("life.file_stays_open", FileWriteString(m_file, "x") > 0);
      FileClose(m_file);
      FileDelete(PROBE_LIFE_SCRATCH);
      m_begin_ms = GetTickCount64();
      m_phase = PROBE_CHANGED;
     }

   void              Conclude(const bool timer_stays)
     {
      m_facts.Truth("life.timer_stays", timer_stays);
      EventKillTimer();
      Finish();
      ChartSetSymbolPeriod(0, NULL, m_period);
     }

   void              Finish(void)
     {
      m_phase = PROBE_DONE;
      GlobalVariableDel(PROBE_LIFE_VARIABLE);
      ResetLastError();
      if(m_facts.Write(PROBE_LIFE_FILE))
         PrintFormat("%d facts of this terminal are in Files\\%s: `mt5cep terminal doctor` judges them", m_facts.Count(), PROBE_LIFE_FILE);
      else
         PrintFormat("Files\\%s cannot be written (error %d)", PROBE_LIFE_FILE, GetLastError());
     }

public:
                     LifeProbe(void)
     {
      m_phase = PROBE_NEW;
      m_period = PERIOD_CURRENT;
      m_file = INVALID_HANDLE;
      m_reason = m_timers = m_many = 0;
      m_begin_ms = m_before_us = m_least_us = 0;
      m_arrived = m_whole = false;
     }

   // From OnInit; what to return there.
   int               Init(void)
     {
      if(m_phase == PROBE_CHANGING)
        {
         Look();
         return(INIT_SUCCEEDED);
        }
      const bool lost = m_phase == PROBE_NEW && GlobalVariableCheck(PROBE_LIFE_VARIABLE);
      if(m_phase == PROBE_NEW && !lost)
        {
         m_phase = PROBE_EVENTS_SENT;
         m_begin_ms = GetTickCount64();
         return(EventSetMillisecondTimer(1) ? INIT_SUCCEEDED : INIT_FAILED);
        }
      if(lost)
        {
         Remember(false);
         Finish();
        }
      ExpertRemove();
      return(INIT_SUCCEEDED);
     }

   // From OnDeinit.
   void              Deinit(const int reason)
     {
      m_reason = reason;
      if(reason != REASON_CHARTCHANGE)
         GlobalVariableDel(PROBE_LIFE_VARIABLE);
     }

   void              Timer(void)
     {
      if(m_phase == PROBE_EVENTS_SENT)
         Measure();
      else if(m_phase == PROBE_CHANGED)
         Conclude(true);
     }

   void              Tick(void)
     {
      if(m_phase == PROBE_CHANGED && GetTickCount64() - m_begin_ms >= PROBE_QUIET_MS)
         Conclude(false);
     }

   void              ChartEvent(const int id, const long number, const double share, const string text)
     {
      if(id == CHARTEVENT_CUSTOM + PROBE_EVENT_MANY)
         m_many++;
      if(id != CHARTEVENT_CUSTOM + PROBE_EVENT_WHOLE)
         return;
      m_arrived = true;
      m_whole = number == PROBE_NUMBER && share == 0.1 && text == "Mt5";
     }
  };

#endif
