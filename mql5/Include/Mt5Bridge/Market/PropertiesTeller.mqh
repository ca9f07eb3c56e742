//| Tells what else there is to know of published symbols: on each connection, and when it changes.
#ifndef MT5BRIDGE_MARKET_PROPERTIES_TELLER
#define MT5BRIDGE_MARKET_PROPERTIES_TELLER

#include "../Session/Session.mqh"
#include "../Wire/Checks.mqh"
#include "SymbolProperties.mqh"
#include "TickHash.mqh"

#define PROPERTIES_A_STEP 8  // symbols read in one call

// From the timer alone: no tick waits for it. A symbol's index is its stream's number - 1.
class PropertiesTeller
  {
private:
   ulong m_told[];   // one number for what was told of each symbol
   int   m_known;    // symbols told on this connection
   int   m_next;
   long  m_every_ms;
   long  m_due_ms;

public:
         PropertiesTeller(void) { Begin(0); }
   void  Begin(const long every_ms);
   void  Connected(void) { m_known = m_next = 0; }
   void  Tell(const string &names[], const Moment &now, Session &session);

private:
   ulong Hash(const PropertiesFrame &frame) const;
  };

// As a new one that looks again so often; 0: once for each connection.
void PropertiesTeller::Begin(const long every_ms)
  {
   ArrayResize(m_told, 0, 64);
   m_every_ms = every_ms;
   m_due_ms = 0;
   Connected();
  }

// A few symbols, and of these what is new.
void PropertiesTeller::Tell(const string &names[], const Moment &now, Session &session)
  {
   const int count = ArraySize(names);
   if(!session.Live())
      return;
   if(m_next >= count)
     {
      if(m_every_ms <= 0 || now.ms < m_due_ms)
         return;
      m_next = 0;
     }
   ArrayResize(m_told, count, 64);
   for(int i = 0; i < PROPERTIES_A_STEP && m_next < count; i++)
     {
      PropertiesFrame frame;
      ReadProperties(names[m_next], frame);
      frame.stream = (uint)(m_next + 1);
      const ulong hash = Hash(frame);
      if(m_next >= m_known || hash != m_told[m_next])
        {
         if(PropertiesAllowed(frame) && !session.SendProperties(frame))
            return;
         m_told[m_next] = hash;
        }
      m_next++;
      m_known = MathMax(m_known, m_next);
     }
   m_due_ms = now.ms + m_every_ms;
  }

// Of all but the value of a tick, which changes with rates.
ulong PropertiesTeller::Hash(const PropertiesFrame &frame) const
  {
   ulong hash = HashWord(frame.stops_level_points, frame.freeze_level_points);
   hash = HashWord(HashWord(hash, frame.swap_mode), frame.swap_triple_day);
   hash = HashDouble(HashDouble(hash, frame.swap_long), frame.swap_short);
   for(int i = 0; i < StringLen(frame.profit_currency); i++)
      hash = HashWord(hash, StringGetCharacter(frame.profit_currency, i));
   for(int i = 0; i < ArraySize(frame.sessions); i++)
      hash = HashWord(HashWord(hash, frame.sessions[i].from_minute), frame.sessions[i].to_minute);
   return hash;
  }

#endif
