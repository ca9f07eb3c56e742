//| What a ZMTP 3.1 DEALER says: greeting, commands, and the heads of message frames.
#ifndef MT5BRIDGE_LINK_ZMTP_OUTPUT_MQH
#define MT5BRIDGE_LINK_ZMTP_OUTPUT_MQH

#include "..\Wire\ByteWriter.mqh"

#define ZMTP_GREETING_BYTES  64
#define ZMTP_MECHANISM_AT    12
#define ZMTP_MECHANISM_BYTES 20
#define ZMTP_MORE            1
#define ZMTP_LONG            2
#define ZMTP_COMMAND         4
#define ZMTP_SHORT_MAX       255

// Bytes of a text without a length.
void PutAscii(ByteWriter &out, const string text)
  {
   uchar bytes[];
   const int size = Utf8Bytes(text, bytes);
   out.Raw(bytes, size);
  }

// A text behind its length in one byte.
void PutShortText(ByteWriter &out, const string text)
  {
   uchar bytes[];
   const int size = Utf8Bytes(text, bytes);
   out.U1((uchar)size);
   out.Raw(bytes, size);
  }

// A number in network order.
void PutBigU4(ByteWriter &out, const uint number)
  {
   for(int shift = 24; shift >= 0; shift -= 8)
      out.U1((uchar)((number >> shift) & 0xFF));
  }

// The head of a frame whose body has `size` bytes.
void PutFrameHead(ByteWriter &out, const uchar flags, const int size)
  {
   if(size <= ZMTP_SHORT_MAX)
     {
      out.U1(flags);
      out.U1((uchar)size);
      return;
     }
   out.U1((uchar)(flags | ZMTP_LONG));
   PutBigU4(out, 0);
   PutBigU4(out, (uint)size);
  }

// 64 bytes: signature, version 3.1, mechanism; we are the client.
void PutGreeting(ByteWriter &out, const string mechanism)
  {
   const int begin = out.Size();
   out.U1(0xFF);
   out.U8(0);
   out.U1(0x7F);
   out.U1(3);
   out.U1(1);
   PutAscii(out, mechanism);
   while(out.Size() < begin + ZMTP_GREETING_BYTES)
      out.U1(0);
  }

// A property of the metadata.
void PutProperty(ByteWriter &out, const string name, const string value)
  {
   uchar bytes[];
   const int size = Utf8Bytes(value, bytes);
   PutShortText(out, name);
   PutBigU4(out, (uint)size);
   out.Raw(bytes, size);
  }

// INITIATE of PLAIN with socket type and identity.
void PutInitiate(ByteWriter &out, const string identity)
  {
   ByteWriter body;
   PutShortText(body, "INITIATE");
   PutProperty(body, "Socket-Type", "DEALER");
   PutProperty(body, "Identity", identity);
   PutFrameHead(out, ZMTP_COMMAND, body.Size());
   out.Append(body);
  }

// HELLO of PLAIN.
void PutPlainHello(ByteWriter &out, const string user, const string password)
  {
   ByteWriter body;
   PutShortText(body, "HELLO");
   PutShortText(body, user);
   PutShortText(body, password);
   PutFrameHead(out, ZMTP_COMMAND, body.Size());
   out.Append(body);
  }

// PING with a number as context. Its time to live is 0: a terminal may be busy for long, when it
// loads history for instance, and should not be dropped for that.
void PutPing(ByteWriter &out, const uint context)
  {
   PutFrameHead(out, ZMTP_COMMAND, 11);
   PutShortText(out, "PING");
   out.U2(0);
   PutBigU4(out, context);
  }

// PONG with the context of the PING.
void PutPong(ByteWriter &out, const uchar &context[], const int size)
  {
   PutFrameHead(out, ZMTP_COMMAND, 5 + size);
   PutShortText(out, "PONG");
   out.Raw(context, size);
  }

#endif
