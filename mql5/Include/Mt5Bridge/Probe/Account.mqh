//| What the account, the symbol and the terminal's variables are to the trader.
#ifndef MT5BRIDGE_PROBE_ACCOUNT_MQH
#define MT5BRIDGE_PROBE_ACCOUNT_MQH

#include "Facts.mqh"

#define PROBE_VARIABLE "Mt5Bridge.Probe"

void ProbeSymbol(ProbeFacts &facts)
  {
   const double step = SymbolInfoDouble(_Symbol, SYMBOL_VOLUME_STEP);
   facts.Whole("symbol.digits", SymbolInfoInteger(_Symbol, SYMBOL_DIGITS));
   facts.Real("symbol.volume_step", step);
   facts.Truth("symbol.volume_step_kept", step > 0 && NormalizeDouble(step, 8) == step);
   const double least = SymbolInfoDouble(_Symbol, SYMBOL_VOLUME_MIN);
   facts.Truth("symbol.volume_min_in_steps", step > 0 && MathAbs(least / step - MathRound(least / step)) < 0.000001);
   facts.Truth("symbol.tick_size_known", SymbolInfoDouble(_Symbol, SYMBOL_TRADE_TICK_SIZE) > 0);
   facts.Whole("symbol.stops_level_points", SymbolInfoInteger(_Symbol, SYMBOL_TRADE_STOPS_LEVEL));
   facts.Whole("symbol.freeze_level_points", SymbolInfoInteger(_Symbol, SYMBOL_TRADE_FREEZE_LEVEL));
  }

void ProbeVariables(ProbeFacts &facts)
  {
   GlobalVariableDel(PROBE_VARIABLE);
   facts.Truth("variable.absent", !GlobalVariableCheck(PROBE_VARIABLE));
   GlobalVariableSet(PROBE_VARIABLE, 1.5);
   facts.Truth("variable.set", GlobalVariableCheck(PROBE_VARIABLE) && GlobalVariableGet(PROBE_VARIABLE) == 1.5);
   GlobalVariableDel(PROBE_VARIABLE);
  }

void ProbeAccount(ProbeFacts &facts)
  {
   ProbeSymbol(facts);
   ProbeVariables(facts);
   facts.Truth("account.server_known", AccountInfoString(ACCOUNT_SERVER) != "");
  }

#endif
