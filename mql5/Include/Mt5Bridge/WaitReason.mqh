//| Why a program waits, told in the journal once and not with each look.
#ifndef MT5BRIDGE_WAIT_REASON_MQH
#define MT5BRIDGE_WAIT_REASON_MQH

class WaitReason
  {
private:
   string m_told;

public:
          WaitReason(void) { Forget(); }
   void   Forget(void) { m_told = ""; }
   bool   Wait(const string reason);
  };

// False; a reason is printed when it is another one than before.
bool WaitReason::Wait(const string reason)
  {
   if(reason != m_told)
      Print(reason);
   m_told = reason;
   return false;
  }

#endif
