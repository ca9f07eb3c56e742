//| An EA's own orders on the Trader's safe path: journal, limits, kill switch, each id at most once.
#ifndef MT5BRIDGE_CLIENT_ORDERS
#define MT5BRIDGE_CLIENT_ORDERS

#include "AccountFolder.mqh"
#include "EventsCallback.mqh"
#include "Market/ServerClock.mqh"
#include "Market/SymbolProperties.mqh"
#include "Market/TickHash.mqh"
#include "Orders/OrderDesk.mqh"

// Begin() in OnInit, End() in OnDeinit, Timer(), Trade() and Transaction() in the event handlers of
// these names. What becomes of orders is told to OnOrderResult. Needs no daemon.
class ClientOrders
  {
private:
   OrderDesk       m_desk;
   ServerClock     m_clock;
   EventsCallback *m_callback;
   string          m_name;
   string          m_symbols[];
   string          m_error;   // why nothing is executed; empty: it is
   bool            m_begun;   // the terminal knows its account

public:
   DeskSettings    settings;   // what Begin() does not ask for
   RiskLimits      limits;     // the Trader's, unless you set others; 0: none

                   ClientOrders(void);
   bool            Begin(const string name, const TradingChoice trading, const string symbols, EventsCallback *callback);
   ulong           IdOf(const ComplexEvent &event, const uint nth = 0) const;
   void            Take(const OrderRequest &request);
   void            Halt(const bool halted, const string reason);
   void            Timer(void);
   void            Trade(void);
   void            Transaction(const MqlTradeTransaction &change, const MqlTradeResult &result);
   void            End(void);

private:
   bool            BeginAccount(const Moment &now);
   void            Follow(void);
   void            Tell(void);
  };

ClientOrders::ClientOrders(void)
  {
   m_callback = NULL;
   m_begun = false;
   settings.filling = FILLING_BY_SYMBOL;
   settings.carrier = ID_IN_COMMENT;
   settings.default_lots = 0.01;
   settings.deviation_points = 20;
   settings.reconcile_ms = 60000;
   settings.retry_ms = 60000;
   settings.retention_ms = 60 * (long)86400000;
   limits.lots_per_order = 1.0;
   limits.lots_per_symbol = 2.0;
   limits.lots_per_day = 20.0;
   limits.orders_per_minute = 30;
   limits.daily_loss = 0.0;
  }

// `name` is this program's own: journal and ids go by it. `symbols` may be traded, separated by
// commas. False: a symbol is unknown or the journal cannot be used, and the user is told.
bool ClientOrders::Begin(const string name, const TradingChoice trading, const string symbols, EventsCallback *callback)
  {
   m_callback = callback;
   m_name = name;
   m_begun = false;
   m_error = "";
   settings.trading = trading;
   ArrayResize(m_symbols, 0);
   SymbolNames(symbols, m_symbols);
   for(int i = 0; i < ArraySize(m_symbols); i++)
     {
      SymbolEntry entry;
      if(!ReadSymbol(m_symbols[i], entry))
         return false;
     }
   Moment now;
   m_clock.Read(now);
   BeginAccount(now);
   return m_error == "";
  }

// The id of the `nth` order that this program makes of an event: the same whenever the event comes
// again, and never 0 nor negative, so that a magic number can carry it.
ulong ClientOrders::IdOf(const ComplexEvent &event, const uint nth) const
  {
   ulong hash = HashWord(HashWord(event.numbering, event.Number()), nth);
   const string text = m_name + "\n" + event.Name();
   for(int i = 0; i < StringLen(text); i++)
      hash = HashWord(hash, StringGetCharacter(text, i));
   return MathMax(hash >> 1, (ulong)1);
  }

// Executes a request, unless its id was taken before: then it tells again what became of it.
void ClientOrders::Take(const OrderRequest &request)
  {
   Moment now;
   m_clock.Read(now);
   if(BeginAccount(now))
     {
      m_desk.Take(request, now);
      Tell();
      return;
     }
   SignalResultFrame result;
   MakeResult(request.id, RESULT_REJECTED, 0, m_error == "" ? "the terminal is not logged in yet" : m_error, now, result);
   m_callback.OnOrderResult(result);
  }

// The daemon's kill switch: hand on what OnHalt says.
void ClientOrders::Halt(const bool halted, const string reason)
  {
   Moment now;
   m_clock.Read(now);
   if(BeginAccount(now))
      m_desk.Halt(halted, reason);
  }

void ClientOrders::Timer(void)
  {
   Follow();
  }

void ClientOrders::Trade(void)
  {
   m_desk.Wake();
   Follow();
  }

void ClientOrders::Transaction(const MqlTradeTransaction &change, const MqlTradeResult &result)
  {
   if(change.type == TRADE_TRANSACTION_REQUEST)
      m_desk.Answer(result);
   else
      m_desk.Wake();
   Follow();
  }

void ClientOrders::End(void)
  {
   m_desk.End();
   m_begun = false;
   m_error = "the program has ended";
  }

// The journal is the account's.
bool ClientOrders::BeginAccount(const Moment &now)
  {
   if(m_begun || m_error != "")
      return m_begun;
   if(!HistoryKnown())
      return false;
   const string folder = IdentityFolder(DefaultIdentity("/" + m_name));
   settings.journal_path = folder + "\\orders.journal";
   settings.halt_path = folder + "\\halt.txt";
   m_begun = m_desk.Begin(settings, limits, m_symbols, false, now);
   m_error = m_begun ? "" : m_desk.Error();
   if(!m_begun)
      Alert("Mt5Bridge " + m_name + ": " + m_error);
   return m_begun;
  }

void ClientOrders::Follow(void)
  {
   Moment now;
   m_clock.Read(now);
   if(!BeginAccount(now))
      return;
   m_desk.Step(now);
   Tell();
  }

// One after another, for OnOrderResult may ask for an order itself.
void ClientOrders::Tell(void)
  {
   ResultTray *tray = m_desk.Results();
   SignalResultFrame result;
   while(tray.Count() > 0)
     {
      tray.Get(0, result);
      tray.Drop(1);
      m_callback.OnOrderResult(result);
     }
  }

#endif
