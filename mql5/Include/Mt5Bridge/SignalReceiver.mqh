//| Connects an EventsCallback to the daemon: signals, complex events and deals as method calls.
#ifndef MT5BRIDGE_SIGNAL_RECEIVER
#define MT5BRIDGE_SIGNAL_RECEIVER

#include "Account.mqh"
#include "DealEvents.mqh"
#include "Market/ServerClock.mqh"
#include "Market/SymbolProperties.mqh"
#include "Session/Session.mqh"
#include "Session/Trouble.mqh"
#include "TerminalName.mqh"
#include "Tester.mqh"
#include "Version.mqh"

// Connects an EventsCallback to the daemon. Create it in OnInit, call its methods from the event
// handlers of the same names, delete it in OnDeinit; one that outlives them begins anew with each
// Begin(). OnDeinit and OnInit are also called when inputs, symbol or period change, and globals keep
// their values then: so does your EventsCallback if it is one.
class SignalReceiver : public SessionEvents
  {
private:
   Session         m_session;
   ServerClock     m_clock;
   DealEvents      m_deals;
   EventsCallback *m_callback;
   Trouble         m_trouble;
   SessionSettings m_settings;
   TradesMode      m_trades;
   string          m_identity;
   TerminalName    m_name;
   string          m_program;
   string          m_symbols[];
   bool            m_begun;   // the terminal knows its account
   bool            m_failed;

public:
                   SignalReceiver(void) { m_callback = NULL; m_begun = m_failed = false; }
   bool            Begin(const SessionSettings &settings, const string identity, const string symbols, const TradesMode trades, const string program, EventsCallback *callback);
   void            SubscribeAll(void) { m_session.Want(WANTED_ALL); }
   void            SubscribeEngine(const string name) { m_session.Want(WANTED_ENGINE, name); }
   void            SubscribeEvent(const string name) { m_session.Want(WANTED_NAMED, name); }
   void            Timer(void);
   void            Trade(void) { m_deals.EnumCallbacks(); }
   void            Transaction(const MqlTradeTransaction &change) { m_deals.Transaction(change); }
   void            End(void);
   virtual void    OnLive(const bool first) { m_callback.OnConnected(); }
   virtual void    OnOffline(const string reason) { m_callback.OnDisconnected(reason); }
   virtual void    OnSignal(const SignalFrame &frame);
   virtual void    OnSignalOrder(const SignalOrderFrame &frame);
   virtual void    OnOrder(const OrderFrame &frame);
   virtual void    OnAsk(const AskFrame &frame);
   virtual void    OnComplexEvent(const ComplexEvent &event) { m_callback.OnComplexEvent(event); }
   virtual void    OnHalt(const HaltFrame &frame) { m_callback.OnHalt(frame.halted != 0, frame.reason); }
   virtual void    OnRefused(const int code, const string text) { Alert("Mt5Bridge: the daemon refuses this terminal: " + text); }

private:
   bool            IsNamed(void) const { return m_identity == "" && m_trades == TRADES_NOTHING; }   // after the terminal, too
   bool            BeginAccount(void);
   bool            BeginSession(void);
   bool            Announce(void);
   void            Fill(const ulong id, const ResultStatus status, const string text, SignalResultFrame &result) const;
   void            Tell(SignalResultFrame &result);
  };

// `symbols` are those whose signals are wanted, separated by commas. `identity` must be no other
// program's; empty: ACCOUNT@SERVER/PROGRAM, with the terminal's name before PROGRAM if it has one and
// nothing is traded: who trades has one name in all terminals, so that only one does. Complex events are subscribed after it: all, an engine's or
// those of a name. False: the settings make no sense, or the program runs in the strategy tester.
bool SignalReceiver::Begin(const SessionSettings &settings, const string identity, const string symbols, const TradesMode trades, const string program, EventsCallback *callback)
  {
   m_callback = callback;
   m_settings = settings;
   m_settings.publishes = false;
   m_trades = trades;
   m_identity = identity;
   m_program = program;
   m_begun = m_failed = false;
   m_trouble.Forget();
   m_name.Forget();
   m_session.WantNothing();
   ArrayResize(m_symbols, 0);
   SymbolNames(symbols, m_symbols);
   if(StandsInTester())
      return false;
   if(!AccountKnown())
      Print("waiting until the terminal knows its account");
   BeginAccount();
   m_deals.Begin(callback);
   return !m_failed;
  }

// Whether the session is there; once the account is known.
bool SignalReceiver::BeginAccount(void)
  {
   if(m_begun || m_failed || !AccountKnown() || (IsNamed() && !m_name.Known()))
      return m_begun;
   m_begun = BeginSession() && Announce();
   m_failed = !m_begun;
   return m_begun;
  }

bool SignalReceiver::BeginSession(void)
  {
   HelloFrame hello;
   const string own_name = DefaultIdentity((IsNamed() ? m_name.Suffix() : "") + "/" + MQLInfoString(MQL_PROGRAM_NAME));
   FillHello(hello, m_identity == "" ? own_name : m_identity, m_trades, m_program);
   if(m_session.Begin(m_settings, hello, GetPointer(this)))
      return true;
   Alert("Mt5Bridge: " + m_session.StatusText());
   return false;
  }

bool SignalReceiver::Announce(void)
  {
   for(int i = 0; i < ArraySize(m_symbols); i++)
     {
      SymbolEntry entry;
      if(!ReadSymbol(m_symbols[i], entry))
         return false;
      m_session.AddSymbol(entry);
     }
   return true;
  }

void SignalReceiver::Timer(void)
  {
   if(BeginAccount())
     {
      Moment now;
      m_clock.Read(now);
      m_session.Step(now);
      m_trouble.Tell(m_session);
     }
   m_deals.Timer();
  }

void SignalReceiver::End(void)
  {
   Moment now;
   m_clock.Read(now);
   m_session.End("the program ends", now);
  }

void SignalReceiver::OnSignal(const SignalFrame &frame)
  {
   SignalResultFrame result;
   Fill(frame.id, RESULT_RECEIVED, "", result);
   m_callback.OnSignal(frame, result);
   Tell(result);
  }

void SignalReceiver::OnSignalOrder(const SignalOrderFrame &frame)
  {
   SignalResultFrame result;
   Fill(frame.signal.id, RESULT_REJECTED, "this program takes signals without prices; others need the Trader", result);
   Tell(result);
  }

void SignalReceiver::OnOrder(const OrderFrame &frame)
  {
   SignalResultFrame result;
   Fill(frame.id, RESULT_REJECTED, "this program takes signals only; orders need the Trader", result);
   Tell(result);
  }

// Nothing is remembered here; whoever trades on signals keeps a journal (see OrderJournal.mqh).
void SignalReceiver::OnAsk(const AskFrame &frame)
  {
   for(int i = 0; i < ArraySize(frame.ids); i++)
     {
      SignalResultFrame result;
      Fill(frame.ids[i], RESULT_UNKNOWN, "this program remembers no answers", result);
      m_callback.OnAsk(frame.ids[i], result);
      Tell(result);
     }
  }

void SignalReceiver::Fill(const ulong id, const ResultStatus status, const string text, SignalResultFrame &result) const
  {
   ZeroMemory(result);
   result.id = id;
   result.status = (ushort)status;
   result.text = text;
  }

void SignalReceiver::Tell(SignalResultFrame &result)
  {
   Moment now;
   m_clock.Read(now);
   if(result.time_msc == 0)
      result.time_msc = now.utc_msc;
   m_session.Report(result);
  }

#endif
