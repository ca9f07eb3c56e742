//| Checks frames byte for byte in this terminal, and measures what the other programs take for granted.
#property copyright "mt5bridge"
#property version   "1.00"
#property description "Decodes and encodes every golden frame, and writes what this terminal does into Files\\Mt5Bridge\\probe.json."
#property script_show_inputs

#include <Mt5Bridge\Probe\Probe.mqh>
#include <Mt5Bridge\SelfTest.mqh>

input bool   ShowAlert = true;       // show the verdict in a window too
input bool   Measure = true;         // measure this terminal, which takes some seconds
input string Address = "127.0.0.1";  // Daemon's host name or IP address
input int    Port = 5655;            // Daemon's port

void OnStart()
  {
   SelfTest test;
   test.Run();
   if(Measure)
     {
      ProbePeer peer;
      peer.host = Address;
      peer.port = Port;
      RunProbe(peer);
     }
   test.Tell(ShowAlert);
  }
