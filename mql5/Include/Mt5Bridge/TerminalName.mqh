//| The name of this terminal among several of one machine, which `mt5cep terminal install` gives.
#ifndef MT5BRIDGE_TERMINAL_NAME_MQH
#define MT5BRIDGE_TERMINAL_NAME_MQH

#include "Link/SmallFile.mqh"

#define TERMINAL_NAME_FILE "Mt5Bridge\\terminal.txt"
#define TERMINAL_NAME_HEAD "mt5bridge terminal 1"
#define TERMINAL_NAME_MAX  40

// "/NAME", which goes behind the account in an identity; "" for a terminal without a name.
string TerminalSuffix(void)
  {
   const int handle = FileOpen(TERMINAL_NAME_FILE, FILE_READ | FILE_BIN | FILE_SHARE_READ | FILE_SHARE_WRITE);
   if(handle == INVALID_HANDLE)
      return("");
   const string text = SmallFileText(handle);
   FileClose(handle);
   int at = 0;
   string rest = "";
   string name = "";
   if(TakeSmallFileLine(text, at, TERMINAL_NAME_HEAD, rest) && rest == ""
      && TakeSmallFileLine(text, at, "name ", name) && name != ""
      && StringLen(name) <= TERMINAL_NAME_MAX && at == StringLen(text))
      return("/" + name);
   Print(TERMINAL_NAME_FILE + " is damaged: run `mt5cep terminal install` again");
   return("");
  }

#endif
