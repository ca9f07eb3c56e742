//| Deal revisions from the history to the session's outbox, over restarts of both sides.
#ifndef MT5BRIDGE_DEALS_DEAL_PUBLISHER
#define MT5BRIDGE_DEALS_DEAL_PUBLISHER

#include "../Session/DealOutbox.mqh"
#include "DealFile.mqh"

#define DEAL_OPEN_MS 1000  // between attempts to open the file

// Writes what is assumed to be on the daemon's disk into a file that had been lost.
class AssumedDeals : public DealCallback
  {
private:
   DealFile    *m_target;
   ulong        m_sequence;

public:
                AssumedDeals(DealFile *target, const ulong sequence) { m_target = target; m_sequence = sequence; }
   virtual bool OnDeal(const DealRecord &deal, const ulong hash)
     {
      m_target.Append(deal, hash, m_sequence);
      return true;
     }
  };

// With its file, each revision is numbered once and sent until acknowledged, whatever crashes.
// Without it (a new computer, deleted by hand) each deal is still told once, provided that those
// told before were not changed since; changes from then on are told again.
class DealPublisher : public DealCallback
  {
private:
   DealHandler  m_handler;
   DealFile     m_entries;
   DealOutbox  *m_box;
   string       m_path;
   int          m_offset_ms;
   bool         m_started;
   bool         m_opens;    // the file is still to be opened
   long         m_open_ms;  // not before
   bool         m_troubled; // it was said that it cannot be opened or written
   bool         m_assumes;  // what was told is still to be found in the history
   ResumeEntry  m_told;

public:
                DealPublisher(void) { m_box = NULL; m_path = ""; m_offset_ms = 0; m_open_ms = 0; m_started = m_opens = m_troubled = m_assumes = false; }
   void         Begin(DealOutbox *box, const string path, const DealSettings &settings);
   void         End(void) { m_entries.Shut(); m_open_ms = 0; m_started = m_opens = m_troubled = m_assumes = false; }
   void         Start(const ResumeEntry &resume, const Moment &now);
   bool         Started(void) const { return m_started; }
   void         Wake(void) { m_handler.Wake(); }
   void         Transaction(const MqlTradeTransaction &change);
   int          Pump(const Moment &now);
   virtual bool OnDeal(const DealRecord &deal, const ulong hash);

private:
   bool         Opened(const Moment &now);
   bool         Assume(const Moment &now);
   void         Write(void);
   void         Trouble(const string what);
  };

void DealPublisher::Begin(DealOutbox *box, const string path, const DealSettings &settings)
  {
   End();
   m_box = box;
   m_box.Hold(true);
   m_path = path;
   m_handler.Begin(settings);
  }

// The daemon has said how many revisions are on its disk; the file knows which.
void DealPublisher::Start(const ResumeEntry &resume, const Moment &now)
  {
   m_started = m_opens = true;
   m_told = resume;
   Opened(now);
  }

// Without the file nothing is told: what it knows would be told again, or changes of it missed.
bool DealPublisher::Opened(const Moment &now)
  {
   if(!m_opens)
      return true;
   if(now.ms < m_open_ms)
      return false;
   m_open_ms = now.ms + DEAL_OPEN_MS;
   if(!m_entries.Open(m_path))
     {
      Trouble("cannot be opened");
      return false;
     }
   m_opens = m_troubled = false;
   m_assumes = !m_entries.Restore(m_told, m_handler);
   if(m_assumes)
     {
      PrintFormat("%s does not know the %I64u deal revisions that the daemon has: deals up to its newest are taken as told", m_path, m_told.durable);
      Assume(now);
     }
   return true;
  }

void DealPublisher::Trouble(const string what)
  {
   if(!m_troubled)
      PrintFormat("%s %s (error %d); it is tried again, and no deal is told before", m_path, what, GetLastError());
   m_troubled = true;
  }

// False: the history cannot be read yet, and nothing may be told before it is known what was.
bool DealPublisher::Assume(const Moment &now)
  {
   AssumedDeals assumed(GetPointer(m_entries), m_told.durable);
   uint revision = (uint)MathMin(m_told.durable, (ulong)0x7FFFFFFF);
   m_assumes = !m_handler.AssumeKnown(m_told.time_msc, (int)m_told.count_at_msc, revision, GetPointer(assumed), now);
   Write();
   return !m_assumes;
  }

// What the file has may be sent.
void DealPublisher::Write(void)
  {
   if(m_entries.Flush())
     {
      m_troubled = false;
      m_box.Written();
     }
   else
      Trouble("cannot be written");
  }

// Before the start there is nothing to note: the first look compares the whole history.
void DealPublisher::Transaction(const MqlTradeTransaction &change)
  {
   if(m_started)
      m_handler.Transaction(change);
  }

// Look for new revisions and number them; they may be sent when this returns.
int DealPublisher::Pump(const Moment &now)
  {
   if(!m_started || !Opened(now) || (m_assumes && !Assume(now)))
      return 0;
   m_offset_ms = now.utc_offset_ms;
   int told = m_handler.EnumCallbacks(GetPointer(this), now);
   Write();
   return told;
  }

// A revision gets its number: first in the file, then in the outbox.
bool DealPublisher::OnDeal(const DealRecord &deal, const ulong hash)
  {
   m_entries.Append(deal, hash, m_box.Taken() + 1);
   return m_box.Append(deal, m_offset_ms);
  }

#endif
