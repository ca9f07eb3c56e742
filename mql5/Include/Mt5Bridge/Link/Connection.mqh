//| A link to the daemon that is made again and again: socket, ZMTP, send queue, signs of life.
#ifndef MT5BRIDGE_LINK_CONNECTION_MQH
#define MT5BRIDGE_LINK_CONNECTION_MQH

#include "Backoff.mqh"
#include "LinkSettings.mqh"
#include "SendQueue.mqh"
#include "Socket.mqh"
#include "Zmtp.mqh"

#define LINK_CHUNK_BYTES   16384
#define LINK_CHUNKS_MAX    16
#define LINK_UNREAD_BYTES  65536
#define LINK_RESERVE_BYTES 65536
#define LINK_HEAD_BYTES    9
// After an attempt that took long the pause is this many times as long.
#define LINK_PAUSE_FACTOR  10

enum LinkState
  {
   LINK_WAITING,
   LINK_SHAKING,
   LINK_UP,
   LINK_CLOSED
  };

// Call Step often, then Receive until it gives nothing, Send, and Flush. Step takes at most
// connect_ms when it connects (elsewhere up to connect_ms_max) and step_ms otherwise; Flush takes at most step_ms. (A single send
// or read takes at most io_ms, which is not more.)
class Connection
  {
private:
   LinkSettings      m_settings;
   string            m_settings_error;
   string            m_user;
   string            m_password;
   Socket            m_socket;
   Zmtp              m_zmtp;
   Backoff           m_backoff;
   SendQueue         m_queue;
   ByteWriter        m_head;
   ByteWriter        m_answers;
   uchar             m_incoming[];
   uchar             m_chunk[];
   LinkState         m_state;
   LinkFailure       m_failure;
   string            m_failure_text;
   uint              m_generation;
   uint              m_connects;
   int               m_connect_ms;      // what the next attempt may take
   long              m_due_ms;
   long              m_begun_ms;
   long              m_heard_ms;
   long              m_moved_ms;
   long              m_ping_ms;
   ulong             m_ping_us;
   ulong             m_ping_end;
   uint              m_ping;
   bool              m_ping_open;
   long              m_round_trip_us;
   ulong             m_until_us;
   uint              m_failures[LINK_FAILURES];
   ulong             m_bytes_in;
   ulong             m_bytes_out;
   ulong             m_frames_in;
   ulong             m_frames_out;
   ulong             m_frames_dropped;

   void              BeginBudget(void)
     {
      m_until_us = GetMicrosecondCount() + (ulong)m_settings.step_ms * 1000;
     }

   // Whether another call, which may take io_ms, still fits after `calls` of them; one always does.
   bool              InBudget(const int calls) const
     {
      return(calls == 0
             || GetMicrosecondCount() + (ulong)m_settings.io_ms * 1000 <= m_until_us);
     }

   // The daemon lets nobody in without a credential; the file may have come or changed since.
   bool              Identify(const long now_ms)
     {
      m_user = m_settings.user;
      m_password = m_settings.password;
      if(m_user == "")
        {
         const LinkFailure failure = ReadCredential(m_settings.credential_file, m_user, m_password);
         if(failure != LINK_NO_FAILURE)
           {
            Fail(now_ms, failure, "Files\\" + m_settings.credential_file);
            return(false);
           }
        }
      m_zmtp.Begin(m_user, m_settings.proves ? LINK_CHALLENGE : m_password, "");
      return(true);
     }

   void              Connect(const long now_ms)
     {
      if(!Identify(now_ms))
         return;
      const ulong begin_us = GetMicrosecondCount();
      m_begun_ms = now_ms;
      if(m_socket.Open(m_settings.host, m_settings.port, m_connect_ms, m_settings.io_ms))
        {
         m_connects++;
         m_state = LINK_SHAKING;
         m_heard_ms = now_ms;
         m_moved_ms = now_ms;
         m_ping_open = false;
         m_ping_ms = now_ms;
         m_ping_us = 0;
         return;
        }
      FailSocket(now_ms);
      const long spent_ms = (long)((GetMicrosecondCount() - begin_us) / 1000);
      if(spent_ms >= m_connect_ms && !IsThisMachine(m_settings.host))
         m_connect_ms = MathMin(2 * m_connect_ms, m_settings.connect_ms_max);  // the way there may be that long
      if(m_due_ms < now_ms + LINK_PAUSE_FACTOR * spent_ms)
         m_due_ms = now_ms + LINK_PAUSE_FACTOR * spent_ms;
     }

   // The connection is of no use any more; the next attempt comes after a pause.
   void              Fail(const long now_ms, const LinkFailure failure, const string detail)
     {
      m_socket.Close();
      m_frames_dropped += (ulong)m_queue.Clear();
      m_failure = failure;
      m_failure_text = LinkFailureText(failure) + (detail == "" ? "" : " (" + detail + ")");
      m_failures[failure]++;
      m_state = LINK_WAITING;
      m_due_ms = now_ms + m_backoff.Next();
     }

   // libzmq closes without a word when it does not like our mechanism.
   void              FailSocket(const long now_ms)
     {
      const int error = m_socket.Error();
      const bool shaking = m_state == LINK_SHAKING;
      const LinkFailure failure = shaking ? LINK_HANDSHAKE_CLOSED : m_socket.Failure();
      Fail(now_ms, failure, error == 0 ? "" : "error " + IntegerToString(error));
     }

   bool              Linked(void) const { return(m_state == LINK_SHAKING || m_state == LINK_UP); }

   // Goes through what was received up to the next message.
   void              Advance(const long now_ms)
     {
      if(!m_zmtp.Advance())
         Fail(now_ms, m_zmtp.Failure(), m_zmtp.Detail());
      else
         if(m_state == LINK_SHAKING && m_zmtp.Stage() == ZMTP_READY)
           {
            m_state = LINK_UP;
            m_generation++;
           }
     }

   // Reads what is there: a bounded number of chunks, and none while many messages wait.
   void              ReadSome(const long now_ms)
     {
      for(int chunk = 0; chunk < LINK_CHUNKS_MAX && Linked() && InBudget(chunk); chunk++)
        {
         if(m_zmtp.HasMessage() && m_zmtp.Buffered() > LINK_UNREAD_BYTES)
            return;
         const int count = m_socket.Read(m_incoming, LINK_CHUNK_BYTES);
         if(count > 0)
           {
            m_bytes_in += (ulong)count;
            m_heard_ms = now_ms;
            m_ping_open = false;
            m_zmtp.Feed(m_incoming, count);
           }
         Advance(now_ms);
         if(count < 0 && Linked() && !m_zmtp.HasMessage())
            FailSocket(now_ms);
         if(count <= 0)
            return;
        }
     }

   // Queues greeting and commands; when there is no room for an answer it is left out.
   void              QueueAnswers(void)
     {
      if(!m_zmtp.HasOutput())
         return;
      m_zmtp.TakeOutput(m_answers);
      m_queue.Add(m_answers);
     }

   // Sends what goes within the budget.
   void              WriteSome(const long now_ms)
     {
      QueueAnswers();
      if(m_queue.Size() == 0)
         m_moved_ms = now_ms;
      for(int calls = 0; m_queue.Size() > 0 && InBudget(calls); calls++)
        {
         const int wanted = m_queue.Peek(m_chunk);
         const int sent = m_socket.Send(m_chunk, wanted);
         if(sent < 0)
           {
            FailSocket(now_ms);
            return;
           }
         m_bytes_out += (ulong)sent;
         m_frames_out += (ulong)m_queue.Consume(sent);
         if(sent > 0)
            m_moved_ms = now_ms;
         if(sent < wanted)
            return;
        }
     }

   // Asks a silent peer and gives up one that does not answer, in whatever it fails.
   void              CheckLife(const long now_ms)
     {
      if(m_zmtp.Pong() == m_ping && m_ping_us > 0)
        {
         m_round_trip_us = (long)(GetMicrosecondCount() - m_ping_us);
         m_ping_us = 0;
        }
      if(m_state == LINK_SHAKING && now_ms - m_begun_ms > m_settings.handshake_ms)
         Fail(now_ms, LINK_HANDSHAKE_TIMEOUT, "");
      if(Linked() && now_ms - m_moved_ms > m_settings.silence_ms)
         Fail(now_ms, LINK_SEND_STALLED, "");
      if(m_state != LINK_UP)
         return;
      // A PING that waits behind records has not been asked yet.
      if(m_ping_open && m_queue.Begin() < m_ping_end)
         m_ping_ms = now_ms;
      if(m_ping_open && now_ms - m_ping_ms > m_settings.silence_ms)
         Fail(now_ms, LINK_SILENT, "");
      else
         if(!m_ping_open && now_ms - m_heard_ms >= m_settings.ping_ms
            && now_ms - m_ping_ms >= m_settings.ping_ms)
            Ping(now_ms);
     }

   void              Ping(const long now_ms)
     {
      m_ping++;
      m_ping_open = true;
      m_ping_ms = now_ms;
      m_ping_us = GetMicrosecondCount();
      m_zmtp.Ping(m_ping);
      QueueAnswers();
      m_ping_end = m_queue.End();
     }

public:
                     Connection(void)
     {
      m_state = LINK_CLOSED;
      m_failure = LINK_NO_FAILURE;
      m_failure_text = LinkFailureText(LINK_NO_FAILURE);
      m_settings_error = "no settings";
      m_generation = 0;
      m_connects = 0;
      m_connect_ms = 0;
      m_due_ms = 0;
      m_begun_ms = 0;
      m_heard_ms = 0;
      m_moved_ms = 0;
      m_ping_ms = 0;
      m_ping_us = 0;
      m_ping_end = 0;
      m_ping = 0;
      m_ping_open = false;
      m_round_trip_us = -1;
      m_until_us = 0;
      m_bytes_in = 0;
      m_bytes_out = 0;
      m_frames_in = 0;
      m_frames_out = 0;
      m_frames_dropped = 0;
      ArrayInitialize(m_failures, 0);
      ArrayResize(m_chunk, LINK_CHUNK_BYTES);
     }

   // Begins anew with these settings; `seed` spreads the pauses of several programs.
   bool              Configure(const LinkSettings &settings, const uint seed)
     {
      m_settings_error = LinkSettingsError(settings);
      if(m_settings_error != "")
         return(false);
      m_socket.Close();
      m_settings = settings;
      m_connect_ms = settings.connect_ms;
      m_backoff.Configure(settings.pause_first_ms, settings.pause_max_ms, seed);
      m_frames_dropped += (ulong)m_queue.Clear();
      m_queue.Configure(settings.send_bytes_max);
      m_state = LINK_WAITING;
      m_due_ms = 0;
      return(true);
     }

   // What is wrong with the settings; empty if nothing is.
   string            SettingsError(void) const { return(m_settings_error); }

   // Connects when it is time, else reads, answers, sends and looks whether the peer lives.
   void              Step(const long now_ms)
     {
      if(m_state == LINK_WAITING && now_ms >= m_due_ms)
        {
         Connect(now_ms);
         return;
        }
      if(!Linked())
         return;
      BeginBudget();
      ReadSome(now_ms);
      if(Linked())
         WriteSome(now_ms);
      CheckLife(now_ms);
     }

   // Sends what is queued.
   void              Flush(const long now_ms)
     {
      if(!Linked())
         return;
      BeginBudget();
      WriteSome(now_ms);
     }

   // The next message in `frame`, which may be longer than its `size`; false if there is none.
   // A message of several parts has been skipped and has a negative size.
   bool              Receive(uchar &frame[], int &size)
     {
      if(m_state != LINK_UP || !m_zmtp.Receive(frame, size))
         return(false);
      m_frames_in++;
      Advance(m_heard_ms);
      return(true);
     }

   // Queues one frame; false, and nothing taken, when there is no room or the link is not up.
   bool              Send(const ByteWriter &frame)
     {
      if(m_state != LINK_UP)
         return(false);
      m_head.Clear();
      PutFrameHead(m_head, 0, frame.Size());
      return(m_queue.AddFrame(m_head, frame));
     }

   // How many bytes a frame of records may have now; some room is kept for control frames.
   int               Room(void) const
     {
      const int room = m_queue.Room() - LINK_RESERVE_BYTES - LINK_HEAD_BYTES;
      return(m_state == LINK_UP && room > 0 ? room : 0);
     }

   // The session gives this connection up.
   void              Drop(const long now_ms, const LinkFailure reason)
     {
      if(Linked())
         Fail(now_ms, reason, "");
     }

   // The daemon has said WELCOME: the next pause is short again.
   void              Settled(void) { m_backoff.Reset(); }

   // Ends for good; what Flush has not sent is dropped.
   void              Close(void)
     {
      m_socket.Close();
      m_frames_dropped += (ulong)m_queue.Clear();
      m_state = LINK_CLOSED;
     }

   // As whom this connection was begun.
   string            User(void) const { return(m_user); }
   string            Password(void) const { return(m_password); }
   LinkState         State(void) const { return(m_state); }
   // Grows by one whenever the link comes up.
   uint              Generation(void) const { return(m_generation); }
   // TCP connections made.
   uint              Connects(void) const { return(m_connects); }
   LinkFailure       LastFailure(void) const { return(m_failure); }
   string            LastFailureText(void) const { return(m_failure_text); }
   uint              Failures(const LinkFailure failure) const { return(m_failures[failure]); }
   ulong             BytesIn(void) const { return(m_bytes_in); }
   ulong             BytesOut(void) const { return(m_bytes_out); }
   ulong             FramesIn(void) const { return(m_frames_in); }
   ulong             FramesOut(void) const { return(m_frames_out); }
   // Frames that were queued and not sent to their last byte when a connection ended.
   ulong             FramesDropped(void) const { return(m_frames_dropped); }
   int               QueuedBytes(void) const { return(m_queue.Size()); }
   // Round trip of the last PING; -1 before the first.
   long              RoundTripUs(void) const { return(m_round_trip_us); }
   // The longest time a single call of the terminal's socket took.
   ulong             SlowestCallUs(void) const { return(m_socket.SlowestUs()); }
  };

#endif
