//| An EA that does nothing but hold a link and send back what it receives.
#property version "1.00"

#include <Mt5Bridge\Link\Connection.mqh>

input string Host = "127.0.0.1";
input int    Port = 5655;        // of the ROUTER
input string User = "";          // empty: the credential's file
input string Password = "";
input int    TimerMs = 5;        // between two steps
input int    HandshakeMs = 300000; // until the handshake must be done
input int    PingMs = 100;         // of silence before a PING
input int    SilenceMs = 1500000;  // without an answer before the link is given up
input int    FloodFrames = 0;    // sent at once whenever the link comes up
input int    FloodBytes = 1000;  // size of each of them

// Tells of every link and every failure in the journal.
class LinkProbe
  {
private:
   Connection        m_link;
   ByteWriter        m_frame;
   uchar             m_message[];
   uint              m_generation;
   uint              m_failures;
   ulong             m_echoed;
   ulong             m_multiparts;
   ulong             m_slowest_us;
   int               m_flood_frames;
   int               m_flood_bytes;
   int               m_flood_left;

   void              Tell(void)
     {
      if(m_link.Generation() != m_generation)
        {
         m_generation = m_link.Generation();
         m_flood_left = m_flood_frames;
         m_link.Settled();
         Greet();
         Print("up " + IntegerToString(m_generation));
        }
      // Counted: two in a row may have one reason, and no connection between them.
      if(Failures() == m_failures)
         return;
      m_failures = Failures();
      Print("down: " + m_link.LastFailureText());
     }

   uint              Failures(void) const
     {
      uint count = 0;
      for(int failure = 0; failure < LINK_FAILURES; failure++)
         count += m_link.Failures((LinkFailure)failure);
      return(count);
     }

   // A ROUTER knows a peer when it has said something.
   void              Greet(void)
     {
      m_frame.Clear();
      m_frame.U2(0x6968);
      m_link.Send(m_frame);
     }

   void              Flood(void)
     {
      while(m_flood_left > 0)
        {
         m_frame.Clear();
         for(int i = 0; i < m_flood_bytes; i++)
            m_frame.U1((uchar)(i & 0xFF));
         if(m_link.Room() < m_frame.Size() || !m_link.Send(m_frame))
            return;
         m_flood_left--;
        }
     }

   void              SendBack(const int size)
     {
      if(size < 0)
        {
         m_multiparts++;
         Print("multipart " + IntegerToString(m_multiparts));
         return;
        }
      m_frame.Clear();
      m_frame.Raw(m_message, size);
      if(m_link.Send(m_frame))
         m_echoed++;
     }

public:
                     LinkProbe(void)
     {
      m_generation = 0;
      m_failures = 0;
      m_echoed = 0;
      m_multiparts = 0;
      m_slowest_us = 0;
      m_flood_left = 0;
     }

   string            Begin(const LinkSettings &settings, const int flood_frames, const int flood_bytes)
     {
      m_flood_frames = flood_frames;
      m_flood_bytes = flood_bytes;
      m_link.Configure(settings, 7);
      return(m_link.SettingsError());
     }

   void              Step(void)
     {
      const ulong begin_us = GetMicrosecondCount();
      const long now_ms = (long)GetTickCount64();
      int size = 0;
      m_link.Step(now_ms);
      Tell();
      for(int i = 0; i < 100 && m_link.Receive(m_message, size); i++)
         SendBack(size);
      Flood();
      m_link.Flush(now_ms);
      Tell();
      const ulong spent_us = GetMicrosecondCount() - begin_us;
      if(spent_us > m_slowest_us)
         m_slowest_us = spent_us;
     }

   void              End(void)
     {
      Print("slowest " + IntegerToString((long)m_slowest_us) + " us, call "
            + IntegerToString((long)m_link.SlowestCallUs()) + " us, round trip "
            + IntegerToString(m_link.RoundTripUs()) + " us, echoed "
            + IntegerToString((long)m_echoed) + ", dropped "
            + IntegerToString((long)m_link.FramesDropped()));
      m_link.Close();
     }
  };

LinkProbe probe;

int OnInit()
  {
   LinkSettings settings;
   LinkDefaults(settings);
   settings.host = Host;
   settings.port = Port;
   settings.user = User;
   settings.password = Password;
   settings.handshake_ms = HandshakeMs;
   settings.ping_ms = PingMs;
   settings.silence_ms = SilenceMs;
   settings.connect_ms = 100;
   settings.pause_first_ms = 10;
   settings.pause_max_ms = 100;
   const string error = probe.Begin(settings, FloodFrames, FloodBytes);
   if(error != "")
     {
      Print(error);
      return(INIT_PARAMETERS_INCORRECT);
     }
   EventSetMillisecondTimer(TimerMs);
   return(INIT_SUCCEEDED);
  }

void OnTimer() { probe.Step(); }

void OnDeinit(const int reason) { probe.End(); }
