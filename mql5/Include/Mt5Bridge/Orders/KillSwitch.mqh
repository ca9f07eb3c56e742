// The kill switch: the daemon's, kept in a file, and three that lie in the user's hand.
#ifndef MT5BRIDGE_ORDERS_KILL_SWITCH_MQH
#define MT5BRIDGE_ORDERS_KILL_SWITCH_MQH

#define LOCAL_HALT_FILE     "Mt5Bridge\\HALT"
#define LOCAL_HALT_VARIABLE "Mt5Bridge.Halt"

// While a reason stands, nothing may open or enlarge a position. Nor may it while what the daemon has
// said is not on the disk: whoever starts next must not know less.
class KillSwitch
  {
private:
   string            m_path;
   bool              m_input;
   bool              m_halted;      // by the daemon
   string            m_reason;
   bool              m_kept;        // that is on the disk

public:
                     KillSwitch(void) { Begin("", false); }

   // `path` is the file that keeps the daemon's switch, `input_halted` the user's setting.
   void              Begin(const string path, const bool input_halted)
     {
      m_path = path;
      m_input = input_halted;
      m_kept = true;
      m_halted = path != "" && FileIsExist(path);
      m_reason = m_halted ? ReadReason() : "";
     }

   // The daemon's switch; call Keep() until it is on the disk.
   void              Set(const bool halted, const string reason)
     {
      m_halted = halted;
      m_reason = reason;
      m_kept = false;
     }

   // Whether the daemon's switch is on the disk.
   bool              Kept(void) const { return(m_kept); }

   // Brings it there, if that goes now; whether it is.
   bool              Keep(void)
     {
      if(!m_kept)
         m_kept = m_halted ? WriteReason() : !FileIsExist(m_path) || FileDelete(m_path);
      return(m_kept);
     }

   // Why nothing may be opened, "" when it may.
   string            Reason(void) const
     {
      if(m_halted)
         return(m_reason == "" ? "by the daemon" : m_reason);
      if(!m_kept)
         return("until the file Files\\" + m_path + " can be deleted");
      if(m_input)
         return("by the input Halted");
      if(FileIsExist(LOCAL_HALT_FILE))
         return("by the file Files\\" + LOCAL_HALT_FILE);
      if(GlobalVariableCheck(LOCAL_HALT_VARIABLE) && GlobalVariableGet(LOCAL_HALT_VARIABLE) != 0)
         return("by the global variable " + LOCAL_HALT_VARIABLE);
      return("");
     }

private:
   // That the file is there is the switch: a full disk may cost the reason, no more.
   bool              WriteReason(void) const
     {
      const int handle = FileOpen(m_path, FILE_WRITE | FILE_TXT | FILE_ANSI, 0, CP_UTF8);
      if(handle == INVALID_HANDLE)
         return(false);
      FileWriteString(handle, m_reason);
      FileFlush(handle);
      FileClose(handle);
      return(true);
     }

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
