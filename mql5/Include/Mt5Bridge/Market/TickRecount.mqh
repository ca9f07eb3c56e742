//| Recounts closed intervals of a symbol's tick base and mends what differs.
#ifndef MT5BRIDGE_MARKET_TICK_RECOUNT
#define MT5BRIDGE_MARKET_TICK_RECOUNT

#include "TickPump.mqh"

#define RECOUNT_RETRY_MS 1000
#define SECOND_LOOK_RETRY_MS 50

// An interval is closed when the trade server's time is past it, or when no tick has come for long.
// Ticks that the base holds and the pump has not seen slipped in behind its cursor: they are sent as
// late ticks. Then a RECOUNT frame lets the daemon compare with what it has received.
class TickRecount
  {
private:
   PumpSettings m_settings;
   long         m_due_ms;
   long         m_again_ms;
   ulong        m_surplus;
   ulong        m_intervals;

public:
                TickRecount(void) { m_due_ms = m_again_ms = 0; m_surplus = m_intervals = 0; }
   void         Begin(const PumpSettings &settings) { m_settings = settings; }
   bool         Next(TickPump *pump, MqlTick &buffer[], const Moment &now, RecountFrame &frame);
   ulong        Surplus(void) const { return m_surplus; }
   ulong        Intervals(void) const { return m_intervals; }

private:
   long         DueTo(const TickPump *pump, const Moment &now) const;
   bool         Blind(TickPump *pump, MqlTick &buffer[], RecountFrame &frame);
   bool         SecondLook(TickPump *pump, MqlTick &buffer[], const Moment &now, RecountFrame &frame);
   bool         Mend(TickPump *pump, const MqlTick &buffer[], const int count, const long from_msc, const long to_msc, const Moment &now, int &late, int &surplus);
   void         Fill(const TickPump *pump, const long from_msc, const long to_msc, const int count, RecountFrame &frame) const;
   int          Read(const TickPump *pump, MqlTick &buffer[], const long from_msc, const long to_msc);
   void         Postpone(const Moment &now, const long pause_ms) { m_due_ms = MathMax(m_due_ms, now.ms + pause_ms); }
  };

// Closes one interval if one is due and mended; then `frame` tells the daemon.
bool TickRecount::Next(TickPump *pump, MqlTick &buffer[], const Moment &now, RecountFrame &frame)
  {
   if(!pump.Started() || now.ms < m_due_ms)
      return false;
   if(Blind(pump, buffer, frame))
      return true;
   long to_msc = DueTo(pump, now);
   if(pump.WantsSecondLook() || (to_msc <= pump.OpenMsc() && now.ms >= m_again_ms))
      return SecondLook(pump, buffer, now, frame);
   if(to_msc <= pump.OpenMsc())
      return false;
   long from_msc = pump.OpenMsc();
   int late = 0;
   int surplus = 0;
   int count = Read(pump, buffer, from_msc, to_msc);
   if(count < 0 || !Mend(pump, buffer, count, from_msc, to_msc, now, late, surplus))
     {
      Postpone(now, RECOUNT_RETRY_MS);
      return false;
     }
   if(surplus > 0)
      PrintFormat("%s: %d ticks sent are not in the tick base any more before %I64d", pump.Symbol(), surplus, to_msc);
   m_surplus += (ulong)surplus;
   Fill(pump, from_msc, to_msc, count, frame);
   pump.Close(to_msc, now);
   m_intervals++;
   return true;
  }

// When there is time, and before anything is forgotten, all that is remembered is compared once
// more, for ticks that came after their interval was closed; true if there were any: then `frame`
// speaks of all of it.
bool TickRecount::SecondLook(TickPump *pump, MqlTick &buffer[], const Moment &now, RecountFrame &frame)
  {
   int late = 0;
   int surplus = 0;
   int count = pump.KnownMsc() < pump.OpenMsc() ? Read(pump, buffer, pump.KnownMsc(), pump.OpenMsc()) : 0;
   if(count < 0 || (count > 0 && !Mend(pump, buffer, count, pump.KnownMsc(), pump.OpenMsc(), now, late, surplus)))
     {
      Postpone(now, SECOND_LOOK_RETRY_MS);
      return false;
     }
   pump.Looked();
   m_again_ms = now.ms + m_settings.quiet_ms;
   if(late == 0)
      return false;
   Fill(pump, pump.KnownMsc(), pump.OpenMsc(), count, frame);
   return true;
  }

// Where the open interval ends if it can be closed now; 0: it cannot.
long TickRecount::DueTo(const TickPump *pump, const Moment &now) const
  {
   long step = m_settings.interval_ms;
   long reached_msc = pump.CaughtUp() ? (long)TimeCurrent() * 1000 : pump.CursorMsc();
   long closed_msc = (reached_msc - m_settings.grace_ms) / step * step;
   long oldest_msc = pump.OldestOpenMsc();
   long next_msc = (pump.OpenMsc() / step + 1) * step;
   if(closed_msc >= next_msc)
      return MathMin(closed_msc, MathMax(next_msc, oldest_msc / step * step));
   bool quiet = pump.CaughtUp() && now.ms - pump.TakenMs() > m_settings.quiet_ms;
   return quiet && oldest_msc <= pump.CursorMsc() ? pump.CursorMsc() + 1 : 0;
  }

// Of the time before a restart without memory the terminal knows only what the base holds now.
bool TickRecount::Blind(TickPump *pump, MqlTick &buffer[], RecountFrame &frame)
  {
   long from_msc = pump.TakeBlindMsc();
   if(from_msc <= 0)
      return false;
   int count = Read(pump, buffer, from_msc, pump.OpenMsc());
   if(count < 0)
      return false;
   Fill(pump, from_msc, pump.OpenMsc(), count, frame);
   return true;
  }

// -1: it failed. A base that fails slowly gets at most half of the time.
int TickRecount::Read(const TickPump *pump, MqlTick &buffer[], const long from_msc, const long to_msc)
  {
   long begun_ms = (long)GetTickCount64();
   ResetLastError();
   int count = CopyTicksRange(pump.Symbol(), buffer, COPY_TICKS_ALL, (ulong)MathMax((long)1, from_msc), (ulong)(to_msc - 1));
   if(GetLastError() == 0)
      return count;
   long ended_ms = (long)GetTickCount64();
   m_due_ms = ended_ms + (ended_ms - begun_ms);
   return -1;
  }

// Takes what the base holds more than the pump has seen. False: not all of it yet, since the pump
// itself is behind, or there is room for a part only; the next call takes more.
bool TickRecount::Mend(TickPump *pump, const MqlTick &buffer[], const int count, const long from_msc, const long to_msc, const Moment &now, int &late, int &surplus)
  {
   int missing[];
   int found = pump.Missing(buffer, count, from_msc, to_msc, missing, surplus);
   for(int i = 0; i < found; i++)
      if(buffer[missing[i]].time_msc >= pump.CursorMsc())
         return false;
   late = 0;
   while(late < found && pump.TakeLate(buffer, missing[late], now))
      late++;
   if(late > 0)
     {
      pump.Flush();  // a restart has to know of them before they are sent
      PrintFormat("%s: %d late ticks before %I64d found by recount and sent", pump.Symbol(), late, to_msc);
     }
   return late == found;
  }

void TickRecount::Fill(const TickPump *pump, const long from_msc, const long to_msc, const int count, RecountFrame &frame) const
  {
   TickOutbox *box = pump.Box();
   frame.stream = box.Stream();
   frame.sequence = box.Taken();
   frame.from_msc = from_msc;
   frame.to_msc = to_msc;
   frame.count = (uint)count;
  }

#endif
