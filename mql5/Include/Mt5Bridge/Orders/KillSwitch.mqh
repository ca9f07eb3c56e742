// The kill switch: the daemon's, kept in a file, and three that lie in the user's hand.
#ifndef MT5BRIDGE_ORDERS_KILL_SWITCH_MQH
#define MT5BRIDGE_ORDERS_KILL_SWITCH_MQH

#define LOCAL_HALT_FILE     "Mt5Bridge\\HALT"
#define LOCAL_HALT_VARIABLE "Mt5Bridge.Halt"

// While a reason stands, nothing may open or enlarge a position.
class KillSwitch
  {
private:
   string            m_path;
   bool              m_input;
   bool              m_halted;
   string            m_reason;

public:
   // `path` is the file that keeps the daemon's switch, `input_halted` the user's setting.
   void              Begin(const string path, const bool input_halted)
     {
      m_path = path;
      m_input = input_halted;
      m_halted = FileIsExist(path);
      m_reason = m_halted ? ReadReason() : "";
     }

   // The daemon's switch; it is on the disk when this returns true. That the file is there is the
   // switch: a full disk may cost the reason, no more.
   bool              Set(const bool halted, const string reason)
     {
      m_halted = halted;
      m_reason = reason;
      if(!halted)
         return(!FileIsExist(m_path) || FileDelete(m_path));
      const int handle = FileOpen(m_path, FILE_WRITE | FILE_TXT | FILE_ANSI, 0, CP_UTF8);
      if(handle == INVALID_HANDLE)
         return(false);
      FileWriteString(handle, reason);
      FileFlush(handle);
      FileClose(handle);
      return(true);
     }

   // Why nothing may be opened, "" when it may.
   string            Reason(void) const
     {
      if(m_halted)
         return(m_reason == "" ? "by the daemon" : m_reason);
      if(m_input)
         return("by the input Halted");
      if(FileIsExist(LOCAL_HALT_FILE))
         return("by the file Files\\" + LOCAL_HALT_FILE);
      if(GlobalVariableCheck(LOCAL_HALT_VARIABLE) && GlobalVariableGet(LOCAL_HALT_VARIABLE) != 0)
         return("by the global variable " + LOCAL_HALT_VARIABLE);
      return("");
     }

private:
   string            ReadReason(void) const
     {
      const int handle = FileOpen(m_path, FILE_READ | FILE_TXT | FILE_ANSI, 0, CP_UTF8);
      if(handle == INVALID_HANDLE)
         return("");
      const string reason = FileIsEnding(handle) ? "" : FileReadString(handle);
      FileClose(handle);
      return(reason);
     }
  };

#endif
