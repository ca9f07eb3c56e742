//| The deals already told, by ticket: revision, content, and since when one is missing.
#ifndef MT5BRIDGE_DEALS_KNOWN_DEALS
#define MT5BRIDGE_DEALS_KNOWN_DEALS

struct KnownDeal
  {
   ulong ticket;
   long  time_msc;
   ulong hash;
   uint  revision;
   bool  deleted;
   bool  seen;            // in the scan under way
   long  missing_ms;      // steady time since when the history does not show it; 0: it does
  };

// Sorted by ticket; brokers give tickets in growing order, so most are added at the end.
class KnownDeals
  {
private:
   KnownDeal m_deals[];

public:
   int       Count(void) const { return ArraySize(m_deals); }
   void      Clear(void) { ArrayResize(m_deals, 0, 256); }
   int       Find(const ulong ticket) const;
   void      At(const int index, KnownDeal &deal) const { deal = m_deals[index]; }
   void      Put(const ulong ticket, const long time_msc, const ulong hash, const uint revision, const bool deleted);
   void      Unsee(void);
   void      See(const int index) { m_deals[index].seen = true; m_deals[index].missing_ms = 0; }
   void      Miss(const int index, const long now_ms);
   void      Change(const int index, const ulong hash, const uint revision, const bool deleted);

private:
   int       Place(const ulong ticket) const;
  };

// Where a ticket is; -1: not known.
int KnownDeals::Find(const ulong ticket) const
  {
   int place = Place(ticket);
   return place < ArraySize(m_deals) && m_deals[place].ticket == ticket ? place : -1;
  }

// A deal is known as this revision; replaces what was known of its ticket.
void KnownDeals::Put(const ulong ticket, const long time_msc, const ulong hash, const uint revision, const bool deleted)
  {
   int place = Place(ticket);
   int count = ArraySize(m_deals);
   if(place == count || m_deals[place].ticket != ticket)
     {
      ArrayResize(m_deals, count + 1, MathMax(256, count));
      for(int i = count; i > place; i--)
         m_deals[i] = m_deals[i - 1];
     }
   m_deals[place].ticket = ticket;
   m_deals[place].time_msc = time_msc;
   m_deals[place].seen = true;
   m_deals[place].missing_ms = 0;
   Change(place, hash, revision, deleted);
  }

void KnownDeals::Change(const int index, const ulong hash, const uint revision, const bool deleted)
  {
   m_deals[index].hash = hash;
   m_deals[index].revision = revision;
   m_deals[index].deleted = deleted;
  }

// A scan begins.
void KnownDeals::Unsee(void)
  {
   for(int i = 0; i < ArraySize(m_deals); i++)
      m_deals[i].seen = false;
  }

// The history does not show it (any more).
void KnownDeals::Miss(const int index, const long now_ms)
  {
   if(m_deals[index].missing_ms == 0)
      m_deals[index].missing_ms = MathMax((long)1, now_ms);
  }

int KnownDeals::Place(const ulong ticket) const
  {
   int low = 0;
   int high = ArraySize(m_deals);
   while(low < high)
     {
      int middle = (low + high) / 2;
      if(m_deals[middle].ticket < ticket)
         low = middle + 1;
      else
         high = middle;
     }
   return low;
  }

#endif
