//| What the language does with numbers, texts, arrays and records.
#ifndef MT5BRIDGE_PROBE_LANGUAGE_MQH
#define MT5BRIDGE_PROBE_LANGUAGE_MQH

#include "..\Session\Hmac.mqh"
#include "..\Wire\Frames.mqh"
#include "Facts.mqh"

#define PROBE_RANDOM_DRAWS 20000

// Two records side by side as bytes: whether there is nothing between members.
struct ProbePacked
  {
   uchar             first;
   double            second;
   uchar             third;
   int               fourth;
  };

// "unsigned", "signed", or "otherwise".
string ProbeSortedAs(void)
  {
   ulong values[3];
   values[0] = 0x8000000000000001;
   values[1] = 5;
   values[2] = 0xFFFFFFFFFFFFFFFF;
   ArraySort(values);
   if(values[0] == 5 && values[1] == 0x8000000000000001)
      return("unsigned");
   return(values[2] == 5 && values[1] == 0xFFFFFFFFFFFFFFFF ? "signed" : "otherwise");
  }

void ProbeArrays(ProbeFacts &facts)
  {
   facts.Text("array.sort_ulong", ProbeSortedAs());
   uchar wide[];
   ArrayResize(wide, 5);
   ArrayInitialize(wide, 7);
   ArrayResize(wide, 9);
   facts.Truth("array.resize_keeps", ArraySize(wide) == 9 && wide[4] == 7);
   uchar piece[2];
   ArrayInitialize(piece, 1);
   ArrayCopy(wide, piece, 12, 0, 2);
   facts.Truth("array.copy_grows", ArraySize(wide) == 14 && wide[13] == 1);
   ArrayRemove(wide, 0, 9);
   facts.Truth("array.remove_shifts", ArraySize(wide) == 5 && wide[4] == 1);
  }

void ProbeRecords(ProbeFacts &facts)
  {
   facts.Whole("record.tick_bytes", sizeof(MqlTick));
   facts.Whole("record.deal_bytes", sizeof(DealRecord));
   facts.Whole("record.packed_bytes", sizeof(ProbePacked));
   ProbePacked packed;
   ZeroMemory(packed);
   packed.first = 1;
   packed.third = 2;
   packed.fourth = 0x01020304;
   uchar bytes[];
   ArrayResize(bytes, 30);
   ArrayInitialize(bytes, 0xAA);
   const bool copied = StructToCharArray(packed, bytes, 10);
   facts.Truth("record.at_offset", copied && ArraySize(bytes) == 30 && bytes[9] == 0xAA && bytes[10] == 1 && bytes[24] == 0xAA);
   facts.Truth("record.little_endian", bytes[20] == 4 && bytes[23] == 1);
   ProbePacked again;
   facts.Truth("record.from_offset", CharArrayToStruct(again, bytes, 10) && again.third == 2 && again.fourth == packed.fourth);
  }

void ProbeTexts(ProbeFacts &facts)
  {
   uchar bytes[];
   facts.Whole("text.char_array_count", StringToCharArray("A" + ShortToString(0x20AC), bytes, 0, -1, CP_UTF8));
   facts.Whole("text.char_array_last", bytes[ArraySize(bytes) - 1]);
   facts.Whole("text.pair_length", StringLen(ShortToString(0xD83D) + ShortToString(0xDE00)));
   const string none = NULL;
   facts.Whole("text.null_length", StringLen(none));
   facts.Truth("text.null_is_empty", none == "");
   facts.Text("text.format_i64", StringFormat("%I64d %I64u", LONG_MIN, ULONG_MAX));
   facts.Text("text.format_hex", StringFormat("%08x_%04X", (uint)0xABCDEF, 0x2F));
   facts.Text("text.format_g", StringFormat("%.8g %.8g", 0.01, 1234567.5));
   facts.Text("text.double_to_string", DoubleToString(1.100004, 5));
   facts.Text("text.hmac_sha256", HmacText("Jefe", "what do ya want for nothing?"));
   facts.Truth("text.integer_to_string", IntegerToString(LONG_MIN) == "-9223372036854775808");
  }

void ProbeNumbers(ProbeFacts &facts)
  {
   ulong most = ULONG_MAX;
   most++;
   facts.Truth("number.ulong_wraps", most == 0);
   const ulong factor = 0x9E3779B97F4A7C15;
   facts.Truth("number.product_wraps", factor * factor == 0xDF442D22CE4859B9);
   const ulong high = 0x8000000000000000;
   facts.Truth("number.shift_unsigned", high >> 63 == 1);
   facts.Truth("number.normalize_8", NormalizeDouble(0.1 + 0.2, 8) == 0.3);
   facts.Truth("number.round_half_away", MathRound(2.5) == 3.0 && MathRound(-2.5) == -3.0);
   const int seven = -7;
   facts.Truth("number.divides_toward_zero", seven / 2 == -3 && seven % 2 == -1);
   DoubleBits bits;
   bits.number = -2.0;
   facts.Truth("number.union_shows_bits", bits.bits == 0xC000000000000000);
   MathSrand(1);
   int greatest = 0;
   int least = INT_MAX;
   for(int i = 0; i < PROBE_RANDOM_DRAWS; i++)
     {
      const int drawn = MathRand();
      greatest = MathMax(greatest, drawn);
      least = MathMin(least, drawn);
     }
   facts.Truth("number.random_15_bits", least >= 0 && greatest <= 32767 && greatest > 16384);
   ResetLastError();
   facts.Whole("error.after_reset", GetLastError());
  }

void ProbeLanguage(ProbeFacts &facts)
  {
   ProbeArrays(facts);
   ProbeRecords(facts);
   ProbeTexts(facts);
   ProbeNumbers(facts);
  }

#endif
