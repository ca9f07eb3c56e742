//| The publisher: ticks of any symbols, deals and the account's state to the daemon.
#ifndef MT5BRIDGE_PUBLISHER
#define MT5BRIDGE_PUBLISHER

#include "AccountFolder.mqh"
#include "Ending.mqh"
#include "TerminalName.mqh"
#include "Tester.mqh"
#include "Deals/DealPublisher.mqh"
#include "Market/FeedClock.mqh"
#include "Market/PropertiesTeller.mqh"
#include "Market/RecountQueue.mqh"
#include "Market/ServerClock.mqh"
#include "Market/SymbolProperties.mqh"
#include "Market/TickRecount.mqh"
#include "Market/Wakeups.mqh"
#include "PublisherStatus.mqh"
#include "Session/Session.mqh"
#include "Session/Trouble.mqh"
#include "Version.mqh"

#define PUBLISHER_DAY_MS 86400000
#define PUBLISHER_OPEN_FILES 48  // a program may have 64 open

struct PublisherSettings
  {
   SessionSettings session;
   PumpSettings    pump;
   DealSettings    deals;
   string          identity;           // empty: the account's
   string          symbols;            // comma-separated, besides the chart's
   bool            own_symbol;
   bool            publishes_deals;
   int             deal_history_days;  // 0: since the account was opened
   int             timer_ms;
   int             properties_ms;      // how often it is looked whether symbols are others; 0: never
   bool            spies;
   bool            books;
   bool            shows_status;
  };

// One symbol: pump and recount; its index is its stream's number - 1.
class PublishedSymbol
  {
public:
   TickPump    pump;
   TickRecount recount;
  };

// Create it in OnInit and delete it in OnDeinit; one that outlives them begins anew with each Begin().
class Publisher : public SessionEvents
  {
private:
   PublisherSettings m_settings;
   Session           m_session;
   ServerClock       m_clock;
   FeedClock         m_feed;
   AccountReader     m_account;
   DealPublisher     m_deals;
   PublishedSymbol  *m_symbols[];
   RecountQueue      m_recounts;
   PropertiesTeller  m_properties;
   Wakeups           m_wakeups;
   PublisherStatus   m_status;
   MqlTick           m_buffer[];
   string            m_names[];
   AccountFolder     m_folder;
   TerminalName      m_name;
   long              m_stepped_ms;
   int               m_turn;
   int               m_recount_turn;
   Trouble           m_trouble;
   bool              m_begun;

public:
                     Publisher(void);
                    ~Publisher(void) { Release(); }
   int               Begin(const PublisherSettings &settings);
   void              End(const int reason);
   void              Tick(void) { WakeSymbol(_Symbol); }
   void              Timer(void);
   void              ChartEvent(const int id, const long index);
   void              Book(const string symbol) { WakeSymbol(symbol); }
   void              Trade(void);
   void              Transaction(const MqlTradeTransaction &change);
   virtual void      OnLive(const bool first);
   virtual void      OnOffline(const string reason);
   virtual void      OnRefused(const int code, const string text);

private:
   void              Release(void);
   int               BeginAccount(void);
   long              NowMsc(void) const;
   bool              AddSymbols(void);
   void              AddSymbol(const SymbolEntry &entry);
   void              Wakers(void);
   void              Wake(const int index);
   void              WakeSymbol(const string symbol);
   void              PumpAll(const Moment &now);
   void              RecountAll(const Moment &now);
   void              FlushAll(void);
   void              EndLedgers(void);
   void              TellAccount(const Moment &now);
   void              ShowStatus(const Moment &now);
   void              Count(PublisherFigures &figures);
  };

Publisher::Publisher(void)
  {
   Release();
  }

// Lets go of symbols, files, spies and books.
void Publisher::Release(void)
  {
   m_wakeups.Release();
   for(int i = 0; i < ArraySize(m_symbols); i++)
      delete m_symbols[i];
   ArrayResize(m_symbols, 0, 64);
   ArrayResize(m_names, 0, 64);
   m_deals.End();
   m_recounts.Clear();
   m_trouble.Forget();
   m_folder.Forget();
   m_name.Forget();
   m_stepped_ms = 0;
   m_turn = m_recount_turn = 0;
   m_begun = false;
  }

// From OnInit; what to return there.
int Publisher::Begin(const PublisherSettings &settings)
  {
   Release();
   m_settings = settings;
   m_feed.Begin(settings.pump.grace_ms);
   if(StandsInTester())
      return INIT_FAILED;
   if(!EventSetMillisecondTimer(m_settings.timer_ms))
      return INIT_FAILED;
   return BeginAccount();
  }

// Once it is known whose ticks and deals these are: two accounts have not one sequence.
int Publisher::BeginAccount(void)
  {
   if(!m_folder.Known())
      return INIT_SUCCEEDED;
   if(m_settings.identity == "" && !m_name.Known())
      return INIT_SUCCEEDED;
   if(m_settings.identity == "")
      m_settings.identity = DefaultIdentity(m_name.Suffix());
   if(!m_folder.Open(m_settings.identity))
      return INIT_SUCCEEDED;
   m_begun = true;
   m_settings.pump.folder = m_folder.Path();
   HelloFrame hello;
   FillHello(hello, m_folder.Name(), TRADES_NOTHING, "Mt5Bridge Publisher " + MT5BRIDGE_VERSION);
   if(!m_session.Begin(m_settings.session, hello, GetPointer(this)))
     {
      Alert("Mt5Bridge: " + m_session.StatusText());
      return INIT_PARAMETERS_INCORRECT;
     }
   if(!AddSymbols())
      return INIT_PARAMETERS_INCORRECT;
   m_properties.Begin(m_settings.properties_ms);
   if(m_settings.deal_history_days > 0)
      m_settings.deals.since_msc = NowMsc() - (long)m_settings.deal_history_days * PUBLISHER_DAY_MS;
   m_deals.Begin(m_session.Deals(), m_folder.Path() + "\\deals.bin", m_settings.deals);
   Wakers();
   return INIT_SUCCEEDED;
  }

// Server time, also before the first quote, for which no tick may wait: it would be lost.
long Publisher::NowMsc(void) const
  {
   return (long)MathMax(TimeCurrent(), TimeTradeServer()) * 1000;
  }

bool Publisher::AddSymbols(void)
  {
   if(m_settings.own_symbol)
      AddSymbolName(_Symbol, m_names);
   SymbolNames(m_settings.symbols, m_names);
   for(int i = 0; i < ArraySize(m_names); i++)
     {
      SymbolEntry entry;
      if(!ReadSymbol(m_names[i], entry))
         return false;
      AddSymbol(entry);
     }
   return true;
  }

void Publisher::AddSymbol(const SymbolEntry &entry)
  {
   int index = m_session.AddSymbol(entry);
   ArrayResize(m_symbols, index + 1, 64);
   m_symbols[index] = new PublishedSymbol();
   m_settings.pump.appends = index < PUBLISHER_OPEN_FILES;
   m_symbols[index].pump.Begin(entry.name, m_session.Ticks(index), m_settings.pump);
   m_symbols[index].recount.Begin(m_settings.pump);
  }

void Publisher::Wakers(void)
  {
   for(int i = 0; i < ArraySize(m_names); i++)
     {
      if(m_settings.books)
         m_wakeups.Book(m_names[i]);
      if(m_settings.spies && m_names[i] != _Symbol)
         m_wakeups.Spy(m_names[i], i);
     }
  }

// From OnDeinit: what is not acknowledged stays in the tick base and the history.
void Publisher::End(const int reason)
  {
   EventKillTimer();
   if(!m_begun)
      return;
   Moment now;
   m_clock.Read(now);
   EndLedgers();
   m_session.End(StringFormat("the publisher ends (reason %d)", reason), now);
   Release();
   if(m_settings.shows_status)
      Comment("");
  }

// Who begins next knows what was taken by them, and where late ticks came it cannot be told otherwise.
// So a file that is held for a moment is waited for.
void Publisher::EndLedgers(void)
  {
   Ending ending;
   for(int i = 0; i < ArraySize(m_symbols); i++)
      while(!m_symbols[i].pump.End() && ending.Waits())
         continue;
  }

// There may be ticks of a symbol: take and send them at once.
void Publisher::Wake(const int index)
  {
   if(index < 0 || index >= ArraySize(m_symbols))
      return;
   Moment now;
   m_clock.Read(now);
   if(now.ms - m_stepped_ms >= m_settings.timer_ms)
     {
      m_stepped_ms = now.ms;
      m_session.Step(now);
     }
   m_symbols[index].pump.Pump(m_buffer, now);
   if(m_settings.pump.writes_ahead)
      m_symbols[index].pump.Flush();
   m_session.Send(now);
  }

void Publisher::Timer(void)
  {
   if(!m_begun)
     {
      if(BeginAccount() != INIT_SUCCEEDED)
         ExpertRemove();
      return;
     }
   Moment now;
   m_clock.Read(now);
   m_stepped_ms = now.ms;
   m_session.Step(now);
   PumpAll(now);
   m_deals.Pump(now);
   RecountAll(now);
   FlushAll();
   TellAccount(now);
   m_properties.Tell(m_names, now, m_session);
   m_session.Send(now);
   m_trouble.Tell(m_session);
   ShowStatus(now);
  }

void Publisher::ChartEvent(const int id, const long index)
  {
   Wake(m_wakeups.IndexOf(id, index));
  }

void Publisher::WakeSymbol(const string symbol)
  {
   for(int i = 0; i < ArraySize(m_names); i++)
      if(m_names[i] == symbol)
         Wake(i);
  }

// From OnTrade: look for deals and send them at once.
void Publisher::Trade(void)
  {
   Moment now;
   m_clock.Read(now);
   m_deals.Wake();
   if(m_deals.Pump(now) > 0)
      m_session.Send(now);
  }

// From OnTradeTransaction: OnTrade or the timer looks.
void Publisher::Transaction(const MqlTradeTransaction &change)
  {
   m_deals.Transaction(change);
  }

// Every symbol in turn, until the time of one call is used up.
void Publisher::PumpAll(const Moment &now)
  {
   int count = ArraySize(m_symbols);
   long reached_msc = m_feed.ReachedMsc(now);  // before any tick base is read
   long until_us = (long)GetMicrosecondCount() + m_settings.pump.us_max;
   for(int i = 0; i < count; i++)
     {
      m_symbols[m_turn].pump.PumpWhole(m_buffer, now, reached_msc);
      m_turn = (m_turn + 1) % count;
      if((long)GetMicrosecondCount() >= until_us)
         return;
     }
  }

// Closed intervals of each symbol in turn, until the time of one call is used up.
void Publisher::RecountAll(const Moment &now)
  {
   RecountFrame frame;
   int count = ArraySize(m_symbols);
   long until_us = (long)GetMicrosecondCount() + m_settings.pump.us_max;
   for(int i = 0; i < count && (long)GetMicrosecondCount() < until_us; i++)
     {
      PublishedSymbol *published = m_symbols[m_recount_turn];
      m_recount_turn = (m_recount_turn + 1) % count;
      while((long)GetMicrosecondCount() < until_us && published.recount.Next(GetPointer(published.pump), m_buffer, now, frame))
         m_recounts.Add(frame);
     }
   m_recounts.Send(m_session);
  }

// The ledgers know what is sent from here on.
void Publisher::FlushAll(void)
  {
   for(int i = 0; i < ArraySize(m_symbols); i++)
      m_symbols[i].pump.Flush();
  }

void Publisher::TellAccount(const Moment &now)
  {
   AccountFrame frame;
   if(m_session.Live() && m_account.Changed(now, frame) && m_session.SendAccount(frame))
      m_account.Told(frame);
  }

void Publisher::OnLive(const bool first)
  {
   Moment now;
   m_clock.Read(now);
   m_account.Forget();
   m_properties.Connected();
   ResumeEntry resume;
   for(int i = 0; i < ArraySize(m_symbols); i++)
      if(!m_symbols[i].pump.Started())
        {
         m_session.Resume(m_names[i], resume);
         m_symbols[i].pump.Start(resume, now);
        }
   if(m_settings.publishes_deals && !m_deals.Started())
     {
      m_session.Resume("", resume);
      m_deals.Start(resume, now);
     }
   PrintFormat("connected to %s:%d as %s", m_settings.session.host, m_settings.session.port, m_settings.identity);
  }

void Publisher::OnOffline(const string reason)
  {
   m_recounts.Offline();
  }

void Publisher::OnRefused(const int code, const string text)
  {
   if(code != ERROR_IDENTITY_IN_USE)  // the other one may turn out to be dead
      Alert("Mt5Bridge: the daemon refuses this terminal: " + text);
  }

void Publisher::ShowStatus(const Moment &now)
  {
   if(!m_settings.shows_status || !m_status.Due(now))
      return;
   PublisherFigures figures;
   Count(figures);
   m_status.Show(m_session.StatusText() + " to " + m_settings.session.host + " as " + m_settings.identity, figures, now);
  }

void Publisher::Count(PublisherFigures &figures)
  {
   ZeroMemory(figures);
   for(int i = 0; i < ArraySize(m_symbols); i++)
     {
      TickOutbox *box = m_session.Ticks(i);
      figures.ticks += box.Taken();
      figures.late += m_symbols[i].pump.Late();
      figures.failures += m_symbols[i].pump.Failures();
      figures.intervals += m_symbols[i].recount.Intervals();
      figures.surplus += m_symbols[i].recount.Surplus();
     }
   DealOutbox *deals = m_session.Deals();
   figures.deals = deals.Taken();
   figures.waiting = m_session.Unacknowledged();
   figures.connects = m_session.Connects();
   figures.round_trip_us = m_session.RoundTripUs();
  }

#endif
