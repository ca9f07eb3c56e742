//| Measures what our sources take for granted in this terminal; docs/terminal.md tells what and why.
#ifndef MT5BRIDGE_PROBE_PROBE_MQH
#define MT5BRIDGE_PROBE_PROBE_MQH

#include "Account.mqh"
#include "Clocks.mqh"
#include "Facts.mqh"
#include "Files.mqh"
#include "Language.mqh"
#include "Sockets.mqh"
#include "Ticks.mqh"

#define PROBE_FILE "Mt5Bridge\\probe.json"

// Takes some seconds. False: the file cannot be written, and the journal says so.
bool RunProbe(const ProbePeer &peer)
  {
   ProbeFacts facts;
   ProbeLanguage(facts);
   ProbeFiles(facts);
   ProbeClocks(facts);
   ProbeTicks(facts);
   ProbeAccount(facts);
   ProbeSockets(peer, facts);
   ResetLastError();
   if(!facts.Write(PROBE_FILE))
     {
      PrintFormat("Files\\%s cannot be written (error %d)", PROBE_FILE, GetLastError());
      return(false);
     }
   PrintFormat("%d facts of this terminal are in Files\\%s: `mt5cep terminal doctor` judges them", facts.Count(), PROBE_FILE);
   return(true);
  }

#endif
