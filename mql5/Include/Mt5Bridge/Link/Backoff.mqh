//| How long to wait before the next attempt: growing pauses with jitter.
#ifndef MT5BRIDGE_LINK_BACKOFF_MQH
#define MT5BRIDGE_LINK_BACKOFF_MQH

// Doubles from the first to the longest pause; each is drawn from its upper half.
class Backoff
  {
private:
   long              m_first_ms;
   long              m_max_ms;
   long              m_pause_ms;
   uint              m_random;

   // The next of 32 random bits (xorshift of Marsaglia); good enough to spread attempts.
   uint              Draw(void)
     {
      m_random ^= m_random << 13;
      m_random ^= m_random >> 17;
      m_random ^= m_random << 5;
      return(m_random);
     }

public:
                     Backoff(void) { Configure(50, 2000, 1); }

   void              Configure(const long first_ms, const long max_ms, const uint seed)
     {
      m_first_ms = first_ms;
      m_max_ms = max_ms;
      m_random = seed == 0 ? 1 : seed;
      Reset();
     }

   // The next pause is the first one again.
   void              Reset(void) { m_pause_ms = m_first_ms; }

   // The pause to make now, in milliseconds.
   long              Next(void)
     {
      const long half_ms = m_pause_ms / 2;
      const long pause_ms = m_pause_ms - (long)(Draw() % (uint)(half_ms + 1));
      m_pause_ms = 2 * m_pause_ms < m_max_ms ? 2 * m_pause_ms : m_max_ms;
      return(pause_ms);
     }
  };

#endif
