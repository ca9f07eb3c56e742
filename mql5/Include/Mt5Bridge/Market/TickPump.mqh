//| Takes a symbol's ticks from the tick base, each once and in order, whatever woke it.
#ifndef MT5BRIDGE_MARKET_TICK_PUMP
#define MT5BRIDGE_MARKET_TICK_PUMP

#include "../Account.mqh"
#include "../Session/Moment.mqh"
#include "../Session/TickOutbox.mqh"
#include "LedgerFile.mqh"
#include "PumpSettings.mqh"
#include "TickBase.mqh"
#include "TickCursor.mqh"
#include "TickStart.mqh"

#define LEDGER_SAVE_MS 1000    // a ledger that is only written anew, at most so often
#define SECOND_LOOK_TICKS 16384  // after so many all that is remembered is compared once more

// OnTick, OnTimer, OnChartEvent and OnBookEvent only say that there may be ticks: events are
// skipped and merged by the terminal, the base is not. So each of them leads here, and the base is
// asked from the millisecond of the last tick on, leaving out what was taken of it.
class TickPump
  {
private:
   string       m_symbol;
   TickBase     m_base;
   TickOutbox  *m_box;
   PumpSettings m_settings;
   TickCursor   m_cursor;
   TickLedger   m_ledger;
   LedgerFile   m_file;
   TickStart    m_from;         // where a stream that the daemon never saw begins
   ResumeEntry  m_resume;       // what the daemon has said, while that is not known
   bool         m_waits;        // for it, or for a ledger that is held
   bool         m_told_held;
   long         m_blind_msc;    // from here to the start nothing is known by content; 0: all is
   bool         m_started;
   bool         m_caught_up;
   long         m_taken_ms;     // steady time of the last tick taken
   long         m_saved_ms;
   bool         m_written;      // the ledger, when it was last to be written anew
   ulong        m_looked;       // up to this number ticks had a second look
   ulong        m_late;

public:
                TickPump(void);
   void         Begin(const string symbol, TickOutbox *box, const PumpSettings &settings);
   void         Start(const ResumeEntry &resume, const Moment &now);
   int          Pump(MqlTick &buffer[], const Moment &now);
   void         PumpWhole(MqlTick &buffer[], const Moment &now, const long reached_msc);
   bool         TakeLate(const MqlTick &ticks[], const int index, const Moment &now);
   void         Flush(void);
   bool         End(void);
   void         Close(const long to_msc, const Moment &now);
   int          Missing(const MqlTick &base[], const int count, const long from_msc, const long to_msc, int &missing[], int &surplus) const
     { return m_ledger.Missing(base, count, from_msc, to_msc, missing, surplus); }
   string       Symbol(void) const { return m_symbol; }
   TickOutbox  *Box(void) const { return m_box; }
   bool         Started(void) const { return m_started; }
   bool         CaughtUp(void) const { return m_caught_up; }
   long         TakenMs(void) const { return m_taken_ms; }
   long         CursorMsc(void) const { return m_cursor.Msc(); }
   long         KnownMsc(void) const { return m_ledger.KnownMsc(); }
   long         OpenMsc(void) const { return m_ledger.OpenMsc(); }
   long         OldestOpenMsc(void) const { return m_ledger.OldestOpen(); }
   long         TakeBlindMsc(void);
   bool         WantsSecondLook(void) const { return m_started && m_ledger.Last() >= m_looked + SECOND_LOOK_TICKS; }
   void         Looked(void) { m_looked = m_ledger.Last(); }
   ulong        Late(void) const { return m_late; }
   ulong        Failures(void) const { return m_base.Failures(); }

private:
   bool         WaitsForLedger(void);
   void         StartFresh(const bool known);
   void         StartBlind(const ResumeEntry &resume, const bool known);
   bool         Restore(const LedgerPlace &place, const ResumeEntry &resume);
   void         Rewrite(void);
   bool         CatchUp(const LedgerPlace &place, const ResumeEntry &resume);
   int          TakeRead(const MqlTick &ticks[], const int count, const Moment &now);
   int          TakeOddHead(const MqlTick &ticks[], const int count, int &index, const Moment &now);
   bool         Take(const MqlTick &ticks[], const int from, const int count, const Moment &now);
  };

TickPump::TickPump(void)
  {
   m_box = NULL;
   m_blind_msc = 0;
   m_started = m_waits = m_told_held = m_caught_up = false;
   m_taken_ms = m_saved_ms = 0;
   m_looked = m_late = 0;
   m_written = true;
  }

// At program start: a stream that is new to the daemon begins here, not when it answers.
void TickPump::Begin(const string symbol, TickOutbox *box, const PumpSettings &settings)
  {
   m_symbol = symbol;
   m_base.Begin(symbol);
   m_box = box;
   m_settings = settings;
   m_box.Hold(settings.writes_ahead && settings.appends);
   if(settings.folder != "")
      m_file.Name(settings.folder + "\\" + SafeFileName(symbol) + ".ledger", settings.appends);
   m_from.Begin(symbol);
   m_from.Find();
  }

// The daemon has said where the stream goes on (PROTOCOL 6.7, 6.8).
void TickPump::Start(const ResumeEntry &resume, const Moment &now)
  {
   LedgerPlace place;
   bool known = m_file.Load(m_ledger, place);
   bool again = known && resume.durable == 0 && m_ledger.First() == 1;
   m_resume = resume;
   m_waits = WaitsForLedger() || (resume.time_msc == 0 && !again && !m_from.Find());
   m_started = !m_waits;
   if(m_waits)
      return;
   if(resume.time_msc == 0)
      StartFresh(again);
   else if(known && m_ledger.First() <= resume.durable + 1 && Restore(place, resume))
      m_cursor.SeekKnown(resume.time_msc, m_ledger);
   else
      StartBlind(resume, known);
   m_looked = m_ledger.First() - 1;
   m_box.Whole(m_cursor.Msc() - now.utc_offset_ms);
   Rewrite();
  }

// A virus scanner or a backup may hold the file: without it late ticks of before are not known.
bool TickPump::WaitsForLedger(void)
  {
   if(m_file.Held() && !m_told_held)
      PrintFormat("%s: its ledger cannot be read (error %d); it is tried again, and nothing is sent before", m_symbol, GetLastError());
   m_told_held = m_file.Held();
   return m_told_held;
  }

// Nothing is on the daemon's disk: begin where the earlier run began, if there was one.
void TickPump::StartFresh(const bool known)
  {
   const bool exact = !known && m_settings.backfill_ms == 0 && m_from.Count() > 0;
   const long new_msc = m_from.Count() > 0 ? m_from.Msc() + 1 : m_from.Msc();
   const long start_msc = known ? m_ledger.KnownMsc() : MathMax((long)0, new_msc - m_settings.backfill_ms);
   m_ledger.Begin(m_box.Taken() + 1, start_msc, start_msc);
   if(exact)
      m_cursor.Seek(m_from.Msc(), m_from.Count());
   else
      m_cursor.Seek(start_msc, 0);
  }

// Of what was taken last only time and number are known. If the ledger tells since when the stream
// is whole, the daemon compares its last interval; else the base may hold ticks from before it.
void TickPump::StartBlind(const ResumeEntry &resume, const bool known)
  {
   m_cursor.Seek(resume.time_msc, (int)resume.count_at_msc);
   long interval_msc = resume.time_msc / m_settings.interval_ms * m_settings.interval_ms;
   if(known && m_ledger.KnownMsc() <= resume.time_msc)
      m_blind_msc = MathMax((long)1, MathMax(m_ledger.KnownMsc(), interval_msc));
   m_ledger.Begin(resume.durable + 1, resume.time_msc + 1, resume.time_msc + 1);
  }

// Cut back to what the daemon has, or go on to it; false when that cannot be told by content.
bool TickPump::Restore(const LedgerPlace &place, const ResumeEntry &resume)
  {
   m_ledger.Cut(resume.durable);
   if(m_ledger.Last() < resume.durable && !CatchUp(place, resume))
      return false;
   int at_newest = 0;
   for(int i = 0; i < m_ledger.Count(); i++)
     {
      if(m_ledger.MscAt(i) > resume.time_msc)
         return false;
      if(m_ledger.MscAt(i) == resume.time_msc)
         at_newest++;
     }
   return at_newest == (int)resume.count_at_msc;
  }

// What was taken after the ledger was saved: the base tells, if nothing has slipped in since.
bool TickPump::CatchUp(const LedgerPlace &place, const ResumeEntry &resume)
  {
   MqlTick ticks[];
   ResetLastError();
   int count = CopyTicksRange(m_symbol, ticks, COPY_TICKS_ALL, (ulong)MathMax((long)1, place.msc), (ulong)resume.time_msc);
   if(count < 0 || GetLastError() != 0)
      return false;
   int first = place.count_at_msc;
   int last = count;
   int at_end = 0;
   while(last - at_end > 0 && ticks[last - at_end - 1].time_msc == resume.time_msc)
      at_end++;
   last -= MathMax(0, at_end - (int)resume.count_at_msc);
   if(last - first < 0 || (ulong)(last - first) != resume.durable - m_ledger.Last())
      return false;
   m_ledger.Take(ticks, first, last - first);
   return true;
  }

// Take what is new, in batches, until the base has no more or the bounds are reached.
int TickPump::Pump(MqlTick &buffer[], const Moment &now)
  {
   int taken = 0;
   long begun_us = (long)GetMicrosecondCount();
   const bool found = m_started || m_from.Find();
   if(m_waits && (found || m_resume.time_msc != 0))
      Start(m_resume, now);
   bool more = m_started && m_base.Ready(begun_us);
   m_caught_up = false;
   while(more)
     {
      int room = MathMin(MathMin(m_box.Room(), m_settings.ticks_max - taken), TICK_BASE_BATCH);
      if(room <= 0)
         return taken;
      int asked = m_cursor.CountAtMsc() + room;
      int count = m_base.Read(buffer, m_cursor.Msc(), asked);
      if(count < 0)
         return taken;
      int fresh = TakeRead(buffer, count, now);
      taken += fresh;
      bool full = count >= asked || fresh >= TICK_BASE_FULL;
      m_caught_up = !full && (count == 0 || buffer[count - 1].time_msc <= m_cursor.Msc());
      more = full && fresh > 0 && (long)GetMicrosecondCount() - begun_us < m_settings.us_max;
     }
   return taken;
  }

// Pump, and note how far the stream is whole. `reached_msc`, server time read before: all earlier
// quotes have reached the terminal; 0: not known. The base may lag behind the newest of them.
void TickPump::PumpWhole(MqlTick &buffer[], const Moment &now, const long reached_msc)
  {
   MqlTick newest;
   long quoted_msc = SymbolInfoTick(m_symbol, newest) ? newest.time_msc : 0;
   Pump(buffer, now);
   if(!m_started)
      return;
   bool lags = quoted_msc > m_cursor.Msc() && quoted_msc > reached_msc - m_settings.grace_ms;
   long whole_msc = m_caught_up && !lags ? MathMax(reached_msc, m_cursor.Msc()) : m_cursor.Msc();
   m_box.Whole(whole_msc - now.utc_offset_ms);
  }

// Of what was read from the cursor's millisecond on, take what was not taken yet.
int TickPump::TakeRead(const MqlTick &ticks[], const int count, const Moment &now)
  {
   if(count <= 0)
      return 0;
   int taken = 0;
   int first = m_cursor.FirstNew(ticks, count);
   if(first < 0)
      taken = TakeOddHead(ticks, count, first, now);
   int rest = MathMin(count - first, m_box.Room());
   if(rest > 0 && Take(ticks, first, rest, now))
      taken += rest;
   return taken;
  }

// A late tick has slipped in between those of the cursor's millisecond: look at each of them.
int TickPump::TakeOddHead(const MqlTick &ticks[], const int count, int &index, const Moment &now)
  {
   int taken = 0;
   for(index = 0; index < count && ticks[index].time_msc <= m_cursor.Msc(); index++)
      if(ticks[index].time_msc == m_cursor.Msc() && m_cursor.IsNew(ticks[index], ticks, index) && Take(ticks, index, 1, now))
         taken++;
   return taken;
  }

bool TickPump::Take(const MqlTick &ticks[], const int from, const int count, const Moment &now)
  {
   if(!m_box.Append(ticks, from, count, now.utc_offset_ms))
      return false;
   m_ledger.Take(ticks, from, count);
   m_file.Took(m_ledger, count, false);
   m_cursor.TakeRun(ticks, from, count);
   m_taken_ms = now.ms;
   return true;
  }

// A tick behind the cursor that the recount has found; false when there is no room.
bool TickPump::TakeLate(const MqlTick &ticks[], const int index, const Moment &now)
  {
   if(!m_box.Append(ticks, index, 1, now.utc_offset_ms))
      return false;
   m_ledger.Take(ticks, index, 1);
   m_file.Took(m_ledger, 1, true);
   m_late++;
   return true;
  }

// Where that part begins that only the daemon can compare, once; 0: there is none.
long TickPump::TakeBlindMsc(void)
  {
   long blind_msc = m_blind_msc;
   m_blind_msc = 0;
   return blind_msc;
  }

// An interval is compared and mended.
void TickPump::Close(const long to_msc, const Moment &now)
  {
   m_ledger.Close(to_msc, m_box.Acknowledged());
   m_file.Closed(to_msc);
   if(m_file.Appends() ? !m_file.Full() : now.ms - m_saved_ms < LEDGER_SAVE_MS)
      return;
   Rewrite();
  }

// What was taken since the last call is kept for the next run.
void TickPump::Flush(void)
  {
   if(!m_started || !m_file.Appends())
      return;
   if(m_file.Flush())
      m_box.Written();
   else if(m_written || (long)GetTickCount64() - m_saved_ms >= LEDGER_SAVE_MS)
      Rewrite();
  }

// The program ends: also a ledger that is only written anew knows of everything then. False: it cannot
// be written, and may be asked for again.
bool TickPump::End(void)
  {
   if(!m_started || (m_file.Appends() && m_file.Flush()))
      return true;
   Rewrite();
   return m_written;
  }

void TickPump::Rewrite(void)
  {
   LedgerPlace place;
   place.msc = m_cursor.Msc();
   place.count_at_msc = m_cursor.CountAtMsc();
   m_saved_ms = (long)GetTickCount64();
   bool written = m_file.Rewrite(m_ledger, place, m_box.Acknowledged());
   if(m_written && !written)
      PrintFormat("%s: its ledger cannot be written (error %d); it is tried again", m_symbol, GetLastError());
   m_written = written;
   if(written)
      m_box.Written();
  }

#endif
