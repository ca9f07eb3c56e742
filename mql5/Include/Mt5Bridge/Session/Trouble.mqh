//| What keeps the daemon away: one line in the journal for each new trouble.
#ifndef MT5BRIDGE_SESSION_TROUBLE
#define MT5BRIDGE_SESSION_TROUBLE

#include "Session.mqh"

class Trouble
  {
private:
   string m_told;

public:
          Trouble(void) { Forget(); }

   void   Forget(void) { m_told = ""; }

   // Tells what StatusText says unless it was told last; a session that lives has no trouble.
   void   Tell(const Session &session)
     {
      if(session.Live())
         m_told = "";
      const string text = session.StatusText();
      if(!session.Troubled() || text == m_told)
         return;
      m_told = text;
      Print(text);
     }
  };

#endif
