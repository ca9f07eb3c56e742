//| Checks inside this terminal that its frames are those of the protocol, byte for byte.
#property copyright "mt5bridge"
#property version   "1.00"
#property description "Decodes and encodes every golden frame and says whether all is well."
#property script_show_inputs

#include <Mt5Bridge\SelfTest.mqh>

input bool ShowAlert = true; // show the verdict in a window too

void OnStart()
  {
   SelfTest test;
   test.Run();
   test.Tell(ShowAlert);
  }
