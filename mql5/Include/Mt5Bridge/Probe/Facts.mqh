//| What a probe has found, as the text of a JSON file.
#ifndef MT5BRIDGE_PROBE_FACTS_MQH
#define MT5BRIDGE_PROBE_FACTS_MQH

#include "..\Version.mqh"
#include "..\Wire\DoubleBits.mqh"

#define PROBE_FORMAT 1

// A text as JSON has it, in ASCII: the file is then read alike whatever the code page.
string JsonText(const string text)
  {
   string quoted = "\"";
   for(int i = 0; i < StringLen(text); i++)
     {
      const ushort c = StringGetCharacter(text, i);
      if(c == '"' || c == '\\')
         quoted += "\\" + StringSubstr(text, i, 1);
      else if(c < 0x20 || c > 0x7E)
         quoted += StringFormat("\\u%04x", (int)c);
      else
         quoted += StringSubstr(text, i, 1);
     }
   return(quoted + "\"");
  }

// Facts by name, and for what could not be measured the reason.
class ProbeFacts
  {
private:
   string            m_facts;
   string            m_skipped;
   int               m_count;

   void              Add(const string name, const string json)
     {
      m_facts += (m_facts == "" ? "" : ",") + "\n  " + JsonText(name) + ": " + json;
      m_count++;
     }

   // What the facts were found with, without names or numbers of anybody.
   string            Head(void) const
     {
      return("\"probe\": " + IntegerToString(PROBE_FORMAT)
             + ",\n\"program\": " + JsonText(MT5BRIDGE_VERSION)
             + ",\n\"terminal\": " + JsonText(TerminalInfoString(TERMINAL_NAME))
             + ",\n\"build\": " + IntegerToString(TerminalInfoInteger(TERMINAL_BUILD))
             + ",\n\"account\": " + JsonText(Account())
             + ",\n\"symbol\": " + JsonText(_Symbol)
             + ",\n\"written\": " + JsonText(TimeToString(TimeGMT(), TIME_DATE | TIME_SECONDS)));
     }

   string            Account(void) const
     {
      if(AccountInfoInteger(ACCOUNT_LOGIN) == 0)
         return("none");
      const long mode = AccountInfoInteger(ACCOUNT_TRADE_MODE);
      return(mode == ACCOUNT_TRADE_MODE_REAL ? "real" : mode == ACCOUNT_TRADE_MODE_DEMO ? "demo" : "contest");
     }

public:
                     ProbeFacts(void)
     {
      m_facts = "";
      m_skipped = "";
      m_count = 0;
     }

   int               Count(void) const { return(m_count); }

   void              Truth(const string name, const bool value) { Add(name, value ? "true" : "false"); }
   void              Whole(const string name, const long value) { Add(name, IntegerToString(value)); }
   void              Text(const string name, const string value) { Add(name, JsonText(value)); }
   // JSON knows no infinity and no NaN: they are texts.
   void              Real(const string name, const double value)
     {
      Add(name, IsFinite(value) ? StringFormat("%.17g", value) : JsonText("no number"));
     }

   // Why the facts whose names begin with `group` are not there.
   void              Skip(const string group, const string reason)
     {
      m_skipped += (m_skipped == "" ? "" : ",") + "\n  " + JsonText(group) + ": " + JsonText(reason);
     }

   string            Json(void) const
     {
      return("{\n" + Head() + ",\n\"facts\": {" + m_facts + "\n},\n\"skipped\": {" + m_skipped + "\n}\n}\n");
     }

   // Writes the file anew; false when that fails.
   bool              Write(const string path) const
     {
      uchar bytes[];
      const int size = StringToCharArray(Json(), bytes, 0, -1, CP_UTF8) - 1;
      const int handle = FileOpen(path, FILE_WRITE | FILE_BIN);
      if(handle == INVALID_HANDLE)
         return(false);
      const bool written = FileWriteArray(handle, bytes, 0, size) == (uint)size;
      FileClose(handle);
      return(written);
     }
  };

#endif
