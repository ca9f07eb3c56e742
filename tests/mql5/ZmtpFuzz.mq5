//| Feeds recorded peers to the ZMTP client, in pieces, and writes what became of each.
#property script_show_inputs

#include <Mt5Bridge\Link\Zmtp.mqh>
#include <Mt5Bridge\Wire\Crc32.mqh>

input string StreamsFile = "streams.bin";   // u4 pieces, then u4 length and bytes each
input string OutcomesFile = "outcomes.bin"; // u4: stage, failure, messages, multiparts, sum, said, most

// What a peer made of the client.
class ZmtpFuzz
  {
private:
   Crc32             m_crc;
   Zmtp              m_zmtp;
   ByteWriter        m_said;
   uchar             m_piece[];
   uchar             m_message[];
   uchar             m_output[];
   uint              m_messages;
   uint              m_multiparts;
   uint              m_sum;
   uint              m_said_sum;
   int               m_most;

   void              TakeMessages(void)
     {
      int size = 0;
      while(m_zmtp.Advance() && m_zmtp.Receive(m_message, size))
        {
         m_messages++;
         if(size < 0)
            m_multiparts++;
         else
            m_sum = m_crc.Update(m_sum, m_message, 0, size);
        }
     }

   void              TakeOutput(void)
     {
      m_zmtp.TakeOutput(m_said);
      ArrayResize(m_output, m_said.Size());
      m_said.CopyTo(m_output, 0);
      m_said_sum = m_crc.Update(m_said_sum, m_output, 0, m_said.Size());
     }

   bool              Piece(const int from)
     {
      const int size = FileReadInteger(from, INT_VALUE);
      ArrayResize(m_piece, size, 65536);
      if(size > 0 && FileReadArray(from, m_piece, 0, size) != (uint)size)
         return(false);
      if(size > 0)
         m_zmtp.Feed(m_piece, size);
      TakeMessages();
      TakeOutput();
      if(m_zmtp.Buffered() > m_most)
         m_most = m_zmtp.Buffered();
      return(true);
     }

   bool              One(const int from, const int to)
     {
      const int pieces = FileReadInteger(from, INT_VALUE);
      m_zmtp.Begin("user", "secret", "");
      m_messages = 0;
      m_multiparts = 0;
      m_sum = 0;
      m_said_sum = 0;
      m_most = 0;
      TakeOutput();
      for(int i = 0; i < pieces; i++)
         if(!Piece(from))
            return(false);
      FileWriteInteger(to, (int)m_zmtp.Stage(), INT_VALUE);
      FileWriteInteger(to, (int)m_zmtp.Failure(), INT_VALUE);
      FileWriteInteger(to, (int)m_messages, INT_VALUE);
      FileWriteInteger(to, (int)m_multiparts, INT_VALUE);
      FileWriteInteger(to, (int)m_sum, INT_VALUE);
      FileWriteInteger(to, (int)m_said_sum, INT_VALUE);
      FileWriteInteger(to, m_most, INT_VALUE);
      return(true);
     }

public:
   // How many peers there were; -1 when a file fails.
   int               Run(const string streams_file, const string outcomes_file)
     {
      const int from = FileOpen(streams_file, FILE_READ | FILE_BIN);
      const int to = FileOpen(outcomes_file, FILE_WRITE | FILE_BIN);
      if(from == INVALID_HANDLE || to == INVALID_HANDLE)
         return(-1);
      int count = 0;
      bool good = true;
      while(good && !FileIsEnding(from))
        {
         good = One(from, to);
         count++;
        }
      FileClose(from);
      FileClose(to);
      return(good ? count : -1);
     }
  };

void OnStart()
  {
   ZmtpFuzz fuzz;
   Print("met " + IntegerToString(fuzz.Run(StreamsFile, OutcomesFile)) + " peers");
  }
