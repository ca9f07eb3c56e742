// What the daemon asks for, a signal and an order in one form.
#ifndef MT5BRIDGE_ORDERS_ORDER_REQUEST_MQH
#define MT5BRIDGE_ORDERS_ORDER_REQUEST_MQH

#include "..\Wire\ByteReader.mqh"
#include "..\Wire\ByteWriter.mqh"
#include "..\Wire\Frames.mqh"

#define COMMENT_LENGTH_MAX 31
#define ID_LENGTH 16

// Zero numbers mean "not given"; kind and side are ORDER's, prices absolute, points and distances
// (in prices) relative.
struct OrderRequest
  {
   ulong             id;
   long              time_msc;
   long              valid_until_msc;
   long              magic;
   ulong             ticket;
   double            lots;
   double            price;
   double            sl;
   double            tp;
   double            stop_points;
   double            target_points;
   double            stop_distance;
   double            target_distance;
   double            risk_percent;
   bool              priced;          // a rule has computed its prices
   uint              deviation_points;
   uchar             kind;
   uchar             side;
   string            name;
   string            symbol;
  };

// A request for nothing.
void ClearRequest(OrderRequest &request)
  {
   request.id = 0;
   request.time_msc = 0;
   request.valid_until_msc = 0;
   request.magic = 0;
   request.ticket = 0;
   request.lots = 0;
   request.price = 0;
   request.sl = 0;
   request.tp = 0;
   request.stop_points = 0;
   request.target_points = 0;
   request.stop_distance = 0;
   request.target_distance = 0;
   request.risk_percent = 0;
   request.priced = false;
   request.deviation_points = 0;
   request.kind = (uchar)ORDER_MARKET;
   request.side = (uchar)ORDER_NO_SIDE;
   request.name = "";
   request.symbol = "";
  }

// The request of a signal: stops are distances in points from the price of the moment.
void RequestOfSignal(const SignalFrame &signal, OrderRequest &request)
  {
   const bool closes = signal.side == SIGNAL_CLOSE;
   ClearRequest(request);
   request.id = signal.id;
   request.time_msc = signal.time_msc;
   request.valid_until_msc = signal.valid_until_msc;
   request.magic = signal.magic;
   request.lots = signal.lots;
   request.stop_points = signal.stop_points;
   request.target_points = signal.target_points;
   request.kind = closes ? (uchar)ORDER_CLOSE : (uchar)ORDER_MARKET;
   request.side = closes ? (uchar)ORDER_NO_SIDE : signal.side;
   request.name = signal.name;
   request.symbol = signal.symbol;
  }

// The request of a signal that says prices.
void RequestOfSignalOrder(const SignalOrderFrame &order, OrderRequest &request)
  {
   SignalFrame signal = order.signal;
   RequestOfSignal(signal, request);
   request.kind = order.kind;
   request.price = order.price;
   request.sl = order.stop;
   request.tp = order.target;
   request.stop_distance = order.stop_distance;
   request.target_distance = order.target_distance;
   request.risk_percent = order.risk_percent;
   request.priced = true;
  }

// The request of an order.
void RequestOfOrder(const OrderFrame &order, OrderRequest &request)
  {
   ClearRequest(request);
   request.id = order.id;
   request.time_msc = order.time_msc;
   request.valid_until_msc = order.valid_until_msc;
   request.magic = order.magic;
   request.ticket = order.ticket;
   request.lots = order.lots;
   request.price = order.price;
   request.sl = order.sl;
   request.tp = order.tp;
   request.deviation_points = order.deviation_points;
   request.kind = order.kind;
   request.side = order.side;
   request.name = order.name;
   request.symbol = order.symbol;
  }

// Appends a request.
void WriteRequest(const OrderRequest &request, ByteWriter &out)
  {
   out.U8(request.id);
   out.I8(request.time_msc);
   out.I8(request.valid_until_msc);
   out.I8(request.magic);
   out.U8(request.ticket);
   out.F8(request.lots);
   out.F8(request.price);
   out.F8(request.sl);
   out.F8(request.tp);
   out.F8(request.stop_points);
   out.F8(request.target_points);
   out.U4(request.deviation_points);
   out.U1(request.kind);
   out.U1(request.side);
   out.Text(request.name);
   out.Text(request.symbol);
   if(!request.priced)
      return;  // as earlier versions wrote it
   out.F8(request.stop_distance);
   out.F8(request.target_distance);
   out.F8(request.risk_percent);
  }

// Reads what WriteRequest wrote.
void ReadRequest(ByteReader &source, OrderRequest &request)
  {
   request.id = source.U8();
   request.time_msc = source.I8();
   request.valid_until_msc = source.I8();
   request.magic = source.I8();
   request.ticket = source.U8();
   request.lots = source.F8();
   request.price = source.F8();
   request.sl = source.F8();
   request.tp = source.F8();
   request.stop_points = source.F8();
   request.target_points = source.F8();
   request.deviation_points = source.U4();
   request.kind = source.U1();
   request.side = source.U1();
   request.name = source.Text();
   request.symbol = source.Text();
   request.priced = source.Left() > 0;
   request.stop_distance = request.priced ? source.F8() : 0;
   request.target_distance = request.priced ? source.F8() : 0;
   request.risk_percent = request.priced ? source.F8() : 0;
  }

// Whether two requests ask for the same thing; when they were made does not matter, nor does a
// symbol that follows from the ticket.
bool SameRequest(const OrderRequest &a, const OrderRequest &b)
  {
   return(a.kind == b.kind && a.side == b.side && a.magic == b.magic && a.ticket == b.ticket
          && (a.symbol == b.symbol || a.ticket != 0) && a.lots == b.lots && a.price == b.price
          && a.sl == b.sl && a.tp == b.tp
          && a.stop_points == b.stop_points && a.target_points == b.target_points
          && a.stop_distance == b.stop_distance && a.target_distance == b.target_distance
          && a.risk_percent == b.risk_percent);
  }

// Whether a request opens or may enlarge a position.
bool Opens(const OrderRequest &request)
  {
   return(request.kind == ORDER_MARKET || request.kind == ORDER_LIMIT
          || request.kind == ORDER_STOP);
  }

// Whether a request means all that its magic number holds of the symbol, or has pending there.
bool OfHeld(const OrderRequest &request)
  {
   return((request.kind == ORDER_MODIFY || request.kind == ORDER_CANCEL) && request.ticket == 0);
  }

// The id as orders' comments carry it.
string IdText(const ulong id)
  {
   return(StringFormat("%08x%08x", (uint)(id >> 32), (uint)(id & 0xFFFFFFFF)));
  }

// The comment of an order: the id, which of its orders if there are several, and the name.
string CommentOf(const OrderRequest &request, const int leg)
  {
   string text = IdText(request.id);
   if(leg > 0)
      text += ":" + IntegerToString(leg);
   if(request.name != "")
      text += " " + request.name;
   return(StringSubstr(text, 0, COMMENT_LENGTH_MAX));
  }

// The value of a hexadecimal digit, -1 if it is none.
int HexDigit(const ushort character)
  {
   if(character >= '0' && character <= '9')
      return((int)character - '0');
   if(character >= 'a' && character <= 'f')
      return((int)character - 'a' + 10);
   return(-1);
  }

// The id at the begin of a comment; false if there is none.
bool IdOfComment(const string comment, ulong &id)
  {
   if(StringLen(comment) < ID_LENGTH)
      return(false);
   id = 0;
   for(int i = 0; i < ID_LENGTH; i++)
     {
      const int digit = HexDigit(StringGetCharacter(comment, i));
      if(digit < 0)
         return(false);
      id = (id << 4) | (ulong)digit;
     }
   const ushort next = StringLen(comment) > ID_LENGTH ? StringGetCharacter(comment, ID_LENGTH) : ' ';
   return(next == ' ' || next == ':');
  }

#endif
