//| Reads deals from the terminal's history.
#ifndef MT5BRIDGE_DEALS_DEAL_READING
#define MT5BRIDGE_DEALS_DEAL_READING

#include "../Market/TickHash.mqh"
#include "../Wire/Frames.mqh"

// The properties of a deal that is selected; `revision` and `kind` are left 0.
void ReadDeal(const ulong ticket, DealRecord &deal)
  {
   deal.ticket = ticket;
   deal.order = (ulong)HistoryDealGetInteger(ticket, DEAL_ORDER);
   deal.time_msc = HistoryDealGetInteger(ticket, DEAL_TIME_MSC);
   deal.magic = HistoryDealGetInteger(ticket, DEAL_MAGIC);
   deal.position_id = HistoryDealGetInteger(ticket, DEAL_POSITION_ID);
   deal.volume = HistoryDealGetDouble(ticket, DEAL_VOLUME);
   deal.price = HistoryDealGetDouble(ticket, DEAL_PRICE);
   deal.commission = HistoryDealGetDouble(ticket, DEAL_COMMISSION);
   deal.swap = HistoryDealGetDouble(ticket, DEAL_SWAP);
   deal.profit = HistoryDealGetDouble(ticket, DEAL_PROFIT);
   deal.fee = HistoryDealGetDouble(ticket, DEAL_FEE);
   deal.sl = HistoryDealGetDouble(ticket, DEAL_SL);
   deal.tp = HistoryDealGetDouble(ticket, DEAL_TP);
   deal.type = (uint)HistoryDealGetInteger(ticket, DEAL_TYPE);
   deal.entry = (uint)HistoryDealGetInteger(ticket, DEAL_ENTRY);
   deal.reason = (uint)HistoryDealGetInteger(ticket, DEAL_REASON);
   deal.revision = 0;
   deal.kind = DEAL_RECORD_ADD;
   PutFixedText(HistoryDealGetString(ticket, DEAL_SYMBOL), deal.symbol);
   PutFixedText(HistoryDealGetString(ticket, DEAL_COMMENT), deal.comment);
   PutFixedText(HistoryDealGetString(ticket, DEAL_EXTERNAL_ID), deal.external_id);
  }

ulong HashBytes(const ulong start, const uchar &bytes[])
  {
   ulong hash = start;
   for(int i = 0; i < ArraySize(bytes); i++)
      hash = HashWord(hash, (ulong)bytes[i]);
   return hash;
  }

// One number for all that may change about a deal.
ulong DealHash(const DealRecord &deal)
  {
   ulong hash = HashWord(HashWord(deal.order, (ulong)deal.time_msc), (ulong)deal.magic);
   hash = HashWord(hash, (ulong)deal.position_id);
   hash = HashDouble(HashDouble(hash, deal.volume), deal.price);
   hash = HashDouble(HashDouble(hash, deal.commission), deal.swap);
   hash = HashDouble(HashDouble(hash, deal.profit), deal.fee);
   hash = HashDouble(HashDouble(hash, deal.sl), deal.tp);
   hash = HashWord(HashWord(hash, (ulong)deal.type), (ulong)deal.entry);
   hash = HashWord(hash, (ulong)deal.reason);
   hash = HashBytes(HashBytes(hash, deal.symbol), deal.comment);
   return HashBytes(hash, deal.external_id);
  }

// The record of a deal that is gone: only its ticket and time are left.
void DeletedDeal(const ulong ticket, const long time_msc, DealRecord &deal)
  {
   ZeroMemory(deal);
   deal.ticket = ticket;
   deal.time_msc = time_msc;
   deal.kind = DEAL_RECORD_DELETE;
  }

// Whether `left` comes before `right`: by time, then by ticket.
bool DealBefore(const DealRecord &left, const DealRecord &right)
  {
   if(left.time_msc != right.time_msc)
      return left.time_msc < right.time_msc;
   return left.ticket < right.ticket;
  }

// Puts a deal in its place among those found so far; one that is there already is replaced.
void InsertDeal(const DealRecord &deal, DealRecord &sorted[])
  {
   int at = ArraySize(sorted);
   while(at > 0 && DealBefore(deal, sorted[at - 1]))
      at--;
   if(at > 0 && !DealBefore(sorted[at - 1], deal))
     {
      sorted[at - 1] = deal;
      return;
     }
   int count = ArraySize(sorted);
   ArrayResize(sorted, count + 1, MathMax(256, count));
   for(int i = count; i > at; i--)
      sorted[i] = sorted[i - 1];
   sorted[at] = deal;
  }

#endif
