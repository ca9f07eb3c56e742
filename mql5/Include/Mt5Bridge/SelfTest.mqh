//| What a terminal must do right for the bridge: sizes, byte order, texts, checksums, frames.
#ifndef MT5BRIDGE_SELF_TEST_MQH
#define MT5BRIDGE_SELF_TEST_MQH

#include "Version.mqh"
#include "Wire\Echo.mqh"
#include "Wire\Golden.mqh"

// Prints a line for each check and counts.
class SelfTest
  {
private:
   int               m_passed;
   int               m_failed;

   void              Check(const bool passed, const string what)
     {
      if(passed)
         m_passed++;
      else
         m_failed++;
      Print((passed ? "passed  " : "FAILED  ") + what);
     }

   // Records are copied as the terminal holds them, so their layout is the protocol's.
   void              Sizes(void)
     {
      Check(sizeof(MqlTick) == TICK_BYTES, "a tick has 60 bytes");
      Check(sizeof(DealRecord) == DEAL_BYTES, "a deal record has 252 bytes");
      Check(sizeof(datetime) == 8 && sizeof(long) == 8 && sizeof(int) == 4 && sizeof(uchar) == 1,
            "numbers have 8, 4 and 1 bytes");
     }

   // A tick becomes 60 little-endian bytes in place, and a tick again.
   void              Ticks(void)
     {
      MqlTick tick;
      ZeroMemory(tick);
      tick.time = (datetime)0x0102030405060708;
      tick.bid = 1.5;
      tick.volume_real = -2.0;
      tick.flags = 6;
      uchar bytes[];
      ArrayResize(bytes, 2 * TICK_BYTES);
      ArrayInitialize(bytes, 0xAA);
      Check(StructToCharArray(tick, bytes, 30) && ArraySize(bytes) == 2 * TICK_BYTES,
            "a tick is written into an array that keeps its size");
      Check(bytes[30] == 8 && bytes[37] == 1 && bytes[44] == 0xF8 && bytes[45] == 0x3F,
            "its bytes are little-endian");
      Check(bytes[29] == 0xAA && bytes[90] == 0xAA, "its neighbours are untouched");
      MqlTick again;
      Check(CharArrayToStruct(again, bytes, 30) && again.time == tick.time
            && again.bid == tick.bid && again.volume_real == tick.volume_real
            && again.flags == tick.flags, "it is read as it was written");
     }

   // Doubles keep their bits, also those that are no number.
   void              Doubles(void)
     {
      ByteWriter out;
      ByteReader in;
      uchar bytes[];
      out.U8(0x7FF8000000000123);
      out.F8(-0.0);
      ArrayResize(bytes, out.Size());
      out.CopyTo(bytes, 0);
      Check(bytes[0] == 0x23 && bytes[15] == 0x80, "numbers are written little-endian");
      in.Open(bytes, 0, out.Size());
      const double none = in.F8();
      Check(!IsFinite(none) && IsFinite(1.0), "infinite and not a number are told from numbers");
      out.Clear();
      out.F8(none);
      out.CopyTo(bytes, 0);
      Check(bytes[0] == 0x23 && bytes[1] == 0x01, "not a number keeps its bits");
     }

   // One line of UTF-8: whether it is valid, and whether it survives as a string.
   void              Text(const string hex, const bool valid, const string what)
     {
      uchar bytes[];
      uchar again[];
      const int size = HexBytes(hex, bytes);
      Check(Utf8Valid(bytes, 0, size) == valid, what);
      if(!valid)
         return;
      bool same = Utf8Bytes(Utf8Text(bytes, 0, size), again) == size;
      for(int i = 0; same && i < size; i++)
         same = bytes[i] == again[i];
      Check(same, what + ", and a string keeps it");
     }

   void              Texts(void)
     {
      Text("", true, "UTF-8: nothing");
      Text("7ac3bce282ac", true, "UTF-8: 1, 2 and 3 bytes");
      Text("f09f9880", true, "UTF-8: 4 bytes");
      Text("efbfbdee8080", true, "UTF-8: the ends of the plane");
      Text("00", false, "UTF-8: zero is refused");
      Text("c3", false, "UTF-8: a cut character is refused");
      Text("c080", false, "UTF-8: overlong, two bytes, is refused");
      Text("e08080", false, "UTF-8: overlong, three bytes, is refused");
      Text("f0808080", false, "UTF-8: overlong, four bytes, is refused");
      Text("eda080", false, "UTF-8: a surrogate is refused");
      Text("f4908080", false, "UTF-8: above U+10FFFF is refused");
      Text("80", false, "UTF-8: a continuation alone is refused");
      Text("ff", false, "UTF-8: FF is refused");
     }

   // CRC-32's check value, in one piece and in two.
   void              Checksums(void)
     {
      Crc32 crc;
      uchar bytes[];
      const int size = HexBytes("313233343536373839", bytes);
      Check(crc.Update(0, bytes, 0, size) == 0xCBF43926, "the CRC-32 of 123456789 is CBF43926");
      const uint head = crc.Update(0, bytes, 0, 4);
      Check(crc.Update(head, bytes, 4, size - 4) == 0xCBF43926, "also in two pieces");
      Check(crc.Update(0, bytes, 0, 0) == 0, "the CRC-32 of nothing is 0");
     }

   void              Frames(void)
     {
      GoldenFrames golden;
      for(int i = 0; i < golden.Count(); i++)
         Frame(golden.Name(i), golden.Expected(i), golden.Hex(i));
     }

public:
                     SelfTest(void)
     {
      m_passed = 0;
      m_failed = 0;
     }

   // A golden frame is repeated byte for byte, or refused for the reason it should be.
   void              Frame(const string name, const string expected, const string hex)
     {
      Echo echo;
      ByteWriter out;
      uchar bytes[];
      uchar again[];
      const int size = HexBytes(hex, bytes);
      const string found = WireReasonText(echo.Repeat(bytes, size, out));
      bool same = found == expected;
      if(same && expected == "frame")
        {
         ArrayResize(again, out.Size());
         out.CopyTo(again, 0);
         same = out.Size() == size && ArrayCompare(bytes, again) == 0;
        }
      Check(same, "golden frame " + name + ": " + expected
            + (found == expected ? "" : ", but found " + found));
     }

   // All checks.
   void              Run(void)
     {
      Print("self-test of mt5bridge " + MT5BRIDGE_VERSION + " in "
            + TerminalInfoString(TERMINAL_NAME) + " build "
            + IntegerToString(TerminalInfoInteger(TERMINAL_BUILD)));
      Sizes();
      Ticks();
      Doubles();
      Texts();
      Checksums();
      Frames();
     }

   // The verdict, as a line of the journal and, if wanted, in a window.
   void              Tell(const bool alert) const
     {
      const string verdict = (m_failed == 0 ? "SELF-TEST PASSED" : "SELF-TEST FAILED")
                             + ": " + IntegerToString(m_passed) + " checks passed, "
                             + IntegerToString(m_failed) + " failed";
      Print(verdict);
      if(alert)
         Alert(verdict);
     }
  };

#endif
