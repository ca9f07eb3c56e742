//| Reads frames from a file and writes what the MQL5 decoder says to each.
#property script_show_inputs

#include <Mt5Bridge\Wire\Echo.mqh>

input string FramesFile = "frames.bin";     // u4 length and frame, again and again
input string VerdictsFile = "verdicts.bin"; // i4 reason, u4 length and the frame encoded again

// Between the two files.
class FrameFuzz
  {
private:
   Echo              m_echo;
   ByteWriter        m_out;
   uchar             m_frame[];
   uchar             m_again[];

   bool              One(const int from, const int to)
     {
      const int size = FileReadInteger(from, INT_VALUE);
      ArrayResize(m_frame, size, 65536);
      if(size > 0 && FileReadArray(from, m_frame, 0, size) != (uint)size)
         return(false);
      const WireReason reason = m_echo.Repeat(m_frame, size, m_out);
      const int said = reason == WIRE_OK ? m_out.Size() : 0;
      FileWriteInteger(to, (int)reason, INT_VALUE);
      FileWriteInteger(to, said, INT_VALUE);
      if(said == 0)
         return(true);
      ArrayResize(m_again, said, 65536);
      m_out.CopyTo(m_again, 0);
      return(FileWriteArray(to, m_again, 0, said) == (uint)said);
     }

public:
   // How many frames were judged; -1 when a file fails.
   int               Run(const string frames_file, const string verdicts_file)
     {
      const int from = FileOpen(frames_file, FILE_READ | FILE_BIN);
      const int to = FileOpen(verdicts_file, FILE_WRITE | FILE_BIN);
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
   FrameFuzz fuzz;
   Print("judged " + IntegerToString(fuzz.Run(FramesFile, VerdictsFile)) + " frames");
  }
