//| Each fill as one call of OnDeal, also of many that come almost at once; needs no daemon.
#ifndef MT5BRIDGE_DEAL_EVENTS
#define MT5BRIDGE_DEAL_EVENTS

#include "Account.mqh"
#include "Deals/DealHandler.mqh"
#include "EventsCallback.mqh"
#include "Market/ServerClock.mqh"

#define FIRST_LOOKS_MAX 1000   // at the deals of the last days when a program starts

// Hands new deals to an EventsCallback. Begin() in OnInit, EnumCallbacks() in OnTrade, Timer() in
// OnTimer; with Transaction() in OnTradeTransaction changes of old deals are told at once, too, and
// not within a minute. What was made before Begin() is history and not told. Where the terminal does
// not know its account or time yet, what is made since then is told as soon as it does.
class DealEvents : public DealCallback
  {
private:
   DealHandler     m_handler;
   ServerClock     m_clock;
   EventsCallback *m_callback;
   bool            m_begun;   // the terminal knows its account
   bool            m_quiet;   // the first look at the history is not through
   ulong           m_begin_us; // steady clock of Begin()
   long            m_new_msc;  // server time from which deals are told in the first look, too
   int             m_told;     // in the newest look

public:
                   DealEvents(void) { m_callback = NULL; m_begun = m_quiet = false; m_begin_us = 0; m_new_msc = LONG_MAX; m_told = 0; }
   void            Begin(EventsCallback *callback);
   int             EnumCallbacks(void);
   int             Timer(void);
   void            Transaction(const MqlTradeTransaction &change);
   virtual bool    OnDeal(const DealRecord &deal, const ulong hash);

private:
   bool            BeginAccount(void);
   int             Look(void);
  };

// The program is being started: here the history may be waited for.
void DealEvents::Begin(EventsCallback *callback)
  {
   m_callback = callback;
   m_begun = false;
   m_quiet = true;
   m_begin_us = GetMicrosecondCount();
   m_new_msc = LONG_MAX;
   for(int looks = 0; m_quiet && looks < FIRST_LOOKS_MAX && BeginAccount(); looks++)
      Look();
   if(m_quiet && m_begun)
      m_new_msc = ((long)TimeCurrent() + 1) * 1000;  // those of this second are in the history already
  }

// Looks at the newest deals of the history and calls OnDeal once for each revision of each of them
// that was not told, in order of time and ticket; how many there were.
int DealEvents::EnumCallbacks(void)
  {
   m_handler.Wake();
   return Timer();
  }

// The same, if there is a reason: events that the terminal has merged or dropped, and what was made
// while it had no connection to its trade server, are found here.
int DealEvents::Timer(void)
  {
   if(m_callback == NULL)
      return 0;
   const bool late = !m_begun;
   if(!BeginAccount())
      return 0;
   if(late)
      m_new_msc = (long)TimeCurrent() * 1000 - (long)((GetMicrosecondCount() - m_begin_us) / 1000);
   return Look();
  }

// The terminal says what has changed, in any order; EnumCallbacks looks.
void DealEvents::Transaction(const MqlTradeTransaction &change)
  {
   if(m_begun)
      m_handler.Transaction(change);
  }

bool DealEvents::OnDeal(const DealRecord &deal, const ulong hash)
  {
   if(m_quiet && deal.time_msc < m_new_msc)
      return true;
   m_callback.OnDeal(deal);
   m_told++;
   return true;
  }

bool DealEvents::BeginAccount(void)
  {
   if(m_begun)
      return true;
   if(!HistoryKnown())
      return false;
   DealSettings settings;
   settings.since_msc = (long)TimeCurrent() * 1000 - DEAL_RECENT_MS;
   m_handler.Begin(settings);
   m_begun = true;
   return true;
  }

int DealEvents::Look(void)
  {
   Moment now;
   m_clock.Read(now);
   m_told = 0;
   m_handler.EnumCallbacks(GetPointer(this), now);
   m_quiet = m_quiet && m_handler.IsComparing();
   return m_told;
  }

#endif
