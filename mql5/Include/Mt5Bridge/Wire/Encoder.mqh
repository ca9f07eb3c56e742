//| Frames to bytes (PROTOCOL.md sections 3 and 4).
#ifndef MT5BRIDGE_WIRE_ENCODER_MQH
#define MT5BRIDGE_WIRE_ENCODER_MQH

#include "ByteWriter.mqh"
#include "Frames.mqh"

// Each call clears `out` and writes one frame into it. Texts that are too long are cut.
class Encoder
  {
private:
   Crc32             m_crc;

   void              PutSignal(const SignalFrame &signal, ByteWriter &out) const
     {
      out.U8(signal.id);
      out.I8(signal.time_msc);
      out.I8(signal.valid_until_msc);
      out.I8(signal.magic);
      out.F8(signal.lots);
      out.F8(signal.stop_points);
      out.F8(signal.target_points);
      out.U1(signal.side);
      out.Text(signal.name);
      out.Text(signal.symbol);
     }

   // The header; length and checksum follow in End.
   void              Begin(const FrameType type, ByteWriter &out) const
     {
      out.Clear();
      out.U4(WIRE_MAGIC);
      out.U1(WIRE_VERSION);
      out.U1((uchar)type);
      out.U2(0);
      out.U4(0);
      out.U4(0);
     }

   void              End(ByteWriter &out)
     {
      const int body_bytes = out.Size() - HEADER_BYTES;
      out.PatchU4(8, (uint)body_bytes);
      const uint head = out.Checksum(m_crc, 0, 0, CHECKSUM_AT);
      out.PatchU4(CHECKSUM_AT, out.Checksum(m_crc, head, HEADER_BYTES, body_bytes));
     }

   void              BeginBatch(const FrameType type, const uint stream, const int utc_offset_ms,
                                const ulong first, const int count, ByteWriter &out) const
     {
      Begin(type, out);
      out.U4(stream);
      out.I4(utc_offset_ms);
      out.U8(first);
      out.U4((uint)count);
     }

   void              DealFields(const DealRecord &deal, ByteWriter &out) const
     {
      out.U8(deal.ticket);
      out.U8(deal.order);
      out.I8(deal.time_msc);
      out.I8(deal.magic);
      out.I8(deal.position_id);
      out.F8(deal.volume);
      out.F8(deal.price);
      out.F8(deal.commission);
      out.F8(deal.swap);
      out.F8(deal.profit);
      out.F8(deal.fee);
      out.F8(deal.sl);
      out.F8(deal.tp);
      out.U4(deal.type);
      out.U4(deal.entry);
      out.U4(deal.reason);
      out.U4(deal.revision);
      out.U4(deal.kind);
      out.Raw(deal.symbol, 32);
      out.Raw(deal.comment, 64);
      out.Raw(deal.external_id, 32);
     }

   void              SymbolFields(const SymbolEntry &symbol, ByteWriter &out) const
     {
      out.U4(symbol.stream);
      out.U4(symbol.digits);
      out.U4(symbol.filling_modes);
      out.F8(symbol.point);
      out.F8(symbol.tick_size);
      out.F8(symbol.contract_size);
      out.F8(symbol.volume_min);
      out.F8(symbol.volume_max);
      out.F8(symbol.volume_step);
      out.Text(symbol.name);
     }

   void              BoundFields(const BoundEvent &event, ByteWriter &out) const
     {
      out.U8(event.sequence);
      out.I8(event.time_msc);
      out.Text(event.name);
      out.Text(event.stream);
      out.Text(event.key);
      out.U4((uint)ArraySize(event.fields));
      for(int i = 0; i < ArraySize(event.fields); i++)
        {
         out.U1(event.fields[i].kind);
         out.I8(event.fields[i].whole);
         out.F8(event.fields[i].number);
         out.Text(event.fields[i].name);
         out.Text(event.fields[i].text);
        }
     }

public:
   // `count` ticks from `from` on, the first one numbered `first`; 1 to TICKS_MAX of them.
   void              EncodeTicks(const uint stream, const int utc_offset_ms, const ulong first,
                                 const MqlTick &ticks[], const int from, const int count,
                                 ByteWriter &out)
     {
      BeginBatch(FRAME_TICKS, stream, utc_offset_ms, first, count, out);
      out.Ticks(ticks, from, count);
      End(out);
     }

   // `count` deal revisions from `from` on; 1 to DEALS_MAX of them.
   void              EncodeDeals(const int utc_offset_ms, const ulong first,
                                 const DealRecord &deals[], const int from, const int count,
                                 ByteWriter &out)
     {
      BeginBatch(FRAME_DEALS, DEALS_STREAM, utc_offset_ms, first, count, out);
      for(int i = from; i < from + count; i++)
         DealFields(deals[i], out);
      End(out);
     }

   void              Encode(const TicksFrame &frame, ByteWriter &out)
     {
      EncodeTicks(frame.stream, frame.utc_offset_ms, frame.first, frame.records, 0,
                  ArraySize(frame.records), out);
     }

   void              Encode(const DealsFrame &frame, ByteWriter &out)
     {
      EncodeDeals(frame.utc_offset_ms, frame.first, frame.records, 0,
                  ArraySize(frame.records), out);
     }

   void              Encode(const HelloFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_HELLO, out);
      out.U8(frame.instance);
      out.U8(frame.account);
      out.I8(frame.time_msc);
      out.I4(frame.utc_offset_ms);
      out.U4(frame.leverage);
      out.U1(frame.account_mode);
      out.U1(frame.demo);
      out.U1(frame.trades);
      out.Text(frame.identity);
      out.Text(frame.broker);
      out.Text(frame.server);
      out.Text(frame.currency);
      out.Text(frame.program);
      End(out);
     }

   void              Encode(const WelcomeFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_WELCOME, out);
      out.U8(frame.session);
      out.I8(frame.time_msc);
      out.U4(frame.heartbeat_ms);
      out.U4(frame.timeout_ms);
      out.U4(frame.window_records);
      out.Text(frame.program);
      out.U4((uint)ArraySize(frame.streams));
      for(int i = 0; i < ArraySize(frame.streams); i++)
        {
         out.U8(frame.streams[i].durable);
         out.I8(frame.streams[i].time_msc);
         out.U4(frame.streams[i].count_at_msc);
         out.Text(frame.streams[i].name);
        }
      End(out);
     }

   void              Encode(const SymbolsFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_SYMBOLS, out);
      out.U4((uint)ArraySize(frame.symbols));
      for(int i = 0; i < ArraySize(frame.symbols); i++)
         SymbolFields(frame.symbols[i], out);
      End(out);
     }

   void              Encode(const PropertiesFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_PROPERTIES, out);
      out.U4(frame.stream);
      out.U4(frame.stops_level_points);
      out.U4(frame.freeze_level_points);
      out.U1(frame.swap_mode);
      out.U1(frame.swap_triple_day);
      out.F8(frame.swap_long);
      out.F8(frame.swap_short);
      out.F8(frame.tick_value);
      out.Text(frame.profit_currency);
      out.U4((uint)ArraySize(frame.sessions));
      for(int i = 0; i < ArraySize(frame.sessions); i++)
        {
         out.U4(frame.sessions[i].from_minute);
         out.U4(frame.sessions[i].to_minute);
        }
      End(out);
     }

   void              Encode(const HeartbeatFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_HEARTBEAT, out);
      out.U8(frame.token);
      out.I8(frame.time_msc);
      out.I4(frame.utc_offset_ms);
      out.U4(frame.round_trip_us);
      out.I8(frame.complete_msc);
      out.U4((uint)ArraySize(frame.marks));
      for(int i = 0; i < ArraySize(frame.marks); i++)
        {
         out.U4(frame.marks[i].stream);
         out.U8(frame.marks[i].taken);
         out.U8(frame.marks[i].passed);
        }
      End(out);
     }

   void              Encode(const AckFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_ACK, out);
      out.U4((uint)ArraySize(frame.streams));
      for(int i = 0; i < ArraySize(frame.streams); i++)
        {
         out.U4(frame.streams[i].stream);
         out.U8(frame.streams[i].sequence);
        }
      End(out);
     }

   void              Encode(const ResendFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_RESEND, out);
      out.U4(frame.stream);
      out.U8(frame.first);
      out.U8(frame.last);
      End(out);
     }

   void              Encode(const LostFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_LOST, out);
      out.U4(frame.stream);
      out.U8(frame.first);
      out.U8(frame.last);
      out.U2(frame.reason);
      out.Text(frame.text);
      End(out);
     }

   void              Encode(const SignalFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_SIGNAL, out);
      PutSignal(frame, out);
      End(out);
     }

   void              Encode(const SignalOrderFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_SIGNAL_ORDER, out);
      SignalFrame signal = frame.signal;
      PutSignal(signal, out);
      out.U1(frame.kind);
      out.F8(frame.price);
      out.F8(frame.stop);
      out.F8(frame.target);
      out.F8(frame.stop_distance);
      out.F8(frame.target_distance);
      out.F8(frame.risk_percent);
      End(out);
     }

   void              Encode(const SignalResultFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_SIGNAL_RESULT, out);
      out.U8(frame.id);
      out.U8(frame.deal);
      out.U8(frame.order);
      out.I8(frame.time_msc);
      out.F8(frame.lots);
      out.F8(frame.price);
      out.U4(frame.retcode);
      out.U2(frame.status);
      out.Text(frame.text);
      End(out);
     }

   void              Encode(const ErrorFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_ERROR, out);
      out.U2(frame.code);
      out.Text(frame.text);
      End(out);
     }

   void              Encode(const ByeFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_BYE, out);
      out.Text(frame.text);
      End(out);
     }

   void              Encode(const ChallengeFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_CHALLENGE, out);
      out.Text(frame.nonce);
      End(out);
     }

   void              Encode(const ProofFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_PROOF, out);
      out.Text(frame.proof);
      End(out);
     }

   void              Encode(const AccountFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_ACCOUNT, out);
      out.I8(frame.time_msc);
      out.F8(frame.balance);
      out.F8(frame.credit);
      out.F8(frame.profit);
      out.F8(frame.equity);
      out.F8(frame.margin);
      out.F8(frame.margin_free);
      out.U4(frame.positions);
      out.U4(frame.orders);
      out.U1(frame.allowed);
      End(out);
     }

   void              Encode(const OrderFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_ORDER, out);
      out.U8(frame.id);
      out.I8(frame.time_msc);
      out.I8(frame.valid_until_msc);
      out.I8(frame.magic);
      out.U8(frame.ticket);
      out.F8(frame.lots);
      out.F8(frame.price);
      out.F8(frame.sl);
      out.F8(frame.tp);
      out.U4(frame.deviation_points);
      out.U1(frame.kind);
      out.U1(frame.side);
      out.Text(frame.name);
      out.Text(frame.symbol);
      End(out);
     }

   void              Encode(const AskFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_ASK, out);
      out.U4((uint)ArraySize(frame.ids));
      for(int i = 0; i < ArraySize(frame.ids); i++)
         out.U8(frame.ids[i]);
      End(out);
     }

   void              Encode(const HaltFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_HALT, out);
      out.U1(frame.halted);
      out.Text(frame.reason);
      End(out);
     }

   void              Encode(const RecountFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_RECOUNT, out);
      out.U4(frame.stream);
      out.U8(frame.sequence);
      out.I8(frame.from_msc);
      out.I8(frame.to_msc);
      out.U4(frame.count);
      End(out);
     }

   void              Encode(const SubscribeFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_SUBSCRIBE, out);
      out.U8(frame.numbering);
      out.U4((uint)ArraySize(frame.entries));
      for(int i = 0; i < ArraySize(frame.entries); i++)
        {
         out.U1(frame.entries[i].wanted);
         out.U8(frame.entries[i].number);
         out.Text(frame.entries[i].name);
        }
      End(out);
     }

   void              Encode(const SubscribedFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_SUBSCRIBED, out);
      out.U8(frame.numbering);
      out.U4((uint)ArraySize(frame.events));
      for(int i = 0; i < ArraySize(frame.events); i++)
        {
         out.U8(frame.events[i].number);
         out.Text(frame.events[i].name);
         out.Text(frame.events[i].engine);
        }
      End(out);
     }

   void              Encode(const EventFrame &frame, ByteWriter &out)
     {
      Begin(FRAME_EVENT, out);
      out.U8(frame.number);
      out.I8(frame.time_msc);
      out.I8(frame.first_msc);
      out.Text(frame.name);
      out.Text(frame.engine);
      out.Text(frame.key);
      out.U4((uint)ArraySize(frame.bound));
      for(int i = 0; i < ArraySize(frame.bound); i++)
         BoundFields(frame.bound[i], out);
      End(out);
     }
  };

#endif
