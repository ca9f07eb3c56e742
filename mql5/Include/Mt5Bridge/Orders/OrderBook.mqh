// All client order ids this terminal knows, found by id, and those without a final result.
#ifndef MT5BRIDGE_ORDERS_ORDER_BOOK_MQH
#define MT5BRIDGE_ORDERS_ORDER_BOOK_MQH

#include "OrderEntry.mqh"

// Owns its entries; they keep the order in which they were accepted.
class OrderBook
  {
private:
   OrderEntry        *m_entries[];
   int               m_count;
   int               m_slots[];     // open addressing: index of an entry + 1, 0 free
   int               m_open[];      // indices of entries that may lack a final result

   // The slot of an id, or the free one where it belongs.
   int               Slot(const ulong id) const
     {
      const int slots = ArraySize(m_slots);
      int at = (int)((id * 0x9E3779B97F4A7C15) >> 33) % slots;
      while(m_slots[at] != 0 && m_entries[m_slots[at] - 1].request.id != id)
         at = (at + 1) % slots;
      return(at);
     }

   // Makes room for so many entries.
   void              Grow(const int wanted)
     {
      if(2 * wanted <= ArraySize(m_slots))
         return;
      ArrayResize(m_slots, 4 * wanted);
      ArrayInitialize(m_slots, 0);
      for(int i = 0; i < m_count; i++)
         m_slots[Slot(m_entries[i].request.id)] = i + 1;
     }

public:
                     OrderBook(void)
     {
      m_count = 0;
      Grow(64);
     }

                    ~OrderBook(void) { Clear(); }

   // Lets go of all entries.
   void              Clear(void)
     {
      for(int i = 0; i < m_count; i++)
         delete m_entries[i];
      m_count = 0;
      ArrayResize(m_entries, 0, 64);
      ArrayResize(m_open, 0, 64);
      ArrayInitialize(m_slots, 0);
     }

   int               Count(void) const { return(m_count); }
   OrderEntry        *At(const int index) { return(m_entries[index]); }

   // The entry of an id, NULL if it was never seen.
   OrderEntry        *Find(const ulong id)
     {
      const int index = m_slots[Slot(id)];
      if(index == 0)
         return(NULL);
      return(m_entries[index - 1]);
     }

   // A new entry for a request whose id is not known yet.
   OrderEntry        *Add(const OrderRequest &request, const long accepted_msc)
     {
      Grow(m_count + 1);
      OrderEntry *entry = new OrderEntry();
      entry.request = request;
      entry.accepted_msc = accepted_msc;
      ArrayResize(m_entries, m_count + 1, 64);
      m_entries[m_count++] = entry;
      m_slots[Slot(request.id)] = m_count;
      const int open = ArraySize(m_open);
      ArrayResize(m_open, open + 1, 64);
      m_open[open] = m_count - 1;
      return(entry);
     }

   // Leaves out entries that have got a final result; how many lack one.
   int               Sweep(void)
     {
      int kept = 0;
      for(int i = 0; i < ArraySize(m_open); i++)
         if(!m_entries[m_open[i]].Final())
            m_open[kept++] = m_open[i];
      ArrayResize(m_open, kept, 64);
      return(kept);
     }

   // How many lacked one at the last sweep or were added since.
   int               OpenCount(void) const { return(ArraySize(m_open)); }

   // One of them, by number below OpenCount().
   OrderEntry        *OpenAt(const int number) { return(m_entries[m_open[number]]); }

   // Whether an entry has this order ticket; open ones only.
   bool              OwnedByOpen(const ulong order)
     {
      for(int i = 0; i < ArraySize(m_open); i++)
         if(m_entries[m_open[i]].Owns(order))
            return(true);
      return(false);
     }

   // Whether any entry has this order ticket; the newest first.
   bool              Owned(const ulong order)
     {
      for(int i = m_count - 1; i >= 0; i--)
         if(m_entries[i].Owns(order))
            return(true);
      return(false);
     }

   // Lets go of entries that are final and were accepted before `msc` (UTC).
   void              Forget(const long msc)
     {
      int kept = 0;
      for(int i = 0; i < m_count; i++)
        {
         if(m_entries[i].Forgettable(msc))
            delete m_entries[i];
         else
            m_entries[kept++] = m_entries[i];
        }
      m_count = kept;
      ArrayResize(m_entries, kept);
      ArrayInitialize(m_slots, 0);
      ArrayResize(m_open, 0, 64);
      for(int i = 0; i < m_count; i++)
        {
         m_slots[Slot(m_entries[i].request.id)] = i + 1;
         if(!m_entries[i].Final())
           {
            const int open = ArraySize(m_open);
            ArrayResize(m_open, open + 1, 64);
            m_open[open] = i;
           }
        }
     }
  };

#endif
