//| Example: prints the complex events of the daemon's rules with the simple ones in them.
#property version   "1.00"
#property description "Shows how to have complex events in MQL5 with Mt5Bridge's EventsCallback."

#include <Mt5Bridge\SignalReceiver.mqh>

input string Address = "127.0.0.1";  // Daemon's host name or IP address
input int    Port = 5655;            // Daemon's port
input string User = "";              // User at the daemon; empty: the credential that `mt5cep terminal install` has written
input string Password = "";          // Password of that user
input string Identity = "";          // Name of this program; empty: ACCOUNT@SERVER/EventPrinter
input string Events = "";            // Complex events that are wanted, separated by commas; empty: see Engine
input string Engine = "";            // Engine whose complex events are wanted; both empty: all there are
input int    TimerMs = 50;           // Milliseconds between looks at the daemon

class EventPrinter : public EventsCallback
  {
private:
   // An event of all symbols has no key.
   string Behind(const string key) { return key == "" ? "" : " " + key; }

public:
   virtual void OnComplexEvent(const ComplexEvent &event)
     {
      if(event.missed > 0)
         PrintFormat("%I64u of %s before the next one were missed", event.missed, event.Name());
      PrintFormat("%s %I64u%s: %d events in %I64d ms", event.Name(), event.Number(), Behind(event.Key()), event.Total(), event.TimeMsc() - event.FirstMsc());
      for(int i = 0; i < event.Total(); i++)
        {
         const string name = event.frame.bound[i].name;
         const string mid = event.Has(name, "mid") ? StringFormat(" at mid %.5f", event.GetDouble(name, "mid")) : "";
         Print("  " + name + Behind(event.frame.bound[i].key) + mid);
        }
     }
  };

EventPrinter printer;
SignalReceiver receiver;

int OnInit()
  {
   SessionSettings settings;
   settings.host = Address;
   settings.port = Port;
   settings.user = User;
   settings.password = Password;
   if(!receiver.Begin(settings, Identity, "", TRADES_NOTHING, "Mt5Bridge EventPrinter " + MT5BRIDGE_VERSION, GetPointer(printer)))
      return INIT_FAILED;
   string names[];
   StringSplit(Events, ',', names);
   for(int i = 0; i < ArraySize(names); i++)
      receiver.SubscribeEvent(names[i]);
   if(Engine != "")
      receiver.SubscribeEngine(Engine);
   if(Events == "" && Engine == "")
      receiver.SubscribeAll();
   return EventSetMillisecondTimer(TimerMs) ? INIT_SUCCEEDED : INIT_FAILED;
  }

void OnDeinit(const int reason)
  {
   EventKillTimer();
   receiver.End();
  }

void OnTimer()
  {
   receiver.Timer();
  }
