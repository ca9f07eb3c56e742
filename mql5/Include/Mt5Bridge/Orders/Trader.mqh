// The trader: executes the daemon's signals and orders in this terminal and reports each fill.
#ifndef MT5BRIDGE_ORDERS_TRADER_MQH
#define MT5BRIDGE_ORDERS_TRADER_MQH

#include "..\AccountFolder.mqh"
#include "..\Market\ServerClock.mqh"
#include "..\Market\SymbolProperties.mqh"
#include "..\Session\Session.mqh"
#include "..\Session\Trouble.mqh"
#include "..\Tester.mqh"
#include "..\Version.mqh"
#include "OrderDesk.mqh"

#define TRADER_AGAIN_MS 1000   // between attempts to use a journal that is held or damaged

// What the user has set.
class TraderSettings
  {
public:
   SessionSettings   session;
   DeskSettings      desk;
   RiskLimits        limits;
   string            identity;      // "" is ACCOUNT@SERVER/trader
   string            symbols;       // comma-separated; "" is the chart's
   bool              halted;
   bool              show_status;
   int               timer_ms;
  };

// One program's worth of trading. Deals are published by the publisher, not here. Create it in OnInit
// and delete it in OnDeinit; one that outlives them begins anew with each Init().
class Trader : public SessionEvents
  {
private:
   Session           m_session;
   ServerClock       m_clock;
   OrderDesk         m_desk;
   AccountReader     m_account;
   Trouble           m_trouble;
   TraderSettings    m_settings;
   AccountFolder     m_folder;
   Moment            m_now;
   string            m_identity;
   bool              m_begun;       // the terminal knows its account
   long              m_status_ms;
   long              m_again_ms;    // when the journal is tried again
   string            m_told;        // why it could not be used

public:
                     Trader(void)
     {
      m_begun = false;
      m_status_ms = m_again_ms = 0;
     }

   // Call in OnInit; returns its result.
   int               Init(const TraderSettings &settings)
     {
      m_settings = settings;
      m_begun = false;
      m_status_ms = m_again_ms = 0;
      m_told = "";
      if(StandsInTester())
         return(INIT_FAILED);
      if(!EventSetMillisecondTimer(settings.timer_ms))
         return(INIT_FAILED);
      m_folder.Forget();
      return(BeginAccount());
     }

   // Call in OnDeinit.
   void              Deinit(void)
     {
      EventKillTimer();
      if(!m_begun)
         return;
      m_clock.Read(m_now);
      Report();
      m_session.End("the trader ends", m_now);
      m_desk.End();
      if(m_settings.show_status)
         Comment("");
     }

   // Call in OnTimer.
   void              OnTimer(void)
     {
      if(!m_begun)
        {
         if(BeginAccount() != INIT_SUCCEEDED)
            ExpertRemove();
         return;
        }
      m_clock.Read(m_now);
      m_session.Step(m_now);
      m_trouble.Tell(m_session);
      Follow();
      ShowStatus();
     }

   // Call in OnTrade.
   void              OnTrade(void)
     {
      if(!m_begun)
         return;
      m_desk.Wake();
      m_clock.Read(m_now);
      Follow();
     }

   // Call in OnTradeTransaction.
   void              OnTradeTransaction(const MqlTradeTransaction &transaction,
                                        const MqlTradeResult &result)
     {
      if(!m_begun)
         return;
      if(transaction.type == TRADE_TRANSACTION_REQUEST)
         m_desk.Answer(result);
      else
         m_desk.Wake();
      m_clock.Read(m_now);
      Follow();
     }

   virtual void      OnLive(const bool first)
     {
      m_account.Forget();
      m_desk.TellOpen(m_now);
     }

   virtual void      OnSignal(const SignalFrame &frame)
     {
      OrderRequest request;
      RequestOfSignal(frame, request);
      m_desk.Take(request, m_now);
     }

   virtual void      OnSignalOrder(const SignalOrderFrame &frame)
     {
      OrderRequest request;
      RequestOfSignalOrder(frame, request);
      m_desk.Take(request, m_now);
     }

   virtual void      OnOrder(const OrderFrame &frame)
     {
      OrderRequest request;
      RequestOfOrder(frame, request);
      m_desk.Take(request, m_now);
     }

   virtual void      OnAsk(const AskFrame &frame)
     {
      for(int i = 0; i < ArraySize(frame.ids); i++)
         m_desk.Ask(frame.ids[i], m_now);
     }

   virtual void      OnHalt(const HaltFrame &frame)
     {
      m_desk.Halt(frame.halted != 0, frame.reason);
     }

   virtual void      OnRefused(const int code, const string text)
     {
      PrintFormat("the daemon refuses this trader (error %d): %s", code, text);
     }

private:
   // Who trades, with which journal, is told by the account.
   int               BeginAccount(void)
     {
      if(!m_folder.Known())
         return(INIT_SUCCEEDED);
      m_identity = m_settings.identity == "" ? DefaultIdentity("/trader") : m_settings.identity;
      if(!m_folder.Open(m_identity))
         return(INIT_SUCCEEDED);
      string names[];
      SymbolNames(m_settings.symbols == "" ? Symbol() : m_settings.symbols, names);
      m_clock.Read(m_now);
      if(!BeginSession())
         return(INIT_PARAMETERS_INCORRECT);
      if(!BeginDesk(names))
         return(INIT_SUCCEEDED);
      if(!Announce(names))
         return(INIT_PARAMETERS_INCORRECT);
      m_trouble.Forget();
      m_begun = true;
      PrintFormat("%s: %d orders in the journal, %d of them open", m_identity, m_desk.Count(),
                  m_desk.OpenCount());
      return(INIT_SUCCEEDED);
     }

   // False: the journal cannot be used now; what is wrong is told once.
   bool              BeginDesk(const string &names[])
     {
      if(m_now.ms < m_again_ms)
         return(false);
      m_again_ms = m_now.ms + TRADER_AGAIN_MS;
      DeskSettings desk = m_settings.desk;
      desk.journal_path = m_folder.Path() + "\\orders.journal";
      desk.halt_path = IdentityFolder(m_identity) + "\\halt.txt";  // the daemon halts who trades, on any account
      if(m_desk.Begin(desk, m_settings.limits, names, m_settings.halted, m_now))
         return(true);
      if(m_desk.Error() != m_told)
         Alert("Mt5Bridge Trader: ", m_desk.Error());
      m_told = m_desk.Error();
      return(false);
     }

   bool              BeginSession(void)
     {
      HelloFrame hello;
      TradesMode trades = TRADES_NOTHING;
      if(m_settings.desk.trading == TRADING_LIVE)
         trades = TRADES_ORDERS;
      if(m_settings.desk.trading == TRADING_DRY)
         trades = TRADES_DRY_RUN;
      FillHello(hello, m_identity, trades, "Mt5Bridge Trader " + MT5BRIDGE_VERSION);
      if(m_session.Begin(m_settings.session, hello, GetPointer(this)))
         return(true);
      Alert("Mt5Bridge Trader: ", m_session.StatusText());
      return(false);
     }

   bool              Announce(const string &names[])
     {
      for(int i = 0; i < ArraySize(names); i++)
        {
         SymbolEntry symbol;
         if(!ReadSymbol(names[i], symbol))
            return(false);
         m_session.AddSymbol(symbol);
        }
      return(true);
     }

   // Follows the orders and tells what is new.
   void              Follow(void)
     {
      m_desk.Step(m_now);
      TellAccount();
      if(Report())
         m_session.Send(m_now);
     }

   // Hands results to the session, in order. What is left untold while there is no connection is
   // let go, since the daemon asks again when it is back. True if there were any.
   bool              Report(void)
     {
      ResultTray *tray = m_desk.Results();
      const int count = tray.Count();
      int told = 0;
      SignalResultFrame result;
      while(told < count && m_session.Live())
        {
         tray.Get(told, result);
         if(!m_session.Report(result))
            break;
         told++;
        }
      if(count > 0)
         tray.Drop(m_session.Live() ? told : count);
      return(told > 0);
     }

   void              TellAccount(void)
     {
      AccountFrame account;
      if(m_session.Live() && m_account.Changed(m_now, account) && m_session.SendAccount(account))
         m_account.Told(account);
     }

   void              ShowStatus(void)
     {
      if(!m_settings.show_status || m_now.ms < m_status_ms)
         return;
      m_status_ms = m_now.ms + 1000;
      const string halted = m_desk.HaltReason();
      Comment(StringFormat("Mt5Bridge Trader %s\n%s\n%d orders, %d open%s", m_identity,
                           m_session.StatusText(), m_desk.Count(), m_desk.OpenCount(),
                           halted == "" ? "" : "\nHALTED: " + halted));
     }
  };

#endif
