//| Symbols and records on their way to the daemon, as far as window and connection have room.
#ifndef MT5BRIDGE_SESSION_OUTFLOW
#define MT5BRIDGE_SESSION_OUTFLOW

#include "../Link/Connection.mqh"
#include "Streams.mqh"

#define OUTFLOW_SYMBOLS_A_FRAME 1000
#define OUTFLOW_FRAME_ROOM 64          // bytes of a frame besides its records
#define OUTFLOW_FIRST_BATCH 16         // records of a frame on a fresh connection

// Of one connection after the other; streams and line are its owner's.
class Outflow
  {
private:
   Encoder    m_encoder;
   ByteWriter m_out;
   int        m_announced;     // symbols told on this connection
   int        m_window;
   int        m_batch;         // grows as acknowledgements come: a line that keeps breaking
                               // still carries small frames
   int        m_batch_max;

public:
              Outflow(void) { Configure(1); }
   void       Configure(const int batch_max);
   void       Greeted(void) { m_announced = 0; }
   void       Welcomed(const uint window_records);
   void       Acknowledged(void) { m_batch = MathMin(2 * m_batch, MathMax(m_batch, m_batch_max)); }
   bool       Announced(const Streams &streams) const { return m_announced >= streams.Symbols(); }
   void       Announce(const Streams &streams, Connection &link);
   void       Fill(Streams &streams, Connection &link);

private:
   bool       SendNext(Outbox *box, const int records_max, Connection &link);
  };

// As a new one, with frames of so many records at most.
void Outflow::Configure(const int batch_max)
  {
   m_announced = 0;
   m_window = 0;
   m_batch = OUTFLOW_FIRST_BATCH;
   m_batch_max = MathMax(1, batch_max);
  }

// The daemon takes so many ticks that it has not acknowledged.
void Outflow::Welcomed(const uint window_records)
  {
   m_announced = 0;
   m_window = (int)MathMin(window_records, (uint)0x7FFFFFFF);
   m_batch = OUTFLOW_FIRST_BATCH;
  }

// Tell the numbers of the symbols that this connection has not been told.
void Outflow::Announce(const Streams &streams, Connection &link)
  {
   while(m_announced < streams.Symbols())
     {
      SymbolsFrame frame;
      int count = MathMin(OUTFLOW_SYMBOLS_A_FRAME, streams.Symbols() - m_announced);
      ArrayResize(frame.symbols, count);
      for(int i = 0; i < count; i++)
         streams.Symbol(m_announced + i, frame.symbols[i]);
      m_encoder.Encode(frame, m_out);
      if(!link.Send(m_out))
         return;
      m_announced += count;
     }
  }

// Records, as far as the window and the connection have room.
void Outflow::Fill(Streams &streams, Connection &link)
  {
   if(!Announced(streams))
      return;
   int window = m_window - streams.InFlight();
   while(true)
     {
      Outbox *box = streams.NextToSend();
      if(box == NULL)
         return;
      bool deals = box.Stream() == DEALS_STREAM;
      int record_bytes = deals ? DEAL_BYTES : TICK_BYTES;
      int fitting = (link.Room() - OUTFLOW_FRAME_ROOM) / record_bytes;
      int records_max = MathMin(fitting, MathMin(m_batch, m_batch_max));
      int before = box.InFlight();
      if(!deals)
         records_max = MathMin(records_max, window);
      if(records_max < 1 || !SendNext(box, records_max, link))
         return;
      if(!deals)
         window -= box.InFlight() - before;
     }
  }

bool Outflow::SendNext(Outbox *box, const int records_max, Connection &link)
  {
   if(!box.EncodeNext(m_encoder, m_out, records_max) || !link.Send(m_out))
      return false;
   box.Passed();
   return true;
  }

#endif
