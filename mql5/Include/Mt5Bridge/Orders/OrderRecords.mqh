// The journal's records as bytes: an accepted request, the state of a leg, a result.
#ifndef MT5BRIDGE_ORDERS_ORDER_RECORDS_MQH
#define MT5BRIDGE_ORDERS_ORDER_RECORDS_MQH

#include "OrderBook.mqh"

enum OrderRecordKind
  {
   ORDER_RECORD_ENTRY = 1,
   ORDER_RECORD_LEG = 2,
   ORDER_RECORD_RESULT = 3
  };

// An id was taken up.
void WriteEntryRecord(const OrderEntry &entry, ByteWriter &out)
  {
   out.U1((uchar)ORDER_RECORD_ENTRY);
   out.I8(entry.accepted_msc);
   OrderRequest request = entry.request;
   WriteRequest(request, out);
  }

// A leg of an id is now like this.
void WriteLegRecord(const ulong id, const int index, const OrderLeg &leg, ByteWriter &out)
  {
   out.U1((uchar)ORDER_RECORD_LEG);
   out.U8(id);
   out.U2((ushort)index);
   out.U1(leg.state);
   out.U1(leg.type);
   out.U8(leg.position);
   out.F8(leg.lots);
   out.U8(leg.order);
   out.I8(leg.sent_msc);
   out.U2(leg.ending);
   out.U4(leg.retcode);
   out.Text(leg.text);
   out.I8(leg.sent_by_msc);
   out.U2((ushort)leg.replaces);
   if(leg.sl == 0 && leg.tp == 0)
      return;  // as earlier versions wrote it
   out.F8(leg.sl);
   out.F8(leg.tp);
  }

// A result that is going to be told.
void WriteResultRecord(const SignalResultFrame &result, ByteWriter &out)
  {
   out.U1((uchar)ORDER_RECORD_RESULT);
   out.U8(result.id);
   out.U8(result.deal);
   out.U8(result.order);
   out.I8(result.time_msc);
   out.F8(result.lots);
   out.F8(result.price);
   out.U4(result.retcode);
   out.U2(result.status);
   out.Text(result.text);
  }

// Puts an accepted request into the book. One that is there already has lost its plan; false when
// something of it was sent.
bool TakeEntryRecord(ByteReader &source, OrderBook &book)
  {
   OrderRequest request;
   const long accepted_msc = source.I8();
   ReadRequest(source, request);
   if(!source.Good())
      return(false);
   OrderEntry *entry = book.Find(request.id);
   if(entry == NULL)
      book.Add(request, accepted_msc);
   return(entry == NULL || entry.Unplan());
  }

// Puts a leg into its entry; false when it does not fit.
bool TakeLegRecord(ByteReader &source, OrderBook &book)
  {
   OrderEntry *entry = book.Find(source.U8());
   const int index = (int)source.U2();
   OrderLeg leg;
   leg.state = source.U1();
   leg.type = source.U1();
   leg.position = source.U8();
   leg.lots = source.F8();
   leg.filled = 0;
   leg.order = source.U8();
   leg.sent_msc = source.I8();
   leg.ending = source.U2();
   leg.retcode = source.U4();
   leg.text = source.Text();
   leg.sent_by_msc = source.Left() > 0 ? source.I8() : leg.sent_msc;  // earlier versions have none
   leg.replaces = source.Left() > 0 ? (int)source.U2() : 0;
   leg.sl = source.Left() > 0 ? source.F8() : 0;
   leg.tp = source.Left() > 0 ? source.F8() : 0;
   leg.retry_ms = -1;
   if(!source.Good() || entry == NULL || index > ArraySize(entry.legs)
      || leg.replaces > index)
      return(false);
   if(index == ArraySize(entry.legs))
      entry.AddLeg(leg);
   leg.filled = entry.legs[index].filled;
   entry.legs[index] = leg;
   return(true);
  }

// Puts a result into its entry; false when it does not fit.
bool TakeResultRecord(ByteReader &source, OrderBook &book)
  {
   SignalResultFrame result;
   result.id = source.U8();
   result.deal = source.U8();
   result.order = source.U8();
   result.time_msc = source.I8();
   result.lots = source.F8();
   result.price = source.F8();
   result.retcode = source.U4();
   result.status = source.U2();
   result.text = source.Text();
   OrderEntry *entry = book.Find(result.id);
   if(!source.Good() || entry == NULL)
      return(false);
   entry.AddResult(result);
   entry.AddFill(result);
   return(true);
  }

// Puts any record into the book; false when it makes no sense.
bool TakeRecord(ByteReader &source, OrderBook &book)
  {
   switch((int)source.U1())
     {
      case ORDER_RECORD_ENTRY:  return(TakeEntryRecord(source, book) && source.Left() == 0);
      case ORDER_RECORD_LEG:    return(TakeLegRecord(source, book) && source.Left() == 0);
      case ORDER_RECORD_RESULT: return(TakeResultRecord(source, book) && source.Left() == 0);
     }
   return(false);
  }

#endif
