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
   int  deals_max;       // compared in one call; a longer history takes several

        DealSettings(void)
     {
      since_msc = 0;
      reconcile_ms = 60000;
      confirm_ms = 10000;
      deals_max = 1000;
     }
  };

// The terminal may merge OnTrade events, reorder transactions and drop those that a slow program
// leaves waiting: they say when to look, the history says what happened. A deal is told apart by
// its ticket, its revisions by their content. What is found at one look is told in order of time
// and ticket. A comparison of the history goes on over as many calls as it takes, so that none is
// long; nothing else is looked at meanwhile, which keeps the order.
class DealHandler
  {
private:
   DealSettings m_settings;
   KnownDeals   m_known;
   DealRecord   m_fresh[];         // found and not told yet, sorted
   ulong        m_touched[];       // tickets which the terminal said were changed or deleted
   bool         m_woken;
   bool         m_comparing;       // a comparison of the history is under way
   long         m_compared_from_msc;
   int          m_compared;        // of its deals
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
   bool         IsComparing(void) const { return m_comparing; }

private:
   void         FollowConnection(void);
   bool         Look(const Moment &now);
   bool         Select(const long from_msc);
   void         BeginComparing(const long from_msc);
   bool         GoOnComparing(const Moment &now);
   bool         LookAtLatest(void);
   void         LookAtTouched(void);
   void         CompareOne(const ulong ticket);
   bool         IsFresh(const ulong ticket) const;
   void         Compare(const DealRecord &deal);
   void         FindMissing(const long from_msc, const Moment &now);
   int          Tell(DealCallback *callback);
   void         Drop(const int told);
   void         Touch(const ulong ticket);
  };

DealHandler::DealHandler(void)
  {
   m_woken = false;
   m_connected = m_comparing = false;
   m_compared_from_msc = 0;
   m_compared = 0;
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
   m_comparing = false;
   ArrayResize(m_fresh, 0, 256);
   ArrayResize(m_touched, 0, 64);
  }

// This revision was told, maybe by an earlier run.
void DealHandler::Know(const DealRecord &deal, const ulong hash)
  {
   m_known.Put(deal.ticket, deal.time_msc, hash, deal.revision, deal.kind == DEAL_RECORD_DELETE);
   m_newest_msc = MathMax(m_newest_msc, deal.time_msc);
  }

// Of earlier runs nothing is known but how far they came: all deals before `until_msc` were told,
// and the first `count_at_msc` of that millisecond. `revision` is at least that of each of them;
// `assumed` is called for each. False: the history is not read yet; call again.
bool DealHandler::AssumeKnown(const long until_msc, const int count_at_msc, const uint revision, DealCallback *assumed, const Moment &now)
  {
   if(!m_comparing)
      BeginComparing(m_settings.since_msc);
   if(!GoOnComparing(now) || m_comparing)
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

// What is new goes to m_fresh. False: there was no reason to look, or it cannot be done now.
bool DealHandler::Look(const Moment &now)
  {
   if(ArraySize(m_fresh) > 0)
      return true;
   if(m_comparing)
      return GoOnComparing(now);
   if(now.ms >= m_full_ms)
     {
      m_full_ms = now.ms + DEAL_FULL_MS;
      m_recent_ms = now.ms + m_settings.reconcile_ms;
      BeginComparing(m_settings.since_msc);
      return GoOnComparing(now);
     }
   if(now.ms >= m_recent_ms)
     {
      m_recent_ms = now.ms + m_settings.reconcile_ms;
      BeginComparing(m_newest_msc - DEAL_RECENT_MS);
      return GoOnComparing(now);
     }
   return m_woken && LookAtLatest();
  }

// The history from a time on; false when the terminal cannot give it now.
bool DealHandler::Select(const long from_msc)
  {
   m_woken = !HistorySelect((datetime)(from_msc / 1000), HISTORY_END);
   return !m_woken;
  }

void DealHandler::BeginComparing(const long from_msc)
  {
   m_comparing = true;
   m_compared_from_msc = MathMax((long)0, MathMax(from_msc, m_settings.since_msc)) / 1000 * 1000;
   m_compared = 0;
   m_known.Unsee();
   ArrayResize(m_fresh, 0, 256);
  }

// The next `deals_max` deals. The terminal lists deals in order: those that are made meanwhile come
// at the end. Were the list to change before, a deal would be compared twice, or be missed until
// the next time.
bool DealHandler::GoOnComparing(const Moment &now)
  {
   if(!Select(m_compared_from_msc))
      return false;
   const int total = HistoryDealsTotal();
   if(m_compared > total)
      BeginComparing(m_compared_from_msc);
   const int last = MathMin(total, m_compared + m_settings.deals_max);
   while(m_compared < last)
      CompareOne(HistoryDealGetTicket(m_compared++));
   m_comparing = last < total;
   m_woken = m_comparing;
   if(!m_comparing && total > 0)
      FindMissing(m_compared_from_msc, now);
   LookAtTouched();
   return true;
  }

// Deals that are not known among the newest.
bool DealHandler::LookAtLatest(void)
  {
   if(!Select(MathMax((long)0, MathMax(m_newest_msc - DEAL_LATEST_MS, m_settings.since_msc))))
      return false;
   const int total = HistoryDealsTotal();
   for(int i = 0; i < total; i++)
     {
      const ulong ticket = HistoryDealGetTicket(i);
      if(m_known.Find(ticket) < 0)
         CompareOne(ticket);
     }
   LookAtTouched();
   return true;
  }

void DealHandler::CompareOne(const ulong ticket)
  {
   if(ticket == 0)
      return;
   DealRecord deal;
   ReadDeal(ticket, deal);
   if(deal.time_msc >= m_settings.since_msc)
      Compare(deal);
  }

// Deals that the terminal has named, wherever in the history they are.
void DealHandler::LookAtTouched(void)
  {
   for(int i = 0; i < ArraySize(m_touched); i++)
     {
      const int index = m_known.Find(m_touched[i]);
      if(index < 0 || IsFresh(m_touched[i]))
         continue;
      if(HistoryDealSelect(m_touched[i]))
         CompareOne(m_touched[i]);
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

// Those that are not taken are offered again at the next call, before anything else is looked at.
int DealHandler::Tell(DealCallback *callback)
  {
   int told = 0;
   while(told < ArraySize(m_fresh))
     {
      bool deleted = m_fresh[told].kind == DEAL_RECORD_DELETE;
      ulong hash = deleted ? 0 : DealHash(m_fresh[told]);
      if(!callback.OnDeal(m_fresh[told], hash))
         break;
      Know(m_fresh[told], hash);
      told++;
     }
   Drop(told);
   return told;
  }

void DealHandler::Drop(const int told)
  {
   const int left = ArraySize(m_fresh) - told;
   for(int i = 0; i < left; i++)
      m_fresh[i] = m_fresh[told + i];
   ArrayResize(m_fresh, left, 256);
  }

#endif
