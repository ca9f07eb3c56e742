//| The strategy tester, in which no program reaches the daemon.
#ifndef MT5BRIDGE_TESTER
#define MT5BRIDGE_TESTER

// The tester has no sockets, and a Files folder of its own. Whether the program runs there; it says so
// and what to do instead. OnInit should return INIT_FAILED then.
bool StandsInTester(void)
  {
   if(!(bool)MQLInfoInteger(MQL_TESTER))
      return false;
   Print("Mt5Bridge: the strategy tester has no sockets, so " + MQLInfoString(MQL_PROGRAM_NAME)
         + " reaches no daemon in it. Attach it to a chart; rules are tested on history by mt5cep backtest");
   return true;
  }

#endif
