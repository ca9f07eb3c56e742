//| The streams of one terminal: deals and the ticks of its symbols, in turn and within the window.
#ifndef MT5BRIDGE_SESSION_STREAMS
#define MT5BRIDGE_SESSION_STREAMS

#include "DealOutbox.mqh"
#include "TickOutbox.mqh"

// Stream 0 is the deals; the symbol added as the n-th has stream n.
class Streams
  {
private:
   DealOutbox  m_deals;
   TickOutbox *m_boxes[];
   SymbolEntry m_symbols[];
   int         m_turn;
   bool        m_publishes;
   int         m_kept_ticks;

public:
               Streams(void);
              ~Streams(void) { Clear(); }
   void        Configure(const bool publishes, const int kept_ticks);
   int         Add(const SymbolEntry &entry);
   int         Symbols(void) const { return ArraySize(m_symbols); }
   void        Symbol(const int index, SymbolEntry &entry) const { entry = m_symbols[index]; }
   int         Outboxes(void) const { return m_publishes ? ArraySize(m_boxes) + 1 : 0; }
   Outbox     *At(const int number);
   DealOutbox *Deals(void) { return GetPointer(m_deals); }
   TickOutbox *Ticks(const int index) { return m_boxes[index]; }
   string      Name(const int number) const { return number == 0 ? "" : m_symbols[number - 1].name; }
   bool        AllBegun(void);
   void        Marks(MarkEntry &marks[]);
   long        CompleteMsc(const int offset_ms) const;
   ulong       Unacknowledged(void);
   int         InFlight(void) const;
   Outbox     *NextToSend(void);

private:
   void        Clear(void);
  };

Streams::Streams(void)
  {
   m_turn = 0;
   m_publishes = true;
   m_kept_ticks = 1;
  }

// Lets go of all symbols and records.
void Streams::Clear(void)
  {
   for(int i = 0; i < ArraySize(m_boxes); i++)
      delete m_boxes[i];
   ArrayResize(m_boxes, 0, 64);
   ArrayResize(m_symbols, 0, 64);
   m_deals.Reset();
   m_turn = 0;
  }

// Begins anew without symbols.
void Streams::Configure(const bool publishes, const int kept_ticks)
  {
   Clear();
   m_publishes = publishes;
   m_kept_ticks = kept_ticks;
  }

// Publish a symbol, or only announce it; its index, from 0.
int Streams::Add(const SymbolEntry &entry)
  {
   int index = ArraySize(m_symbols);
   ArrayResize(m_symbols, index + 1, 64);
   m_symbols[index] = entry;
   m_symbols[index].stream = (uint)(index + 1);
   ArrayResize(m_boxes, index + 1, 64);
   m_boxes[index] = new TickOutbox(m_kept_ticks);
   m_boxes[index].Number((uint)(index + 1));
   return index;
  }

// The outbox with this stream number; NULL for a foreign one.
Outbox *Streams::At(const int number)
  {
   if(number < 0 || number >= Outboxes())
      return NULL;
   if(number == DEALS_STREAM)
      return GetPointer(m_deals);
   return m_boxes[number - 1];
  }

bool Streams::AllBegun(void)
  {
   for(int number = 0; number < Outboxes(); number++)
     {
      Outbox *box = At(number);
      if(!box.Begun())
         return false;
     }
   return true;
  }

// How far each stream is, for a heartbeat.
void Streams::Marks(MarkEntry &marks[])
  {
   int count = Outboxes();
   ArrayResize(marks, count, 64);
   for(int number = 0; number < count; number++)
     {
      Outbox *box = At(number);
      marks[number].stream = (uint)number;
      marks[number].taken = box.Taken();
      marks[number].passed = box.Sent();
     }
  }

// Server time, which is so far off UTC: all earlier ticks of every symbol are sent, but for late
// ones; 0: not known.
long Streams::CompleteMsc(const int offset_ms) const
  {
   int count = m_publishes ? ArraySize(m_boxes) : 0;
   long complete_msc = count > 0 ? m_boxes[0].CompleteMsc() : 0;
   for(int i = 1; i < count; i++)
      complete_msc = MathMin(complete_msc, m_boxes[i].CompleteMsc());
   return complete_msc == 0 ? 0 : complete_msc + offset_ms;
  }

ulong Streams::Unacknowledged(void)
  {
   ulong sum = 0;
   for(int number = 0; number < Outboxes(); number++)
     {
      Outbox *box = At(number);
      sum += (ulong)box.Unacknowledged();
     }
   return sum;
  }

// Ticks sent and not acknowledged; deals are exempt from the window.
int Streams::InFlight(void) const
  {
   int sum = 0;
   for(int i = 0; i < ArraySize(m_boxes); i++)
      sum += m_boxes[i].InFlight();
   return sum;
  }

// The next stream with something to send: the deals first, then each symbol in turn; NULL: none.
Outbox *Streams::NextToSend(void)
  {
   if(Outboxes() > 0 && !m_deals.Idle())
      return GetPointer(m_deals);
   int count = m_publishes ? ArraySize(m_boxes) : 0;
   for(int tried = 0; tried < count; tried++)
     {
      int index = (m_turn + tried) % count;
      if(m_boxes[index].Idle())
         continue;
      m_turn = index + 1;
      return m_boxes[index];
     }
   return NULL;
  }

#endif
