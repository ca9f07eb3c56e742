//| Tells each revision of each deal once, in order, also of fills that come almost at once.
#ifndef MT5BRIDGE_DEALS_DEAL_HANDLER
#define MT5BRIDGE_DEALS_DEAL_HANDLER

#include "../Session/Moment.mqh"
#include "DealCallback.mqh"
#include "DealReading.mqh"
#include "KnownDeals.mqh"

#define DEAL_FULL_MS 3600000       // the whole history is compared so often
#define DEAL_RECENT_MS 172800000   // of the newest deals, at each reconciliation
#define DEAL_LATEST_MS 3600000     // of the newest deals, at each wake-up
#define HISTORY_END D'3000.01.01'

struct DealSettings
  {
   long since_msc;       // server time; older deals are none of our business
   long reconcile_ms;    // compare the recent history so often without being woken
   long confirm_ms;      // a deal missing in the history for so long is deleted

        DealSettings(void)
     {
      since_msc = 0;
      reconcile_ms = 60000;
      confirm_ms = 10000;
     }
  };

// The terminal may merge OnTrade events, reorder transactions and drop those that a slow program
// leaves waiting: they say when to look, the history says what happened. A deal is told apart by
// its ticket, its revisions by their content. What is found at one look is told in order of time
// and ticket.
class DealHandler
  {
private:
   DealSettings m_settings;
   KnownDeals   m_known;
   DealRecord   m_fresh[];
   ulong        m_touched[];       // tickets which the terminal said were changed or deleted
   bool         m_woken;
   bool         m_connected;
   long         m_full_ms;         // when the next full comparison is due
   long         m_recent_ms;
   long         m_newest_msc;

public:
                DealHandler(void);
   void         Begin(const DealSettings &settings);
   void         Know(const DealRecord &deal, const ulong hash);
   bool         AssumeKnown(const long until_msc, const int count_at_msc, const uint revision, DealCallback *assumed, const Moment &now);
   void         Wake(void) { m_woken = true; }
   void         Transaction(const MqlTradeTransaction &change);
   int          EnumCallbacks(DealCallback *callback, const Moment &now);
   int          Known(void) const { return m_known.Count(); }

private:
   void         FollowConnection(void);
   bool         Look(const Moment &now);
   bool         Scan(const long from_msc, const bool compares, const Moment &now);
   void         ScanOne(const ulong ticket, const bool compares);
   void         ScanTouched(void);
   bool         IsFresh(const ulong ticket) const;
   void         Compare(const DealRecord &deal);
   void         FindMissing(const long from_msc, const Moment &now);
   int          Tell(DealCallback *callback);
   void         Touch(const ulong ticket);
  };

DealHandler::DealHandler(void)
  {
   m_woken = false;
   m_connected = false;
   m_full_ms = m_recent_ms = 0;
   m_newest_msc = 0;
  }

// Start with nothing known: every deal since `since_msc` will be told.
void DealHandler::Begin(const DealSettings &settings)
  {
   m_settings = settings;
   m_known.Clear();
   m_newest_msc = 0;
   m_full_ms = m_recent_ms = 0;
   m_woken = true;
  }

// This revision was told, maybe by an earlier run.
void DealHandler::Know(const DealRecord &deal, const ulong hash)
  {
   m_known.Put(deal.ticket, deal.time_msc, hash, deal.revision, deal.kind == DEAL_RECORD_DELETE);
   m_newest_msc = MathMax(m_newest_msc, deal.time_msc);
  }

// Of earlier runs nothing is known but how far they came: all deals before `until_msc` were told,
// and the first `count_at_msc` of that millisecond. `revision` is at least that of each of them;
// `assumed` is called for each. False: the history cannot be read now.
bool DealHandler::AssumeKnown(const long until_msc, const int count_at_msc, const uint revision, DealCallback *assumed, const Moment &now)
  {
   ArrayResize(m_fresh, 0, 256);
   if(!Scan(m_settings.since_msc, true, now))
      return false;
   int at_msc = 0;
   for(int i = 0; i < ArraySize(m_fresh) && m_fresh[i].time_msc <= until_msc; i++)
     {
      if(m_fresh[i].time_msc == until_msc)
         at_msc++;
      if(at_msc > count_at_msc)
         break;
      ulong hash = DealHash(m_fresh[i]);
      m_fresh[i].revision = revision;
      assumed.OnDeal(m_fresh[i], hash);
      Know(m_fresh[i], hash);
     }
   ArrayResize(m_fresh, 0, 256);
   return true;
  }

// From OnTradeTransaction: what to look at.
void DealHandler::Transaction(const MqlTradeTransaction &change)
  {
   m_woken = true;
   if(change.type == TRADE_TRANSACTION_DEAL_UPDATE || change.type == TRADE_TRANSACTION_DEAL_DELETE)
      Touch(change.deal);
  }

void DealHandler::Touch(const ulong ticket)
  {
   int count = ArraySize(m_touched);
   ArrayResize(m_touched, count + 1, 64);
   m_touched[count] = ticket;
  }

// Look, if there is a reason to, and call back once for each new revision; how many were told.
// Call it from OnTrade, OnTradeTransaction and OnTimer.
int DealHandler::EnumCallbacks(DealCallback *callback, const Moment &now)
  {
   FollowConnection();
   if(!Look(now))
      return 0;
   return Tell(callback);
  }

// Back on the trade server, deals may have been made and changed meanwhile.
void DealHandler::FollowConnection(void)
  {
   bool connected = (bool)TerminalInfoInteger(TERMINAL_CONNECTED);
   if(connected && !m_connected)
      m_full_ms = 0;
   m_connected = connected;
  }

bool DealHandler::Look(const Moment &now)
  {
   ArrayResize(m_fresh, 0, 256);
   if(now.ms >= m_full_ms)
     {
      m_full_ms = now.ms + DEAL_FULL_MS;
      m_recent_ms = now.ms + m_settings.reconcile_ms;
      return Scan(m_settings.since_msc, true, now);
     }
   if(now.ms >= m_recent_ms)
     {
      m_recent_ms = now.ms + m_settings.reconcile_ms;
      return Scan(m_newest_msc - DEAL_RECENT_MS, true, now);
     }
   if(!m_woken)
      return false;
   return Scan(m_newest_msc - DEAL_LATEST_MS, false, now);
  }

// Compares the history from a time on with what is known; what is new goes to m_fresh, sorted.
bool DealHandler::Scan(const long from_msc, const bool compares, const Moment &now)
  {
   m_woken = false;
   long from_s = MathMax((long)0, MathMax(from_msc, m_settings.since_msc) / 1000);
   if(!HistorySelect((datetime)from_s, HISTORY_END))
     {
      m_woken = true;
      return false;
     }
   if(compares)
      m_known.Unsee();
   int total = HistoryDealsTotal();
   for(int i = 0; i < total; i++)
     {
      ulong ticket = HistoryDealGetTicket(i);
      if(ticket != 0)
         ScanOne(ticket, compares);
     }
   if(compares && total > 0)
      FindMissing(from_s * 1000, now);
   ScanTouched();
   return true;
  }

void DealHandler::ScanOne(const ulong ticket, const bool compares)
  {
   int index = m_known.Find(ticket);
   if(index >= 0 && !compares)
      return;
   DealRecord deal;
   ReadDeal(ticket, deal);
   if(deal.time_msc >= m_settings.since_msc)
      Compare(deal);
  }

// Deals that the terminal has named, wherever in the history they are.
void DealHandler::ScanTouched(void)
  {
   for(int i = 0; i < ArraySize(m_touched); i++)
     {
      int index = m_known.Find(m_touched[i]);
      if(index < 0 || IsFresh(m_touched[i]))
         continue;
      if(HistoryDealSelect(m_touched[i]))
        {
         DealRecord deal;
         ReadDeal(m_touched[i], deal);
         Compare(deal);
        }
      else
         m_full_ms = 0;
     }
   ArrayResize(m_touched, 0, 64);
  }

bool DealHandler::IsFresh(const ulong ticket) const
  {
   for(int i = 0; i < ArraySize(m_fresh); i++)
      if(m_fresh[i].ticket == ticket)
         return true;
   return false;
  }

void DealHandler::Compare(const DealRecord &deal)
  {
   int index = m_known.Find(deal.ticket);
   if(index < 0)
     {
      InsertDeal(deal, m_fresh);
      return;
     }
   m_known.See(index);
   KnownDeal known;
   m_known.At(index, known);
   if(!known.deleted && known.hash == DealHash(deal))
      return;
   DealRecord update = deal;
   update.revision = known.revision + 1;
   update.kind = DEAL_RECORD_UPDATE;
   InsertDeal(update, m_fresh);
  }

// What was known and is not in the history is deleted, if it stays away while the terminal is
// connected: a history that is still being loaded must not look like one that was cleared.
void DealHandler::FindMissing(const long from_msc, const Moment &now)
  {
   for(int i = 0; i < m_known.Count(); i++)
     {
      KnownDeal known;
      m_known.At(i, known);
      if(known.seen || known.deleted || known.time_msc < from_msc || !m_connected)
         continue;
      m_known.Miss(i, now.ms);
      m_full_ms = MathMin(m_full_ms, now.ms + m_settings.confirm_ms);
      if(known.missing_ms == 0 || now.ms - known.missing_ms < m_settings.confirm_ms)
         continue;
      DealRecord deal;
      DeletedDeal(known.ticket, known.time_msc, deal);
      deal.revision = known.revision + 1;
      InsertDeal(deal, m_fresh);
     }
  }

int DealHandler::Tell(DealCallback *callback)
  {
   int told = 0;
   for(int i = 0; i < ArraySize(m_fresh); i++)
     {
      bool deleted = m_fresh[i].kind == DEAL_RECORD_DELETE;
      ulong hash = deleted ? 0 : DealHash(m_fresh[i]);
      if(!callback.OnDeal(m_fresh[i], hash))
        {
         m_woken = true;
         m_full_ms = 0;
         return told;
        }
      Know(m_fresh[i], hash);
      told++;
     }
   return told;
  }

#endif
