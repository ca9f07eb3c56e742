//| The DEALER's side of ZMTP 3.1 (rfc.zeromq.org/spec/37) with PLAIN (/24): bytes in, messages out.
#ifndef MT5BRIDGE_LINK_ZMTP_MQH
#define MT5BRIDGE_LINK_ZMTP_MQH

#include "Failures.mqh"
#include "ZmtpBytes.mqh"
#include "ZmtpOutput.mqh"

#define ZMTP_COMMAND_BYTES_MAX  4096
#define ZMTP_MESSAGE_BYTES_MAX  FRAME_BYTES_MAX
#define ZMTP_ANSWERS_BYTES_MAX  4096
#define ZMTP_CONTEXT_BYTES_MAX  16
#define ZMTP_MULTIPART          (-1)
// The daemon lets nobody in without user and password.
#define ZMTP_MECHANISM          "PLAIN"
// How libzmq 4.3's PLAIN server writes the name ERROR and its length: one escape went wrong there.
#define ZMTP_LIBZMQ_ERROR       "^RROR"

// Where a connection stands.
enum ZmtpStage
  {
   ZMTP_GREETS,
   ZMTP_AWAITS_WELCOME,
   ZMTP_AWAITS_READY,
   ZMTP_READY,
   ZMTP_FAILED
  };

// No socket and no clock. Feed it, Advance it, take the messages, send what Output holds.
class Zmtp
  {
private:
   string            m_user;
   string            m_password;
   string            m_identity;
   ZmtpStage         m_stage;
   LinkFailure       m_failure;
   string            m_detail;
   ZmtpBytes         m_in;
   ByteWriter        m_out;
   bool              m_message;
   int               m_size;
   int               m_head;
   bool              m_multipart;
   ulong             m_multipart_bytes;
   uint              m_pong;

   bool              Fail(const LinkFailure failure, const string detail)
     {
      m_stage = ZMTP_FAILED;
      m_failure = failure;
      m_detail = detail;
      m_in.Clear();
      m_message = false;
      return(false);
     }

   // Whether the peer's greeting, as far as it is here, is one that we can go on with.
   bool              GreetingFits(void)
     {
      if(m_in.Size() > 0 && m_in.At(0) != 0xFF)
         return(Fail(LINK_SIGNATURE, "first byte"));
      if(m_in.Size() > 9 && (m_in.At(9) & 1) == 0)
         return(Fail(LINK_SIGNATURE, "tenth byte"));
      if(m_in.Size() > 10 && m_in.At(10) < 3)
         return(Fail(LINK_VERSION, IntegerToString(m_in.At(10))));
      if(m_in.Size() < ZMTP_MECHANISM_AT + ZMTP_MECHANISM_BYTES)
         return(true);
      const string ours = ZMTP_MECHANISM;
      for(int i = 0; i < ZMTP_MECHANISM_BYTES; i++)
        {
         const ushort wanted = i < StringLen(ours) ? StringGetCharacter(ours, i) : (ushort)0;
         if(m_in.At(ZMTP_MECHANISM_AT + i) != wanted)
            return(Fail(LINK_MECHANISM, m_in.Text(ZMTP_MECHANISM_AT, ZMTP_MECHANISM_BYTES)));
        }
      return(true);
     }

   // Takes the greeting when it is complete and says who we are.
   bool              TakeGreeting(void)
     {
      if(!GreetingFits() || m_in.Size() < ZMTP_GREETING_BYTES)
         return(false);
      m_in.Consume(ZMTP_GREETING_BYTES);
      PutPlainHello(m_out, m_user, m_password);
      m_stage = ZMTP_AWAITS_WELCOME;
      return(true);
     }

   // Takes one frame when it is complete; false: more bytes, or the message's reader, must come.
   bool              TakeFrame(void)
     {
      if(m_in.Size() < 2)
         return(false);
      const uchar flags = m_in.At(0);
      const bool command = (flags & ZMTP_COMMAND) != 0;
      if((flags & 0xF8) != 0 || (command && (flags & ZMTP_MORE) != 0))
         return(Fail(LINK_MALFORMED, "flags " + IntegerToString(flags)));
      const bool is_long = (flags & ZMTP_LONG) != 0;
      m_head = is_long ? 9 : 2;
      if(m_in.Size() < m_head)
         return(false);
      const ulong size = is_long ? m_in.Number(1, 8) : (ulong)m_in.At(1);
      if(size > (ulong)(command ? ZMTP_COMMAND_BYTES_MAX : ZMTP_MESSAGE_BYTES_MAX))
         return(Fail(LINK_TOO_LONG, IntegerToString((long)(size & SEQUENCE_MAX)) + " bytes"));
      if(m_in.Size() - m_head < (int)size)
         return(false);
      if(!command)
         return(TakeMessage((int)size, (flags & ZMTP_MORE) != 0));
      const bool taken = TakeCommand(m_head, (int)size);
      if(taken)
         m_in.Consume(m_head + (int)size);
      return(taken);
     }

   // A message's frame: left in the buffer for Receive, or skipped when there are several parts.
   bool              TakeMessage(const int size, const bool more)
     {
      if(m_stage != ZMTP_READY)
         return(Fail(LINK_MALFORMED, "a message before READY"));
      if(!more && !m_multipart)
        {
         m_message = true;
         m_size = size;
         return(false);
        }
      m_in.Consume(m_head + size);
      m_multipart = more;
      m_multipart_bytes += (ulong)size + 2;
      if(m_multipart_bytes > ZMTP_MESSAGE_BYTES_MAX)
         return(Fail(LINK_TOO_LONG, "a message of many parts"));
      if(more)
         return(true);
      m_multipart_bytes = 0;
      m_message = true;
      m_size = ZMTP_MULTIPART;
      return(false);
     }

   // ERROR: the peer does not let us in, for a reason of `left` bytes, the first one its length.
   bool              Denied(const int from, const int left)
     {
      return(Fail(LINK_DENIED, left > 1 ? m_in.Text(from + 1, left - 1) : ""));
     }

   // A command of `size` bytes at `at`: its name and what follows.
   bool              TakeCommand(const int at, const int size)
     {
      const int name_size = size > 0 ? (int)m_in.At(at) : 0;
      if(m_stage != ZMTP_READY && size > 5 && m_in.Text(at, 5) == ZMTP_LIBZMQ_ERROR)
         return(Denied(at + 5, size - 5));
      if(name_size == 0 || name_size >= size)
         return(Fail(LINK_MALFORMED, "a command without a name"));
      const string name = m_in.Text(at + 1, name_size);
      const int from = at + 1 + name_size;
      const int left = size - 1 - name_size;
      if(m_stage == ZMTP_READY)
         return(Answer(name, from, left));
      if(name == "ERROR")
         return(Denied(from, left));
      if(m_stage == ZMTP_AWAITS_WELCOME && name == "WELCOME")
        {
         PutInitiate(m_out, m_identity);
         m_stage = ZMTP_AWAITS_READY;
         return(true);
        }
      if(m_stage == ZMTP_AWAITS_READY && name == "READY")
         return(TakeReady(from, left));
      return(Fail(LINK_MALFORMED, name + " is not the next step"));
     }

   // Commands of a connection that stands; unknown ones are none of our business.
   bool              Answer(const string name, const int from, const int left)
     {
      if(name == "PONG" && left == 4)
         m_pong = (uint)m_in.Number(from, 4);
      if(name != "PING")
         return(true);
      if(left < 2 || left > 2 + ZMTP_CONTEXT_BYTES_MAX)
         return(Fail(LINK_MALFORMED, "PING of " + IntegerToString(left) + " bytes"));
      uchar context[];
      m_in.Copy(from + 2, left - 2, context);
      if(m_out.Size() < ZMTP_ANSWERS_BYTES_MAX)
         PutPong(m_out, context, left - 2);
      return(true);
     }

   // The peer's metadata: it must be a ROUTER.
   bool              TakeReady(const int from, const int left)
     {
      const int end = from + left;
      int at = from;
      string socket_type = "";
      while(at < end)
        {
         const int name_size = (int)m_in.At(at);
         const int value_at = at + 1 + name_size + 4;
         if(name_size == 0 || value_at > end)
            return(Fail(LINK_MALFORMED, "metadata"));
         const ulong value_size = m_in.Number(value_at - 4, 4);
         if(value_size > (ulong)(end - value_at))
            return(Fail(LINK_MALFORMED, "metadata"));
         string name = m_in.Text(at + 1, name_size);
         StringToLower(name);
         if(name == "socket-type")
            socket_type = m_in.Text(value_at, (int)value_size);
         at = value_at + (int)value_size;
        }
      if(socket_type != "ROUTER")
         return(Fail(LINK_SOCKET_TYPE, socket_type));
      m_stage = ZMTP_READY;
      return(true);
     }

public:
                     Zmtp(void)
     {
      Begin("", "", "");
     }

   // A new connection, as this user: what is left of an older one is forgotten, the greeting is to
   // be sent. Texts have at most 255 bytes.
   void              Begin(const string user, const string password, const string identity)
     {
      m_user = user;
      m_password = password;
      m_identity = identity;
      m_stage = ZMTP_GREETS;
      m_failure = LINK_NO_FAILURE;
      m_detail = "";
      m_in.Clear();
      m_out.Clear();
      m_message = false;
      m_multipart = false;
      m_multipart_bytes = 0;
      m_size = 0;
      m_head = 0;
      m_pong = 0;
      PutGreeting(m_out, ZMTP_MECHANISM);
     }

   // Takes the first `count` bytes of `data` that the peer has sent.
   void              Feed(const uchar &data[], const int count)
     {
      if(m_stage != ZMTP_FAILED)
         m_in.Add(data, count);
     }

   // Goes through what has been fed up to the next message; false when the peer has failed.
   bool              Advance(void)
     {
      bool going = true;
      while(going && m_stage != ZMTP_FAILED && !m_message)
         going = m_stage == ZMTP_GREETS ? TakeGreeting() : TakeFrame();
      return(m_stage != ZMTP_FAILED);
     }

   // Whether Advance has found a message.
   bool              HasMessage(void) const { return(m_message); }

   // Moves the message to `frame` and its `size`; the size of one of several parts is negative.
   bool              Receive(uchar &frame[], int &size)
     {
      if(!m_message)
         return(false);
      m_message = false;
      size = m_size;
      if(m_size == ZMTP_MULTIPART)
         return(true);
      m_in.Copy(m_head, m_size, frame);
      m_in.Consume(m_head + m_size);
      return(true);
     }

   // Asks the peer for a sign of life; Pong() is `context` when it has answered.
   void              Ping(const uint context)
     {
      if(m_stage == ZMTP_READY)
         PutPing(m_out, context);
     }

   ZmtpStage         Stage(void) const { return(m_stage); }
   LinkFailure       Failure(void) const { return(m_failure); }
   // What the peer said or did wrong.
   string            Detail(void) const { return(m_detail); }
   uint              Pong(void) const { return(m_pong); }
   // Bytes that wait in the buffer.
   int               Buffered(void) const { return(m_in.Size()); }
   bool              HasOutput(void) const { return(m_out.Size() > 0); }

   // Moves what is to be sent (greeting, commands) to `out`.
   void              TakeOutput(ByteWriter &out)
     {
      out.Clear();
      out.Append(m_out);
      m_out.Clear();
     }
  };

#endif
