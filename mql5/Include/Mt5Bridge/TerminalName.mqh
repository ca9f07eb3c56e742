//| The name of this terminal among several of one machine, which `mt5cep terminal install` gives.
#ifndef MT5BRIDGE_TERMINAL_NAME_MQH
#define MT5BRIDGE_TERMINAL_NAME_MQH

#include "Link/SmallFile.mqh"
#include "WaitReason.mqh"

#define TERMINAL_NAME_FILE    "Mt5Bridge\\terminal.txt"
#define TERMINAL_NAME_HEAD    "mt5bridge terminal 1"
#define TERMINAL_NAME_MAX     40
#define TERMINAL_NAME_LOOK_MS 1000

// A terminal without the file has no name. One whose file cannot be read has one that is not known:
// without it, it would have the name of another terminal.
class TerminalName
  {
private:
   string m_suffix;
   WaitReason m_reason;
   long   m_look_ms;

public:
          TerminalName(void) { Forget(); }
   void   Forget(void);
   bool   Known(void);
   string Suffix(void) const { return m_suffix; }   // "/NAME", behind the account in an identity; "" without a name

private:
   bool   Take(const string text);
   bool   Wait(const string reason);
  };

void TerminalName::Forget(void)
  {
   m_suffix = "";
   m_reason.Forget();
   m_look_ms = 0;
  }

// Whether it is; if not, why is printed, and it is to be asked again.
bool TerminalName::Known(void)
  {
   m_suffix = "";
   if((long)GetTickCount64() < m_look_ms)
      return false;
   if(!FileIsExist(TERMINAL_NAME_FILE))
      return true;
   const int handle = FileOpen(TERMINAL_NAME_FILE, FILE_READ | FILE_BIN | FILE_SHARE_READ | FILE_SHARE_WRITE);
   if(handle == INVALID_HANDLE)
      return Wait(StringFormat("waiting for Files\\%s (error %d): another program uses it", TERMINAL_NAME_FILE, GetLastError()));
   const string text = SmallFileText(handle);
   FileClose(handle);
   return Take(text) || Wait("Files\\" + TERMINAL_NAME_FILE + " is damaged: run `mt5cep terminal install` again");
  }

bool TerminalName::Take(const string text)
  {
   int at = 0;
   string rest = "";
   string name = "";
   if(!TakeSmallFileLine(text, at, TERMINAL_NAME_HEAD, rest) || rest != ""
      || !TakeSmallFileLine(text, at, "name ", name) || name == ""
      || StringLen(name) > TERMINAL_NAME_MAX || at != StringLen(text))
      return false;
   m_suffix = "/" + name;
   return true;
  }

// False, and the next look is later.
bool TerminalName::Wait(const string reason)
  {
   m_look_ms = (long)GetTickCount64() + TERMINAL_NAME_LOOK_MS;
   return m_reason.Wait(reason);
  }

#endif
