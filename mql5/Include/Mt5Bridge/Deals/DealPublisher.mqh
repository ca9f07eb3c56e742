//| Deal revisions from the history to the session's outbox, over restarts of both sides.
#ifndef MT5BRIDGE_DEALS_DEAL_PUBLISHER
#define MT5BRIDGE_DEALS_DEAL_PUBLISHER

#include "../Session/DealOutbox.mqh"
#include "DealFile.mqh"

// Writes what is assumed to be on the daemon's disk into a file that had been lost.
class AssumedDeals : public DealCallback
  {
private:
   DealFile    *m_target;
   ulong        m_sequence;

public:
                AssumedDeals(DealFile *target, const ulong sequence) { m_target = target; m_sequence = sequence; }
   virtual bool OnDeal(const DealRecord &deal, const ulong hash) { return m_target.Append(deal, hash, m_sequence); }
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
   bool         m_assumes;  // what was told is still to be found in the history
   ResumeEntry  m_told;

public:
                DealPublisher(void) { m_box = NULL; m_path = ""; m_offset_ms = 0; m_started = m_assumes = false; }
   void         Begin(DealOutbox *box, const string path, const DealSettings &settings);
   void         End(void) { m_entries.Shut(); m_started = m_assumes = false; }
   void         Start(const ResumeEntry &resume, const Moment &now);
   bool         Started(void) const { return m_started; }
   void         Wake(void) { m_handler.Wake(); }
   void         Transaction(const MqlTradeTransaction &change);
   int          Pump(const Moment &now);
   virtual bool OnDeal(const DealRecord &deal, const ulong hash);

private:
   bool         Assume(const Moment &now);
  };

void DealPublisher::Begin(DealOutbox *box, const string path, const DealSettings &settings)
  {
   End();
   m_box = box;
   m_path = path;
   m_handler.Begin(settings);
  }

// The daemon has said how many revisions are on its disk; the file knows which.
void DealPublisher::Start(const ResumeEntry &resume, const Moment &now)
  {
   m_started = true;
   m_assumes = !m_entries.Restore(m_path, resume, m_handler);
   if(!m_assumes)
      return;
   m_told = resume;
   PrintFormat("%s does not know the %I64u deal revisions that the daemon has: deals up to its newest are taken as told", m_path, resume.durable);
   Assume(now);
  }

// False: the history cannot be read yet, and nothing may be told before it is known what was.
bool DealPublisher::Assume(const Moment &now)
  {
   AssumedDeals assumed(GetPointer(m_entries), m_told.durable);
   uint revision = (uint)MathMin(m_told.durable, (ulong)0x7FFFFFFF);
   m_assumes = !m_handler.AssumeKnown(m_told.time_msc, (int)m_told.count_at_msc, revision, GetPointer(assumed), now);
   m_entries.Flush();
   return !m_assumes;
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
   if(!m_started || (m_assumes && !Assume(now)))
      return 0;
   m_offset_ms = now.utc_offset_ms;
   int told = m_handler.EnumCallbacks(GetPointer(this), now);
   if(told > 0)
      m_entries.Flush();
   return told;
  }

// A revision gets its number: first in the file, then in the outbox.
bool DealPublisher::OnDeal(const DealRecord &deal, const ulong hash)
  {
   if(!m_entries.Append(deal, hash, m_box.Taken() + 1))
      PrintFormat("%s: deal %I64u cannot be written (error %d)", m_path, deal.ticket, GetLastError());
   return m_box.Append(deal, m_offset_ms);
  }

#endif
