//| Bytes to frames, with the checks and reasons of PROTOCOL.md 3.2 in their order.
#ifndef MT5BRIDGE_WIRE_DECODER_MQH
#define MT5BRIDGE_WIRE_DECODER_MQH

#include "ByteReader.mqh"
#include "Checks.mqh"
#include "Crc32.mqh"
#include "Frames.mqh"

// Open a frame, look at its type, decode it into the struct of that type.
class Decoder
  {
private:
   Crc32             m_crc;
   ByteReader        m_head;
   ByteReader        m_in;
   int               m_type;
   WireReason        m_reason;

   // Why the header, of a message of `size` bytes, is refused.
   WireReason        HeadReason(const uchar &data[], const int size)
     {
      if(size < HEADER_BYTES)
         return(WIRE_TRUNCATED);
      m_head.Open(data, 0, HEADER_BYTES);
      if(m_head.U4() != WIRE_MAGIC)
         return(WIRE_BAD_MAGIC);
      if(m_head.U1() != WIRE_VERSION)
         return(WIRE_WRONG_VERSION);
      m_type = (int)m_head.U1();
      const ushort flags = m_head.U2();
      const uint body_bytes = m_head.U4();
      const uint body_bytes_seen = (uint)(size - HEADER_BYTES);
      if(body_bytes > BODY_BYTES_MAX || body_bytes_seen > BODY_BYTES_MAX)
         return(WIRE_OVERSIZED);
      if(body_bytes_seen < body_bytes)
         return(WIRE_TRUNCATED);
      if(body_bytes_seen > body_bytes)
         return(WIRE_TRAILING_BYTES);
      const uint sum = m_crc.Update(0, data, 0, CHECKSUM_AT);
      if(m_crc.Update(sum, data, HEADER_BYTES, (int)body_bytes) != m_head.U4())
         return(WIRE_BAD_CHECKSUM);
      if(flags != 0)
         return(WIRE_BAD_FLAGS);
      if(m_type < FRAME_HELLO || m_type > FRAME_PROPERTIES)
         return(WIRE_UNKNOWN_TYPE);
      return(WIRE_OK);
     }

   // The body has been read: whether it was right and whether it ends here.
   bool              End(void)
     {
      if(m_in.Good() && m_in.Left() > 0)
         m_in.Fail(WIRE_TRAILING_BYTES);
      m_reason = m_in.Reason();
      m_in.Close();
      return(m_reason == WIRE_OK);
     }

   void              SignalFields(SignalFrame &signal)
     {
      signal.id = m_in.U8();
      signal.time_msc = m_in.I8();
      signal.valid_until_msc = m_in.I8();
      signal.magic = m_in.I8();
      signal.lots = m_in.F8();
      signal.stop_points = m_in.F8();
      signal.target_points = m_in.F8();
      signal.side = m_in.U1();
      m_in.Require(signal.side <= SIGNAL_CLOSE);
      signal.name = m_in.Text();
      signal.symbol = m_in.Text();
     }

   void              DealFields(DealRecord &deal)
     {
      deal.ticket = m_in.U8();
      deal.order = m_in.U8();
      deal.time_msc = m_in.I8();
      deal.magic = m_in.I8();
      deal.position_id = m_in.I8();
      deal.volume = m_in.F8();
      deal.price = m_in.F8();
      deal.commission = m_in.F8();
      deal.swap = m_in.F8();
      deal.profit = m_in.F8();
      deal.fee = m_in.F8();
      deal.sl = m_in.F8();
      deal.tp = m_in.F8();
      deal.type = m_in.U4();
      deal.entry = m_in.U4();
      deal.reason = m_in.U4();
      deal.revision = m_in.U4();
      deal.kind = m_in.U4();
      m_in.Fixed(deal.symbol, 32);
      m_in.Fixed(deal.comment, 64);
      m_in.Fixed(deal.external_id, 32);
     }

   void              SymbolFields(SymbolEntry &symbol)
     {
      symbol.stream = m_in.U4();
      symbol.digits = m_in.U4();
      symbol.filling_modes = m_in.U4();
      symbol.point = m_in.F8();
      symbol.tick_size = m_in.F8();
      symbol.contract_size = m_in.F8();
      symbol.volume_min = m_in.F8();
      symbol.volume_max = m_in.F8();
      symbol.volume_step = m_in.F8();
      symbol.name = m_in.Text();
      m_in.Require(symbol.stream != DEALS_STREAM && NameAllowed(symbol.name, SYMBOL_BYTES_MAX)
                   && SymbolAllowed(symbol));
     }

   void              BoundFields(BoundEvent &event)
     {
      event.sequence = m_in.U8();
      event.time_msc = m_in.I8();
      event.name = m_in.Text();
      event.stream = m_in.Text();
      event.key = m_in.Text();
      const uint count = m_in.U4();
      const int room = m_in.ListReach(count, 21);
      ArrayResize(event.fields, room);
      for(int i = 0; i < room && m_in.Good(); i++)
         FieldFields(event.fields[i]);
      m_in.Require(TimeAllowed(event.time_msc) && room <= EVENT_LIST_MAX);
     }

   void              FieldFields(EventField &field)
     {
      field.kind = m_in.U1();
      m_in.Require(field.kind <= FIELD_TEXT);
      field.whole = m_in.I8();
      field.number = m_in.F8();
      field.name = m_in.Text();
      field.text = m_in.Text();
      m_in.Require(IsFinite(field.number));
     }

public:
                     Decoder(void)
     {
      m_type = 0;
      m_reason = WIRE_OK;
     }

   // Checks the header and the checksum of the first `size` bytes; false: Reason() says why.
   bool              Open(const uchar &data[], const int size)
     {
      m_in.Close();
      m_type = 0;
      m_reason = HeadReason(data, size);
      if(m_reason == WIRE_OK)
         m_in.Open(data, HEADER_BYTES, size - HEADER_BYTES);
      return(m_reason == WIRE_OK);
     }

   int               Type(void) const { return(m_type); }
   WireReason        Reason(void) const { return(m_reason); }

   bool              Decode(HelloFrame &frame)
     {
      frame.instance = m_in.U8();
      frame.account = m_in.U8();
      frame.time_msc = m_in.I8();
      frame.utc_offset_ms = m_in.I4();
      frame.leverage = m_in.U4();
      frame.account_mode = m_in.U1();
      m_in.Require(frame.account_mode <= ACCOUNT_HEDGING);
      frame.demo = m_in.U1();
      frame.trades = m_in.U1();
      m_in.Require(frame.trades <= TRADES_DRY_RUN);
      frame.identity = m_in.Text();
      frame.broker = m_in.Text();
      frame.server = m_in.Text();
      frame.currency = m_in.Text();
      frame.program = m_in.Text();
      m_in.Require(NameAllowed(frame.identity, IDENTITY_BYTES_MAX)
                   && TimeAllowed(frame.time_msc) && OffsetAllowed(frame.utc_offset_ms));
      return(End());
     }

   bool              Decode(WelcomeFrame &frame)
     {
      frame.session = m_in.U8();
      frame.time_msc = m_in.I8();
      frame.heartbeat_ms = m_in.U4();
      frame.timeout_ms = m_in.U4();
      frame.window_records = m_in.U4();
      frame.program = m_in.Text();
      const uint count = m_in.U4();
      const int room = m_in.ListRoom(count, 22);
      ArrayResize(frame.streams, room);
      for(int i = 0; i < room && m_in.Good(); i++)
        {
         frame.streams[i].durable = m_in.U8();
         frame.streams[i].time_msc = m_in.I8();
         frame.streams[i].count_at_msc = m_in.U4();
         frame.streams[i].name = m_in.Text();
         m_in.Require(frame.streams[i].durable <= SEQUENCE_MAX);
        }
      m_in.ListEnd(count, room);
      m_in.Require(TimeAllowed(frame.time_msc) && room <= STREAMS_MAX);
      return(End());
     }

   bool              Decode(SymbolsFrame &frame)
     {
      const uint count = m_in.U4();
      const int room = m_in.ListRoom(count, 62);
      ArrayResize(frame.symbols, room);
      for(int i = 0; i < room && m_in.Good(); i++)
         SymbolFields(frame.symbols[i]);
      m_in.ListEnd(count, room);
      m_in.Require(room <= SYMBOLS_MAX);
      return(End());
     }

   bool              Decode(PropertiesFrame &frame)
     {
      frame.stream = m_in.U4();
      frame.stops_level_points = m_in.U4();
      frame.freeze_level_points = m_in.U4();
      frame.swap_mode = m_in.U1();
      m_in.Require(frame.swap_mode <= SWAP_IS_PERCENT);
      frame.swap_triple_day = m_in.U1();
      frame.swap_long = m_in.F8();
      frame.swap_short = m_in.F8();
      frame.tick_value = m_in.F8();
      frame.profit_currency = m_in.Text();
      const uint count = m_in.U4();
      const int room = m_in.ListRoom(count, 8);
      ArrayResize(frame.sessions, room);
      for(int i = 0; i < room && m_in.Good(); i++)
        {
         frame.sessions[i].from_minute = m_in.U4();
         frame.sessions[i].to_minute = m_in.U4();
         m_in.Require(SessionAllowed(frame.sessions[i]));
        }
      m_in.ListEnd(count, room);
      m_in.Require(PropertiesAllowed(frame));
      return(End());
     }

   bool              Decode(TicksFrame &frame)
     {
      frame.stream = m_in.U4();
      frame.utc_offset_ms = m_in.I4();
      frame.first = m_in.U8();
      m_in.Ticks(frame.records);
      if(m_in.Good())
         m_in.Require(frame.stream != DEALS_STREAM
                      && BatchAllowed(frame.first, frame.utc_offset_ms,
                                      ArraySize(frame.records), TICKS_MAX));
      return(End());
     }

   bool              Decode(DealsFrame &frame)
     {
      frame.stream = m_in.U4();
      frame.utc_offset_ms = m_in.I4();
      frame.first = m_in.U8();
      const uint count = m_in.U4();
      const int room = m_in.ListRoom(count, DEAL_BYTES);
      m_in.ListEnd(count, room);
      ArrayResize(frame.records, m_in.Good() ? room : 0);
      for(int i = 0; i < ArraySize(frame.records); i++)
         DealFields(frame.records[i]);
      m_in.Require(frame.stream == DEALS_STREAM
                   && BatchAllowed(frame.first, frame.utc_offset_ms,
                                   ArraySize(frame.records), DEALS_MAX));
      return(End());
     }

   bool              Decode(HeartbeatFrame &frame)
     {
      frame.token = m_in.U8();
      frame.time_msc = m_in.I8();
      frame.utc_offset_ms = m_in.I4();
      frame.round_trip_us = m_in.U4();
      frame.complete_msc = m_in.I8();
      const uint count = m_in.U4();
      const int room = m_in.ListRoom(count, 20);
      ArrayResize(frame.marks, room);
      for(int i = 0; i < room && m_in.Good(); i++)
        {
         frame.marks[i].stream = m_in.U4();
         frame.marks[i].taken = m_in.U8();
         frame.marks[i].passed = m_in.U8();
         m_in.Require(frame.marks[i].taken <= SEQUENCE_MAX
                      && frame.marks[i].passed <= SEQUENCE_MAX);
        }
      m_in.ListEnd(count, room);
      m_in.Require(TimeAllowed(frame.time_msc) && OffsetAllowed(frame.utc_offset_ms)
                   && TimeAllowed(frame.complete_msc) && room <= STREAMS_MAX);
      return(End());
     }

   bool              Decode(AckFrame &frame)
     {
      const uint count = m_in.U4();
      const int room = m_in.ListRoom(count, 12);
      ArrayResize(frame.streams, room);
      for(int i = 0; i < room && m_in.Good(); i++)
        {
         frame.streams[i].stream = m_in.U4();
         frame.streams[i].sequence = m_in.U8();
         m_in.Require(frame.streams[i].sequence <= SEQUENCE_MAX);
        }
      m_in.ListEnd(count, room);
      m_in.Require(room <= STREAMS_MAX);
      return(End());
     }

   bool              Decode(ResendFrame &frame)
     {
      frame.stream = m_in.U4();
      frame.first = m_in.U8();
      frame.last = m_in.U8();
      m_in.Require(IntervalAllowed(frame.first, frame.last));
      return(End());
     }

   bool              Decode(LostFrame &frame)
     {
      frame.stream = m_in.U4();
      frame.first = m_in.U8();
      frame.last = m_in.U8();
      frame.reason = m_in.U2();
      m_in.Require(frame.reason <= LOST_OVERFLOW);
      frame.text = m_in.Text();
      m_in.Require(IntervalAllowed(frame.first, frame.last));
      return(End());
     }

   bool              Decode(SignalFrame &frame)
     {
      SignalFields(frame);
      m_in.Require(SignalAllowed(frame));
      return(End());
     }

   bool              Decode(SignalOrderFrame &frame)
     {
      SignalFields(frame.signal);
      frame.kind = m_in.U1();
      m_in.Require(frame.kind <= ORDER_CLOSE);
      frame.price = m_in.F8();
      frame.stop = m_in.F8();
      frame.target = m_in.F8();
      frame.stop_distance = m_in.F8();
      frame.target_distance = m_in.F8();
      frame.risk_percent = m_in.F8();
      m_in.Require(SignalAllowed(frame.signal) && SignalOrderAllowed(frame));
      return(End());
     }

   bool              Decode(SignalResultFrame &frame)
     {
      frame.id = m_in.U8();
      frame.deal = m_in.U8();
      frame.order = m_in.U8();
      frame.time_msc = m_in.I8();
      frame.lots = m_in.F8();
      frame.price = m_in.F8();
      frame.retcode = m_in.U4();
      frame.status = m_in.U2();
      m_in.Require(frame.status <= RESULT_UNKNOWN);
      frame.text = m_in.Text();
      m_in.Require(ResultAllowed(frame));
      return(End());
     }

   bool              Decode(ErrorFrame &frame)
     {
      frame.code = m_in.U2();
      m_in.Require(frame.code >= ERROR_BAD_FRAME && frame.code <= ERROR_NOT_ALLOWED);
      frame.text = m_in.Text();
      return(End());
     }

   bool              Decode(ByeFrame &frame)
     {
      frame.text = m_in.Text();
      return(End());
     }

   bool              Decode(ChallengeFrame &frame)
     {
      frame.nonce = m_in.Text();
      m_in.Require(DigitsAllowed(frame.nonce, NONCE_DIGITS));
      return(End());
     }

   bool              Decode(ProofFrame &frame)
     {
      frame.proof = m_in.Text();
      m_in.Require(DigitsAllowed(frame.proof, PROOF_DIGITS));
      return(End());
     }

   bool              Decode(AccountFrame &frame)
     {
      frame.time_msc = m_in.I8();
      frame.balance = m_in.F8();
      frame.credit = m_in.F8();
      frame.profit = m_in.F8();
      frame.equity = m_in.F8();
      frame.margin = m_in.F8();
      frame.margin_free = m_in.F8();
      frame.positions = m_in.U4();
      frame.orders = m_in.U4();
      frame.allowed = m_in.U1();
      m_in.Require(AccountAllowed(frame));
      return(End());
     }

   bool              Decode(OrderFrame &frame)
     {
      frame.id = m_in.U8();
      frame.time_msc = m_in.I8();
      frame.valid_until_msc = m_in.I8();
      frame.magic = m_in.I8();
      frame.ticket = m_in.U8();
      frame.lots = m_in.F8();
      frame.price = m_in.F8();
      frame.sl = m_in.F8();
      frame.tp = m_in.F8();
      frame.deviation_points = m_in.U4();
      frame.kind = m_in.U1();
      m_in.Require(frame.kind <= ORDER_CLOSE);
      frame.side = m_in.U1();
      m_in.Require(frame.side <= ORDER_NO_SIDE);
      frame.name = m_in.Text();
      frame.symbol = m_in.Text();
      m_in.Require(OrderAllowed(frame));
      return(End());
     }

   bool              Decode(AskFrame &frame)
     {
      const uint count = m_in.U4();
      const int room = m_in.ListRoom(count, 8);
      ArrayResize(frame.ids, room);
      for(int i = 0; i < room; i++)
         frame.ids[i] = m_in.U8();
      m_in.ListEnd(count, room);
      m_in.Require(room >= 1 && room <= ASK_IDS_MAX);
      return(End());
     }

   bool              Decode(HaltFrame &frame)
     {
      frame.halted = m_in.U1();
      frame.reason = m_in.Text();
      m_in.Require(frame.halted <= 1);
      return(End());
     }

   bool              Decode(RecountFrame &frame)
     {
      frame.stream = m_in.U4();
      frame.sequence = m_in.U8();
      frame.from_msc = m_in.I8();
      frame.to_msc = m_in.I8();
      frame.count = m_in.U4();
      m_in.Require(RecountAllowed(frame));
      return(End());
     }

   bool              Decode(SubscribeFrame &frame)
     {
      frame.numbering = m_in.U8();
      const uint count = m_in.U4();
      const int room = m_in.ListReach(count, 11);
      ArrayResize(frame.entries, room);
      for(int i = 0; i < room && m_in.Good(); i++)
        {
         frame.entries[i].wanted = m_in.U1();
         m_in.Require(frame.entries[i].wanted <= WANTED_KNOWN);
         frame.entries[i].number = m_in.U8();
         frame.entries[i].name = m_in.Text();
         m_in.Require(WantedAllowed(frame.entries[i]));
        }
      m_in.Require(room <= EVENT_LIST_MAX);
      return(End());
     }

   bool              Decode(SubscribedFrame &frame)
     {
      frame.numbering = m_in.U8();
      const uint count = m_in.U4();
      const int room = m_in.ListRoom(count, 12);
      ArrayResize(frame.events, room);
      for(int i = 0; i < room && m_in.Good(); i++)
        {
         frame.events[i].number = m_in.U8();
         frame.events[i].name = m_in.Text();
         frame.events[i].engine = m_in.Text();
         m_in.Require(frame.events[i].number <= SEQUENCE_MAX);
        }
      m_in.ListEnd(count, room);
      m_in.Require(room <= EVENT_LIST_MAX);
      return(End());
     }

   bool              Decode(EventFrame &frame)
     {
      frame.number = m_in.U8();
      frame.time_msc = m_in.I8();
      frame.first_msc = m_in.I8();
      frame.name = m_in.Text();
      frame.engine = m_in.Text();
      frame.key = m_in.Text();
      const uint count = m_in.U4();
      const int room = m_in.ListRoom(count, 26);
      ArrayResize(frame.bound, room);
      for(int i = 0; i < room && m_in.Good(); i++)
         BoundFields(frame.bound[i]);
      m_in.ListEnd(count, room);
      m_in.Require(EventAllowed(frame) && room <= EVENT_LIST_MAX);
      return(End());
     }
  };

#endif
