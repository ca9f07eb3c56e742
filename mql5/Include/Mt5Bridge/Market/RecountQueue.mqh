//| RECOUNT frames on their way: each waits for the ticks it speaks of, and stays until it arrived.
#ifndef MT5BRIDGE_MARKET_RECOUNT_QUEUE
#define MT5BRIDGE_MARKET_RECOUNT_QUEUE

#include "../Session/Session.mqh"

#define RECOUNTS_WAITING_MAX 4096

// A frame on its way; it has arrived when the heartbeat `token`, sent after it, is answered.
struct WaitingRecount
  {
   RecountFrame frame;
   ulong        token;  // 0: not sent on this connection
  };

class RecountQueue
  {
private:
   WaitingRecount m_waiting[];

public:
   void           Add(const RecountFrame &frame);
   void           Send(Session &session);
   void           Offline(void);
   void           Clear(void) { ArrayResize(m_waiting, 0, 64); }
  };

// Beyond the bound the oldest is dropped: the daemon then has one interval less to compare.
void RecountQueue::Add(const RecountFrame &frame)
  {
   if(ArraySize(m_waiting) >= RECOUNTS_WAITING_MAX)
      ArrayRemove(m_waiting, 0, 1);
   int count = ArraySize(m_waiting);
   ArrayResize(m_waiting, count + 1, 64);
   m_waiting[count].frame = frame;
   m_waiting[count].token = 0;
  }

// Forgets those that have arrived and sends those whose ticks are sent, in order.
void RecountQueue::Send(Session &session)
  {
   int kept = 0;
   int count = ArraySize(m_waiting);
   for(int i = 0; i < count; i++)
     {
      if(m_waiting[i].token != 0 && session.AnsweredToken() >= m_waiting[i].token)
         continue;
      TickOutbox *box = session.Ticks((int)m_waiting[i].frame.stream - 1);
      bool due = m_waiting[i].token == 0 && box.Sent() >= m_waiting[i].frame.sequence;
      if(due && session.SendRecount(m_waiting[i].frame))
         m_waiting[i].token = session.NextToken();
      m_waiting[kept++] = m_waiting[i];
     }
   ArrayResize(m_waiting, kept, 64);
  }

// What was sent and not answered may be lost.
void RecountQueue::Offline(void)
  {
   for(int i = 0; i < ArraySize(m_waiting); i++)
      m_waiting[i].token = 0;
  }

#endif
