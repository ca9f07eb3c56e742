//| Example: prints the daemon's signals and this account's deals, and trades nothing.
#property version   "1.00"
#property description "Shows how to receive signals in MQL5 with Mt5Bridge's EventsCallback."

#include <Mt5Bridge\SignalReceiver.mqh>

input string Address = "127.0.0.1";  // Daemon's host name or IP address
input int    Port = 5655;            // Daemon's port
input string User = "";              // User at the daemon; empty: the credential that `mt5cep terminal install` has written
input string Password = "";          // Password of that user
input string Identity = "";          // Name of this program; empty: ACCOUNT@SERVER/SignalPrinter
input string Symbols = "";           // Symbols whose signals are wanted; empty: the chart's
input int    TimerMs = 50;           // Milliseconds between looks at the daemon

// Says what it would do, which is final: the daemon does not ask again.
class SignalPrinter : public EventsCallback
  {
public:
   virtual void OnSignal(const SignalFrame &signal, SignalResultFrame &result)
     {
      PrintFormat("signal %I64u %s: %s %.2f lots, stop %.0f points", signal.id, signal.name, signal.symbol, signal.lots, signal.stop_points);
      result.status = RESULT_DRY_RUN;
      result.text = "printed";
     }

   virtual void OnConnected(void) { Print("connected"); }
   virtual void OnDisconnected(const string reason) { Print("disconnected: " + reason); }

   virtual void OnDeal(const DealRecord &deal)
     {
      PrintFormat("deal %I64u revision %u: %s %.2f at %.5f", deal.ticket, deal.revision, FixedTextOf(deal.symbol), deal.volume, deal.price);
     }
  };

SignalPrinter printer;
SignalReceiver *receiver = NULL;

int OnInit()
  {
   SessionSettings settings;
   settings.host = Address;
   settings.port = Port;
   settings.user = User;
   settings.password = Password;
   receiver = new SignalReceiver();
   string wanted = Symbols == "" ? _Symbol : Symbols;
   if(!receiver.Begin(settings, Identity, wanted, TRADES_DRY_RUN, "Mt5Bridge SignalPrinter " + MT5BRIDGE_VERSION, GetPointer(printer)))
      return INIT_FAILED;
   return EventSetMillisecondTimer(TimerMs) ? INIT_SUCCEEDED : INIT_FAILED;
  }

void OnDeinit(const int reason)
  {
   EventKillTimer();
   receiver.End();
   delete receiver;
   receiver = NULL;
  }

void OnTimer()
  {
   receiver.Timer();
  }

void OnTrade()
  {
   receiver.Trade();
  }

void OnTradeTransaction(const MqlTradeTransaction &change, const MqlTradeRequest &request, const MqlTradeResult &result)
  {
   receiver.Transaction(change);
  }
