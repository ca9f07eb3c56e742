//| Heartbeats: when the next is due, what it measured, and how long the other side is silent.
#ifndef MT5BRIDGE_SESSION_PULSE
#define MT5BRIDGE_SESSION_PULSE

#include "Moment.mqh"

#define PULSE_TIMEOUT_MS 5000  // until WELCOME names another

class Pulse
  {
private:
   long  m_every_ms;
   long  m_timeout_ms;
   long  m_heard_ms;
   long  m_due_ms;
   ulong m_token;
   ulong m_answered;
   long  m_sent_us;
   long  m_round_trip_us;

public:
         Pulse(void) { Reset(); }
   void  Reset(void);
   void  Connected(const Moment &now) { m_heard_ms = now.ms; }
   void  Welcomed(const uint heartbeat_ms, const uint timeout_ms, const Moment &now);
   void  Heard(const Moment &now) { m_heard_ms = now.ms; }
   bool  Silent(const Moment &now) const { return now.ms - m_heard_ms > m_timeout_ms; }
   bool  Due(const Moment &now) const { return now.ms >= m_due_ms; }
   void  DueIn(const long pause_ms, const Moment &now) { m_due_ms = now.ms + pause_ms; }
   ulong NextToken(void) const { return m_token + 1; }
   ulong AnsweredToken(void) const { return m_answered; }
   void  Sent(const Moment &now);
   bool  Answered(const ulong token, const long now_us);
   long  RoundTripUs(void) const { return m_round_trip_us; }
  };

void Pulse::Reset(void)
  {
   m_every_ms = 1000;
   m_timeout_ms = PULSE_TIMEOUT_MS;
   m_heard_ms = m_due_ms = 0;
   m_token = m_answered = 0;
   m_sent_us = -1;
   m_round_trip_us = 0;
  }

// The daemon sets the pace; the first heartbeat is due at once.
void Pulse::Welcomed(const uint heartbeat_ms, const uint timeout_ms, const Moment &now)
  {
   m_every_ms = MathMax((long)1, (long)heartbeat_ms);
   m_timeout_ms = MathMax((long)1, (long)timeout_ms);
   m_due_ms = now.ms;
   m_sent_us = -1;
  }

void Pulse::Sent(const Moment &now)
  {
   m_token++;
   m_sent_us = now.us;
   m_due_ms = now.ms + m_every_ms;
  }

// Whether this answers the newest heartbeat; then the round trip is known.
bool Pulse::Answered(const ulong token, const long now_us)
  {
   if(token != m_token || m_sent_us < 0)
      return false;
   m_round_trip_us = MathMax((long)1, now_us - m_sent_us);
   m_sent_us = -1;
   m_answered = token;
   return true;
  }

#endif
