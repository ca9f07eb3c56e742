//| Decodes a frame of any type and encodes it again: what both sides must agree on.
#ifndef MT5BRIDGE_WIRE_ECHO_MQH
#define MT5BRIDGE_WIRE_ECHO_MQH

#include "Decoder.mqh"
#include "Encoder.mqh"

// For the self-test and for fuzzing.
class Echo
  {
private:
   Decoder           m_decoder;
   Encoder           m_encoder;

   bool              Dialog(ByteWriter &out)
     {
      HelloFrame hello;
      WelcomeFrame welcome;
      SymbolsFrame symbols;
      PropertiesFrame properties;
      HeartbeatFrame heartbeat;
      ErrorFrame error;
      ByeFrame bye;
      switch(m_decoder.Type())
        {
         case FRAME_HELLO:
            if(m_decoder.Decode(hello))
               m_encoder.Encode(hello, out);
            return(true);
         case FRAME_WELCOME:
            if(m_decoder.Decode(welcome))
               m_encoder.Encode(welcome, out);
            return(true);
         case FRAME_SYMBOLS:
            if(m_decoder.Decode(symbols))
               m_encoder.Encode(symbols, out);
            return(true);
         case FRAME_PROPERTIES:
            if(m_decoder.Decode(properties))
               m_encoder.Encode(properties, out);
            return(true);
         case FRAME_HEARTBEAT:
            if(m_decoder.Decode(heartbeat))
               m_encoder.Encode(heartbeat, out);
            return(true);
         case FRAME_ERROR:
            if(m_decoder.Decode(error))
               m_encoder.Encode(error, out);
            return(true);
         case FRAME_BYE:
            if(m_decoder.Decode(bye))
               m_encoder.Encode(bye, out);
            return(true);
        }
      return(false);
     }

   bool              Records(ByteWriter &out)
     {
      TicksFrame ticks;
      DealsFrame deals;
      AckFrame ack;
      ResendFrame resend;
      LostFrame lost;
      RecountFrame recount;
      switch(m_decoder.Type())
        {
         case FRAME_TICKS:
            if(m_decoder.Decode(ticks))
               m_encoder.Encode(ticks, out);
            return(true);
         case FRAME_DEALS:
            if(m_decoder.Decode(deals))
               m_encoder.Encode(deals, out);
            return(true);
         case FRAME_ACK:
            if(m_decoder.Decode(ack))
               m_encoder.Encode(ack, out);
            return(true);
         case FRAME_RESEND:
            if(m_decoder.Decode(resend))
               m_encoder.Encode(resend, out);
            return(true);
         case FRAME_LOST:
            if(m_decoder.Decode(lost))
               m_encoder.Encode(lost, out);
            return(true);
         case FRAME_RECOUNT:
            if(m_decoder.Decode(recount))
               m_encoder.Encode(recount, out);
            return(true);
        }
      return(false);
     }

   bool              Trading(ByteWriter &out)
     {
      SignalFrame signal;
      SignalOrderFrame priced;
      SignalResultFrame result;
      AccountFrame account;
      OrderFrame order;
      AskFrame ask;
      HaltFrame halt;
      switch(m_decoder.Type())
        {
         case FRAME_SIGNAL:
            if(m_decoder.Decode(signal))
               m_encoder.Encode(signal, out);
            return(true);
         case FRAME_SIGNAL_ORDER:
            if(m_decoder.Decode(priced))
               m_encoder.Encode(priced, out);
            return(true);
         case FRAME_SIGNAL_RESULT:
            if(m_decoder.Decode(result))
               m_encoder.Encode(result, out);
            return(true);
         case FRAME_ACCOUNT:
            if(m_decoder.Decode(account))
               m_encoder.Encode(account, out);
            return(true);
         case FRAME_ORDER:
            if(m_decoder.Decode(order))
               m_encoder.Encode(order, out);
            return(true);
         case FRAME_ASK:
            if(m_decoder.Decode(ask))
               m_encoder.Encode(ask, out);
            return(true);
         case FRAME_HALT:
            if(m_decoder.Decode(halt))
               m_encoder.Encode(halt, out);
            return(true);
        }
      return(false);
     }

   bool              Events(ByteWriter &out)
     {
      SubscribeFrame subscribe;
      SubscribedFrame subscribed;
      EventFrame event;
      switch(m_decoder.Type())
        {
         case FRAME_SUBSCRIBE:
            if(m_decoder.Decode(subscribe))
               m_encoder.Encode(subscribe, out);
            return(true);
         case FRAME_SUBSCRIBED:
            if(m_decoder.Decode(subscribed))
               m_encoder.Encode(subscribed, out);
            return(true);
         case FRAME_EVENT:
            if(m_decoder.Decode(event))
               m_encoder.Encode(event, out);
            return(true);
        }
      return(false);
     }

   bool              Proofs(ByteWriter &out)
     {
      ChallengeFrame challenge;
      ProofFrame proof;
      switch(m_decoder.Type())
        {
         case FRAME_CHALLENGE:
            if(m_decoder.Decode(challenge))
               m_encoder.Encode(challenge, out);
            return(true);
         case FRAME_PROOF:
            if(m_decoder.Decode(proof))
               m_encoder.Encode(proof, out);
            return(true);
        }
      return(false);
     }

public:
   // Why the first `size` bytes are no frame; if they are one, `out` holds it encoded again.
   WireReason        Repeat(const uchar &data[], const int size, ByteWriter &out)
     {
      out.Clear();
      if(!m_decoder.Open(data, size))
         return(m_decoder.Reason());
      if(!Dialog(out) && !Records(out) && !Trading(out) && !Events(out) && !Proofs(out))
         return(WIRE_UNKNOWN_TYPE);
      return(m_decoder.Reason());
     }
  };

#endif
