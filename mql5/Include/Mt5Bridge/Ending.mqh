//| The last half second of a program: in OnDeinit no other event of it waits, so that it may.
#ifndef MT5BRIDGE_ENDING_MQH
#define MT5BRIDGE_ENDING_MQH

#define ENDING_MS      500   // a terminal allows 2.5 s
#define ENDING_STEP_MS 20

// For what fails now and may not in a moment, as while a scanner holds a file.
class Ending
  {
private:
   long m_until_ms;

public:
        Ending(void) { m_until_ms = (long)GetTickCount64() + ENDING_MS; }
   bool Waits(void) const;
  };

// Waits for a moment; false when there is no time left.
bool Ending::Waits(void) const
  {
   if((long)GetTickCount64() >= m_until_ms)
      return false;
   Sleep(ENDING_STEP_MS);
   return true;
  }

#endif
