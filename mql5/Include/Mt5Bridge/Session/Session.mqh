//| The terminal's side of the dialog: greeting, sequences, windows, heartbeats and resumption.
#ifndef MT5BRIDGE_SESSION_SESSION
#define MT5BRIDGE_SESSION_SESSION

#include "EventFrames.mqh"
#include "Outflow.mqh"
#include "Proving.mqh"
#include "Pulse.mqh"
#include "SessionSettings.mqh"
#include "SessionState.mqh"
#include "Settling.mqh"
#include "TradingFrames.mqh"

#define SESSION_FRAMES_A_STEP 256      // received in one step; the rest waits for the next
#define SESSION_SETTLE_MS 50           // between looks at what the daemon has in memory
#define SESSION_RETRY_MS 30000         // after a refusal that only the user can mend

class Session
  {
private:
   Connection     m_link;
   Encoder        m_encoder;
   Decoder        m_decoder;
   ByteWriter     m_out;
   uchar          m_in[];
   Streams        m_streams;
   Outflow        m_outflow;
   Settling       m_settling;
   Subscription   m_subscription;
   Pulse          m_pulse;
   Proving        m_proving;
   SessionSettings m_settings;
   HelloFrame     m_hello;
   SessionEvents *m_events;
   SessionState   m_state;
   uint           m_generation;    // of the connection that was greeted
   bool           m_hello_due;
   bool           m_lived;
   string         m_refused_text;
   long           m_retry_ms;

public:
                  Session(void) { m_events = NULL; m_generation = 0; Reset(); }
   bool           Begin(const SessionSettings &settings, const HelloFrame &hello, SessionEvents *events);
   int            AddSymbol(const SymbolEntry &entry);
   void           Step(const Moment &now);
   void           Send(const Moment &now);
   void           End(const string text, const Moment &now);
   bool           Report(const SignalResultFrame &result);
   bool           SendAccount(const AccountFrame &account);
   bool           SendRecount(const RecountFrame &recount);
   bool           SendProperties(const PropertiesFrame &properties);
   void           Want(const WantedCode wanted, const string name = "") { m_subscription.Want(wanted, name); }
   void           WantNothing(void) { m_subscription.Begin(); }
   void           Resume(const string name, ResumeEntry &found) const { m_settling.Resume(name, found); }
   DealOutbox    *Deals(void) { return m_streams.Deals(); }
   TickOutbox    *Ticks(const int index) { return m_streams.Ticks(index); }
   SessionState   State(void) const { return m_state; }
   bool           Live(void) const { return m_state == SESSION_LIVE; }
   ulong          Unacknowledged(void) { return m_streams.Unacknowledged(); }
   long           RoundTripUs(void) const { return m_pulse.RoundTripUs(); }
   ulong          NextToken(void) const { return m_pulse.NextToken(); }
   ulong          AnsweredToken(void) const { return m_pulse.AnsweredToken(); }
   string         StatusText(void) const;
   bool           Troubled(void) const;
   uint           Connects(void) const { return m_link.Connects(); }
   ulong          BytesOut(void) const { return m_link.BytesOut(); }

private:
   void           Reset(void);
   void           FollowLink(const Moment &now);
   void           Prove(void);
   void           TakeProof(const bool is_frame, const Moment &now);
   void           Greet(const Moment &now);
   void           SendHello(const Moment &now);
   void           Offline(const string reason);
   void           ReceiveAll(const Moment &now);
   void           Take(const int size, const Moment &now);
   bool           TakeDialog(const int type, const Moment &now);
   bool           TakeRecordsAnswer(const int type);
   void           Complain(const ErrorCode code, const string text);
   void           Welcomed(const WelcomeFrame &welcome, const Moment &now);
   void           GoOn(void);
   void           HeardBeat(const HeartbeatFrame &beat, const Moment &now);
   void           Settle(const HeartbeatFrame &beat, const Moment &now);
   void           BeginStreams(void);
   void           BecomeLive(const Moment &now);
   void           Acknowledge(const uint stream, const ulong sequence);
   void           HeardError(const ErrorFrame &error, const Moment &now);
   void           Beat(const Moment &now);
   void           Subscribe(void);
   bool           Welcome(void) const { return m_state == SESSION_SETTLING || m_state == SESSION_LIVE; }
  };

// As a new one, but for the link, which counts on.
void Session::Reset(void)
  {
   m_pulse.Reset();
   m_state = SESSION_OFFLINE;
   m_hello_due = false;
   m_lived = false;
   m_refused_text = "";
   m_retry_ms = 0;
  }

// Before all else but Want(); a session that was used begins anew. False when the settings make no
// sense (StatusText says why).
bool Session::Begin(const SessionSettings &settings, const HelloFrame &hello, SessionEvents *events)
  {
   Reset();
   m_settings = settings;
   m_outflow.Configure(settings.batch_records);
   m_hello = hello;
   m_events = events;
   m_streams.Configure(settings.publishes, settings.kept_ticks);
   if(!NameAllowed(hello.identity, IDENTITY_BYTES_MAX))
     {
      m_refused_text = StringFormat("the identity must have 1 to %d bytes, all of them printable", IDENTITY_BYTES_MAX);
      return false;
     }
   LinkSettings link;
   LinkDefaults(link);
   link.host = settings.host;
   link.port = settings.port;
   link.user = settings.user;
   link.password = settings.password;
   link.proves = true;
   link.connect_ms = MathMin(link.connect_ms, settings.block_ms);
   link.connect_ms_max = MathMax(link.connect_ms_max, link.connect_ms);
   // One event may step, send at the end of it, and send again what it has taken since.
   link.step_ms = MathMax(1, MathMin(link.step_ms, settings.block_ms / 3));
   link.io_ms = MathMin(link.io_ms, link.step_ms);
   if(m_link.Configure(link, (uint)(hello.instance & 0xFFFFFFFF)))
      return true;
   m_refused_text = m_link.SettingsError();
   return false;
  }

// Announce a symbol, and publish its ticks if this session publishes; its index, from 0.
int Session::AddSymbol(const SymbolEntry &entry)
  {
   int index = m_streams.Add(entry);
   if(m_state == SESSION_LIVE && m_settings.publishes)
      m_hello_due = true;  // greet again: a new stream has to find its place
   return index;
  }

// Receive and hand on, let time pass, send. With one more Send, at most `block_ms` in sockets.
void Session::Step(const Moment &now)
  {
   if(m_state == SESSION_REFUSED && now.ms < m_retry_ms)
      return;
   m_link.Step(now.ms);
   FollowLink(now);
   ReceiveAll(now);
   if(m_state != SESSION_OFFLINE && m_state != SESSION_REFUSED && m_pulse.Silent(now))
     {
      m_link.Drop(now.ms, LINK_SILENT);
      Offline("the daemon is silent");
     }
   Send(now);
  }

// Queue what may be sent and hand it to the socket.
void Session::Send(const Moment &now)
  {
   if(m_link.State() != LINK_UP)
      return;
   if(m_hello_due)
      SendHello(now);
   if(Welcome())
     {
      m_outflow.Announce(m_streams, m_link);
      Beat(now);
     }
   if(m_state == SESSION_LIVE)
     {
      Subscribe();
      m_outflow.Fill(m_streams, m_link);
     }
   m_link.Flush(now.ms);
  }

// Say goodbye; the connection is closed for good.
void Session::End(const string text, const Moment &now)
  {
   if(Welcome())
     {
      m_outflow.Fill(m_streams, m_link);
      ByeFrame bye;
      bye.text = text;
      m_encoder.Encode(bye, m_out);
      if(m_link.Send(m_out))
         m_link.Flush(now.ms);
     }
   m_link.Close();
   m_state = SESSION_OFFLINE;
  }

// Tell what became of a signal or order; false when not live: the daemon asks again.
bool Session::Report(const SignalResultFrame &result)
  {
   if(!Welcome())
      return false;
   m_encoder.Encode(result, m_out);
   return m_link.Send(m_out);
  }

bool Session::SendAccount(const AccountFrame &account)
  {
   if(!Welcome())
      return false;
   m_encoder.Encode(account, m_out);
   return m_link.Send(m_out);
  }

bool Session::SendRecount(const RecountFrame &recount)
  {
   if(m_state != SESSION_LIVE)
      return false;
   m_encoder.Encode(recount, m_out);
   return m_link.Send(m_out);
  }

// Behind the symbols' numbers, which it goes by.
bool Session::SendProperties(const PropertiesFrame &properties)
  {
   if(m_state != SESSION_LIVE || !m_outflow.Announced(m_streams))
      return false;
   m_encoder.Encode(properties, m_out);
   return m_link.Send(m_out);
  }

// One line for the chart.
string Session::StatusText(void) const
  {
   switch(m_state)
     {
      case SESSION_OFFLINE:
         return "offline: " + (m_refused_text != "" ? m_refused_text : m_link.LastFailureText());
      case SESSION_PROVING:
      case SESSION_GREETING:
         return "greeting";
      case SESSION_SETTLING:
         return "waiting until the daemon has everything on disk";
      case SESSION_LIVE:
         return "connected";
     }
   return "refused: " + m_refused_text;
  }

// Whether StatusText tells of something that keeps the daemon away.
bool Session::Troubled(void) const
  {
   return m_state == SESSION_REFUSED || (m_state == SESSION_OFFLINE && m_link.LastFailure() != LINK_NO_FAILURE);
  }

void Session::FollowLink(const Moment &now)
  {
   bool up = m_link.State() == LINK_UP;
   if(up && m_link.Generation() != m_generation)
     {
      if(m_state != SESSION_OFFLINE && m_state != SESSION_REFUSED)
         Offline("connected anew");
      m_generation = m_link.Generation();
      m_pulse.Connected(now);
      Prove();
     }
   else if(!up && m_state != SESSION_OFFLINE && m_state != SESSION_REFUSED)
      Offline(m_link.LastFailureText());
  }

// The daemon is not believed, and told nothing, before it has proved that it knows the password.
void Session::Prove(void)
  {
   ChallengeFrame challenge;
   m_state = SESSION_PROVING;
   m_proving.Begin(m_link.User(), m_link.Password(), m_hello.instance, challenge);
   m_encoder.Encode(challenge, m_out);
   m_link.Send(m_out);
  }

// A message, opened if it is a frame, of who has not proved it yet.
void Session::TakeProof(const bool is_frame, const Moment &now)
  {
   ProofFrame answer;
   const ProvingResult result = is_frame ? m_proving.Take(m_decoder, answer) : PROVING_FOREIGN;
   if(is_frame)
      m_pulse.Heard(now);
   if(result == PROVING_DONE)
     {
      Greet(now);
      return;
     }
   if(result == PROVING_ANSWERS)
     {
      m_encoder.Encode(answer, m_out);
      m_link.Send(m_out);
      return;
     }
   m_link.Drop(now.ms, result == PROVING_DENIED ? LINK_DENIED : LINK_FOREIGN);
   Offline(m_link.LastFailureText());
  }

void Session::Greet(const Moment &now)
  {
   m_state = SESSION_GREETING;
   m_outflow.Greeted();
   m_hello_due = true;
   SendHello(now);
  }

void Session::SendHello(const Moment &now)
  {
   m_hello.time_msc = now.utc_msc;
   m_hello.utc_offset_ms = now.utc_offset_ms;
   m_encoder.Encode(m_hello, m_out);
   if(!m_link.Send(m_out))
      return;
   m_hello_due = false;
   m_state = SESSION_GREETING;
   m_outflow.Greeted();
  }

void Session::Offline(const string reason)
  {
   m_state = SESSION_OFFLINE;
   m_hello_due = false;
   m_events.OnOffline(reason);
  }

void Session::ReceiveAll(const Moment &now)
  {
   int size = 0;
   for(int count = 0; count < SESSION_FRAMES_A_STEP; count++)
     {
      if(m_link.State() != LINK_UP || !m_link.Receive(m_in, size))
         return;
      Take(size, now);
     }
  }

// One message of the daemon; what is refused has no effect but an ERROR (PROTOCOL 3.3).
void Session::Take(const int size, const Moment &now)
  {
   bool taken = size >= 0 && m_decoder.Open(m_in, size);
   if(m_state == SESSION_PROVING)
     {
      TakeProof(taken, now);
      return;
     }
   if(size < 0)
     {
      Complain(ERROR_BAD_FRAME, WireReasonText(WIRE_MULTIPART));
      return;
     }
   if(taken)
     {
      int type = m_decoder.Type();
      m_pulse.Heard(now);
      taken = TakeDialog(type, now) || TakeRecordsAnswer(type) || TakeTradingFrame(m_decoder, m_events) || TakeEventFrame(m_decoder, m_subscription, m_events);
      if(m_subscription.WantsMore())
         m_pulse.DueIn(0, now);
      if(!taken && m_decoder.Reason() == WIRE_OK)
        {
         Complain(ERROR_UNEXPECTED_FRAME, StringFormat("frame type %d is the terminal's", type));
         return;
        }
     }
   if(!taken)
      Complain(ERROR_BAD_FRAME, WireReasonText(m_decoder.Reason()));
  }

bool Session::TakeDialog(const int type, const Moment &now)
  {
   if(type == FRAME_WELCOME)
     {
      WelcomeFrame welcome;
      if(!m_decoder.Decode(welcome))
         return false;
      Welcomed(welcome, now);
      return true;
     }
   if(type == FRAME_HEARTBEAT)
     {
      HeartbeatFrame beat;
      if(!m_decoder.Decode(beat))
         return false;
      HeardBeat(beat, now);
      return true;
     }
   if(type == FRAME_ERROR)
     {
      ErrorFrame error;
      if(!m_decoder.Decode(error))
         return false;
      HeardError(error, now);
      return true;
     }
   ByeFrame bye;
   return type == FRAME_BYE && m_decoder.Decode(bye);
  }

bool Session::TakeRecordsAnswer(const int type)
  {
   if(type == FRAME_ACK)
     {
      AckFrame ack;
      if(!m_decoder.Decode(ack))
         return false;
      for(int i = 0; i < ArraySize(ack.streams); i++)
         Acknowledge(ack.streams[i].stream, ack.streams[i].sequence);
      return true;
     }
   if(type == FRAME_RESEND)
     {
      ResendFrame resend;
      if(!m_decoder.Decode(resend))
         return false;
      Outbox *box = m_streams.At((int)resend.stream);
      if(box != NULL && box.Begun())
         box.Rewind(resend.first);
      return true;
     }
   return false;
  }

void Session::Complain(const ErrorCode code, const string text)
  {
   ErrorFrame error;
   error.code = (ushort)code;
   error.text = text;
   m_encoder.Encode(error, m_out);
   m_link.Send(m_out);
  }

void Session::Welcomed(const WelcomeFrame &welcome, const Moment &now)
  {
   m_link.Settled();
   m_refused_text = "";
   m_outflow.Welcomed(welcome.window_records);
   m_pulse.Welcomed(welcome.heartbeat_ms, welcome.timeout_ms, now);
   m_settling.Take(welcome);
   GoOn();
   if(m_streams.AllBegun())
      BecomeLive(now);
   else
      m_state = SESSION_SETTLING;
  }

// Streams that have their place go on behind what is on disk.
void Session::GoOn(void)
  {
   for(int number = 0; number < m_streams.Outboxes(); number++)
     {
      Outbox *box = m_streams.At(number);
      ResumeEntry resume;
      m_settling.Resume(m_streams.Name(number), resume);
      if(box.Begun())
         box.Resume(resume.durable);
     }
  }

void Session::HeardBeat(const HeartbeatFrame &beat, const Moment &now)
  {
   for(int i = 0; i < ArraySize(beat.marks); i++)
      Acknowledge(beat.marks[i].stream, beat.marks[i].passed);
   bool answered = m_pulse.Answered(beat.token, (long)GetMicrosecondCount());
   if(answered && m_state == SESSION_SETTLING)
      Settle(beat, now);
  }

void Session::Settle(const HeartbeatFrame &beat, const Moment &now)
  {
   if(m_settling.Agrees(m_streams, beat.marks))
     {
      BeginStreams();
      BecomeLive(now);
     }
   else if(m_settling.OnDisk(beat.marks))
      m_hello_due = true;
   else
      m_pulse.DueIn(SESSION_SETTLE_MS, now);
  }

void Session::BeginStreams(void)
  {
   for(int number = 0; number < m_streams.Outboxes(); number++)
     {
      Outbox *box = m_streams.At(number);
      ResumeEntry resume;
      m_settling.Resume(m_streams.Name(number), resume);
      if(!box.Begun())
         box.Begin(resume.durable);
     }
  }

// The next heartbeat, before any record, tells where the streams begin.
void Session::BecomeLive(const Moment &now)
  {
   bool first = !m_lived;
   m_state = SESSION_LIVE;
   m_lived = true;
   m_subscription.Live();
   m_pulse.DueIn(0, now);
   m_events.OnLive(first);
  }

void Session::Acknowledge(const uint stream, const ulong sequence)
  {
   Outbox *box = m_streams.At((int)stream);
   if(box == NULL || !box.Begun())
      return;
   if(sequence > box.Acknowledged())
      m_outflow.Acknowledged();
   box.Acknowledge(sequence);
  }

void Session::HeardError(const ErrorFrame &error, const Moment &now)
  {
   int code = (int)error.code;
   if(code == ERROR_HELLO_FIRST || code == ERROR_UNKNOWN_STREAM)
     {
      m_hello_due = m_hello_due || Welcome();
      return;
     }
   if(code != ERROR_WRONG_VERSION && code != ERROR_IDENTITY_IN_USE && code != ERROR_SUPERSEDED
      && code != ERROR_LIMIT && code != ERROR_NOT_ALLOWED)
      return;
   bool news = m_refused_text != error.text;
   m_refused_text = error.text;
   m_link.Drop(now.ms, LINK_DROPPED);
   m_state = SESSION_REFUSED;
   m_retry_ms = code == ERROR_IDENTITY_IN_USE ? now.ms : now.ms + SESSION_RETRY_MS;
   m_events.OnOffline(error.text);
   if(news)
      m_events.OnRefused(code, error.text);
  }

void Session::Beat(const Moment &now)
  {
   if(!m_pulse.Due(now) || !m_outflow.Announced(m_streams))
      return;
   HeartbeatFrame beat;
   beat.token = m_pulse.NextToken();
   beat.time_msc = now.utc_msc;
   beat.utc_offset_ms = now.utc_offset_ms;
   beat.round_trip_us = (uint)MathMin(m_pulse.RoundTripUs(), (long)0xFFFFFFFF);
   beat.complete_msc = m_state == SESSION_LIVE ? m_streams.CompleteMsc(now.utc_offset_ms) : 0;
   if(m_state == SESSION_LIVE)
      m_streams.Marks(beat.marks);
   m_encoder.Encode(beat, m_out);
   if(m_link.Send(m_out))
      m_pulse.Sent(now);
  }

// The complex events that are wanted, once for each connection.
void Session::Subscribe(void)
  {
   if(!m_subscription.Due())
      return;
   SubscribeFrame frame;
   m_subscription.Fill(frame);
   m_encoder.Encode(frame, m_out);
   if(m_link.Send(m_out))
      m_subscription.Sent();
  }

#endif
