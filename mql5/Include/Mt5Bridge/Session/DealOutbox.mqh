//| The outbox of the deals: all are kept until acknowledged, whatever room they take.
#ifndef MT5BRIDGE_SESSION_DEAL_OUTBOX
#define MT5BRIDGE_SESSION_DEAL_OUTBOX

#include "Outbox.mqh"

#define DEAL_ROOM 256

// The record of number `first + i` lies at `i`; acknowledged ones are cut off now and then.
class DealOutbox : public Outbox
  {
private:
   DealRecord m_kept[];
   ulong      m_first;  // the number of m_kept[0]

protected:
   virtual void EncodeRecords(Encoder &encoder, ByteWriter &out, const int offset_ms, const ulong first, const int count);
   virtual int  RecordsMax(void) const { return DEALS_MAX; }

public:
                DealOutbox(void) { m_first = 1; }
   virtual void Reset(void);
   bool         Append(const DealRecord &deal, const int offset_ms);

private:
   void         CutAcknowledged(void);
  };

void DealOutbox::Reset(void)
  {
   Outbox::Reset();
   ArrayResize(m_kept, 0, DEAL_ROOM);
   m_first = 1;
  }

// Give the next number to a deal revision; false only when the terminal has no memory left.
bool DealOutbox::Append(const DealRecord &deal, const int offset_ms)
  {
   CutAcknowledged();
   int count = ArraySize(m_kept);
   if(ArrayResize(m_kept, count + 1, MathMax(DEAL_ROOM, count)) != count + 1)
      return false;
   NoteOffset(offset_ms);
   m_kept[count] = deal;
   m_end++;
   Forget();
   return true;
  }

void DealOutbox::EncodeRecords(Encoder &encoder, ByteWriter &out, const int offset_ms, const ulong first, const int count)
  {
   encoder.EncodeDeals(offset_ms, first, m_kept, (int)(first - m_first), count, out);
  }

void DealOutbox::CutAcknowledged(void)
  {
   if(ArraySize(m_kept) == 0)
      m_first = m_end;
   int known = (int)(m_base - m_first);
   if(known < DEAL_ROOM && known < ArraySize(m_kept))
      return;
   if(known > 0)
      ArrayRemove(m_kept, 0, known);
   m_first = m_base;
  }

#endif
