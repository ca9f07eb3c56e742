//| The complex events that are wanted of a daemon, and the number of the newest one of each name.
#ifndef MT5BRIDGE_SESSION_SUBSCRIPTION
#define MT5BRIDGE_SESSION_SUBSCRIPTION

#include "../ComplexEvent.mqh"

#define EVENTS_A_BEAT 32   // after so many a heartbeat goes out at once, for more to come (PROTOCOL 13.6)

// What was had is remembered over connections and over Begin(), so that a daemon sends what was missed.
class Subscription
  {
private:
   WantedEntry   m_wanted[];
   StandingEntry m_known[];
   ulong         m_numbering;   // of the numbers known; 0: none
   bool          m_due;
   int           m_taken;       // since the last heartbeat that was asked for

public:
                 Subscription(void) { m_numbering = 0; Begin(); }
   void          Begin(void);
   void          Want(const WantedCode wanted, const string name);
   void          Live(void) { m_due = ArraySize(m_wanted) > 0; }
   bool          Due(void) const { return m_due; }
   void          Fill(SubscribeFrame &frame) const;
   void          Sent(void) { m_due = false; m_taken = 0; }
   void          Answered(const SubscribedFrame &frame);
   bool          Take(ComplexEvent &event);
   bool          WantsMore(void);

private:
   int           IndexOf(const string name) const;
   void          Know(const string name, const ulong number);
  };

// Nothing is wanted yet.
void Subscription::Begin(void)
  {
   ArrayResize(m_wanted, 0);
   m_due = false;
   m_taken = 0;
  }

void Subscription::Want(const WantedCode wanted, const string name)
  {
   int count = ArraySize(m_wanted);
   if(count >= EVENT_LIST_MAX)
      return;
   ArrayResize(m_wanted, count + 1);
   m_wanted[count].wanted = (uchar)wanted;
   m_wanted[count].number = 0;
   m_wanted[count].name = name;
   m_due = true;
  }

void Subscription::Fill(SubscribeFrame &frame) const
  {
   int wanted = ArraySize(m_wanted);
   int known = MathMin(ArraySize(m_known), EVENT_LIST_MAX - wanted);
   frame.numbering = m_numbering;
   ArrayResize(frame.entries, wanted + known);
   for(int i = 0; i < wanted; i++)
      frame.entries[i] = m_wanted[i];
   for(int i = 0; i < known; i++)
     {
      frame.entries[wanted + i].wanted = (uchar)WANTED_KNOWN;
      frame.entries[wanted + i].number = m_known[i].number;
      frame.entries[wanted + i].name = m_known[i].name;
     }
  }

// Where the daemon stands; numbers of another numbering mean nothing any more.
void Subscription::Answered(const SubscribedFrame &frame)
  {
   if(frame.numbering != m_numbering)
      ArrayResize(m_known, 0);
   m_numbering = frame.numbering;
   for(int i = 0; i < ArraySize(frame.events); i++)
      if(IndexOf(frame.events[i].name) < 0)
         Know(frame.events[i].name, frame.events[i].number);
  }

// Whether an event is new; then `missed` is how many of its name never came before it, and
// `numbering` that of its number.
bool Subscription::Take(ComplexEvent &event)
  {
   m_taken++;
   int index = IndexOf(event.frame.name);
   ulong last = index < 0 ? 0 : m_known[index].number;
   if(event.frame.number <= last)
      return false;
   event.missed = event.frame.number - last - 1;
   event.numbering = m_numbering;
   if(index < 0)
      Know(event.frame.name, event.frame.number);
   else
      m_known[index].number = event.frame.number;
   return true;
  }

// Whether so many have come that a heartbeat is to ask for more; once.
bool Subscription::WantsMore(void)
  {
   if(m_taken < EVENTS_A_BEAT)
      return false;
   m_taken = 0;
   return true;
  }

int Subscription::IndexOf(const string name) const
  {
   for(int i = 0; i < ArraySize(m_known); i++)
      if(m_known[i].name == name)
         return i;
   return -1;
  }

void Subscription::Know(const string name, const ulong number)
  {
   int count = ArraySize(m_known);
   ArrayResize(m_known, count + 1, 64);
   m_known[count].name = name;
   m_known[count].number = number;
   m_known[count].engine = "";
  }

#endif
